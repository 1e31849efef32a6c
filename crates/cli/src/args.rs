//! Options that mean the same in every command: how data is read, and what is to be learned.

use crate::choices::{choice, listed};
use crate::failure::Failure;
use crate::ui::count;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rosenblatt::DeviceChoice;
use rosenblatt::core::{Bias, Mistake, NameError, Order, Param, Readout, Schedule, Zero};
use rosenblatt::defaults::{EPOCHS, FEW_ROWS, PATIENCE, TAGGER_EPOCHS};
use rosenblatt::kernel::{KERNELS, Removal, Setting, kernels};
use rosenblatt::layers::{Activation, Loss as OutputLoss, Optimiser};
use rosenblatt::recipe::{Choice, Racing};
use rosenblatt::{
    ClassWeights, Classes, Costs, KernelOptions, Mapping, NetworkOptions, Options, Spec, Validation,
    catalogue,
};
use rosenblatt_data::encode::{Scaling, TextOptions, Units, Weighting};
use rosenblatt_data::files::Apart;
use rosenblatt_data::{
    LabelColumn, Limits, Missing, OnBadRow, Pictures, Precision, ReadOptions, SENTENCE_FORMATS, Source,
    Unknown,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What a model says of the rows it is shown.
const LEFT_TO_THE_MODEL: [&str; 10] = [
    "scale",
    "missing",
    "categorical",
    "cross",
    "size",
    "colour",
    "ngrams",
    "characters",
    "words",
    "hash_bits",
];

/// A command that shows rows to a model, without the options that it leaves to the model.
pub(crate) fn leave_to_the_model(command: Command) -> Command {
    let hide = |command: Command, option| command.mut_arg(option, |arg| arg.hide(true));
    LEFT_TO_THE_MODEL.into_iter().fold(command, hide)
}

/// The formats of rows, and then those of sentences.
fn format_names() -> Vec<&'static str> {
    let of_sentences = SENTENCE_FORMATS.iter().map(|format| format.info().name);
    catalogue().names("format").into_iter().chain(of_sentences).collect()
}

