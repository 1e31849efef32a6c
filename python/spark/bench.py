"""`cargo xtask bench spark [FOLDER] [SCALE] [text,dense]`: beside MLlib on the same cluster, rows and executors.

Time to the test accuracy of MLlib's default, on sparse text (1 M rows of 2^18 features) and dense rows (5 M of 28 numbers),
both times SCALE; `transform`; peak memory of executors and their Python workers; bytes through the driver in each epoch.
"""

import json
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from cluster import Cluster, _below, _command
from pyspark.ml.classification import LinearSVC, LogisticRegression
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F
from rosenblatt.spark import PerceptronClassifier

N_PARTITIONS = 4


class Peak:
    """The most memory that executors and Python workers held meanwhile, each kind by itself, of one executor."""

    def __init__(self, cluster):
        self.cluster, self.peaks, self.done = cluster, {"executor": 0, "python": 0}, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.done.wait(0.2):
            for worker in self.cluster.workers:
                held = {"executor": 0, "python": 0}
                for pid in _below(worker.pid):
                    command = _command(pid)
                    kind = "executor" if "CoarseGrained" in command else "python" if "pyspark.daemon" in command else None
                    if kind:
                        held[kind] += resident(pid)
                self.peaks = {kind: max(self.peaks[kind], held[kind]) for kind in held}

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def resident(pid):
    """What a process holds by itself, in bytes: pages that it shares with its parent are not counted."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Private_Dirty", "Private_Clean")))


def text(shard, n_rows):
    """Sparse rows: words by rank, of which the hashed places are 2^18."""
    random = np.random.default_rng(shard)
    width, tone = 1 << 18, np.random.default_rng(99).standard_normal(1 << 18)
    for first in range(0, n_rows, 5000):
        n = min(5000, n_rows - first)
        words = np.minimum((random.pareto(0.7, (n, 50)) * 20).astype(np.int64), width - 1) * 7919 % width
        words.sort(axis=1)
        new = np.concatenate([np.ones((n, 1), bool), np.diff(words, axis=1) > 0], axis=1)
        score = np.where(new, tone[words], 0).sum(axis=1)
        label = (score + 3 * random.standard_normal(n) > 0).astype(float)
        offsets = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int32)
        indices = pa.ListArray.from_arrays(pa.array(offsets), pa.array(words[new].astype(np.int32)))
        values = pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ones(int(new.sum()))))
        yield pa.RecordBatch.from_arrays([indices, values, pa.array(label)], ["indices", "values", "label"])


def dense(shard, n_rows):
    random = np.random.default_rng(shard)
    truth = np.random.default_rng(98).standard_normal(28)
    for first in range(0, n_rows, 20000):
        n = min(20000, n_rows - first)
        X = random.standard_normal((n, 28))
        label = (X @ truth + 0.3 * (X[:, 0] * X[:, 1]) + 2 * random.standard_normal(n) > 0).astype(float)
        offsets = pa.array(np.arange(n + 1, dtype=np.int32) * 28)
        values = pa.ListArray.from_arrays(offsets, pa.array(X.ravel()))
        yield pa.RecordBatch.from_arrays([values, pa.array(label)], ["values", "label"])


def made(spark, folder, kind, n_rows):
    """The rows in Parquet, as vectors of Spark: made once, read by all."""
    path = f"{folder}/{kind}-{n_rows}"
    if not Path(path, "_SUCCESS").exists():
        maker = text if kind == "text" else dense
        fields = "indices array<int>, values array<double>, label double" if kind == "text" else "values array<double>, label double"

        def make(batches):
            for batch in batches:
                for shard in batch.column(0).to_pylist():
                    yield from maker(shard, n_rows // N_PARTITIONS)

        rows = spark.range(0, N_PARTITIONS, 1, N_PARTITIONS).mapInArrow(make, fields)
        if kind == "text":
            vector = F.struct(
                F.lit(0).cast("tinyint").alias("type"), F.lit(1 << 18).alias("size"), "indices", "values"
            )
            rows = rows.select(F.wrap_udt(vector, VectorUDT()).alias("features") if hasattr(F, "wrap_udt") else as_vector(vector), "label")
        else:
            rows = rows.select(array_to_vector("values").alias("features"), "label")
        rows.write.mode("overwrite").parquet(path)
    return spark.read.parquet(path)


def as_vector(struct):
    """A struct that is what a vector is stored as, as one: through Arrow, where the two are the same."""
    from pyspark.sql.functions import arrow_udf

    def same(column: pa.Array) -> pa.Array:
        return column

    return arrow_udf(same, VectorUDT())(struct).alias("features")


def accuracy(model, test):
    return test.count() and model.transform(test).where("label = prediction").count() / test.count()


def timed(work):
    began = time.monotonic()
    done = work()
    return done, round(time.monotonic() - began, 2)


def main(folder="target/python/spark-bench", scale="0.1", kinds="text,dense"):
    Path(folder).mkdir(parents=True, exist_ok=True)
    data = Path("target/python/spark-data").absolute()
    data.mkdir(parents=True, exist_ok=True)
    told = {"scale": float(scale), "partitions": N_PARTITIONS, "tasks": {}}
    with Cluster(Path("target/python/spark-cluster").absolute(), memory="4g") as cluster:
        spark = cluster.session(**{"spark.executor.memory": "3g", "spark.driver.memory": "2g"})
        for kind, n_rows in (("text", 1_000_000), ("dense", 5_000_000)):
            if kind not in kinds.split(","):
                continue
            n_rows = int(n_rows * float(scale))
            rows = made(spark, data, kind, n_rows + n_rows // 5)
            train, test = rows.randomSplit([5.0, 1.0], seed=1)
            train, test = train.repartition(N_PARTITIONS), test
            train.write.mode("overwrite").parquet(f"{data}/{kind}-train")
            test.write.mode("overwrite").parquet(f"{data}/{kind}-test")
            train, test = spark.read.parquet(f"{data}/{kind}-train"), spark.read.parquet(f"{data}/{kind}-test")
            task = told["tasks"][kind] = {"rows": train.count(), "test": test.count(), "fits": []}

            def fit(name, learner):
                with Peak(cluster) as peak:
                    model, seconds = timed(lambda: learner.fit(train))
                right = accuracy(model, test)
                entry = {"name": name, "seconds": seconds, "accuracy": round(right, 5), "peak": peak.peaks}
                if hasattr(model, "history"):
                    entry["epochs"] = model.history
                task["fits"].append(entry)
                print(kind, name, seconds, right, peak.peaks, flush=True)
                return model, entry

            PerceptronClassifier(maxIter=1, validationFraction=0.0).fit(train.limit(1000))
            peers = [fit("LogisticRegression", LogisticRegression()), fit("LinearSVC", LinearSVC())]
            ours = None
            for algorithm in ("logistic", "perceptron"):
                for epochs in (1, 2, 4, 8):
                    settings = {"algorithm": algorithm, "maxIter": epochs, "validationFraction": 0.0, "order": "given"}
                    ours = fit(f"{algorithm}, {epochs} epochs", PerceptronClassifier(**settings))
                    if ours[1]["accuracy"] >= peers[0][1]["accuracy"]:
                        break
            for name, (model, _) in (("LogisticRegression", peers[0]), ("LinearSVC", peers[1]), ("rosenblatt", ours)):
                said = model.transform(test)
                times = [timed(lambda: said.agg(F.sum("prediction")).collect())[1] for _ in range(3)]
                task.setdefault("transform", {})[name] = min(times)
                print(kind, "transform", name, times, flush=True)
            Path(folder, "raw.json").write_text(json.dumps(told, indent=1))
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
