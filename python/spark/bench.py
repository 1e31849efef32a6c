"""`cargo xtask bench spark [FOLDER] [KIND=ROWS...]`: beside MLlib on the same cluster, rows and executors.

Time to the test accuracy of MLlib's default, on sparse text (1 M rows of 2^18 features, `text=1000000`), dense rows (5 M
of 28 numbers in a vector, `dense=5000000`) and the same in 28 columns, which MLlib has to assemble (`columns=5000000`);
`transform`; peak memory of executors and their Python workers; bytes through the driver in
each epoch. `DEADLINE=SECONDS` is how long a fit may take; a fit that takes longer is ended and recorded as such.
"""

import json
import os
import platform
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark
import rosenblatt
from cluster import Cluster, _below, _command
from pyspark.ml.classification import LinearSVC, LogisticRegression
from pyspark.ml import Pipeline
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F
from rosenblatt import _rosenblatt
from rosenblatt.spark import PerceptronClassifier

N_PARTITIONS = 4
N_TURNS = 3
NUMBERS = [f"x{place}" for place in range(28)]
DEADLINE = float(os.environ.get("DEADLINE", "600"))


class Peak:
    """The most private memory that an executor's JVM held meanwhile, and any one of its Python workers."""

    def __init__(self, cluster):
        self.cluster, self.peaks, self.done = cluster, {"executor": 0, "python": 0}, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.done.wait(0.2):
            for worker in self.cluster.workers:
                for pid in _below(worker.pid):
                    command = _command(pid)
                    kind = "executor" if "CoarseGrained" in command else "python" if "pyspark.daemon" in command else None
                    if kind:
                        self.peaks[kind] = max(self.peaks[kind], resident(pid))

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