/// How data is read.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Reading data")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types")]
pub(crate) struct DataArgs {
    /// Read this format, instead of the one that content and name tell; those behind the folders are of sentences
    #[arg(long, value_name = "NAME", value_parser = listed(format_names))]
    pub(crate) format: Option<String>,
    /// Take the classes from this column, by name or number (1 is the first, -1 the last) [default: the column
    /// called label, class, target or y, else the last]
    #[arg(long, alias = "target", value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) label: Option<String>,
    /// Weigh the rows by this column, by name or number [default: every row counts once]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) weight: Option<String>,
    /// Leave out this column, by name or number (may be repeated)
    #[arg(long, alias = "drop", value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) ignore: Vec<String>,
    /// Take the numbers of this column as categories (may be repeated)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) categorical: Vec<String>,
    /// Make a feature of every feature of one column, or namespace, times every feature of another: A,B (may be
    /// repeated)
    #[arg(long, value_name = "A,B")]
    pub(crate) cross: Vec<String>,
    /// Say whether the first line holds column names [default: detected]
    #[arg(long, value_name = "YES|NO", value_parser = ["yes", "no"])]
    pub(crate) header: Option<String>,
    /// Split lines into cells at this character, or at `tab` [default: detected]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// Choose what becomes of a category that the model at hand did not learn from; the model does not keep this choice
    #[arg(long, value_name = "POLICY", value_parser = choice::<Unknown>(), default_value_t)]
    pub(crate) unknown: Unknown,
    /// Choose what becomes of missing values
    #[arg(long, alias = "impute", value_name = "POLICY", value_parser = choice::<Missing>(), default_value_t)]
    pub(crate) missing: Missing,
    /// Number features from 0 instead of 1 (libsvm)
    #[arg(long)]
    pub(crate) zero_based: bool,
    /// Store values in this precision [default: f32; f64 for `certify` and `trace`]
    #[arg(long, value_name = "TYPE", value_parser = choice::<Precision>())]
    pub(crate) precision: Option<Precision>,
    /// Hash features into a table of 2^BITS [default: no hashing, every feature has its own weight]
    #[arg(long, value_name = "BITS")]
    pub(crate) hash_bits: Option<u32>,
    /// Bring features to one scale [default: auto where a model is trained, else none]
    #[arg(long, aliases = ["normalize", "normalise", "scaling"], value_name = "NAME", value_parser = choice::<Scaling>())]
    pub(crate) scale: Option<Scaling>,
    /// Leave out rows that cannot be read, instead of stopping at the first
    #[arg(long)]
    pub(crate) skip_bad_rows: bool,
    /// Take the labels from this file, for a file of pictures or arrays (IDX, `.npy`)
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Resize pictures to this size, in pixels [default: the size of the first]
    #[arg(long, value_name = "WxH", value_parser = picture_size)]
    pub(crate) size: Option<(u32, u32)>,
    /// Read pictures in colour instead of grey
    #[arg(long, alias = "color")]
    pub(crate) colour: bool,
    /// Make features of the words of this column (may be repeated) [default: detected]. With a model of messages, the
    /// column that holds them
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Vec<String>,
    /// Make features of runs of words: N for N words, A-B for A to B of them [default: 1-2, single words and pairs]
    #[arg(long, value_name = "N|A-B", value_parser = run_of_units)]
    pub(crate) ngrams: Option<(usize, usize)>,
    /// Make features of characters instead of words
    #[arg(long)]
    pub(crate) characters: bool,
    /// Choose what a word is worth in a text. Rows of tf-idf are brought to length 1. Of more than 1,000 texts, words and runs
    /// that occur in fewer than 3 are left out
    #[arg(long, value_name = "NAME", value_parser = choice::<Weighting>(), default_value_t)]
    pub(crate) words: Weighting,
    /// Parse text, or tag sentences, on N threads, 0 for one per core; changes nothing but the time
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Refuse data with more features
    #[arg(long, value_name = "N", default_value_t = Limits::default().features)]
    pub(crate) max_features: usize,
    /// Refuse data with more classes
    #[arg(long, value_name = "N", default_value_t = Limits::default().classes)]
    pub(crate) max_classes: usize,
    /// Refuse data with longer lines, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().line_bytes)]
    pub(crate) max_line: usize,
    /// Refuse data with more different words
    #[arg(long, value_name = "N", default_value_t = Limits::default().vocabulary)]
    pub(crate) max_vocabulary: usize,
    /// Refuse larger pictures, in pixels
    #[arg(long, value_name = "N", default_value_t = Limits::default().pixels)]
    pub(crate) max_pixels: u64,
}

/// Which class is named once there are probabilities.
#[derive(Args, Debug, Clone)]
pub(crate) struct CostArgs {
    /// Predict the positive class, or the second of two, where its probability is at least this [default: 0.5]
    #[arg(long, value_name = "SHARE", conflicts_with = "costs")]
    threshold: Option<f64>,
    /// Name the class of least expected cost: CLASS=COST of a mistake on rows of a class, TRUE:NAMED=COST of one
    /// class taken for another, or (in training) `balanced`, by which the rarer a class the dearer (may be repeated)
    /// [default: 1]
    #[arg(long = "cost", value_name = "CLASS=COST")]
    costs: Vec<String>,
}

impl CostArgs {
    /// What mistakes cost.
    pub(crate) fn costs(&self) -> Result<Costs, Failure> {
        Ok(match (self.threshold, self.costs.as_slice()) {
            (Some(share), _) => Costs::Threshold(share),
            (None, []) => Costs::Even,
            (None, [word]) if word == "balanced" => Costs::Balanced,
            (None, words) => {
                let pairs = words.iter().map(|word| assignment("cost", word));
                Costs::Given(pairs.collect::<Result<_, _>>()?)
            }
        })
    }
}

/// `28x28` as a width and a height.
pub(crate) fn picture_size(text: &str) -> Result<(u32, u32), String> {
    let parts =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    parts
        .filter(|&(width, height)| width > 0 && height > 0)
        .ok_or_else(|| "it should be WIDTHxHEIGHT, for instance 64x64".to_owned())
}

