//! Options that mean the same in every command: how data is read, and what is to be learned. Flags, help and meaning come
//! from the declarations of the settings; here words become their values.

use crate::failure::Failure;
use crate::ui;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches as _};
use rosenblatt::data::files;
use rosenblatt::kernel::{KERNELS, Setting as KernelValue, kernels};
use rosenblatt::learning::{Decided, Declared as _, NameError, Param, Setting, Takes, Tasks};
use rosenblatt::options::{KernelOptions, Mapping, NetworkOptions, Validation};
use rosenblatt::recipe::{AUTO, Choice, MemoryLimit, Words};
use rosenblatt::sequence::template::SETS;
use rosenblatt::settings::{self, Asked, Group};
use rosenblatt::tagger::TaggerOptions;
use rosenblatt::trace::Beginning;
use rosenblatt::{Costs, Model, Options, Recipe, Spec, catalogue};
use rosenblatt_data::encode::TextOptions;
use rosenblatt_data::{Limits, Pictures, ReadOptions, SENTENCE_FORMATS};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// Makes a type a part of a command's options: how its flags are added, and how they are read.
macro_rules! part_of_options {
    ($name:ty, |$command:ident| $added:expr, |$matches:ident| $read:expr) => {
        impl clap::Args for $name {
            fn augment_args($command: clap::Command) -> clap::Command {
                $added
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                Self::augment_args(command)
            }
        }

        impl clap::FromArgMatches for $name {
            fn from_arg_matches($matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                Ok($read)
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}
pub(crate) use part_of_options;

/// The words of those of these flags that were typed.
fn typed(settings: &[(Setting, Value)], matches: &ArgMatches) -> Words {
    let typed = |(setting, _): &(Setting, Value)| {
        let flag = setting.flag?;
        let words = if is_bare(setting) {
            matches.get_flag(flag).then(Vec::new)
        } else {
            matches.get_many::<String>(flag).map(|words| words.cloned().collect())
        };
        Some((flag.to_owned(), words?))
    };
    settings.iter().filter_map(typed).collect()
}

/// Which options were typed, by their names in the program. It comes first of a command's options, as each takes its own
/// away.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spoken(Vec<String>);

part_of_options!(Spoken, |command| command, |matches| {
    let is_typed = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    // Groups of options are called like types, and how much is printed is the whole program's business.
    let is_option = |name: &&str| !name.starts_with(char::is_uppercase) && *name != "quiet";
    let names = matches.ids().map(clap::Id::as_str).filter(is_option).filter(is_typed);
    Self(names.map(str::to_owned).collect())
});

/// Commands, an option of theirs, and the options of which it needs one: without, it would do nothing. The parser could
/// require them, too, but says nothing where what is required goes with none of the other options.
const NEEDS: &[(&[&str], &str, &[&str])] = &[
    (&["train", "tune"], "blank", &["start_from"]),
    (&["train", "tune"], "cache", &["memory"]),
    (&["train"], "grow_classes", &["online"]),
    (&["certify"], "against", &["positive"]),
    (&["certify"], "degree", &["kernel"]),
    (&["certify"], "offset", &["kernel"]),
    (&["convert"], "seed", &["shuffle", "split"]),
    (&["plot"], "still", &["frames"]),
];

/// Refuses an option of `command` without the one that it needs.
pub(crate) fn check_needs(command: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let typed = Spoken::from_arg_matches(matches).map_err(|error| Failure::Usage(error.to_string()))?;
    let lacks = |(commands, option, needed): &&(&[&str], &str, &[&str])| {
        commands.contains(&command) && typed.has(option) && !needed.iter().any(|name| typed.has(name))
    };
    let Some((_, option, needed)) = NEEDS.iter().find(lacks) else { return Ok(()) };
    let flag = |name: &str| format!("`--{}`", name.replace('_', "-"));
    let needed: Vec<String> = needed.iter().map(|name| flag(name)).collect();
    Err(Failure::Usage(format!("{} does nothing without {}", flag(option), needed.join(" or "))))
}

impl Spoken {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|typed| typed == name)
    }

    pub(crate) fn refuse(&self, is_refused: impl Fn(&str) -> bool, why: &str) -> Result<(), Failure> {
        match self.0.iter().find(|name| is_refused(name)) {
            Some(name) => Err(Failure::Usage(format!("`--{}` {why}", name.replace('_', "-")))),
            None => Ok(()),
        }
    }

    /// Refuses everything else, where there are sentences.
    pub(crate) fn only(&self, known: &str) -> Result<(), Failure> {
        let is_refused = |name: &str| !known.split(' ').any(|known| known == name);
        self.refuse(is_refused, "is for rows of a table, but these are sentences")
    }

    /// The same, but for settings that are declared to be about sentences.
    pub(crate) fn only_of_sentences(&self, known: &str) -> Result<(), Failure> {
        let is_about_rows =
            |name: &&String| catalogue::setting(name).is_none_or(|setting| !setting.tasks.has_sentences());
        Self(self.0.iter().filter(is_about_rows).cloned().collect()).only(known)
    }

    /// Refuses settings of sentences where there are none.
    pub(crate) fn only_of_tables(&self) -> Result<(), Failure> {
        let is_refused = |name: &str| {
            name != "features"
                && catalogue::setting(name).is_some_and(|setting| setting.tasks == Tasks::Sentences)
        };
        let why =
            "is for sentences, but these are rows of a table; `--features auto` reads them as sentences";
        self.refuse(is_refused, why)
    }
}

/// The settings of a group, with their defaults.
fn of<T: Group>() -> Vec<(Setting, Value)> {
    let defaults = T::defaults();
    T::SETTINGS.iter().map(|setting| (*setting, defaults[setting.name].clone())).collect()
}

/// Whether its flag takes no value.
fn is_bare(setting: &Setting) -> bool {
    setting.means.is_some() || (setting.takes == Takes::Switch && setting.value.is_empty())
}

/// The flag of a setting; none if it has none.
fn arg((setting, default): &(Setting, Value)) -> Option<Arg> {
    let flag = setting.flag?;
    let default = match default {
        _ if !setting.unset.is_empty() => setting.unset.to_owned(),
        Value::Bool(true) if !is_bare(setting) => "yes".to_owned(),
        Value::String(name) if !is_bare(setting) => name.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let default = if default.is_empty() { default } else { format!(" [default: {default}]") };
    let is_repeated = matches!(setting.takes, Takes::Texts | Takes::Pairs | Takes::Numbers | Takes::ByClass);
    let repeated = if is_repeated { " (may be repeated)" } else { "" };
    let details = if setting.details().is_empty() { "" } else { ". " };
    let off = if setting.means == Some("false") { "Turn off: " } else { "" };
    let help = format!("{off}{}{repeated}{default}{details}{}", setting.meaning(), setting.details());
    let arg = Arg::new(flag).long(flag).aliases(setting.aliases).help(help);
    let arg = if let Some(short) = setting.short { arg.short(short) } else { arg };
    if is_bare(setting) {
        return Some(arg.action(ArgAction::SetTrue));
    }
    let action = if is_repeated { ArgAction::Append } else { ArgAction::Set };
    let is_column = setting.value == "COLUMN";
    Some(
        arg.action(action)
            .value_name(setting.value)
            .allow_hyphen_values(is_column)
            .value_parser(Word(*setting)),
    )
}

/// A word for a setting, checked as far as it can be alone.
#[derive(Clone)]
struct Word(Setting);

impl TypedValueParser for Word {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, word: &OsStr) -> Result<String, clap::Error> {
        let setting = self.0;
        let read = move |word: &str| -> Result<String, String> {
            if let Some(check) = setting.check {
                check(word).map_err(|error| error.to_string())?;
            }
            if matches!(
                setting.takes,
                Takes::AtLeast(_) | Takes::Bytes | Takes::Size | Takes::Run | Takes::Counts | Takes::FromZero
            ) {
                settings::value(&setting, &[word.to_owned()])?;
            }
            match (setting.takes, word) {
                (Takes::Switch, word) if !["yes", "no"].contains(&word) => {
                    Err("it should be yes or no".to_owned())
                }
                _ => Ok(word.to_owned()),
            }
        };
        TypedValueParser::parse_ref(&read, command, arg, word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        match self.0.takes {
            Takes::Switch => Some(Box::new(["yes", "no"].map(PossibleValue::new).into_iter())),
            Takes::Choice("algorithm") => None,
            Takes::Choice("format") => {
                let of_sentences = SENTENCE_FORMATS.iter().map(|format| format.info().name);
                let names = catalogue().names("format").into_iter().chain(of_sentences);
                Some(Box::new(names.map(PossibleValue::new).collect::<Vec<_>>().into_iter()))
            }
            Takes::Choice(table) if self.0.choices.is_empty() => {
                Some(Box::new(catalogue().names(table).into_iter().map(PossibleValue::new)))
            }
            Takes::Choice(_) => Some(Box::new(
                self.0.choices.iter().map(|named| PossibleValue::new(named.name).help(named.meaning)),
            )),
            _ => None,
        }
    }
}

/// Flags of settings as one part of a command's options.
macro_rules! flags {
    ($(#[doc = $doc:literal])+ $name:ident, $heading:expr, $settings:expr, $suited:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Default)]
        pub(crate) struct $name(pub(crate) Words);

        part_of_options!(
            $name,
            |command| {
                let suited: fn(Arg) -> Arg = $suited;
                let command = command.next_help_heading($heading);
                command.args($settings.iter().filter_map(arg).map(suited))
            },
            |matches| Self(typed(&$settings, matches))
        );
    };
}

flags!(
    /// How data is read.
    DataArgs, "Reading data",
    [of::<ReadOptions>(), of::<TextOptions>(), of::<Pictures>(), of::<Limits>()].concat(),
    |arg| arg
);

/// A command that shows rows to a model, without the options that it leaves to the model.
pub(crate) fn leave_to_the_model(command: Command) -> Command {
    command.mut_args(|arg| {
        let is_left = left_to_the_model().any(|flag| arg.get_id() == flag);
        if is_left { arg.hide(true) } else { arg }
    })
}

/// Flags of what a model says of the rows it is shown.
fn left_to_the_model() -> impl Iterator<Item = &'static str> {
    let all = [ReadOptions::SETTINGS, TextOptions::SETTINGS, Pictures::SETTINGS];
    let kept = all.into_iter().flatten().filter(|setting| setting.decided == Decided::Model);
    kept.filter_map(|setting| setting.flag)
}

impl DataArgs {
    pub(crate) fn format(&self) -> Option<&str> {
        self.0.word("format")
    }

    /// The words as a textbook means them: numbers as they are.
    pub(crate) fn as_textbook(&self) -> Self {
        let mut words = self.clone();
        words.0.add("precision", "f64");
        words
    }

    /// Refuses what a model says of the rows it is shown.
    pub(crate) fn leave_to_the_model(&self) -> Result<(), Failure> {
        match left_to_the_model().find(|flag| self.0.has(flag)) {
            Some(flag) => Err(Failure::Usage(format!(
                "`--{flag}` is decided when a model is trained; leave it out here"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses all options of reading where nothing is read.
    pub(crate) fn read_nothing(&self) -> Result<(), Failure> {
        match self.0.first() {
            Some(flag) => Err(Failure::Usage(format!(
                "`--{flag}` is about rows, but only a model is read here; leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// What the words mean for commands that learn: `--scale auto` is decided by what the rows are.
    pub(crate) fn to_learn(&self) -> Result<ReadOptions, Failure> {
        self.0.reading().map_err(Failure::Usage)
    }

    /// What the words mean for commands that take rows as they are, unless a scale is named.
    pub(crate) fn options(&self) -> Result<ReadOptions, Failure> {
        self.0.reading_as_stored().map_err(Failure::Usage)
    }
}

/// Parameters with several values each, to be tried in all combinations.
pub(crate) type ValuesToTry = Vec<(String, Vec<f64>)>;

/// The heading of the options about sentences in help.
pub(crate) const SENTENCES: &str = "Sentences";

flags!(
    /// What is to be learned, but for kernels and networks.
    LearningArgs, "Learning",
    [of::<Options>(), of::<Validation>()].concat().into_iter()
        .filter(|(setting, _)| setting.flag != Some("cost")).collect::<Vec<_>>(),
    |arg| arg
);

flags!(
    /// What mistakes cost, by class or pair of classes.
    GivenCosts,
    "Learning",
    of::<Options>().into_iter().filter(|(setting, _)| setting.flag == Some("cost")).collect::<Vec<_>>(),
    |arg| arg
);

flags!(
    /// Where a run starts that is shown step by step.
    StartArgs, "Learning", of::<Beginning>(), |arg| arg.allow_hyphen_values(true)
);

impl StartArgs {
    /// What the words mean.
    pub(crate) fn beginning(&self) -> Result<Beginning, Failure> {
        let values = Value::Object(self.0.values::<Beginning>().map_err(Failure::Usage)?);
        serde_json::from_value(values).map_err(|error| Failure::Usage(error.to_string()))
    }
}

/// A share, from 0 up to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(share) if (0.0..1.0).contains(&share) && !text.contains('%') => Ok(share),
        Ok(percent) if (0.0..100.0).contains(&percent) && (text.contains('%') || percent >= 2.0) => {
            Err(format!("it should be a share from 0 up to 1; did you mean {}?", percent / 100.0))
        }
        _ => Err("it should be a share from 0 up to 1, for instance 0.2".to_owned()),
    }
}

/// Which class is named once there are probabilities.
#[derive(Args, Debug, Clone)]
pub(crate) struct CostArgs {
    /// Predict the positive class, or the second of two, where its probability is at least this [default: 0.5]
    #[arg(long, value_name = "SHARE", conflicts_with = "cost", value_parser = share)]
    threshold: Option<f64>,
    #[command(flatten)]
    given: GivenCosts,
}

impl CostArgs {
    /// What mistakes cost, if that was typed.
    pub(crate) fn costs(&self) -> Result<Option<Costs>, Failure> {
        if let Some(share) = self.threshold {
            return Ok(Some(Costs::Threshold(share)));
        }
        let costs = self.given.0.values::<Options>().map_err(Failure::Usage)?.remove("costs");
        costs.map(serde_json::from_value).transpose().map_err(|error| Failure::Usage(error.to_string()))
    }

    /// The model, which decides by these costs instead of its own if some were typed.
    pub(crate) fn applied_to(&self, model: Model) -> Result<Model, Failure> {
        let Some(costs) = self.costs()? else { return Ok(model) };
        let model = model.with_costs(&costs)?;
        // Which of two classes is the positive one is the model's business, and easily taken for the other.
        if let (Costs::Threshold(share), [other, positive]) = (&costs, model.labels().names()) {
            ui::note(&format!(
                "note: `{positive}` is predicted where its probability is at least {share}; to set the cut of `{other}` to \
                 {share}, type --threshold {}",
                (1e6 * (1.0 - share)).round() / 1e6
            ));
        }
        Ok(model)
    }
}

flags!(
    /// What a network is made of.
    NetworkArgs, "Networks", of::<NetworkOptions>(), |arg| arg
);

flags!(
    /// How a training goes, and how its outcome is judged.
    RecipeArgs, "Training and estimate", [of::<Recipe>(), of::<MemoryLimit>()].concat(),
    |arg| match arg.get_id().as_str() {
        "no-refit" => arg.conflicts_with("folds"),
        "online" => arg.conflicts_with_all(["holdout", "folds", "export"]).conflicts_with_all(idle_online()),
        _ => arg,
    }
);

/// Flags of settings that do nothing where rows are learned online.
fn idle_online() -> Vec<&'static str> {
    let all = [Recipe::SETTINGS, MemoryLimit::SETTINGS, Options::SETTINGS, Validation::SETTINGS];
    let idle = all.into_iter().flatten().filter(|setting| !setting.idle_online.is_empty());
    idle.filter_map(|setting| setting.flag).collect()
}

impl RecipeArgs {
    /// What the words mean.
    pub(crate) fn recipe(&self) -> Result<Recipe, Failure> {
        self.0.judging().map_err(Failure::Usage)
    }
}

flags!(
    /// What a tagger of sentences is to be.
    TaggerArgs, SENTENCES, of::<TaggerOptions>(),
    |arg| if arg.get_id() == "violation" { arg.requires("beam") } else { arg }
);

impl TaggerArgs {
    /// The attributes that are named: a set, or a file of templates.
    pub(crate) fn features(&self) -> Option<&str> {
        self.0.word("features")
    }

    /// What the words mean.
    pub(crate) fn asked(&self) -> Result<Asked<TaggerOptions>, Failure> {
        let values = Value::Object(self.0.values::<TaggerOptions>().map_err(Failure::Usage)?);
        let asked: Result<Asked<TaggerOptions>, _> = serde_json::from_value(values);
        let mut asked = asked.map_err(|error| Failure::Usage(error.to_string()))?;
        if let Some(name) = self.features() {
            let (features, template) = features(name)?;
            asked.set("features", |options| options.features = features);
            asked.set("template", |options| options.template = template);
        }
        Ok(asked)
    }
}

/// A ready-made set by its name, or the templates of a file.
pub(crate) fn features(name: &str) -> Result<(String, Option<String>), Failure> {
    if name == AUTO || SETS.iter().any(|(set, _)| *set == name) {
        return Ok((name.to_owned(), None));
    }
    let text = files::read_text(Path::new(name)).map_err(|error| {
        let sets: Vec<&str> = SETS.iter().map(|(set, _)| *set).collect();
        let sets = sets.join(", ");
        Failure::Usage(format!("`--features` should be auto, {sets} or a file of templates, but {error}"))
    })?;
    Ok((TaggerOptions::default().features, Some(text)))
}

flags!(
    /// The kernel, and the map that stands in for it.
    NamedKernel, "Kernels",
    [of::<KernelOptions>(), of::<Mapping>()].concat().into_iter()
        .filter(|(setting, _)| setting.name == "name" || setting.name == "size").collect::<Vec<_>>(),
    |arg| match arg.get_id().as_str() {
        "map" => arg.help(map_help()),
        "map-size" => arg.requires("map"),
        _ => arg,
    }
);

flags!(
    /// What becomes of support vectors.
    SupportArgs, "Kernels",
    of::<KernelOptions>().into_iter().filter(|(setting, _)| setting.name != "name").collect::<Vec<_>>(),
    |arg| {
        let needed = if arg.get_id() == "removal" { "support-budget" } else { "kernel" };
        arg.requires(needed).conflicts_with("map")
    }
);

/// What takes the place of the product of rows, exactly or by a map that stands in for it.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct KernelArgs {
    #[command(flatten)]
    named: NamedKernel,
    #[command(flatten)]
    params: KernelParams,
}

/// Which maps there are, and what they stand in for.
fn map_help() -> String {
    let stands_for = |map: &catalogue::FeatureMap| match map.kernels {
        [] => format!("{} (any kernel)", map.name),
        kernels => format!("{} ({})", map.name, kernels.join(", ")),
    };
    let maps: Vec<String> = catalogue().maps.iter().map(stands_for).collect();
    let meaning = Mapping::SETTINGS[0].meaning();
    format!("{meaning}: {}. The first kernel in brackets is the default", maps.join(", "))
}

impl KernelArgs {
    /// What is wished of a kernel or a map, beside what is wished of a network.
    pub(crate) fn options(&self, network: &NetworkArgs) -> Result<Options, Failure> {
        let words = Words::joined(&[&self.named.0, &self.params.0, &network.0]);
        Ok(words.learning().map_err(Failure::Usage)?.options().clone())
    }
}

/// The parameters of all kernels of the table: a flag each, by the name that the kernel's file gives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct KernelParams(Words);

impl KernelParams {
    /// Each name once, with what the parameter means.
    fn known() -> BTreeMap<&'static str, &'static Param> {
        KERNELS.iter().flat_map(|info| info.params).map(|param| (param.name, param)).collect()
    }
}

part_of_options!(
    KernelParams,
    |command| {
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
            command.arg(arg.value_parser(by_name::<KernelValue>).allow_hyphen_values(true))
        })
    },
    |matches| {
        let word = |name: &str| Some(vec![matches.get_one::<KernelValue>(name)?.to_string()]);
        Self(Self::known().keys().filter_map(|name| Some(((*name).to_owned(), word(name)?))).collect())
    }
);

/// What is to be learned.
#[derive(Args, Debug, Clone)]
pub(crate) struct SpecArgs {
    #[command(flatten)]
    pub(crate) learning: LearningArgs,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    support: SupportArgs,
    #[command(flatten)]
    network: NetworkArgs,
}

impl SpecArgs {
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.learning.0.has(flag)
    }

    /// The words as a textbook means them: rows in the order they came, and the last hypothesis.
    pub(crate) fn as_textbook(&self) -> Self {
        let mut words = self.clone();
        // Rules that look for the worst row have an order of their own.
        if rosenblatt::algorithms::find(self.rule()).is_ok_and(|entry| !entry.info.picks_worst) {
            words.learning.0.add("order", "given");
        }
        words.learning.0.add("readout", "last");
        words.learning.0.set("patience", vec!["0".to_owned()]);
        words
    }

    /// The words as a textbook means back-propagation: plain descent, unless another is asked for.
    pub(crate) fn as_plain_descent(&self) -> Self {
        let mut plain = self.as_textbook();
        plain.network.0.add("optimiser", "sgd");
        // What is typed comes later, and counts.
        let mut params = ["momentum=0", "nesterov=0", "weight-decay=0"].map(str::to_owned).to_vec();
        params.extend(plain.learning.0.remove("param"));
        plain.learning.0.set("param", params);
        plain
    }

    /// The rule that is named, or the usual one.
    fn rule(&self) -> &str {
        self.learning.0.word("algorithm").filter(|name| *name != AUTO).unwrap_or("perceptron")
    }

    /// Who decides what is learned.
    pub(crate) fn choice(&self) -> Choice {
        self.learning.0.choice()
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

    /// Refuses options of learning, where there is a model already.
    pub(crate) fn leave_to_the_model(&self) -> Result<(), Failure> {
        if self.words().is_empty() {
            return Ok(());
        }
        let message = "`--model` is trained already; leave out options of learning";
        Err(Failure::Usage(message.to_owned()))
    }

    /// What the words mean; the error is about the words.
    pub(crate) fn spec(&self) -> Result<Spec, Failure> {
        self.spec_from(&Beginning::default())
    }

    /// The same for a run that starts there.
    pub(crate) fn spec_from(&self, beginning: &Beginning) -> Result<Spec, Failure> {
        beginning.spec(self.options()?).map_err(|error| Failure::Usage(Failure::words(&error)))
    }

    /// What the words mean but for the parameters of the rule, of which each may have several values.
    pub(crate) fn asked_and_values(&self) -> Result<(Asked<Options>, ValuesToTry), Failure> {
        let several = |word: &String| {
            let wrong = || Failure::Usage(format!("`--param` should be NAME=VALUE,..., but is `{word}`"));
            let (name, values) = word.split_once('=').ok_or_else(wrong)?;
            let values = values.split(',').map(|value| value.trim().parse().map_err(|_| wrong()));
            Ok((name.to_owned(), values.collect::<Result<_, Failure>>()?))
        };
        let mut words = self.clone();
        let params = words.learning.0.remove("param");
        let values = params.iter().map(several).collect::<Result<_, Failure>>()?;
        Ok((words.asked()?, values))
    }

    /// What the words mean, not checked yet.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        Ok(self.asked()?.options().clone())
    }

    /// The same, with what was typed known from what was not.
    pub(crate) fn asked(&self) -> Result<Asked<Options>, Failure> {
        self.words().learning().map_err(Failure::Usage)
    }

    fn words(&self) -> Words {
        let Self { learning, kernel, support, network } = self;
        Words::joined(&[&learning.0, &kernel.named.0, &kernel.params.0, &support.0, &network.0])
    }
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

/// A choice from its name.
pub(crate) fn by_name<T: FromStr<Err = NameError>>(name: &str) -> Result<T, NameError> {
    name.parse()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt::catalogue::group_of;
    use serde_json::json;

    rosenblatt::learning::settings! {
        /// A group that stands nowhere else.
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = "kebab-case")]
        struct Added: Learning {
            /// Number of coins to toss. Each is fair.
            n_coins: u64 = 3 => Setting::at_least(1).flag("coins").aliases(&["pennies"]);
        }
    }

    /// One declaration is a flag with its help, a value, the words that spell it, its names in other languages, and an entry
    /// of the catalogue, of the guide's page, of the JSON Schema and of the server's description. Python's classes are
    /// written from the catalogue: `python/tests/test_settings.py` adds an entry and finds it there.
    #[test]
    fn a_setting_that_is_added_in_one_place_is_found_everywhere() {
        flags!(
            /// The flags of that group.
            AddedArgs, "Added", of::<Added>(), |arg| arg
        );
        let mut command = AddedArgs::augment_args(Command::new("toss"));
        let help = command.render_help().to_string();
        assert!(help.contains("--coins <N>  Number of coins to toss [default: 3]. Each is fair"), "{help}");
        let typed = |line: &str| {
            let matches = command.clone().try_get_matches_from(line.split(' ')).unwrap();
            AddedArgs::from_arg_matches(&matches).unwrap().0.values::<Added>().unwrap()
        };
        assert!(typed("toss").is_empty());
        let values = typed("toss --pennies 3");
        assert_eq!(json!(values), json!({ "n-coins": 3 }));
        let added: Added = serde_json::from_value(Value::Object(values)).unwrap();
        assert_eq!(added.n_coins, Added::default().n_coins);
        let setting = &Added::SETTINGS[0];
        assert_eq!(settings::words(setting, &json!(7)), [("coins".to_owned(), Some("7".to_owned()))]);
        assert_eq!(
            (setting.python_name(), setting.spark_name()),
            ("n_coins".to_owned(), "nCoins".to_owned())
        );
        let catalogue = catalogue().with(group_of::<Added>("learning"));
        let listed = json!(catalogue);
        let groups = listed["options"].as_array().unwrap();
        let learning = groups.iter().find(|group| group["name"] == "learning").unwrap();
        let entry = learning["options"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&entry["name"], &entry["default"], &entry["flag"]),
            (&json!("n-coins"), &json!(3), &json!("coins"))
        );
        assert!(
            catalogue.reference().contains(
                "| `n-coins` | `--coins` | `n_coins` | 3 | Number of coins to toss. Each is fair |"
            )
        );
        let schema = json!({ "type": "integer", "minimum": 1, "default": 3, "description": "Number of coins to toss. Each is fair" });
        assert_eq!(catalogue.schema()["$defs"]["learning"]["properties"]["n-coins"], schema);
        let described = rosenblatt_server::openapi::described(&catalogue);
        assert_eq!(described["components"]["schemas"]["learning"]["properties"]["n-coins"], schema);
        // In a group of its own, it is one of those that nothing refers to.
        let apart = rosenblatt::catalogue().with(group_of::<Added>("added"));
        assert_eq!(apart.schema()["$defs"]["added"]["properties"]["n-coins"], schema);
        assert!(rosenblatt_server::openapi::described(&apart)["components"]["schemas"]["added"].is_null());
    }

    /// Every declared setting with a flag is an option of `train`, under its own meaning.
    #[test]
    fn every_declared_flag_is_an_option_of_train() {
        let whole = crate::command(crate::brief::Help::All);
        let train = whole.find_subcommand("train").unwrap();
        let mut n_flags = 0;
        for option in catalogue().options.iter().flat_map(|group| &group.options) {
            let Some(flag) = option.flag else { continue };
            let found = train.get_arguments().find(|arg| arg.get_long() == Some(flag));
            let help = found.and_then(Arg::get_help).map(ToString::to_string).unwrap_or_default();
            assert!(help.trim_start_matches("Turn off: ").starts_with(option.meaning), "--{flag}: {help}");
            n_flags += 1;
        }
        assert!(n_flags > 50, "{n_flags}");
    }
}
