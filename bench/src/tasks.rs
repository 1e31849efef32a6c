//! Who does what on which data: the table of everything that is measured.
//!
//! A command is a line of words with names in braces: `{ours}` is the program, `{vw}`, `{py}` and `{peers}` are the
//! peers, `{train.svm}` is a file of the data set, `{model}` a file for this task alone. `&&` stands between commands
//! of which the last is measured.

/// What is compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// One pass from a text file to a model on disk.
    FileToModel,
    /// A pass over rows that were parsed before, out of a cache on disk.
    LaterPass,
    /// One pass from an array on disk to a model on disk.
    FromArray,
    /// A pass over rows in memory, plain.
    Epoch,
    /// The same, averaged.
    AveragedEpoch,
    /// From a text file to a model that is as good as can be.
    Accuracy,
    /// From a text file and a model to classes on disk.
    Predict,
    /// Rows in memory, one thread.
    PredictMemory,
    /// The same, two threads.
    PredictMemoryTwo,
    /// What the machine allows.
    Limit,
}

impl Group {
    pub(super) const ALL: [Self; 10] = [
        Self::FileToModel,
        Self::LaterPass,
        Self::FromArray,
        Self::Epoch,
        Self::AveragedEpoch,
        Self::Accuracy,
        Self::Predict,
        Self::PredictMemory,
        Self::PredictMemoryTwo,
        Self::Limit,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::FileToModel => "file to model, one pass",
            Self::LaterPass => "later pass, from a cache on disk",
            Self::FromArray => "array on disk to model, one pass",
            Self::Epoch => "steady pass in memory (11 minus 1, by 10)",
            Self::AveragedEpoch => "steady averaged pass in memory",
            Self::Accuracy => "file to a good model",
            Self::Predict => "predict from text to a file",
            Self::PredictMemory => "predict in memory, one thread",
            Self::PredictMemoryTwo => "predict in memory, two threads",
            Self::Limit => "limit",
        }
    }
}

/// One line of the table.
pub(super) struct Task {
    pub(super) workload: &'static str,
    pub(super) group: Group,
    pub(super) who: &'static str,
    pub(super) command: &'static str,
    /// How accurate the model is on the rows held out; empty if it is not measured.
    pub(super) judge: &'static str,
    /// Whether the command holds `{passes}` and is run with 1 and 11 of them.
    pub(super) steady: bool,
}

impl Task {
    pub(super) fn is_ours(&self) -> bool {
        self.who.starts_with("ours")
    }

    /// What tells it from all others.
    pub(super) fn id(&self) -> String {
        format!("{} / {} / {}", self.workload, self.group.title(), self.who)
    }
}

const fn task(
    workload: &'static str,
    group: Group,
    who: &'static str,
    command: &'static str,
    judge: &'static str,
) -> Task {
    Task { workload, group, who, command, judge, steady: false }
}

const fn steady(workload: &'static str, group: Group, who: &'static str, command: &'static str) -> Task {
    Task { workload, group, who, command, judge: "", steady: true }
}

const JUDGE_SVM: &str = "{ours} evaluate {test.svm} --model {model} --json -q";
const JUDGE_CSV: &str = "{ours} evaluate {test.csv} --model {model} --json -q";
const JUDGE_TSV: &str = "{ours} evaluate {test.tsv} --model {model} --json -q";
const JUDGE_VW: &str =
    "{vw} -t -i {model} -d {test.vw} -p {model}.out --quiet && {py} {peers} compare {model}.out {test.vw}";
const JUDGE_LINEAR: &str = "liblinear-predict {test.svm} {model} {model}.out";

const OURS_SVM: &str =
    "{ours} train {train.svm} --scale none --online --classes={classes} --model {model} -q";
const OURS_SVM_ONE: &str =
    "{ours} train {train.svm} --scale none --online --classes={classes} --threads 1 --model {model} -q";
const OURS_CSV: &str =
    "{ours} train {train.csv} --label label --scale none --online --classes={classes} --model {model} -q";
const VW_SGD: &str = "{vw} --sgd --loss_function hinge -d {train.vw} -f {model} --quiet";
const VW_HINGE: &str = "{vw} --loss_function hinge -d {train.vw} -f {model} --quiet";
const VW_OAA: &str = "{vw} --sgd --oaa 10 --loss_function hinge -d {train.vw} -f {model} --quiet";
const VW_OAA_HINGE: &str = "{vw} --oaa 10 --loss_function hinge -d {train.vw} -f {model} --quiet";
const LINEAR: &str = "liblinear-train -s 2 -q {train.svm} {model}";
const LINEAR_DUAL: &str = "liblinear-train -s 3 -q {train.svm} {model}";