/// `2` or `1-2` as the fewest and the most units of a feature.
fn run_of_units(text: &str) -> Result<(usize, usize), String> {
    let (shortest, longest) = text.split_once('-').unwrap_or((text, text));
    let parts = shortest.parse().ok().zip(longest.parse().ok());
    parts
        .filter(|&(shortest, longest): &(usize, usize)| 0 < shortest && shortest <= longest && longest <= 10)
        .ok_or_else(|| {
            "it should be a number or a range of numbers from 1 to 10, for instance 1-2".to_owned()
        })
}

impl DataArgs {
    /// Notes what is read, and the labels beside it.
    pub(crate) fn note(&self, files: &mut Apart, source: &Source) {
        files.reads_source("the data", source);
        if let Some(labels) = &self.labels {
            files.reads("the labels", labels);
        }
    }

    /// The words as a textbook means them: numbers as they are.
    pub(crate) fn as_textbook(&self) -> Self {
        let precision = self.precision.or(Some(Precision::Double));
        Self { precision, ..self.clone() }
    }

    /// Refuses what a model says of the rows it is shown, and nobody else.
    pub(crate) fn leave_to_the_model(&self) -> Result<(), Failure> {
        let said = [
            self.scale.is_some(),
            self.missing != Missing::default(),
            !self.categorical.is_empty(),
            !self.cross.is_empty(),
            self.size.is_some(),
            self.colour,
            self.ngrams.is_some(),
            self.characters,
            self.words != Weighting::default(),
            self.hash_bits.is_some(),
        ];
        match LEFT_TO_THE_MODEL.into_iter().zip(said).find(|(_, is_said)| *is_said) {
            Some((name, _)) => Err(Failure::Usage(format!(
                "`--{}` is decided when a model is trained; leave it out here",
                name.replace('_', "-")
            ))),
            None => Ok(()),
        }
    }

    /// What the words mean for commands that learn: `--scale auto` is decided by what the rows are.
    pub(crate) fn to_learn(&self) -> Result<ReadOptions, Failure> {
        let options = self.options()?;
        let scaling = self.scale.unwrap_or(Scaling::Auto);
        Ok(ReadOptions { scaling, ..options })
    }

    /// What the words mean for commands that take rows as they are, unless a scale is named.
    pub(crate) fn options(&self) -> Result<ReadOptions, Failure> {
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t" | "\t") => Some(b'\t'),
            Some(text) if text.len() == 1 => Some(text.as_bytes()[0]),
            Some(text) => {
                return Err(Failure::Usage(format!(
                    "`--delimiter` should be one character or `tab`, but is `{text}`"
                )));
            }
        };
        let pair = |word: &String| {
            let wrong = || Failure::Usage(format!("`--cross` should be two names, A,B, but is `{word}`"));
            let (left, right) =
                word.split_once(',').filter(|(_, right)| !right.contains(',')).ok_or_else(wrong)?;
            Ok([left.trim().to_owned(), right.trim().to_owned()])
        };
        Ok(ReadOptions {
            crosses: self.cross.iter().map(pair).collect::<Result<_, Failure>>()?,
            format: self.format.clone(),
            scaling: self.scale.filter(|scaling| *scaling != Scaling::Auto).unwrap_or(Scaling::None),
            label: self.label.clone().map_or(LabelColumn::Guess, LabelColumn::Named),
            weight: self.weight.clone(),
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
            header: self.header.as_deref().map(|header| header == "yes"),
            delimiter,
            missing: self.missing,
            unknown: self.unknown,
            zero_based: self.zero_based,
            precision: self.precision.unwrap_or_default(),
            hash_bits: self.hash_bits,
            labels_file: self.labels.clone(),
            pictures: Pictures { size: self.size, colour: self.colour, ..Pictures::default() },
            text_columns: self.text.clone(),
            text: self.text_options(),
            threads: self.threads,
            limits: Limits {
                features: self.max_features,
                classes: self.max_classes,
                line_bytes: self.max_line,
                vocabulary: self.max_vocabulary,
                pixels: self.max_pixels,
                ..Limits::default()
            },
            on_bad_row: if self.skip_bad_rows { OnBadRow::Skip } else { OnBadRow::Error },
            ..ReadOptions::default()
        })
    }

    fn text_options(&self) -> TextOptions {
        let default = TextOptions::default();
        let (shortest, longest) = self.ngrams.unwrap_or((default.shortest, default.longest));
        let units = if self.characters { Units::Characters } else { Units::Words };
        TextOptions { units, shortest, longest, weighting: self.words, ..default }
    }
}