def made(spark, folder, kind, n_rows, seed):
    """Rows in Parquet, as vectors of Spark: made once, read by all. They are independent, so that no order is better."""
    path = f"{folder}/{kind}-{n_rows}-{seed}"
    if not Path(path, "_SUCCESS").exists():
        if kind == "columns":
            rows = vector_to_array(F.col("features"))
            numbers = [rows[place].alias(name) for place, name in enumerate(NUMBERS)]
            made(spark, folder, "dense", n_rows, seed).select(*numbers, "label").write.mode("overwrite").parquet(path)
            return spark.read.parquet(path)
        maker = text if kind == "text" else dense
        fields = "indices array<int>, values array<double>, label double" if kind == "text" else "values array<double>, label double"

        def make(batches):
            for batch in batches:
                for shard in batch.column(0).to_pylist():
                    yield from maker(seed + shard, n_rows // N_PARTITIONS)

        rows = spark.range(0, N_PARTITIONS, 1, N_PARTITIONS).mapInArrow(make, fields)
        if kind == "text":
            vector = F.struct(
                F.lit(0).cast("tinyint").alias("type"), F.lit(1 << 18).alias("size"), "indices", "values"
            )
            rows = rows.select(as_vector(vector), "label")
        else:
            rows = rows.select(array_to_vector("values").alias("features"), "label")
        rows.write.mode("overwrite").parquet(path)
    return spark.read.parquet(path)


def as_vector(struct):
    """A struct that is what a vector is stored as, as one: through Arrow, where the two are the same."""

    def same(column: pa.Array) -> pa.Array:
        return column

    return F.arrow_udf(same, VectorUDT())(struct).alias("features")


def timed(work):
    began = time.monotonic()
    done = work()
    return done, round(time.monotonic() - began, 3)


def within_deadline(spark, work):
    """What comes of it, and seconds; nothing if it took too long."""
    timer = threading.Timer(DEADLINE, spark.sparkContext.cancelAllJobs)
    timer.start()
    began = time.monotonic()
    try:
        return timed(work)
    except Exception:
        if time.monotonic() - began < DEADLINE:
            raise
        return None, None
    finally:
        timer.cancel()


class Task:
    """One kind of rows, and what everybody makes of them."""

    def __init__(self, spark, cluster, results, data, kind, n_rows):
        self.spark, self.cluster, self.kind = spark, cluster, kind
        self.train = made(spark, data, kind, n_rows, 0)
        self.test = made(spark, data, kind, n_rows // 5, 1000)
        self.results = results["tasks"][kind] = {
            "rows": self.train.count(), "test": self.test.count(), "fits": [], "turns": {}, "transform": {},
        }
        self.rivals = {}

    def theirs(self, learner):
        """What a user of MLlib fits: vectors have to be made of columns first."""
        if self.kind != "columns":
            return learner
        return Pipeline(stages=[VectorAssembler(inputCols=NUMBERS, outputCol="features"), learner])

    def ours(self, **settings):
        return PerceptronClassifier(**({"inputCols": NUMBERS} if self.kind == "columns" else {}), **settings)

    def fit(self, name, learner):
        load = os.getloadavg()[0]
        with Peak(self.cluster) as peak:
            model, seconds = within_deadline(self.spark, lambda: learner.fit(self.train))
        entry = {"name": name, "seconds": seconds, "load": round(load, 1), "peak": peak.peaks, "accuracy": 0.0}
        if seconds is None:
            entry["more than"] = DEADLINE
        else:
            entry["accuracy"] = round(model.transform(self.test).where("label = prediction").count() / self.results["test"], 5)
        if hasattr(model, "history"):
            entry["epochs"] = model.history
        self.results["fits"].append(entry)
        print(self.kind, name, seconds, entry["accuracy"], peak.peaks, flush=True)
        return model, entry["accuracy"]

    def again(self):
        """The quickest way of each to what it reached, in turns: a single time on a busy machine says little."""
        for _ in range(N_TURNS):
            for name, learner in self.rivals.items():
                _, seconds = within_deadline(self.spark, lambda: learner.fit(self.train))
                self.results["turns"].setdefault(name, []).append(seconds)
        print(self.kind, "turns", self.results["turns"], flush=True)

    def transform(self, models):
        """The least of five times each, in turns; of `prediction` alone and of all columns, which are not kept; of rows in
        Parquet, and of rows that are in memory."""
        for where in ("Parquet", "memory"):
            if where == "memory":
                self.test.cache().count()
            for _ in range(5):
                for name, model in models.items():
                    predicted = model.transform(self.test)
                    for what, asked in (("prediction", predicted.select("prediction")), ("all", predicted)):
                        _, seconds = timed(lambda: asked.write.format("noop").mode("overwrite").save())
                        self.results["transform"].setdefault(name, {}).setdefault(f"{what}, {where}", []).append(seconds)
        self.test.unpersist()
        print(self.kind, "transform", self.results["transform"], flush=True)


def driver(n_shards=8, n_weights=1 << 22):
    """What an epoch costs the driver and the tasks that add shares, without Spark: bytes and seconds, where few weights move in a
    shard and where all do."""
    results, random = [], np.random.default_rng(0)
    options = json.dumps({"epochs": 2, "validation": None, "order": "given"})
    for n_moved in (n_weights // 128, n_weights):
        packed = []
        for shard in range(n_shards):
            features = np.sort(random.choice(n_weights, n_moved, replace=False)).astype(np.int32)
            rows = (np.array([0, n_moved // 2, n_moved]), features, random.standard_normal(n_moved), n_weights)
            classes = np.array([0, 1], np.uint32)
            packed.append(_rosenblatt.pack_rows(options, rows, classes, ["0", "1"], None, shard, n_shards)[0])
        mixture = _rosenblatt.Mixture(options, ["0", "1"], [n_shards, n_shards], n_weights, n_shards)
        # In the first epoch weights move; in the second there are some to publish.
        start = mixture.start()
        epochs = [timed(lambda: _rosenblatt.shard_epoch(start, shard, iter(packs))) for shard, packs in enumerate(packed)]
        shares = [share for share, _ in epochs]
        added, adding = timed(lambda: _rosenblatt.add_shares(shares))
        _, mixing = timed(lambda: mixture.take(shares))
        start, published = timed(mixture.start)
        results.append({
            "weights": n_weights, "moved": n_moved, "shards": n_shards, "bytesPublished": len(start), "publish": published,
            "bytesReturned": sum(map(len, shares)), "take": mixing, "add": adding, "bytesAdded": len(added),
            "epoch": sorted(seconds for _, seconds in epochs)[n_shards // 2],
        })
    return results


def main(folder="target/python/spark-bench", *sizes):
    Path(folder).mkdir(parents=True, exist_ok=True)
    data = Path("target/python/spark-data").absolute()
    data.mkdir(parents=True, exist_ok=True)
    sizes = dict(size.split("=") for size in sizes) or {"text": 1_000_000, "dense": 5_000_000, "columns": 5_000_000}
    results = {
        "partitions": N_PARTITIONS, "deadline": DEADLINE, "cores": os.cpu_count(), "spark": pyspark.__version__,
        "rosenblatt": rosenblatt.__version__, "python": platform.python_version(), "tasks": {},
    }
    results["driver"] = driver()
    with Cluster(Path("target/python/spark-cluster").absolute(), memory="4g") as cluster:
        spark = cluster.session(**{"spark.executor.memory": "3g", "spark.driver.memory": "2g"})
        for kind, n_rows in sizes.items():
            task = Task(spark, cluster, results, data, kind, int(n_rows))
            # Warm up everything before the first timing: the pages of the files, the JVM, Python workers.
            few = task.train.limit(2000).cache()
            theirs = [task.theirs(learner) for learner in (LogisticRegression(maxIter=2), LinearSVC(maxIter=2))]
            for learner in (*theirs, task.ours(maxIter=1)):
                with Peak(cluster) as peak:
                    learner.fit(few).transform(few).collect()
            # What a Python worker takes that has all modules and hardly a row.
            task.results["idle"] = peak.peaks
            few.unpersist()
            models = {}
            for learner in (LogisticRegression(), LinearSVC()):
                name = type(learner).__name__
                task.rivals[name] = task.theirs(learner)
                models[name], _ = task.fit(name, task.rivals[name])
            asked = task.results["fits"][0]["accuracy"]
            for algorithm in ("perceptron", "logistic"):
                for epochs in (1, 2, 4, 8):
                    settings = {"algorithm": algorithm, "maxIter": epochs, "validationFraction": 0.0, "order": "given"}
                    models["rosenblatt"], reached = task.fit(f"{algorithm}, {epochs} epochs", task.ours(**settings))
                    if reached >= asked:
                        break
                task.rivals[algorithm] = task.ours(**settings)
            task.again()
            task.fit("perceptron, as it comes", task.ours())
            task.transform({name: model for name, model in models.items() if model is not None})
            Path(folder, "raw.json").write_text(json.dumps(results, indent=1))
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