const PASSES: &str =
    "--order given --holdout 0 --patience 0 --calibrate none --json -q --epochs {passes} --model {model}";

/// Everything that is measured.
pub(super) fn tasks() -> Vec<Task> {
    use Group::{
        Accuracy, AveragedEpoch, Epoch, FileToModel, FromArray, LaterPass, Limit, Predict, PredictMemory,
        PredictMemoryTwo,
    };
    let mut tasks = Vec::new();
    for set in ["sparse-rcv1", "sparse-sep"] {
        tasks.extend([
            task(set, FileToModel, "ours, averaged", OURS_SVM, JUDGE_SVM),
            task(set, FileToModel, "ours, averaged, one thread", OURS_SVM_ONE, JUDGE_SVM),
            task(set, FileToModel, "VW --sgd hinge", VW_SGD, JUDGE_VW),
            task(set, FileToModel, "VW hinge, defaults", VW_HINGE, JUDGE_VW),
            task(set, FileToModel, "LIBLINEAR -s 2", LINEAR, JUDGE_LINEAR),
            task(
                set,
                FileToModel,
                "scikit-learn load + Perceptron",
                "{py} {peers} train perceptron {train.svm} {model}",
                "{py} {peers} judge perceptron {model} {test.svm}",
            ),
            task(
                set,
                FileToModel,
                "scikit-learn load + averaged SGD",
                "{py} {peers} train averaged {train.svm} {model}",
                "{py} {peers} judge averaged {model} {test.svm}",
            ),
            steady(
                set,
                LaterPass,
                "ours",
                "{ours} train {train.svm} --scale none --memory {memory} --cache {model}.cache --order given --holdout 0 --patience 0 --json -q --epochs {passes} --model {model}",
            ),
            steady(
                set,
                LaterPass,
                "VW --sgd hinge, warm cache",
                "{vw} --sgd --loss_function hinge -d {train.vw} --cache_file {model}.cache --holdout_off --passes {passes} -f {model} --quiet",
            ),
            task(
                set,
                LaterPass,
                "VW --sgd hinge, warm cache, whole process",
                "{vw} --sgd --loss_function hinge -d {train.vw} --cache_file {model}.cache -f {model} --quiet && {vw} --sgd --loss_function hinge -d {train.vw} --cache_file {model}.cache -f {model} --quiet",
                "",
            ),
            steady(set, Epoch, "ours", "{ours} train {train.svm} --scale none --readout last {passes-options}"),
            steady(set, AveragedEpoch, "ours", "{ours} train {train.svm} --scale none --readout averaged {passes-options}"),
            task(set, Epoch, "scikit-learn Perceptron", "{py} {peers} epochs perceptron {train.svm}", ""),
            task(set, AveragedEpoch, "scikit-learn averaged SGD", "{py} {peers} epochs averaged {train.svm}", ""),
            task(set, Predict, "ours", "{ours} train {train.svm} --scale none --online --model {model} -q && {ours} predict {test.svm} --model {model} --output {model}.out --to lines -q", ""),
            task(set, Predict, "VW", "{vw} --sgd --loss_function hinge -d {train.vw} -f {model} --quiet && {vw} -t -i {model} -d {test.vw} -p {model}.out --quiet", ""),
            task(set, Predict, "LIBLINEAR", "liblinear-train -s 2 -e 0.5 -q {train.svm} {model} && liblinear-predict {test.svm} {model} {model}.out", ""),
            task(set, PredictMemory, "ours", "{bench} bench predict-probe 1 {classes-count} {test.svm}", ""),
            task(set, PredictMemory, "scikit-learn", "{py} {peers} memory perceptron {test.svm}", ""),
            task(set, PredictMemoryTwo, "ours", "{bench} bench predict-probe 2 {classes-count} {test.svm}", ""),
            task(set, PredictMemoryTwo, "scikit-learn", "{py} {peers} memory perceptron {test.svm}", ""),
            task(set, Limit, "touch every byte of the text", "{bench} bench touch-probe {train.svm}", ""),
        ]);
    }
    for set in ["dense-small-d", "dense-wide", "multiclass"] {
        let is_multiclass = set == "multiclass";
        let vw = if is_multiclass { [VW_OAA, VW_OAA_HINGE] } else { [VW_SGD, VW_HINGE] };
        tasks.extend([
            task(set, FileToModel, "ours, averaged, CSV", OURS_CSV, JUDGE_CSV),
            task(set, FileToModel, "ours, averaged, libsvm", OURS_SVM, JUDGE_SVM),
            task(set, FileToModel, "VW --sgd hinge", vw[0], JUDGE_VW),
            task(set, FileToModel, "VW hinge, defaults", vw[1], JUDGE_VW),
            task(set, FileToModel, "LIBLINEAR -s 2", LINEAR, JUDGE_LINEAR),
            task(
                set,
                FileToModel,
                "Polars + scikit-learn Perceptron",
                "{py} {peers} train perceptron {train.csv} {model}",
                "{py} {peers} judge perceptron {model} {test.csv}",
            ),
            task(
                set,
                FileToModel,
                "Polars + scikit-learn averaged SGD",
                "{py} {peers} train averaged {train.csv} {model}",
                "{py} {peers} judge averaged {model} {test.csv}",
            ),
            task(
                set,
                FileToModel,
                "Polars + mlpack perceptron",
                "{py} {peers} train mlpack {train.csv} {model}",
                "{py} {peers} judge mlpack {model} {test.csv}",
            ),
            task(
                set,
                FromArray,
                "ours, averaged",
                "{ours} train {train.npy} --scale none --labels {train.labels.npy} --online --classes={classes} --model {model} -q",
                "",
            ),
            task(
                set,
                FromArray,
                "NumPy + scikit-learn Perceptron",
                "{py} {peers} train perceptron {train.npy} {model}",
                "",
            ),
            steady(
                set,
                Epoch,
                "ours",
                "{ours} train {train.npy} --scale none --labels {train.labels.npy} --readout last {passes-options}",
            ),
            steady(
                set,
                AveragedEpoch,
                "ours",
                "{ours} train {train.npy} --scale none --labels {train.labels.npy} --readout averaged {passes-options}",
            ),
            task(set, Epoch, "scikit-learn Perceptron", "{py} {peers} epochs perceptron {train.npy}", ""),
            task(set, Epoch, "mlpack perceptron", "{py} {peers} epochs mlpack {train.npy}", ""),
            task(set, AveragedEpoch, "scikit-learn averaged SGD", "{py} {peers} epochs averaged {train.npy}", ""),
            task(set, Predict, "ours", "{ours} train {train.csv} --label label --scale none --online --model {model} -q && {ours} predict {test.csv} --model {model} --output {model}.out --to lines -q", ""),
            task(set, Predict, "VW", if is_multiclass {
                "{vw} --sgd --oaa 10 --loss_function hinge -d {train.vw} -f {model} --quiet && {vw} -t -i {model} -d {test.vw} -p {model}.out --quiet"
            } else {
                "{vw} --sgd --loss_function hinge -d {train.vw} -f {model} --quiet && {vw} -t -i {model} -d {test.vw} -p {model}.out --quiet"
            }, ""),
            task(set, PredictMemory, "ours", "{bench} bench predict-probe 1 {classes-count} {test.npy} {test.labels.npy}", ""),
            task(set, PredictMemory, "scikit-learn", "{py} {peers} memory perceptron {test.npy}", ""),
            task(set, PredictMemoryTwo, "ours", "{bench} bench predict-probe 2 {classes-count} {test.npy} {test.labels.npy}", ""),
            task(set, PredictMemoryTwo, "scikit-learn", "{py} {peers} memory perceptron {test.npy}", ""),
            task(set, Limit, "touch every byte of the text", "{bench} bench touch-probe {train.csv}", ""),
            task(set, Limit, "touch every byte of the array", "{bench} bench touch-probe {train.npy}", ""),
        ]);
    }
    // A fifth of the features is set, so that both ways to store them are worth a look.
    let set = "multiclass";
    tasks.extend([
        task(set, Predict, "ours, libsvm", "{ours} train {train.svm} --scale none --online --model {model} -q && {ours} predict {test.svm} --model {model} --output {model}.out --to lines -q", ""),
        steady(set, Epoch, "ours, sparse rows", "{ours} train {train.svm} --scale none --readout last {passes-options}"),
        steady(set, AveragedEpoch, "ours, sparse rows", "{ours} train {train.svm} --scale none --readout averaged {passes-options}"),
        task(
            set,
            Epoch,
            "scikit-learn Perceptron, sparse rows",
            "{py} {peers} epochs perceptron {train.svm}",
            "",
        ),
        task(
            set,
            PredictMemory,
            "ours, sparse rows",
            "{bench} bench predict-probe 1 {classes-count} {test.svm}",
            "",
        ),
        task(
            set,
            PredictMemoryTwo,
            "ours, sparse rows",
            "{bench} bench predict-probe 2 {classes-count} {test.svm}",
            "",
        ),
        task(
            set,
            PredictMemory,
            "scikit-learn, sparse rows",
            "{py} {peers} memory perceptron {test.svm}",
            "",
        ),
    ]);
    tasks.push(task(
        "dense-small-d",
        FileToModel,
        "river Perceptron, the first 5,000 rows",
        "{py} {peers} train river {train.csv} {model}",
        "{py} {peers} judge river {model} {test.csv}",
    ));
    for set in ["sparse-rcv1", "dense-small-d", "multiclass"] {
        tasks.extend([
            task(set, Accuracy, "ours, arow, one pass", "{ours} train {train.svm} --scale none --algorithm arow --online --classes={classes} --model {model} -q", JUDGE_SVM),
            task(
                set,
                Accuracy,
                "ours, arow read out last, 3 passes",
                "{ours} train {train.svm} --scale none --algorithm arow --readout last --epochs 3 --patience 0 --holdout 0 --calibrate none --model {model} -q",
                JUDGE_SVM,
            ),
            task(
                set,
                Accuracy,
                "ours, arow (r = 2) read out last, 4 passes",
                "{ours} train {train.svm} --scale none --algorithm arow --param r=2 --readout last --epochs 4 --patience 0 --holdout 0 --calibrate none --model {model} -q",
                JUDGE_SVM,
            ),
            task(
                set,
                Accuracy,
                "ours, logistic (rate 2), averaged, 8 passes",
                "{ours} train {train.svm} --scale none --algorithm logistic --rate 2 --readout averaged --epochs 8 --patience 0 --holdout 0 --calibrate none --model {model} -q",
                JUDGE_SVM,
            ),
            task(set, Accuracy, "ours, logistic, one pass", "{ours} train {train.svm} --scale none --algorithm logistic --online --classes={classes} --model {model} -q", JUDGE_SVM),
            task(set, Accuracy, "ours, averaged, early stopping", "{ours} train {train.svm} --scale none --holdout 0 --calibrate none --patience 2 --model {model} -q", JUDGE_SVM),
            task(set, Accuracy, "LIBLINEAR -s 3", LINEAR_DUAL, JUDGE_LINEAR),
        ]);
    }
    let set = "text";
    tasks.extend([
        task(set, FileToModel, "ours, averaged tf-idf", "{ours} train {train.tsv} --label label --text text --order given --epochs 1 --patience 0 --holdout 0 --calibrate none --model {model} -q", JUDGE_TSV),
        task(set, FileToModel, "VW hinge, defaults", "{vw} --loss_function hinge -d {train.vwtext} -f {model} --quiet", "{vw} -t -i {model} -d {test.vwtext} -p {model}.out --quiet && {py} {peers} compare {model}.out {test.vwtext}"),
        task(set, FileToModel, "scikit-learn tf-idf + averaged SGD", "{py} {peers} train text {train.tsv} {model}", "{py} {peers} judge text {model} {test.tsv}"),
        task(set, Limit, "touch every byte of the text", "{bench} bench touch-probe {train.tsv}", ""),
    ]);
    let set = "kernel-small";
    tasks.extend([
        task(set, FileToModel, "ours, voted kernel perceptron, poly 2", "{ours} train {train.svm} --scale none --kernel polynomial --degree 2 --readout voted --order given --epochs 1 --patience 0 --holdout 0 --calibrate none --model {model} -q", JUDGE_SVM),
        task(set, FileToModel, "ours, nystroem map, poly 2", "{ours} train {train.svm} --scale none --map nystroem --map-size 300 --kernel polynomial --degree 2 --algorithm pa1 --order given --epochs 1 --patience 0 --holdout 0 --calibrate none --model {model} -q", JUDGE_SVM),
        task(set, FileToModel, "ours, sketch map, poly 2", "{ours} train {train.svm} --scale none --map sketch --map-size 1024 --degree 2 --algorithm pa1 --order given --epochs 1 --patience 0 --holdout 0 --calibrate none --model {model} -q", JUDGE_SVM),
        task(set, FileToModel, "ours, Fourier map, rbf", "{ours} train {train.svm} --scale none --map fourier --map-size 1024 --gamma 0.05 --algorithm pa1 --order given --epochs 1 --patience 0 --holdout 0 --calibrate none --model {model} -q", JUDGE_SVM),
        task(set, FileToModel, "Weka VotedPerceptron, poly 2", "{weka} weka.classifiers.functions.VotedPerceptron -E 2.0 -t {train.arff} -T {test.arff} -no-cv -o -d {model}", "{weka} weka.classifiers.functions.VotedPerceptron -l {model} -T {test.arff} -o"),
        task(set, FileToModel, "libsvm SVC, poly 2 (scikit-learn)", "{py} {peers} train svc {train.npy} {model}", "{py} {peers} judge svc {model} {test.npy}"),
        task(set, FileToModel, "scikit-learn RBFSampler + averaged SGD", "{py} {peers} train fourier {train.npy} {model}", "{py} {peers} judge fourier {model} {test.npy}"),
        task(set, Limit, "touch every byte of the text", "{bench} bench touch-probe {train.svm}", ""),
    ]);
    tasks
}