/// Parameters with several values each, to be tried in all combinations.
pub(crate) type ValuesToTry = Vec<(String, Vec<f64>)>;

/// The word for a race of algorithms.
const AUTO: &str = "auto";

/// What is to be learned.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Learning")]
pub(crate) struct SpecArgs {
    /// Learn by this update rule, one of `rosenblatt algorithms`; `auto` has several compete [default: auto for
    /// `train`, else perceptron]. With a kernel, a map or any option of this section but --seed and --class-weight,
    /// `train` takes perceptron, too
    #[arg(long, short, value_name = "NAME")]
    pub(crate) algorithm: Option<String>,
    /// Set a parameter of the rule (may be repeated); `rosenblatt algorithms RULE` lists them with their defaults
    #[arg(long = "param", short, value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// Set the learning rate [default: the rule's own]
    #[arg(long, value_name = "RATE", value_parser = choice::<Schedule>())]
    pub(crate) rate: Option<Schedule>,
    /// Choose which weights the model keeps: those after the last update, their average over all rounds, all of them
    /// to vote, or the best [default: averaged; last for rules that settle on one]
    #[arg(long, value_name = "NAME", value_parser = choice::<Readout>())]
    pub(crate) readout: Option<Readout>,
    /// Choose how more than two classes are told apart; a race tries one-vs-one, too
    #[arg(long, value_name = "NAME", default_value = "one-vs-rest", value_parser = choice::<Classes>())]
    pub(crate) multiclass: Classes,
    /// Choose what a score of zero predicts
    #[arg(long, value_name = "NAME", default_value = "minus", value_parser = choice::<Zero>())]
    pub(crate) zero: Zero,
    /// Choose what counts as a mistake: a margin of at most 0 (le0), below 0 (lt0), or a wrong prediction (pred)
    #[arg(long, value_name = "NAME", default_value = "le0", value_parser = choice::<Mistake>())]
    pub(crate) mistake: Mistake,
    /// Choose how the bias is learned [default: the rule's own way]
    #[arg(long, value_name = "NAME", value_parser = choice::<Bias>())]
    pub(crate) bias: Option<Bias>,
    /// Visit rows in this order [default: shuffle-epoch, or the rule's own]
    #[arg(long, value_name = "NAME", value_parser = choice::<Order>())]
    pub(crate) order: Option<Order>,
    /// Seed every random choice with this number
    #[arg(long, alias = "random-state", default_value_t = 0)]
    pub(crate) seed: u64,
    #[arg(long, alias = "max-iter", value_name = "N", help = format!(
        "Make at most N epochs [default: {EPOCHS}; {TAGGER_EPOCHS} for sentences]. Candidates of a race have numbers of \
         their own"
    ))]
    pub(crate) epochs: Option<u64>,
    /// Stop after N updates [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) max_updates: Option<u64>,
    /// Weigh the rows of a class: CLASS=WEIGHT (may be repeated), or `balanced`, by which rare classes weigh more
    /// [default: 1]
    #[arg(long = "class-weight", value_name = "CLASS=WEIGHT")]
    pub(crate) class_weights: Vec<String>,
    #[arg(long, value_name = "EPOCHS", help = format!(
        "Stop after this many epochs without progress on a validation set, 0 to make all epochs [default: {PATIENCE}; \
         0 for fewer than {} rows]", count(FEW_ROWS as u64)
    ))]
    pub(crate) patience: Option<u64>,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) support: SupportArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

