"""Writes one table of customers in every format, with the tools that people write such files with.

It has what real tables have: numbers, whole numbers, categories, a two-valued column, a column of identifiers,
dates, a text and a class. `gaps.*` has missing cells besides; `numbers.*` holds numbers and a class alone, as
arrays do.
Needs numpy, pandas, pyarrow, polars and zstandard; nothing is random but by its seed.

    python generate.py
"""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import zstandard

HERE = Path(__file__).parent
WORDS = "the app is slow again please call me back about my bill thanks great service never late today".split()


def customer(number, rng):
    leaves = rng.random() < 0.4
    words = [rng.choice(WORDS) for _ in range(rng.randint(5, 9))]
    words += [rng.choice(["slow", "bill", "never"])] if leaves else [rng.choice(["great", "thanks"])]
    return {
        "customer": f"C-{7 * number % 997:04}",
        "since": f"20{rng.randint(15, 24)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "age": rng.randint(18, 80),
        "fee": round(rng.uniform(10, 90) + 20 * leaves, 2),
        "plan": rng.choice(["basic", "basic", "family"] if leaves else ["basic", "family", "student"]),
        "paperless": rng.choice(["yes", "no"]),
        "calls": rng.randint(0, 6) + 3 * leaves,
        "note": " ".join(words),
        "churn": "left" if leaves else "stayed",
    }


def delimited(rows, delimiter):
    cell = lambda value: "" if value is None else str(value)
    lines = [delimiter.join(rows[0])] + [delimiter.join(map(cell, row.values())) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def main():
    rng = random.Random(2026)
    rows = [customer(number, rng) for number in range(240)]

    (HERE / "table.csv").write_bytes(delimited(rows, ","))
    (HERE / "table.tsv").write_bytes(delimited(rows, "\t"))
    (HERE / "semicolons.csv").write_bytes(delimited(rows, ";"))
    (HERE / "table.csv.gz").write_bytes(gzip.compress(delimited(rows, ","), mtime=0))
    (HERE / "table.csv.zst").write_bytes(zstandard.ZstdCompressor().compress(delimited(rows, ",")))
    (HERE / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = pd.DataFrame(rows)
    frame.to_csv(HERE / "pandas.csv", index=False)
    frame.to_parquet(HERE / "pandas.parquet")
    frame.astype({"plan": "category"}).to_feather(HERE / "categories.feather")
    polars = pl.DataFrame(rows)
    polars.write_parquet(HERE / "polars.parquet")
    polars.write_ipc(HERE / "polars.arrow")
    polars.write_ndjson(HERE / "polars.ndjson")
    table = pa.Table.from_pylist(rows)
    with ipc.new_stream(HERE / "stream.arrows", table.schema) as writer:
        writer.write_table(table)

    gaps = [{name: None if name in ("age", "plan", "fee") and rng.random() < 0.1 else value for name, value in row.items()} for row in rows]
    (HERE / "gaps.csv").write_bytes(delimited(gaps, ","))
    (HERE / "gaps.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gaps))
    pd.DataFrame(gaps).to_parquet(HERE / "gaps.parquet")
    pl.DataFrame(gaps).write_ipc(HERE / "gaps.arrow")

    numbers = np.array([[row["fee"], row["calls"], row["fee"] * row["calls"] / 7] for row in rows])
    classes = np.array([int(row["churn"] == "left") for row in rows])
    joined = np.column_stack([numbers, classes])
    np.save(HERE / "numbers.npy", joined)
    np.save(HERE / "fortran.npy", np.asfortranarray(joined))
    np.savez(HERE / "numbers.npz", X=numbers, y=classes)
    pd.DataFrame(joined).astype({3: int}).to_csv(HERE / "numbers.csv", index=False, header=False)


main()
