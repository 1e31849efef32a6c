"""Reads what `convert` wrote with the tools that people read such files with, and compares.

Called by the test `other_tools_read_what_was_written` with the folder of the files. Needs numpy, pandas,
pyarrow, scikit-learn and zstandard.
"""

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import zstandard
from sklearn.datasets import load_svmlight_file

folder = Path(sys.argv[1])
expected = pd.read_csv(Path(__file__).parent / "table.csv")
COLUMNS = [name for name in expected.columns if name != "label"]
X = expected[COLUMNS].to_numpy()
LABELS = expected["label"].tolist()


def plain(path):
    """The bytes of a file, unpacked by the usual library if its name says that it is packed."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        # As pandas opens such files: the first frame and no more.
        with zstandard.open(path, "rb") as file:
            return file.read()
    return path.read_bytes()


def check_table(table, path):
    assert table["label"].tolist() == LABELS, path
    assert np.array_equal(table[COLUMNS].to_numpy(dtype=float), X), path


n_files = 0
for path in sorted(folder.iterdir()):
    data = plain(path)
    name = path.name.split(".")[1]
    if path.name == "sparse.parquet":
        table = pq.read_table(io.BytesIO(data)).to_pydict()
        rows = np.zeros_like(X)
        for row, (indices, values) in enumerate(zip(table["indices"], table["values"])):
            rows[row, indices] = values
        assert np.array_equal(rows, X), path
    elif name in ("csv", "tsv"):
        check_table(pd.read_csv(io.BytesIO(data), sep="," if name == "csv" else "\t"), path)
        check_table(pd.read_csv(path, sep="," if name == "csv" else "\t"), path)
    elif name == "jsonl":
        check_table(pd.read_json(io.BytesIO(data), lines=True), path)
        check_table(pd.read_json(path, lines=True), path)
    elif name == "svm":
        # scikit-learn wants numbers for labels; the features are what is looked at.
        text = data
        for number, label in enumerate(sorted(set(LABELS))):
            text = text.replace(label.encode(), str(number).encode())
        rows, _ = load_svmlight_file(io.BytesIO(text), n_features=X.shape[1])
        assert np.array_equal(rows.toarray(), X), path
    elif name == "npy":
        array = np.load(io.BytesIO(data))
        assert array.dtype == np.float32 and np.array_equal(array[:, :-1], X), path
        assert array[:, -1].astype(int).tolist() == [sorted(set(LABELS)).index(label) for label in LABELS], path
    elif name == "npz":
        arrays = np.load(io.BytesIO(data))
        assert np.array_equal(arrays["X"], X) and arrays["y"].tolist() == LABELS, path
    elif name == "parquet":
        check_table(pq.read_table(io.BytesIO(data)).to_pandas(), path)
        check_table(pd.read_parquet(io.BytesIO(data)), path)
    elif name == "arrow":
        check_table(feather.read_table(io.BytesIO(data)).to_pandas(), path)
    elif name == "arrows":
        check_table(ipc.open_stream(io.BytesIO(data)).read_all().to_pandas(), path)
    elif name == "vw":
        for line, row, label in zip(data.decode().splitlines(), X, LABELS, strict=True):
            head, features = line.split("|")
            assert head.strip() == label, path
            values = {one.rsplit(":")[0]: float(one.rsplit(":")[1]) for one in features.split()}
            assert values == {name: value for name, value in zip(COLUMNS, row)}, path
    else:
        raise SystemExit(f"{path}: nothing here reads it")
    n_files += 1
print(f"{n_files} files were read by other tools")