/// What a network is made of.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Networks")]
pub(crate) struct NetworkArgs {
    /// Put hidden layers of these numbers of units between features and scores (mlp): 64 for one layer, 64,32 for two
    /// [default: 64]
    #[arg(long, value_name = "UNITS,...", value_delimiter = ',')]
    hidden: Option<Vec<usize>>,
    /// Choose the activation function of hidden units (mlp) [default: relu]
    #[arg(long, value_name = "NAME", value_parser = choice::<Activation>())]
    activation: Option<Activation>,
    /// Choose the optimiser that descends the gradient (mlp) [default: adam]
    #[arg(long, alias = "solver", value_name = "NAME", value_parser = choice::<Optimiser>())]
    optimiser: Option<Optimiser>,
    /// Choose the loss of the scores (mlp) [default: softmax]
    #[arg(long, value_name = "NAME", value_parser = choice::<OutputLoss>())]
    output_loss: Option<OutputLoss>,
}

impl NetworkArgs {
    /// What is wished of a network, if anything is.
    pub(crate) fn options(&self) -> Option<NetworkOptions> {
        let Self { hidden, activation, optimiser, output_loss } = self;
        let is_said =
            hidden.is_some() || activation.is_some() || optimiser.is_some() || output_loss.is_some();
        is_said.then(|| NetworkOptions {
            sizes: hidden.clone(),
            activation: activation.unwrap_or_default(),
            loss: output_loss.unwrap_or_default(),
            optimiser: optimiser.unwrap_or_default(),
        })
    }
}

/// What takes the place of the product of rows, exactly or behind a map that stands in for it.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct KernelArgs {
    /// Learn with a kernel
    #[arg(long, value_name = "NAME", value_parser = listed(|| catalogue().names("kernel")))]
    kernel: Option<String>,
    #[command(flatten)]
    params: KernelParams,
    #[arg(long, value_name = "NAME", value_parser = listed(|| catalogue().names("map")), help = map_help())]
    map: Option<String>,
    /// Map to N features
    #[arg(long, value_name = "N", default_value_t = Mapping::default().size, requires = "map")]
    map_size: usize,
}

/// Which maps there are, and what they stand in for.
fn map_help() -> String {
    let stands_for = |map: &catalogue::FeatureMap| match map.kernels {
        [] => format!("{} (any kernel)", map.name),
        kernels => format!("{} ({})", map.name, kernels.join(", ")),
    };
    let maps: Vec<String> = catalogue().maps.iter().map(stands_for).collect();
    format!(
        "Learn behind a feature map that stands in for the kernel, at the speed of a hyperplane: {}. The first kernel \
         in brackets if none is said",
        maps.join(", ")
    )
}

impl KernelArgs {
    /// The map that is wished, if one is.
    pub(crate) fn mapping(&self) -> Option<Mapping> {
        let (name, kernel, params) = (self.map.clone()?, self.kernel.clone(), self.params.0.clone());
        Some(Mapping { name, size: self.map_size, kernel, params })
    }

    /// The kernel that is to be learned with as it is, without a map.
    pub(crate) fn exact(&self) -> Option<&str> {
        self.kernel.as_deref().filter(|_| self.map.is_none())
    }

    /// What the words mean for a kernel without a map; parameters of no kernel are an error.
    pub(crate) fn options(&self) -> Result<Option<KernelOptions>, Failure> {
        let params = &self.params.0;
        if self.kernel.is_none()
            && self.map.is_none()
            && let Some(name) = params.keys().next()
        {
            let message =
                format!("`--{name}` is about a kernel; name one with `--kernel`, or a map with `--map`");
            return Err(Failure::Usage(message));
        }
        let options = |name: &str| KernelOptions {
            name: name.to_owned(),
            params: params.clone(),
            ..KernelOptions::default()
        };
        Ok(self.exact().map(options))
    }
}

/// The parameters of all kernels of the table: a flag each, by the name that the kernel's file gives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct KernelParams(BTreeMap<String, Setting>);

impl KernelParams {
    /// Each name once, with what the parameter means.
    fn known() -> BTreeMap<&'static str, &'static Param> {
        KERNELS.iter().flat_map(|info| info.params).map(|param| (param.name, param)).collect()
    }
}

