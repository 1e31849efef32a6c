"""The linear peers of `accuracy.py`, as their users run them: what comes of a file to learn from, and how long it takes.

accuracy_peers.py WHO KIND FILE reads the file, fits and tells the seconds from file to model, packages loaded before: pandas and
scikit-learn, which read and encode for everybody. That of VW is loaded within the time.
"""
import os
import re
import sys
import time
import warnings

warnings.filterwarnings("ignore")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_svmlight_file
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import HuberRegressor, LassoCV, LogisticRegression, Perceptron, RidgeCV, SGDClassifier, SGDRegressor
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

LEARNERS = {
    "perceptron": lambda: Perceptron(random_state=0),
    "sgd": lambda: SGDClassifier(random_state=0),
    "averaged-sgd": lambda: SGDClassifier(average=True, random_state=0),
    "linear-svc": lambda: LinearSVC(),
    "logistic": lambda: LogisticRegression(max_iter=1000),
}
PEERS = [*LEARNERS, "vw"]


def read(kind, path):
    if kind == "libsvm":
        return load_svmlight_file(path, n_features=200)
    table = pd.read_csv(path, dtype={"label": str}, keep_default_na=kind == "table")
    return (table["text"] if kind == "text" else table.drop(columns=["label"])), table["label"].values


def pipeline(kind, learner):
    if kind == "libsvm":
        return learner
    if kind == "text":
        return make_pipeline(TfidfVectorizer(), learner)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    names = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        make_column_transformer(
            (numbers, make_column_selector(dtype_include=["number"])),
            (names, make_column_selector(dtype_exclude=["number"]))),
        learner)


def fit(learner, kind, path):
    x, y = read(kind, path)
    model = pipeline(kind, learner()).fit(x, y)

    def wrong(path):
        x, y = read(kind, path)
        return float(np.mean(model.predict(x) != y))

    return wrong


def fit_vowpal_wabbit(kind, path):
    """One pass of VW as it comes, one against all; categories and numbers by name."""
    from vowpalwabbit import Workspace

    clean = re.compile(r"[\s:|]+")

    def lines(path):
        x, y = read(kind, path)
        if kind == "text":
            return [clean.sub(" ", text) for text in x], y
        if kind == "libsvm":
            return [" ".join(f"{i}:{v:g}" for i, v in zip(row.indices, row.data)) for row in x], y
        words = []
        for name in x.columns:
            column, name = x[name], clean.sub("_", name)
            if column.dtype.kind in "if":
                words.append([f"{name}:{value:g}" if value == value else "" for value in column])
            else:
                words.append([clean.sub("_", f"{name}={value}") for value in column])
        return [" ".join(row) for row in zip(*words)], y

    rows, y = lines(path)
    classes = sorted(set(y))
    vw = Workspace(f"--oaa {max(len(classes), 2)} --quiet")
    number = {name: place + 1 for place, name in enumerate(classes)}
    for row in np.random.RandomState(0).permutation(len(y)):
        vw.learn(f"{number[y[row]]} | {rows[row]}")

    def wrong(path):
        rows, y = lines(path)
        predicted = [classes[min(vw.predict("| " + row), len(classes)) - 1] for row in rows]
        vw.finish()
        return float(np.mean(np.array(predicted) != y))

    return wrong


# As they come, but for the threads: one, so that processor time is what the fit takes.
CURVED = {
    "ebm": lambda: curved_ebm(),
    "ebm-no-pairs": lambda: curved_ebm(interactions=0),
    "hist-gb": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
}


def curved_ebm(**settings):
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0, **settings)


def categories(x, levels):
    """Words as categories of the rows to learn from; more than trees take are numbered in their order."""
    columns = {}
    for name in x.columns:
        if name not in levels:
            columns[name] = x[name]
        else:
            column = pd.Series(pd.Categorical(x[name], categories=levels[name]), index=x.index)
            columns[name] = column if len(levels[name]) <= 255 else column.cat.codes
    return pd.DataFrame(columns)


def fit_curved(who, path):
    """What a learner of curves or trees makes of a table: a function that returns its error and area on another one."""
    x, y = read("table", path)
    levels = {name: sorted(x[name].dropna().unique(), key=str) for name in x.columns if x[name].dtype.kind not in "iufb"}
    prepare = (lambda x: categories(x, levels)) if who == "hist-gb" else (lambda x: x)
    model = CURVED[who]().fit(prepare(x), y)

    def judge(path):
        x, y = read("table", path)
        shares = model.predict_proba(prepare(x))
        return float(np.mean(model.classes_[shares.argmax(1)] != y)), area(model.classes_, shares, y)

    return judge


# For numbers: linear ones on columns that are standardised, as the target is for those that need it.
NUMBER_LEARNERS = {
    "ridge": lambda: RidgeCV(np.logspace(-3, 3, 7)),
    "lasso": lambda: LassoCV(max_iter=10_000, random_state=0),
    "huber": lambda: HuberRegressor(max_iter=1000),
    "sgd": lambda: SGDRegressor(random_state=0),
    "linear-svr": lambda: LinearSVR(max_iter=10_000),
}
NUMBER_PEERS = [*NUMBER_LEARNERS, "ebm", "ebm-no-pairs", "hist-gb"]


def number_learner(who):
    if who == "hist-gb":
        return HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0)
    if who.startswith("ebm"):
        from interpret.glassbox import ExplainableBoostingRegressor

        return ExplainableBoostingRegressor(n_jobs=1, random_state=0, **({"interactions": 0} if who == "ebm-no-pairs" else {}))
    return TransformedTargetRegressor(pipeline("table", NUMBER_LEARNERS[who]()), transformer=StandardScaler())


def fit_numbers(who, path):
    """What a peer makes of a table of numbers to predict: a function that returns its root mean squared error on another one."""
    def prepared(path):
        table = pd.read_csv(path)
        x, y = table.drop(columns=["label"]), table["label"].values
        return (categories(x, levels) if who == "hist-gb" else x), y

    x, y = read("table", path)
    levels = {name: sorted(x[name].dropna().unique(), key=str) for name in x.columns if x[name].dtype.kind not in "iufb"}
    x, y = prepared(path)
    model = number_learner(who).fit(x, y)

    def judge(path):
        x, y = prepared(path)
        return float(np.sqrt(np.mean((model.predict(x) - y) ** 2)))

    return judge


def area(classes, shares, y):
    """The mean over classes of the area under the curve of each against the rest."""
    areas = [roc_auc_score(y == name, shares[:, place]) for place, name in enumerate(classes) if 0 < sum(y == name) < len(y)]
    return float(np.mean(areas))


def fit_by_name(who, kind, path):
    """What a peer makes of a file: a function that says which part of the rows of another file it gets wrong."""
    return fit_vowpal_wabbit(kind, path) if who == "vw" else fit(LEARNERS[who], kind, path)


if __name__ == "__main__":
    start = time.perf_counter()
    fit_by_name(*sys.argv[1:])
    print(time.perf_counter() - start)
