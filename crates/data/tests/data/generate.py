"""Writes the sample files of this folder with the tools that people write such files with.

The same small table (12 rows, 5 numbers, one class of three) in every format; pictures and
odd types besides. Needs numpy, scipy, scikit-learn, pandas, pyarrow, zstandard and pillow, and the
programs gzip and zstd; nothing is random.

    python generate.py
"""

import gzip
import json
import struct
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import scipy.sparse as sp
import zstandard
from PIL import Image
from sklearn.datasets import dump_svmlight_file

HERE = Path(__file__).parent
N_ROWS, WIDTH = 12, 5
NAMES = ["ant", "bee", "cow"]

# Quarters are exact in single precision and in decimal, so that every format holds the same numbers.
X = np.array([[((7 * i + 3 * j) % 11 - 5) / 4 for j in range(WIDTH)] for i in range(N_ROWS)])
X[(np.add.outer(np.arange(N_ROWS), np.arange(WIDTH)) % 3) == 0] = 0.0
Y = np.array([i % 3 for i in range(N_ROWS)])
LABELS = [NAMES[y] for y in Y]
COLUMNS = [f"f{j}" for j in range(WIDTH)]


def messages():
    texts = ["WIN a FREE prize, txt now", "see you\nat home, mum", 'free "cash" now; win', "home at six, see you"]
    table = pa.table({"id": list(range(len(texts))), "text": texts})
    pq.write_table(table, HERE / "messages.parquet")
    feather.write_feather(table, HERE / "messages.arrow", compression="uncompressed")


def text():
    with open(HERE / "table.csv", "w") as file:
        file.write(",".join([*COLUMNS, "label"]) + "\n")
        for row, label in zip(X, LABELS):
            file.write(",".join([*(repr(float(v)) for v in row), label]) + "\n")
    dump_svmlight_file(X, Y, str(HERE / "table.svm"), zero_based=False)
    with open(HERE / "table.jsonl", "w") as file:
        for row, label in zip(X, LABELS):
            file.write(json.dumps({**dict(zip(COLUMNS, row.tolist())), "label": label}) + "\n")
    with open(HERE / "vector.jsonl", "w") as file:
        for row, label in zip(X, LABELS):
            file.write(json.dumps({"features": row.tolist(), "label": label}) + "\n")
    with open(HERE / "sparse.jsonl", "w") as file:
        for row, label in zip(X, LABELS):
            entries = {str(j + 1): v for j, v in enumerate(row.tolist()) if v}
            file.write(json.dumps({"label": label, "features": entries}) + "\n")


def numpy():
    np.savez(HERE / "table.npz", X=X, y=np.array(LABELS))
    np.savez_compressed(HERE / "fortran.npz", data=np.asfortranarray(X.astype(">f4")), target=np.array(LABELS))
    np.save(HERE / "column.npy", np.column_stack([X, Y]))
    np.save(HERE / "half.npy", np.column_stack([X, Y]).astype(np.float16))
    matrix = sp.csr_array(X)
    sp.save_npz(HERE / "scipy.npz", matrix)
    np.savez_compressed(
        HERE / "sparse.npz",
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        shape=np.array(matrix.shape),
        format=np.array(b"csr"),
        y=np.array(LABELS),
    )
    np.save(HERE / "object.npy", np.array([[1, "a"], [None, 2.5]], dtype=object))


def arrow():
    plain = pa.table({**{name: X[:, j] for j, name in enumerate(COLUMNS)}, "label": LABELS})
    pq.write_table(plain, HERE / "table.parquet", row_group_size=5)
    pq.write_table(plain, HERE / "zstd.parquet", compression="zstd", version="2.6", data_page_version="2.0")
    pq.write_table(plain, HERE / "gzip.parquet", compression="gzip", use_dictionary=False)
    lists = pa.table({
        "features": pa.array(X.tolist(), pa.list_(pa.float32(), WIDTH)),
        "label": pa.array(LABELS).dictionary_encode(),
    })
    pq.write_table(lists, HERE / "list.parquet", compression="lz4")
    pairs = pa.table({
        "indices": pa.array([np.nonzero(row)[0].tolist() for row in X], pa.list_(pa.int32())),
        "values": pa.array([row[row != 0].tolist() for row in X], pa.list_(pa.float64())),
        "label": LABELS,
    })
    pq.write_table(pairs, HERE / "sparse.parquet", compression="none")
    odd = pa.table({
        "whole": pa.array([1, 2, None, 4], pa.int16()),
        "flag": pa.array([True, False, True, None]),
        "kind": pa.array(["a", "b", None, "a"]).dictionary_encode(),
        "when": pa.array([0, 1, 2, 3], pa.timestamp("ms")),
        "label": [0, 1, 0, 1],
    })
    pq.write_table(odd, HERE / "odd.parquet")
    with ipc.new_file(HERE / "table.arrow", plain.schema) as file:
        file.write_table(plain, max_chunksize=5)
    with ipc.new_stream(HERE / "stream.arrows", lists.schema) as stream:
        stream.write_table(lists, max_chunksize=7)
    feather.write_feather(pairs, HERE / "sparse.feather", compression="lz4")


