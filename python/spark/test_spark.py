"""Spark, on a real cluster: the same bits whatever happens to it, errors that name the row, and the theorem's bound.

Each test has a deadline: what waits for ever fails.
"""

import faulthandler
import json
import logging
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import rosenblatt
from cluster import Cluster
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import OneVsRest
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import HashingTF, Tokenizer
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import functions as F
from rosenblatt import _rosenblatt, spark as spark_module
from rosenblatt.spark import PerceptronClassifier, PerceptronModel

DEADLINE = 300


@pytest.fixture(autouse=True)
def deadline():
    """Nothing waits for ever: a test that does ends the whole run, and says where it stood."""
    faulthandler.dump_traceback_later(DEADLINE, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def spark(cluster):
    spark = cluster.session(**{
        "spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.2", "spark.speculation.minTaskRuntime": "200ms",
    })
    yield spark
    spark.stop()


def rows(n_rows, n_classes=2, seed=0):
    """Dense rows, one in twelve of which is of the wrong class."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 6))
    y = np.argmax(X[:, :n_classes], axis=1) if n_classes > 2 else (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    wrong = random.random(n_rows) < 1 / 12
    y[wrong] = random.integers(0, n_classes, wrong.sum())
    return X, y.astype(float)


def frame(spark, X, y, n_partitions):
    """The rows, in their order, in so many partitions of their order."""
    data = [(Vectors.dense(row), float(label)) for row, label in zip(X.tolist(), y)]
    return spark.sparkContext.parallelize(data, n_partitions).toDF(["features", "label"])


def parts(n_rows, n_partitions):
    """How Spark cuts a list."""
    return [slice(n_rows * part // n_partitions, n_rows * (part + 1) // n_partitions) for part in range(n_partitions)]


def by_hand(X, y, n_partitions, options, group=None):
    """The same training without Spark, the last partition first: the model's bytes."""
    options = json.dumps(options)
    values, classes = np.unique(y, return_inverse=True)
    names = [str(int(value)) for value in values]
    packed = [
        _rosenblatt.pack_rows(options, X[part], classes[part].astype(np.uint32), names, None, shard, n_partitions)
        for shard, part in enumerate(parts(len(y), n_partitions))
    ]
    counts = np.sum([one[2] for one in packed], axis=0).tolist()
    mixture = _rosenblatt.Mixture(options, names, counts, X.shape[1], n_partitions)
    while not mixture.is_over:
        start = mixture.start()
        shares = {shard: _rosenblatt.shard_epoch(start, shard, iter(packed[shard][0])) for shard in reversed(range(n_partitions))}
        shares = [shares[shard] for shard in range(n_partitions)]
        if group:
            shares = [_rosenblatt.add_shares(shares[first : first + group]) for first in range(0, n_partitions, group)]
        mixture.take(shares)
        if sum(one[3] for one in packed):
            held = [pack for one in packed for pack in one[1]]
            mixture.judged(*_rosenblatt.count_errors(mixture.model_so_far(), iter(held)))
    return mixture.model().to_bytes()


@pytest.mark.parametrize("settings, fixed", [
    ({"maxIter": 3, "seed": 3}, {"max_iter": 3, "random_state": 3}),
    ({"maxIter": 2, "algorithm": "pa1", "readout": "last", "order": "given", "classWeight": "balanced"},
     {"max_iter": 2, "algorithm": "pa1", "readout": "last", "order": "given", "class_weight": "balanced"}),
    ({"maxIter": 2, "algorithm": "logistic"}, {"max_iter": 2, "algorithm": "logistic"}),
])
def test_one_partition_is_one_machine_to_the_byte(spark, settings, fixed):
    X, y = rows(1100, n_classes=3 if "order" not in settings else 2)
    model = PerceptronClassifier(**settings).fit(frame(spark, X, y, 1))
    alone = rosenblatt.PerceptronClassifier(**fixed).fit(X, y.astype(int))
    assert model._data == alone.model_.to_bytes()


def test_speculation_and_the_order_of_completion_change_no_bit(spark):
    X, y = rows(1200)
    slow = [0]

    def dawdle(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            if context.partitionId() in slow and context.attemptNumber() == 0:
                time.sleep(6)
            yield batch

    data = frame(spark, X, y, 4)
    said = {"epochs": 4, "seed": 1, "validation": {"fraction": 0.1, "patience": 5}}
    expected = by_hand(X, y, 4, said)
    began = time.monotonic()
    unwrapped = data.select(F.unwrap_udt("features").alias("features"), "label")
    dawdling = unwrapped.mapInArrow(dawdle, unwrapped.schema)
    dawdling = dawdling.select(F.col("features.values").alias("features"), "label")
    assert PerceptronClassifier(maxIter=4, seed=1).fit(dawdling)._data == expected
    assert PerceptronClassifier(maxIter=4, seed=1).fit(data)._data == expected
    assert time.monotonic() - began < DEADLINE


def test_a_tree_adds_groups_in_their_order(spark, monkeypatch):
    X, y = rows(1400)
    monkeypatch.setattr(spark_module, "_TREE", 3)
    said = {"epochs": 2, "validation": None}
    fitted = PerceptronClassifier(maxIter=2, validationFraction=0.0).fit(frame(spark, X, y, 7))
    assert fitted._data == by_hand(X, y, 7, said, group=2)


class Meanwhile(logging.Handler):
    """Does something in the middle of the epoch after the second."""

    def __init__(self, act):
        super().__init__()
        self.act, self.done = act, []

    def emit(self, record):
        if record.args["epoch"] == 2:
            threading.Timer(0.15, lambda: self.done.append(self.act())).start()


@pytest.mark.parametrize("what", ["python", "executor", "worker"])
def test_what_is_killed_in_the_middle_of_an_epoch_changes_no_bit(spark, cluster, what):
    X, y = rows(1600)
    said = {"epochs": 8, "seed": 5, "validation": {"fraction": 0.1, "patience": 5}}
    expected = by_hand(X, y, 4, said)
    if what == "worker":
        cluster.add_worker("worker-more")
    watch = Meanwhile(lambda: cluster.kill(what))
    log = logging.getLogger("rosenblatt.spark")
    log.setLevel(logging.INFO)
    log.addHandler(watch)
    try:
        fitted = PerceptronClassifier(maxIter=8, seed=5).fit(frame(spark, X, y, 4))
    finally:
        log.removeHandler(watch)
    assert watch.done and watch.done[0], "somebody was killed"
    assert fitted._data == expected


def test_a_poisoned_row_is_named_within_a_minute(spark):
    X, y = rows(400)
    X[317, 4] = np.nan
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"partition 3, .*row 17.*NaN"):
        PerceptronClassifier().fit(frame(spark, X, y, 4))
    assert time.monotonic() - began < 60
    missing = frame(spark, X[:100], y[:100], 2).withColumn("label", F.when(F.col("label") == 1, 1.0))
    with pytest.raises(ValueError, match=r"partition \d, row \d+: its label is missing"):
        PerceptronClassifier().fit(missing)


def separable():
    """Tables whose classes a hyperplane separates: iris setosa, a made one, and another if a path is given."""
    lines = Path("crates/data/bundled/iris.csv").read_text().splitlines()[1:]
    yield np.array([line.split(",")[:4] for line in lines], float), np.array(["setosa" in line for line in lines], float)
    made = np.random.default_rng(7).uniform(-0.4, 0.4, (4000, 5))
    score = made @ np.array([0.6, 0.8, 0, 0, 0])
    yield made[np.abs(score) > 0.03], (score[np.abs(score) > 0.03] > 0).astype(float)
    if "ROSENBLATT_AGARICUS" in os.environ:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(os.environ["ROSENBLATT_AGARICUS"])
        yield X.toarray(), y


def test_separable_rows_end_without_a_mistake_and_within_the_bound(spark):
    for X, y in separable():
        # The bias as a feature, so that the bound is about all that is learned.
        wide = np.hstack([X, np.ones((len(y), 1))])
        data = frame(spark, wide, y, 8)
        settings = {"bias": "none", "readout": "last", "validationFraction": 0.0}
        fitted = PerceptronClassifier(maxIter=100, **settings).fit(data)
        assert fitted.history[-1]["mistakes"] == 0
        assert fitted.transform(data).where("label != prediction").count() == 0
        # Every hyperplane that separates the rows gives a bound that holds; this one was found by it.
        weights = np.frombuffer(fitted.model._native.planes()[0])
        margin = np.min((2 * y - 1) * (wide @ weights)) / np.linalg.norm(weights)
        bound = np.max(np.sum(wide**2, axis=1)) / margin**2
        mistakes = sum(epoch["weightedMistakes"] for epoch in fitted.history)
        assert margin > 0 and 0 < mistakes <= bound, (mistakes, bound)


def test_noisy_text_is_learned_as_on_one_machine(spark):
    """As sparse as text, one row in ten of the wrong class; judged on rows that nobody learned from."""
    random = np.random.default_rng(3)
    n_rows, n_words, width = 24_000, 20, 1 << 14
    # Few words are frequent, most are rare.
    words = np.minimum((random.pareto(0.8, (n_rows, n_words)) * 12).astype(int), width - 1)
    tone = random.standard_normal(width)
    y = (tone[words].sum(axis=1) > 0).astype(float)
    wrong = random.random(n_rows) < 0.1
    y[wrong] = 1 - y[wrong]
    vectors = [Vectors.sparse(width, sorted(set(row)), np.ones(len(set(row)))) for row in words.tolist()]
    data = list(zip(vectors, y.tolist()))
    train, test = data[:16_000], spark.sparkContext.parallelize(data[16_000:], 2).toDF(["features", "label"]).cache()
    accuracy = {}
    for n_partitions in (1, 8):
        table = spark.sparkContext.parallelize(train, n_partitions).toDF(["features", "label"])
        model = PerceptronClassifier(maxIter=5, validationFraction=0.0).fit(table)
        accuracy[n_partitions] = model.transform(test).where("label = prediction").count() / 8000
    print(accuracy)
    assert accuracy[8] >= accuracy[1] - 0.003 and accuracy[1] > 0.7, accuracy


def test_text_goes_through_a_pipeline(spark):
    lines = Path("crates/data/bundled/sms-spam.tsv").read_text(encoding="utf-8").splitlines()
    lines = [line.split("\t", 1) for line in lines if line.startswith(("ham\t", "spam\t"))]
    table = spark.createDataFrame(lines, ["label", "text"])
    stages = [
        Tokenizer(inputCol="text", outputCol="words"), HashingTF(inputCol="words", outputCol="features", numFeatures=1 << 18),
        PerceptronClassifier(maxIter=3),
    ]
    said = Pipeline(stages=stages).fit(table).transform(table)
    assert said.where("label = prediction").count() / len(lines) > 0.97
    assert {row.prediction for row in said.select("prediction").distinct().collect()} == {"ham", "spam"}


def test_every_kind_of_input_gives_the_same_model(spark):
    X, y = rows(300)
    X[np.abs(X) < 0.7] = 0
    data = frame(spark, X, y, 2)
    settings = {"maxIter": 2, "validationFraction": 0.0}
    expected = PerceptronClassifier(**settings).fit(data)._data
    flat = data.rdd.map(lambda row: (*row.features.toArray().tolist(), row.label)).toDF([*"abcdef", "label"])
    columns = PerceptronClassifier(inputCols=[*"abcdef"], **settings).fit(flat)
    assert columns._data == expected
    assert columns.transform(flat).where("prediction is null").count() == 0

    def sparse(row):
        there = [(place, value) for place, value in enumerate(row.features.toArray().tolist()) if value]
        return Vectors.sparse(6, there)

    thin = data.rdd.map(lambda row: (sparse(row), row.label)).toDF(["features", "label"])
    mixed = data.rdd.map(lambda row: (sparse(row) if row.label else row.features, row.label)).toDF(["features", "label"])
    arrays = data.rdd.map(lambda row: (row.features.toArray().tolist(), row.label)).toDF(["features", "label"])
    for same in (thin, mixed, arrays):
        assert PerceptronClassifier(**settings).fit(same)._data == expected
    twice = flat.withColumn("weight", F.lit(1.0))
    weighted = PerceptronClassifier(inputCols=[*"abcdef"], weightCol="weight", **settings).fit(twice)
    assert weighted.model._native.planes() == columns.model._native.planes()
    with pytest.raises(ValueError, match="keeps nothing but weights"):
        PerceptronClassifier(algorithm="arow", **settings).fit(data)


def test_checkpoints_go_on_in_the_same_bits(spark, tmp_path):
    X, y = rows(1200)
    data, folder = frame(spark, X, y, 3), f"file://{tmp_path}/checkpoints"
    straight = PerceptronClassifier(maxIter=4, seed=2).fit(data)
    PerceptronClassifier(maxIter=2, seed=2, checkpointDir=folder).fit(data)
    resumed = PerceptronClassifier(maxIter=4, seed=2, checkpointDir=folder, resume=True).fit(data)
    assert resumed._data == straight._data and len(resumed.history) == 2
    with pytest.raises(ValueError, match="`seed` was 2 and is 9"):
        PerceptronClassifier(maxIter=4, seed=9, checkpointDir=folder, resume=True).fit(data)


def test_pipelines_cross_validation_one_vs_rest_and_files(spark, tmp_path):
    X, y = rows(450, n_classes=3)
    data = frame(spark, X, y, 2).cache()
    learner = PerceptronClassifier(maxIter=2)
    pipeline = Pipeline(stages=[learner])
    pipeline.write().overwrite().save(f"{tmp_path}/pipeline")
    fitted = Pipeline.load(f"{tmp_path}/pipeline").fit(data)
    fitted.write().overwrite().save(f"{tmp_path}/fitted")
    data.write.parquet(f"{tmp_path}/rows")
    stored = fitted.transform(spark.read.parquet(f"{tmp_path}/rows"))
    assert stored.agg(F.sum("prediction")).head()[0] == fitted.transform(data).agg(F.sum("prediction")).head()[0]
    again = PipelineModel.load(f"{tmp_path}/fitted").stages[0]
    assert isinstance(again, PerceptronModel) and again._data == fitted.stages[0]._data
    assert (again.numClasses, again.numFeatures, again.classes) == (3, 6, [0.0, 1.0, 2.0])
    answers = fitted.transform(data).select("prediction", "rawPrediction", "features").head()
    assert again.predict(answers.features) == answers.prediction
    assert np.array_equal(again.predictRaw(answers.features).toArray(), answers.rawPrediction.toArray())
    file = tmp_path / "spark.model"
    again.model.save(file)
    assert file.read_bytes() == again._data and list(rosenblatt.load(file).classes) == ["0", "1", "2"]
    evaluator = MulticlassClassificationEvaluator(metricName="accuracy")
    grid = ParamGridBuilder().addGrid(learner.algorithm, ["perceptron", "pa1"]).build()
    best = CrossValidator(estimator=learner, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2).fit(data)
    assert max(best.avgMetrics) > 0.7 and isinstance(best.bestModel, PerceptronModel)
    rest = OneVsRest(classifier=PerceptronClassifier(maxIter=2, validationFraction=0.0)).fit(data)
    assert evaluator.evaluate(rest.transform(data)) > 0.7


def test_one_executor_gives_the_bits_of_two(spark, cluster):
    """The last test, as it needs a session of its own."""
    X, y = rows(1200)
    expected = by_hand(X, y, 4, {"epochs": 3, "seed": 1, "validation": {"fraction": 0.1, "patience": 5}})
    spark.stop()
    alone = cluster.session(**{"spark.cores.max": "1", "spark.speculation": "false"})
    try:
        assert PerceptronClassifier(maxIter=3, seed=1).fit(frame(alone, X, y, 4))._data == expected
    finally:
        alone.stop()