/// The options of a training whose passes are counted.
pub(super) fn passes_options() -> &'static str {
    PASSES
}

/// What must hold within one run.
pub(super) struct Target {
    pub(super) workload: &'static str,
    pub(super) group: Group,
    /// Which of ours, as the beginning of its name.
    pub(super) ours: &'static str,
    /// Which peers, as the beginning of their names; empty for every one.
    pub(super) peer: &'static str,
    /// How many times faster.
    pub(super) ratio: f64,
}

const fn target(
    workload: &'static str,
    group: Group,
    ours: &'static str,
    peer: &'static str,
    ratio: f64,
) -> Target {
    Target { workload, group, ours, peer, ratio }
}

/// Speed against peers; bandwidth, memory, accuracy and Weka are looked at where they are reported.
pub(super) const TARGETS: &[Target] = &[
    target("sparse-rcv1", Group::FileToModel, "ours", "VW --sgd", 6.0),
    target("sparse-rcv1", Group::FileToModel, "ours", "scikit-learn", 45.0),
    target("sparse-sep", Group::FileToModel, "ours", "VW --sgd", 6.0),
    target("sparse-sep", Group::FileToModel, "ours", "scikit-learn", 45.0),
    target("sparse-rcv1", Group::LaterPass, "ours", "VW --sgd", 5.0),
    target("sparse-sep", Group::LaterPass, "ours", "VW --sgd", 5.0),
    target("dense-small-d", Group::FileToModel, "ours", "", 6.0),
    target("dense-small-d", Group::FileToModel, "ours", "VW", 10.0),
    target("dense-wide", Group::FileToModel, "ours", "VW", 6.0),
    target("dense-wide", Group::FromArray, "ours", "NumPy", 5.0),
    target("multiclass", Group::FileToModel, "ours", "VW", 4.0),
    target("multiclass", Group::FileToModel, "ours", "Polars + scikit-learn", 25.0),
    target("sparse-rcv1", Group::Epoch, "ours", "scikit-learn", 1.0),
    target("sparse-sep", Group::Epoch, "ours", "scikit-learn", 1.0),
    target("dense-small-d", Group::Epoch, "ours", "scikit-learn", 1.5),
    target("dense-wide", Group::Epoch, "ours", "scikit-learn", 2.5),
    target("multiclass", Group::Epoch, "ours", "scikit-learn", 5.0),
    target("sparse-rcv1", Group::Predict, "ours", "VW", 5.0),
    target("sparse-sep", Group::Predict, "ours", "VW", 5.0),
    target("dense-small-d", Group::Predict, "ours", "VW", 5.0),
    target("dense-wide", Group::Predict, "ours", "VW", 5.0),
    target("multiclass", Group::Predict, "ours", "VW", 5.0),
    target("sparse-rcv1", Group::PredictMemory, "ours", "scikit-learn", 1.5),
    target("dense-small-d", Group::PredictMemory, "ours", "scikit-learn", 1.5),
    target("dense-wide", Group::PredictMemory, "ours", "scikit-learn", 1.5),
    target("multiclass", Group::PredictMemory, "ours", "scikit-learn", 1.5),
    target("sparse-rcv1", Group::PredictMemoryTwo, "ours", "scikit-learn", 2.5),
    target("dense-small-d", Group::PredictMemoryTwo, "ours", "scikit-learn", 2.5),
    target("dense-wide", Group::PredictMemoryTwo, "ours", "scikit-learn", 2.5),
    target("multiclass", Group::PredictMemoryTwo, "ours", "scikit-learn", 2.5),
];