impl Args for KernelParams {
    fn augment_args(command: Command) -> Command {
        Self::known().into_iter().fold(command, |command, (name, param)| {
            let values = if kernels::follows_from_rows(param) { "NAME|NUMBER" } else { "NUMBER" };
            let default = |info: &kernels::Info| {
                let param = info.params.iter().find(|param| param.name == name)?;
                Some(format!("{} for {}", info.default_of(param), info.name))
            };
            let (first, rest) = param.meaning.split_at(1);
            let defaults = KERNELS.iter().filter_map(default).collect::<Vec<_>>().join(", ");
            let help = format!("{}{rest} [default: {defaults}]", first.to_uppercase());
            let arg = Arg::new(name).long(name).value_name(values).help(help);
            command.arg(arg.value_parser(by_name::<Setting>).allow_hyphen_values(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KernelParams {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name: &&str| Some(((*name).to_owned(), *matches.get_one::<Setting>(name)?));
        Ok(Self(Self::known().keys().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What becomes of support vectors.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct SupportArgs {
    /// Divide every hypothesis by its length before it is read out
    #[arg(long, requires = "kernel", conflicts_with = "map")]
    unit_hypotheses: bool,
    /// Use this much memory for kernel values that are kept or computed ahead (512MiB, 2GiB) [default: 1GiB]; changes
    /// nothing but the time
    #[arg(long, value_name = "SIZE", requires = "kernel", conflicts_with = "map", value_parser = size)]
    kernel_memory: Option<u64>,
    /// Compute on the processor (cpu) or on a graphics card (gpu, gpu:1) [default: auto, a card if there is one and
    /// the rows are many]. Changes nothing but the time
    #[arg(long, value_name = "NAME", requires = "kernel", conflicts_with = "map", value_parser = by_name::<DeviceChoice>)]
    device: Option<DeviceChoice>,
    /// Keep at most N support vectors [default: no limit]
    #[arg(long, value_name = "N", requires = "kernel", conflicts_with = "map")]
    support_budget: Option<usize>,
    /// Choose what gives way at that limit: the new row, projected on the others (projectron), the oldest one, after
    /// all were shrunk (forgetron), or any (random) [default: projectron]
    #[arg(long, value_name = "NAME", requires = "support_budget", value_parser = choice::<Removal>())]
    removal: Option<Removal>,
}

impl SupportArgs {
    fn add_to(&self, options: KernelOptions) -> KernelOptions {
        KernelOptions {
            normalised: self.unit_hypotheses,
            memory: self.kernel_memory.unwrap_or(options.memory),
            device: self.device.unwrap_or(options.device),
            budget: self.support_budget,
            removal: self.removal.unwrap_or(options.removal),
            ..options
        }
    }
}

impl SpecArgs {
    /// The words as a textbook means them: rows in the order they came, and the last hypothesis.
    pub(crate) fn as_textbook(&self) -> Self {
        // Rules that look for the worst row have an order of their own.
        let is_free = rosenblatt::algorithms::find(self.rule()).is_ok_and(|entry| !entry.info.picks_worst);
        Self {
            order: self.order.clone().or(is_free.then_some(Order::Given)),
            readout: self.readout.or(Some(Readout::Last)),
            patience: Some(0),
            ..self.clone()
        }
    }

    /// The words as a textbook means back-propagation: plain descent, unless another is asked for.
    pub(crate) fn as_plain_descent(&self) -> Self {
        let mut plain = self.as_textbook();
        plain.network.optimiser = self.network.optimiser.or(Some(Optimiser::Sgd));
        for name in ["momentum", "nesterov", "weight-decay"] {
            // What is said comes later, and counts.
            plain.params.insert(0, format!("{name}=0"));
        }
        plain
    }

    /// The rule that is named, or the usual one.
    fn rule(&self) -> &str {
        self.algorithm.as_deref().filter(|name| *name != AUTO).unwrap_or("perceptron")
    }

    /// Who decides what is learned.
    pub(crate) fn choice(&self) -> Choice {
        match self.algorithm.as_deref() {
            None => Choice::Auto,
            Some(AUTO) => Choice::Race(Racing::default()),
            Some(_) => Choice::Given,
        }
    }

    /// Refuses a race, where one rule is needed.
    pub(crate) fn one_rule(&self) -> Result<(), Failure> {
        match self.choice() {
            Choice::Race(_) => Err(Failure::Usage(format!(
                "`--algorithm {AUTO}` has rules compete, which only `train` does, with rows of a table; name one of \
                 `rosenblatt algorithms`"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses what is said about training, where there is a model already.
    pub(crate) fn leave_to_the_model(&self) -> Result<(), Failure> {
        let (said, usual) = (serde_json::json!(self.options()?), serde_json::json!(Options::default()));
        if said == usual && self.algorithm.is_none() {
            return Ok(());
        }
        let message = "`--model` is trained already; leave out options of learning";
        Err(Failure::Usage(message.to_owned()))
    }

    /// What the words mean; the error is about the words.
    pub(crate) fn spec(&self) -> Result<Spec, Failure> {
        Spec::new(self.options()?).map_err(|error| Failure::Usage(Failure::words(&error)))
    }

    /// What the words mean but for the parameters of the rule, of which each may have several values.
    pub(crate) fn options_and_values(&self) -> Result<(Options, ValuesToTry), Failure> {
        let several = |word: &String| {
            let wrong = || Failure::Usage(format!("`--param` should be NAME=VALUE,..., but is `{word}`"));
            let (name, values) = word.split_once('=').ok_or_else(wrong)?;
            let values = values.split(',').map(|value| value.trim().parse().map_err(|_| wrong()));
            Ok((name.to_owned(), values.collect::<Result<_, Failure>>()?))
        };
        let values = self.params.iter().map(several).collect::<Result<_, Failure>>()?;
        Ok((Self { params: Vec::new(), ..self.clone() }.options()?, values))
    }

    /// The same, not checked yet.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let validation = match self.patience {
            None => Some(Validation::default()),
            Some(0) => None,
            Some(patience) => Some(Validation { patience, min_rows: 0, ..Validation::default() }),
        };
        let mut params = BTreeMap::new();
        for word in &self.params {
            let (name, value) = assignment("param", word)?;
            params.insert(name, value);
        }
        let class_weights = match self.class_weights.as_slice() {
            [] => ClassWeights::Even,
            [word] if word == "balanced" => ClassWeights::Balanced,
            words => {
                let pairs = words.iter().map(|word| assignment("class-weight", word));
                ClassWeights::Given(pairs.collect::<Result<_, _>>()?)
            }
        };
        Ok(Options {
            algorithm: self.rule().to_owned(),
            params,
            rate: self.rate.clone(),
            readout: self.readout,
            multiclass: self.multiclass,
            zero: self.zero,
            mistake: self.mistake,
            bias: self.bias,
            order: self.order.clone(),
            seed: self.seed,
            epochs: self.epochs.unwrap_or(EPOCHS),
            max_updates: self.max_updates,
            validation,
            class_weights,
            map: self.kernel.mapping(),
            kernel: self.kernel.options()?.map(|options| self.support.add_to(options)),
            network: self.network.options(),
            ..Options::default()
        })
    }
}

/// A choice from its name.
pub(crate) fn by_name<T: FromStr<Err = NameError>>(name: &str) -> Result<T, NameError> {
    name.parse()
}

/// `60s`, `10m`, `2h` or `60` as a time; more than 30 years are as many as 30.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    const LONGEST: f64 = 1e9;
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let with_unit = units.iter().find_map(|(name, unit)| text.strip_suffix(name).map(|n| (n, *unit)));
    let (number, unit) = with_unit.unwrap_or((text, 1.0));
    let seconds = number.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    seconds
        .map(|n| Duration::from_secs_f64((n * unit).min(LONGEST)))
        .ok_or_else(|| "it should be a time, for instance 60s, 10m or 2h".to_owned())
}

/// `512MiB`, `2G` or `1000000` as bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let n_digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit: u64 = match text[n_digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => 0,
    };
    let bytes = text[..n_digits].parse().ok().and_then(|number: u64| number.checked_mul(unit));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "it should be a number of bytes, KiB, MiB or GiB, for instance 512MiB".to_owned())
}

pub(crate) fn assignment(option: &str, word: &str) -> Result<(String, f64), Failure> {
    let parts = word.rsplit_once('=').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    parts.ok_or_else(|| Failure::Usage(format!("`--{option}` should be NAME=NUMBER, but is `{word}`")))
}
