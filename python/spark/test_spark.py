"""Spark, on a real cluster: the same bits whatever happens to it, errors that name the row, and the theorem's bound.

Each test has a deadline: what waits for ever fails.
"""

import faulthandler
import importlib.util
import json
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import places
import pyarrow as pa
import pytest
import rosenblatt
from cluster import Cluster
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import OneVsRest
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import HashingTF, Tokenizer
from pyspark.ml.functions import vector_to_array
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
    # Six machines of Java that live for minutes: what compiles most quickly is quickest.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    with Cluster(tmp_path_factory.mktemp("cluster"), java=java) as cluster:
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
    """The rows, in their order, in `n_partitions` partitions."""
    data = [(Vectors.dense(row), float(label)) for row, label in zip(X.tolist(), y)]
    return spark.sparkContext.parallelize(data, n_partitions).toDF(["features", "label"])


def parts(n_rows, n_partitions):
    """How Spark cuts a list."""
    return [slice(n_rows * part // n_partitions, n_rows * (part + 1) // n_partitions) for part in range(n_partitions)]


def by_hand(X, y, cuts, options, group=None, calibrate=None):
    """The same training without Spark, the last partition first: the model's bytes. `cuts` is the number of parts, or where to cut."""
    options = json.dumps(options)
    values, classes = np.unique(y, return_inverse=True)
    names = [str(int(value)) for value in values]
    cuts = parts(len(y), cuts) if isinstance(cuts, int) else cuts
    n_partitions = len(cuts)
    packed = [
        _rosenblatt.pack_rows(options, X[part], classes[part].astype(np.uint32), names, None, shard, n_partitions)
        for shard, part in enumerate(cuts)
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
    if calibrate is None:
        return mixture.model().to_bytes()
    scores = [_rosenblatt.validation_scores(mixture.model(), iter(one[1])) for one in packed]
    return _rosenblatt.with_probabilities(mixture.model(), calibrate, scores).to_bytes()


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
    learning = {"epochs": 4, "seed": 1, "validation": {"fraction": 0.1, "patience": 5}}
    expected = by_hand(X, y, 4, learning)
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
    learning = {"epochs": 2, "validation": None}
    fitted = PerceptronClassifier(maxIter=2, validationFraction=0.0).fit(frame(spark, X, y, 7))
    assert fitted._data == by_hand(X, y, 7, learning, group=2)


@pytest.mark.parametrize("settings", [
    {"maxIter": 1}, {"maxIter": 1, "order": "given", "algorithm": "logistic"}, {"maxIter": 3, "order": "given", "algorithm": "pa1"},
])
def test_what_is_learned_while_rows_are_packed_has_the_same_bits(spark, settings):
    X, y = rows(1200, seed=6)
    learning = {"epochs" if name == "maxIter" else name: value for name, value in settings.items()}
    for fraction, validation in ((0.0, None), (0.1, {"fraction": 0.1, "patience": 5})):
        fitted = PerceptronClassifier(validationFraction=fraction, **settings).fit(frame(spark, X, y, 4))
        assert fitted._data == by_hand(X, y, 4, {**learning, "validation": validation})
        went_ahead = fitted.history[0]["bytesPublished"] == 0
        assert went_ahead == ("order" in settings or not fraction)
    # A place that does not know all classes cannot go ahead, nor can one that has to know how many rows others have.
    y[:300] = 0
    fitted = PerceptronClassifier(validationFraction=0.0, **settings).fit(frame(spark, X, y, 4))
    assert fitted._data == by_hand(X, y, 4, {**learning, "validation": None}) and fitted.history[0]["bytesPublished"]
    even = PerceptronClassifier(validationFraction=0.0, classWeight="balanced", **settings).fit(frame(spark, X, y, 4))
    assert even._data == by_hand(X, y, 4, {**learning, "validation": None, "class-weights": "balanced"})
    # Nor one that has no row of a class that was given a weight.
    X, y = rows(1200, n_classes=3, seed=7)
    y[:300][y[:300] == 2] = 0
    given = PerceptronClassifier(validationFraction=0.0, classWeight={"0": 1.0, "2": 3.0}, **settings).fit(frame(spark, X, y, 4))
    assert given._data == by_hand(X, y, 4, {**learning, "validation": None, "class-weights": {"given": {"0": 1.0, "2": 3.0}}})
    assert given.history[0]["bytesPublished"]


def test_a_worker_goes_ahead_only_with_what_it_knows():
    """Without a cluster: what partitions tell of themselves while they are packed."""
    arrays = pa.list_(pa.float64())
    X, y = rows(3000, n_classes=3, seed=8)

    def facts_of(n_shards, labels, keeps=True, **learning):
        options = json.dumps({"validation": None, "order": "given", "epochs": 1, **learning})
        pack = spark_module._Pack(options, n_shards, None, "uniform", keeps)
        batches = [batch(X[at : at + 500].tolist(), arrays, labels[at : at + 500]) for at in range(0, len(labels), 500)]
        packed = [row for one in pack.packs(0, iter(batches)) for row in one.to_pylist()]
        facts = json.loads(packed[-1]["data"])
        assert any(row["part"] == "share" for row in packed) == facts["is_ahead"]
        return pack, facts

    two = np.where(y == 2, 0, y)
    pack, whole = facts_of(2, y)
    lacking, given = facts_of(2, two)[1], {"class-weights": {"given": {"0": 1.0, "2": 3.0}}}
    assert pack.went_ahead([whole, whole]) and not pack.went_ahead([whole]) and not pack.went_ahead([whole, lacking])
    assert lacking["is_ahead"] and not facts_of(2, 0 * y)[1]["is_ahead"]
    assert facts_of(2, y, **given)[1]["is_ahead"] and not facts_of(2, two, **given)[1]["is_ahead"]
    # The fingerprint is of all rows, whether they are kept or not, and wherever the epoch ended.
    fingerprints = {facts_of(1, y, keeps, **{"max-updates": most})[1]["fingerprint"] for keeps in (True, False) for most in (5, None)}
    assert len(fingerprints) == 1


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
    learning = {"epochs": 8, "seed": 5, "validation": {"fraction": 0.1, "patience": 5}}
    expected = by_hand(X, y, 4, learning)
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
    assert watch.done and watch.done[0], "a worker was killed"
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
    """As sparse as text, one row in ten of the wrong class; judged on fresh rows."""
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


def messages():
    lines = Path("crates/data/bundled/sms-spam.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t", 1) for line in lines if line.startswith(("ham\t", "spam\t"))]


def test_text_is_hashed_as_by_every_other_face(spark, tmp_path):
    lines = messages()
    table = spark.createDataFrame(lines, ["label", "text"])
    settings = {"featuresCol": "text", "maxIter": 2, "validationFraction": 0.0, "hashBits": 16}
    alone = PerceptronClassifier(**settings).fit(table.coalesce(1))
    recipe = {
        "choice": "given", "estimate": {"hold-out": 0.0}, "learning": {"algorithm": "perceptron", "epochs": 2, "validation": None},
        "reading": {
            "label": {"named": "label"}, "text-columns": ["text"], "hash-bits": 16, "text": {"weighting": "count"}, "scaling": "none",
        },
    }
    columns = pa.table({"label": [label for label, _ in lines], "text": [text for _, text in lines]})
    expected, _ = _rosenblatt.train(json.dumps(recipe), columns, "table", None)
    assert alone.model._native.planes() == expected.planes()
    several = PerceptronClassifier(**{**settings, "text": {"weighting": "binary", "longest": 1}}).fit(table.repartition(3))
    for fitted in (alone, several):
        predicted = fitted.transform(table).select("text", "label", "prediction").toPandas()
        assert (predicted.label == predicted.prediction).mean() > 0.97
        fitted.model.save(tmp_path / "text.model")
        elsewhere = rosenblatt.load(tmp_path / "text.model").predict(pa.Table.from_pandas(predicted[["label", "text"]]))
        assert elsewhere.tolist() == predicted.prediction.tolist()
    with pytest.raises(ValueError, match="tf-idf has to know all texts"):
        PerceptronClassifier(featuresCol="text", text={"weighting": "tf-idf"}).fit(table)
    stages = [
        Tokenizer(inputCol="text", outputCol="words"), HashingTF(inputCol="words", outputCol="features", numFeatures=1 << 18),
        PerceptronClassifier(maxIter=3),
    ]
    predicted = Pipeline(stages=stages).fit(table).transform(table)
    assert predicted.where("label = prediction").count() / len(lines) > 0.97
    assert {row.prediction for row in predicted.select("prediction").distinct().collect()} == {"ham", "spam"}


@pytest.mark.parametrize("n_classes, method", [(2, "platt"), (3, "isotonic")])
def test_probabilities_are_fitted_on_rows_that_nobody_learned_from(spark, n_classes, method):
    X, y = rows(6000, n_classes=n_classes, seed=4)
    data = frame(spark, X[:4000], y[:4000], 4)
    learner = PerceptronClassifier(maxIter=3, seed=2, probabilityCol="probability", calibrate=method, validationFraction=0.2)
    fitted = learner.fit(data)
    learning = {"epochs": 3, "seed": 2, "validation": {"fraction": 0.2, "patience": 5}}
    assert fitted._data == by_hand(X[:4000], y[:4000], 4, learning, calibrate=method)
    new = frame(spark, X[4000:], y[4000:], 2)
    answers = fitted.transform(new).select("label", "prediction", "rawPrediction", "probability").collect()
    shares = np.array([row.probability.toArray() for row in answers])
    assert np.array_equal(shares, np.frombuffer(fitted.model._native.predict_proba(X[4000:])).reshape(-1, n_classes))
    # The most probable class is named; where several are, whichever of them.
    assert np.array_equal(shares.max(axis=1), [share[int(row.prediction)] for share, row in zip(shares, answers)])
    # Predicted probabilities match observed frequencies.
    assert abs(shares[:, 1].mean() - np.mean([row.label == 1 for row in answers])) < 0.03
    with pytest.raises(ValueError, match="raise validationFraction"):
        PerceptronClassifier(probabilityCol="probability", validationFraction=0.0).fit(data)
    with pytest.raises(ValueError, match="too few rows"):
        PerceptronClassifier(probabilityCol="probability").fit(frame(spark, X[:90], y[:90], 2))
    plain = PerceptronModel(by_hand(X[:4000], y[:4000], 4, learning), sorted(set(y)))
    with pytest.raises(ValueError, match="has no probabilities"):
        plain.transform(new, {plain.probabilityCol: "probability"})


def test_every_kind_of_input_gives_the_same_model(spark, monkeypatch):
    X, y = rows(300)
    X[np.abs(X) < 0.7] = 0
    data = frame(spark, X, y, 2)
    settings = {"maxIter": 2, "validationFraction": 0.0}
    expected = PerceptronClassifier(**settings).fit(data)._data
    flat = data.rdd.map(lambda row: (*row.features.toArray().tolist(), row.label)).toDF([*"abcdef", "label"])
    columns = PerceptronClassifier(inputCols=[*"abcdef"], **settings).fit(flat)
    assert columns._data == expected

    def sparse(row):
        there = [(place, value) for place, value in enumerate(row.features.toArray().tolist()) if value]
        return Vectors.sparse(6, there)

    thin = data.rdd.map(lambda row: (sparse(row), row.label)).toDF(["features", "label"])
    mixed = data.rdd.map(lambda row: (sparse(row) if row.label else row.features, row.label)).toDF(["features", "label"])
    arrays = data.rdd.map(lambda row: (row.features.toArray().tolist(), row.label)).toDF(["features", "label"])
    model = PerceptronModel(expected, [0.0, 1.0])
    predictions = [row.prediction for row in model.transform(data).collect()]
    assert [row.prediction for row in columns.transform(flat).collect()] == predictions
    for same in (thin, mixed, arrays):
        assert PerceptronClassifier(**settings).fit(same)._data == expected
        assert [row.prediction for row in model.transform(same).collect()] == predictions
    # As Spark 4.0 has it.
    monkeypatch.delattr(F, "arrow_udf")
    for same in (thin, arrays):
        assert [row.prediction for row in model.transform(same).select("prediction").collect()] == predictions
    assert [row.prediction for row in columns.transform(flat).select("prediction").collect()] == predictions
    twice = flat.withColumn("weight", F.lit(1.0))
    weighted = PerceptronClassifier(inputCols=[*"abcdef"], weightCol="weight", **settings).fit(twice)
    assert weighted.model._native.planes() == columns.model._native.planes()
    with pytest.raises(ValueError, match="keeps nothing but weights"):
        PerceptronClassifier(algorithm="arow", **settings).fit(data)


def batch(features, kind, labels=None, weights=None):
    """Rows as a worker gets them."""
    columns = {"features": pa.array(features, kind), "label": pa.array([0.0, 1.0, 1.0] if labels is None else labels)}
    if weights is not None:
        columns["weight"] = pa.array(weights, pa.float64())
    return pa.RecordBatch.from_pydict(columns)


def test_rows_that_are_none_are_refused_and_named():
    """Nothing wrong is learned from in silence: what a worker says of batches, the first of which is whole."""
    arrays, whole = pa.list_(pa.float64()), [[1.0, 2.0], [2.0, 1.0], [0.5, 0.5]]
    vectors = pa.struct([("type", pa.int8()), ("size", pa.int32()), ("indices", pa.list_(pa.int32())), ("values", arrays)])
    sparse, thick = {"type": 0, "size": 2, "indices": [1], "values": [1.0]}, {"type": 1, "values": [1.0, 2.0, 3.0]}
    nan = float("nan")
    for second, message in [
        (batch([[1.0, 2.0], None, [1.0, 1.0]], arrays), "row 4: its features is missing"),
        (batch([[1.0, 2.0], [1.0, None], [1.0, 1.0]], arrays), "row 4: feature 1 is missing"),
        (batch([[1.0, 2.0], [1.0], [1.0, 1.0]], arrays), "row 4 has 1 features, where the first one here has 2"),
        (batch([[1.0], [1.0], [1.0]], arrays), "row 3 has 1 features, where the first one here has 2"),
        (batch([[1.0, 2.0], [1.0, nan], [1.0, 1.0]], arrays), "feature 1 of row 4 is NaN"),
        (batch([sparse, sparse, {**sparse, "size": 3}], vectors), "row 5 has 3 features, where the first one here has 2"),
        (batch([sparse, thick, sparse], vectors), "row 4 has 3 features, where the first one here has 2"),
        (batch([sparse, sparse, {**sparse, "values": [-nan]}], vectors), "feature 1 of row 5 is NaN"),
        (batch(whole, arrays, [0.0, None, 1.0]), "row 4: its label is missing"),
        (batch(whole, arrays, [0.0, nan, 1.0]), "row 4: its label should be a number"),
        (batch(whole, arrays, [0, 2**60, 1]), r"row 4: its label should be a number of at most 2\^53"),
        (batch(whole, arrays, weights=[1.0, None, 1.0]), "row 4: its weight is missing"),
        (batch(whole, arrays, weights=[1.0, -1.0, 1.0]), "row 4: its weight should be zero or positive, but is -1.0"),
        (batch(whole, arrays, weights=[1.0, nan, 1.0]), "row 4: its weight should be zero or positive, but is nan"),
    ]:
        first = batch(whole, arrays, weights=None if "weight" not in second.schema.names else [1.0, 1.0, 1.0])
        with pytest.raises(ValueError, match=message):
            list(spark_module._Pack(json.dumps({"validation": None}), 3, None).packs(0, iter([first, second])))
    reading = json.dumps({"text-columns": ["t"], "hash-bits": 8, "text": {"weighting": "count"}, "label": "absent", "scaling": "none"})
    with pytest.raises(ValueError, match="row 1: its text is missing"):
        list(spark_module._Pack("{}", 3, (reading, "t")).packs(0, iter([batch(["a", None, "b"], pa.string())])))


def test_tables_that_are_none_are_refused_and_odd_ones_are_not(spark):
    X, y = rows(60)
    data = frame(spark, X, y, 3)
    settings = {"maxIter": 1, "validationFraction": 0.0}

    def refused(table, what, error=ValueError, **more):
        with pytest.raises(error, match=what):
            PerceptronClassifier(**settings, **more).fit(table)

    arrays = data.select(vector_to_array("features").alias("features"), "label")
    other = F.when(F.spark_partition_id() == 1, F.slice("features", 1, 4)).otherwise(F.col("features"))
    refused(arrays.withColumn("features", other), "have 4 here and 6 there")
    refused(data.withColumn("label", F.current_date()), "'label' should hold numbers or text, but is date", TypeError)
    refused(data.withColumn("a", F.lit("1")), "'a' should hold numbers, but is string", TypeError, inputCols=["a"])
    refused(data.withColumn("features", F.col("label")), "should hold vectors, arrays of numbers or text", TypeError)
    refused(data.where("label = 1"), "class")
    refused(data.where("label > 5"), "there are no rows to learn from")
    # A row that weighs nothing moves nothing, as if it were not there.
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    columns = [(*row, float(label), float(w)) for row, label, w in zip(X.tolist(), y, weights)]
    weighed = spark.createDataFrame(columns, [*"abcdef", "label", "w"]).coalesce(1)
    given = {"inputCols": [*"abcdef"], "order": "given", "readout": "last", **settings}
    light = PerceptronClassifier(weightCol="w", **given).fit(weighed)
    learning = {"epochs": 1, "validation": None}
    without = by_hand(X[weights > 0], y[weights > 0], 1, {**learning, "order": "given", "readout": "last"})
    assert light.model._native.planes() == _rosenblatt.Model.from_bytes(without).planes()
    # Partitions without rows, and more partitions than rows.
    few = PerceptronClassifier(**settings).fit(frame(spark, X[:5], [0.0, 1, 0, 1, 1], 12))
    single = [slice(row, row + 1) for row in range(5)]
    assert few._data == by_hand(X[:5], np.array([0.0, 1, 0, 1, 1]), single, learning)
    # Labels are in the order of numbers, not of digits, and words in that of the alphabet.
    plain, is_one = _rosenblatt.Model.from_bytes(by_hand(X, y, 3, learning)), F.col("label") == 1
    tens = PerceptronClassifier(**settings).fit(data.withColumn("label", F.when(is_one, 10).otherwise(9)))
    assert tens.classes == [9.0, 10.0] and tens.model._native.planes() == plain.planes()
    words = PerceptronClassifier(**settings).fit(data.withColumn("label", F.when(is_one, "no").otherwise("yes")))
    assert words.classes == ["no", "yes"]
    # What is asked about must be like what was learned from.
    for table, what in (
        (arrays.withColumn("features", F.slice("features", 1, 4)), "rows have 4 features, but the model knows 6"),
        (arrays.withColumn("features", F.when(~is_one, F.col("features"))), "of a batch: its features is missing"),
        (arrays.withColumn("features", F.transform("features", lambda feature: feature * float("nan"))), "must be finite"),
    ):
        with pytest.raises(Exception, match=what):
            tens.transform(table).select("prediction").collect()


LOOPS = Path(__file__).parent


def places_by_hand():
    packed = [places.pack(place) for place in range(places.N_PLACES)]
    counts = [counts for _, counts in packed]
    return places.mixed(counts, lambda start: [places.epoch(start, place, rows) for place, rows in enumerate(packed)])


def test_dask_ray_and_a_shell_give_the_bits_of_spark(spark, tmp_path):
    expected = places_by_hand()
    X, y = (np.concatenate(part) for part in zip(*(places.rows(place) for place in range(places.N_PLACES))))
    words = spark.sparkContext.parallelize(
        [(Vectors.dense(row), places.NAMES[label]) for row, label in zip(X.tolist(), y)], places.N_PLACES
    ).toDF(["features", "label"])
    settings = {"order": "given", "readout": "last", "maxIter": 5, "validationFraction": 0.0}
    assert PerceptronClassifier(algorithm="perceptron", **settings).fit(words)._data == expected.to_bytes()
    for package in ("dask.distributed", "ray"):
        if importlib.util.find_spec(package.split(".")[0]) is None:
            print(f"{package} is not installed")
            continue
        loop, model = LOOPS / f"{package.split('.')[0]}_loop.py", tmp_path / "loop.model"
        subprocess.run([sys.executable, loop, model], check=True, timeout=120)
        assert model.read_bytes() == expected.to_bytes(), package
    files = []
    for place in range(places.N_PLACES):
        X, y = places.rows(place)
        lines = [",".join([*map(str, row), places.NAMES[label]]) for row, label in zip(X.tolist(), y)]
        files.append(tmp_path / f"place {place}.csv")
        files[-1].write_text("\n".join(["a,b,c,d,e,f,label", *lines]) + "\n")
    subprocess.run([LOOPS / "shell_loop.sh", "5", tmp_path / "shell.model", *files], check=True, timeout=120)
    assert rosenblatt.load(tmp_path / "shell.model")._native.planes() == expected._native.planes()


def test_connect_gives_the_same_bits(tmp_path):
    pytest.importorskip("grpc", reason="pyspark[connect] is not installed")
    X, y = rows(1500, seed=8)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    subprocess.run([sys.executable, LOOPS / "connect_fit.py", tmp_path], check=True, timeout=240)
    order = np.load(tmp_path / "order.npy")
    cuts = [np.flatnonzero(order[:, 0] == part) for part in range(3)]
    learning = {"epochs": 3, "seed": 1, "validation": {"fraction": 0.1, "patience": 5}}
    expected = by_hand(np.ascontiguousarray(order[:, 1:-1]), order[:, -1], cuts, learning, calibrate="platt")
    assert (tmp_path / "model").read_bytes() == expected
    model = _rosenblatt.Model.from_bytes(expected)
    answers = np.load(tmp_path / "answers.npy")
    assert len(answers) == 1500 and np.all((answers[:, 0] == 1) == (answers[:, 1] > 0.5))
    assert sorted(answers[:, 1]) == sorted(np.frombuffer(model.predict_proba(X)).reshape(-1, 2)[:, 1])
    assert "row" in (tmp_path / "error").read_text()


def test_checkpoints_go_on_in_the_same_bits(spark, tmp_path):
    X, y = rows(1200)
    data, folder = frame(spark, X, y, 3), f"file://{tmp_path}/checkpoints"
    straight = PerceptronClassifier(maxIter=4, seed=2).fit(data)
    PerceptronClassifier(maxIter=2, seed=2, checkpointDir=folder).fit(data)
    resumed = PerceptronClassifier(maxIter=4, seed=2, checkpointDir=folder, resume=True).fit(data)
    assert resumed._data == straight._data and len(resumed.history) == 2
    # Rows that are not those of the checkpoint, as many as they are; and a run that begins anew where another was.
    with pytest.raises(ValueError, match="of other rows"):
        PerceptronClassifier(maxIter=4, seed=2, checkpointDir=folder, resume=True).fit(frame(spark, -X, y, 3))
    PerceptronClassifier(maxIter=1, seed=2, checkpointDir=folder).fit(data)
    # The other of the two is there while one is written, and cut in the middle.
    for part in Path(tmp_path, "checkpoints/slot-0").glob("*.parquet"):
        part.write_bytes(part.read_bytes()[:50])
    anew = PerceptronClassifier(maxIter=4, seed=2, checkpointDir=folder, resume=True).fit(data)
    assert anew._data == straight._data and len(anew.history) == 4
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


def test_a_model_tells_its_weights_and_how_good_it_is(spark):
    X, y = rows(400)
    learned = PerceptronClassifier(maxIter=3).fit(frame(spark, X, y, 2))
    scores = learned.model.decision_function(X)
    assert np.allclose(X @ learned.coefficients.toArray() + learned.intercept, scores)
    assert learned.coefficientMatrix.numRows == 1 and len(learned.interceptVector) == 1
    assert learned.hasSummary and learned.summary.totalIterations == 3 and len(learned.summary.objectiveHistory) == 3
    judged = learned.evaluate(frame(spark, X, y, 2))
    predicted = (scores > 0).astype(float)
    assert judged.labels == [0.0, 1.0] and judged.accuracy == pytest.approx(np.mean(predicted == y))
    assert judged.recallByLabel == pytest.approx([np.mean(predicted[y == one] == one) for one in (0, 1)])
    assert judged.precisionByLabel == pytest.approx([np.mean(y[predicted == one] == one) for one in (0, 1)])
    assert len(judged.fMeasureByLabel()) == 2 and judged.predictions.count() == 400
    X, y = rows(300, n_classes=3)
    three = PerceptronClassifier(maxIter=2).fit(frame(spark, X, y, 2))
    weights, biases = three.coefficientMatrix.toArray(), three.interceptVector.toArray()
    assert np.allclose(X @ weights.T + biases, three.model.decision_function(X))
    with pytest.raises(ValueError, match="coefficientMatrix"):
        three.coefficients


@pytest.mark.parametrize("name, value", [
    ("maxIter", -1), ("maxIter", 0), ("algorithm", "percetpron"), ("readout", "loudest"), ("order", "sideways"), ("patience", 0),
    ("validationFraction", 1.5), ("seed", -1), ("mixing", "much"), ("checkpointInterval", 0),
])
def test_wrong_parameters_are_refused_before_a_job(name, value):
    class Untouched:
        """Rows that must not be looked at."""

        sparkSession = None

        def __getattr__(self, asked):
            raise AssertionError(f"the rows were asked for {asked}")

    with pytest.raises(ValueError, match=name if name != "algorithm" else "did you mean `perceptron`") as error:
        PerceptronClassifier(**{name: value})._fit(Untouched())
    assert "line 1" not in str(error.value)