def frames():
    """What pandas writes of a data frame, with the quotes and types it chooses."""
    frame = pd.DataFrame(X, columns=COLUMNS).assign(label=LABELS)
    frame.to_csv(HERE / "pandas.csv", index=False, quoting=2)
    frame.astype({"label": "category"}).to_parquet(HERE / "pandas.parquet", index=False)
    frame.astype({name: "float32" for name in COLUMNS}).to_feather(HERE / "pandas.feather")
    frame.to_json(HERE / "pandas.jsonl", orient="records", lines=True)


def packed():
    """The table as the programs gzip and zstd and the library zstandard pack it."""
    def run(*words):
        subprocess.run(words, cwd=HERE, check=True)

    run("sh", "-c", "gzip -9 -n -c table.svm > gzip.svm.gz")
    run("sh", "-c", "head -5 table.csv | gzip -n > members.csv.gz; tail -n +6 table.csv | gzip -1 -n >> members.csv.gz")
    run("zstd", "-q", "-f", "-19", "table.csv", "-o", "zstd.csv.zst")
    run("zstd", "-q", "-f", "-1", "--no-check", "table.jsonl", "-o", "unchecked.jsonl.zst")
    data = (HERE / "table.svm").read_bytes()
    (HERE / "library.svm.zst").write_bytes(zstandard.ZstdCompressor(level=12, write_checksum=True).compress(data))


def vowpal():
    """The table in the syntax of Vowpal Wabbit's wiki: namespaces, values, tags, weights of 1."""
    with open(HERE / "table.vw", "w") as file:
        for i, (row, y) in enumerate(zip(X, Y)):
            entries = [f"{name}:{value}" for name, value in zip(COLUMNS, row.tolist()) if value]
            # A value of 1 is the default.
            entries = [entry.removesuffix(":1.0") for entry in entries]
            head = [f"{y} |", f"{y} 1 'row{i}|", f"{y} 1.0 0 row{i}|"][i % 3]
            file.write(f"{head} {' '.join(entries)}\n")


def pictures():
    pixels = np.array([[[(16 * r + 8 * c + 40 * i) % 256 for c in range(6)] for r in range(4)] for i in range(4)])
    pixels = pixels.astype(np.uint8)
    for i, picture in enumerate(pixels):
        folder = HERE / "pictures" / ["day", "night"][i % 2]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(folder / f"{i}.{['png', 'pgm', 'png', 'pgm'][i]}")
    images = struct.pack(">4B3I", 0, 0, 8, 3, *pixels.shape) + pixels.tobytes()
    labels = struct.pack(">4BI", 0, 0, 8, 1, 4) + bytes([3, 5, 3, 5])
    (HERE / "small-images-idx3-ubyte.gz").write_bytes(gzip.compress(images, mtime=0))
    (HERE / "small-labels-idx1-ubyte").write_bytes(labels)
    # A colour picture and a photograph's compression, of another size.
    colours = np.zeros((8, 12, 3), np.uint8)
    colours[:, :6] = [255, 0, 0]
    colours[:, 6:] = [0, 0, 255]
    folder = HERE / "colours"
    for name in ["left", "right"]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    Image.fromarray(colours).save(folder / "left" / "a.png")
    Image.fromarray(colours[:, ::-1]).save(folder / "right" / "b.jpg", quality=95)


if __name__ == "__main__":
    messages()
    text()
    numpy()
    arrow()
    frames()
    packed()
    vowpal()
    pictures()
