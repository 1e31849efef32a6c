"""The perceptron family on Spark, by iterative parameter mixing.

In every epoch each partition starts from the same weights, runs the engine's own loop over its rows inside the Python
worker, and hands back what moved; the driver takes the mean. There is no barrier, no socket between tasks and no code for
the JVM: an epoch is an ordinary job, which Spark retries and speculates on as it likes. The outcome depends on the rows of
each partition and on the seed, not on who runs where; one partition gives the very model that one machine does.

>>> from rosenblatt.spark import PerceptronClassifier                      # doctest: +SKIP
>>> model = PerceptronClassifier(maxIter=5).fit(rows)                       # doctest: +SKIP
>>> model.transform(rows).select("prediction")                              # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import re
import time
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.ml.classification import ClassificationModel, Classifier
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasMaxIter, HasProbabilityCol, HasSeed, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F
from pyspark.sql import types as T

from . import _inputs, _rosenblatt
from ._product import Model as _Model
from ._product import catalogue

__all__ = ["PerceptronClassifier", "PerceptronModel"]

_log = logging.getLogger(__name__)
_PACKED = "shard int, part string, number int, data binary"
_SHARES = "shard int, share binary"
#: From so many partitions on their shares are added in groups before the driver sees them.
_TREE = 64
#: Packs are large: few of them make a batch, in the cache and on their way to Python.
_FEW = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4",
    "spark.sql.inMemoryColumnarStorage.batchSize": "4",
}
#: How a task says what is wrong with a row, so that the driver can find it in what Spark makes of it.
_SAID = re.compile(r"ValueError: rosenblatt says: (.*)")

# What the engine calls an option, and what it is called here.
_OPTIONS = {
    "algorithm": ("algorithm", TypeConverters.toString),
    "rate": ("rate", TypeConverters.toString),
    "readout": ("readout", TypeConverters.toString),
    "multiclass": ("multiclass", TypeConverters.toString),
    "bias": ("bias", TypeConverters.toString),
    "order": ("order", TypeConverters.toString),
    "zero": ("zero", TypeConverters.toString),
    "mistake": ("mistake", TypeConverters.toString),
    "max-updates": ("maxUpdates", TypeConverters.toInt),
    "stop-when-clean": ("stopWhenClean", TypeConverters.toBoolean),
}


def _meaning(option: str) -> str:
    found = [one for one in catalogue()["options"] if one["name"] == option]
    return found[0]["meaning"] if found else option


class _Input(HasInputCols):
    """Where the features are: `featuresCol` (vectors, arrays) or `inputCols` (numbers, a column each)."""

    def _columns(self, frame):
        """The features as one column that Arrow knows."""
        if self.isSet(self.inputCols):
            return F.array(*[F.col(name).cast("double") for name in self.getInputCols()])
        name = self.getOrDefault("featuresCol")
        kind = frame.schema[name].dataType
        if isinstance(kind, VectorUDT):
            return F.unwrap_udt(F.col(name))
        if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, T.NumericType):
            return F.col(name)
        raise TypeError(f"column {name!r} should hold vectors or arrays of numbers, but is {kind.simpleString()}")


class PerceptronClassifier(
    Classifier, _Input, HasProbabilityCol, HasMaxIter, HasSeed, HasWeightCol, DefaultParamsReadable, DefaultParamsWritable
):
    """Learns a linear classifier where the rows are.

    Parameters are those of the engine (`rosenblatt catalogue` tells what each means): `algorithm`, `params`, `rate`,
    `readout` (`last`, `averaged`), `multiclass`, `bias`, `order`, `zero`, `mistake`, `maxIter`, `maxUpdates`,
    `stopWhenClean`, `classWeight`; and of mixing: `mixing` (`uniform`, `errors`, `rows`), `validationFraction` and `patience`
    for stopping early, `checkpointDir`, `checkpointInterval` and `resume`.
    """

    params_: Param = Param(Params._dummy(), "params_", "parameters of the rule, by name, as JSON", TypeConverters.toString)
    classWeight: Param = Param(
        Params._dummy(), "classWeight", "how much each class counts: `even`, `balanced`, or JSON by class",
        TypeConverters.toString,
    )
    mixing: Param = Param(Params._dummy(), "mixing", "how much each partition counts in the mean: uniform, errors or rows")
    validationFraction: Param = Param(
        Params._dummy(), "validationFraction", "share of the rows that decide when to stop; 0 for none", TypeConverters.toFloat
    )
    patience: Param = Param(
        Params._dummy(), "patience", "epochs without progress on those rows that are endured", TypeConverters.toInt
    )
    checkpointDir: Param = Param(Params._dummy(), "checkpointDir", "folder of any file system Spark knows")
    checkpointInterval: Param = Param(
        Params._dummy(), "checkpointInterval", "epochs between two checkpoints", TypeConverters.toInt
    )
    resume: Param = Param(
        Params._dummy(), "resume", "go on from the checkpoint, if there is one", TypeConverters.toBoolean
    )
    for _engine, (_name, _converter) in _OPTIONS.items():
        locals()[_name] = Param(Params._dummy(), _name, _meaning(_engine), _converter)
    del _engine, _name, _converter

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._setDefault(
            maxIter=20, seed=0, probabilityCol="", rawPredictionCol="rawPrediction", classWeight="even", mixing="uniform",
            validationFraction=0.1, patience=5, checkpointInterval=1, resume=False,
        )
        self.setParams(**settings)

    def setParams(self, **settings: Any) -> PerceptronClassifier:
        """Sets parameters by name."""
        if isinstance(settings.get("params_"), dict):
            settings["params_"] = json.dumps(settings["params_"])
        if isinstance(settings.get("classWeight"), dict):
            settings["classWeight"] = json.dumps(
                {_inputs.class_name(name): weight for name, weight in settings["classWeight"].items()}
            )
        unknown = [name for name in settings if not self.hasParam(name)]
        if unknown:
            raise TypeError(f"there is no parameter {unknown[0]!r}")
        return self._set(**settings)

    def _options(self) -> dict[str, Any]:
        """The engine's description of what is learned."""
        asked: dict[str, Any] = {
            engine: self.getOrDefault(name) for engine, (name, _) in _OPTIONS.items() if self.isSet(name)
        }
        asked["seed"], asked["epochs"] = self.getOrDefault("seed"), self.getOrDefault("maxIter")
        if self.isSet("params_"):
            asked["params"] = json.loads(self.getOrDefault("params_"))
        weights = self.getOrDefault("classWeight")
        asked["class-weights"] = weights if weights in ("even", "balanced") else {"given": json.loads(weights)}
        fraction = self.getOrDefault("validationFraction")
        asked["validation"] = {"fraction": fraction, "patience": self.getOrDefault("patience")} if fraction > 0 else None
        return asked

    def _fit(self, dataset):
        if self.getOrDefault("probabilityCol"):
            raise ValueError("there are no probabilities where weights are mixed; leave probabilityCol empty, and take rawPrediction")
        spark = dataset.sparkSession
        options = json.dumps(self._options())
        features, label = self._columns(dataset).alias("features"), F.col(self.getOrDefault("labelCol")).alias("label")
        weight = [F.col(self.getWeightCol()).cast("double").alias("weight")] if self.isSet("weightCol") else []
        with _settings(spark, {"spark.sql.inMemoryColumnarStorage.batchSize": _FEW["spark.sql.inMemoryColumnarStorage.batchSize"]}):
            rows = dataset.select(features, label, *weight)
            packed = rows.mapInArrow(_Pack(options, _n_partitions(dataset)), _PACKED).persist()
            try:
                with _told():
                    told = [json.loads(row.data) for row in packed.where("part = 'told'").select("data").collect()]
                model = self._train(spark, packed, options, told)
            finally:
                packed.unpersist()
        return self._copyValues(model)

    def _train(self, spark, packed, options, told):
        if not told:
            raise ValueError("there are no rows to learn from")
        values = _sorted({value for one in told for value in one["values"]})
        counts = [sum(dict(zip(one["values"], one["counts"])).get(value, 0) for one in told) for value in values]
        widths = sorted({one["width"] for one in told})
        if len(widths) > 1:
            raise ValueError(f"rows should have as many features everywhere, but have {widths[0]} here and {widths[-1]} there")
        n_validation = sum(one["n_validation"] for one in told)
        checkpoint = self._latest(spark) if self.getOrDefault("resume") else None
        mixture = _rosenblatt.Mixture(
            options, [_inputs.class_name(value) for value in values], counts, widths[0], len(told),
            self.getOrDefault("mixing"), told[0]["fingerprint"] if len(told) == 1 else None, checkpoint,
        )
        history = []
        with _settings(spark, _FEW):
            while not mixture.is_over:
                began = time.monotonic()
                start = mixture.start()
                shares = _epoch(spark, packed, start, len(told))
                number, rounds, mistakes, updates, errors, weighted = mixture.take([share for _, share in shares])
                epoch = {
                    "epoch": number, "rounds": rounds, "mistakes": mistakes, "updates": updates, "errors": errors,
                    "weightedMistakes": weighted, "bytesPublished": len(start),
                    "bytesReturned": sum(len(share) for _, share in shares),
                }
                if n_validation:
                    wrong = _judge(spark, packed, mixture.model_so_far())
                    mixture.judged(wrong, n_validation)
                    epoch["validationErrors"] = wrong
                epoch["seconds"] = round(time.monotonic() - began, 3)
                history.append(epoch)
                _log.info("epoch %(epoch)d: %(mistakes)d mistakes in %(rounds)d rows, %(seconds).1f s", epoch)
                self._save_checkpoint(spark, mixture)
        return PerceptronModel(mixture.model().to_bytes(), values, history)

    def _slots(self):
        return [f"{self.getOrDefault('checkpointDir').rstrip('/')}/slot-{slot}" for slot in (0, 1)]

    def _save_checkpoint(self, spark, mixture):
        due = mixture.n_epochs % self.getOrDefault("checkpointInterval") == 0 or mixture.is_over
        if self.isSet("checkpointDir") and due:
            # In turn, so that one of the two is whole whatever happens while the other is written.
            slot = self._slots()[mixture.n_epochs % 2]
            _write(spark, slot, mixture.n_epochs, mixture.checkpoint())

    def _latest(self, spark):
        """The last whole checkpoint, if there is one."""
        if not self.isSet("checkpointDir"):
            raise ValueError("resume needs checkpointDir, the folder to resume from")
        found = [one for one in (_read(spark, slot) for slot in self._slots()) if one is not None]
        return max(found, key=lambda one: one[0])[1] if found else None


class PerceptronModel(ClassificationModel, _Input, HasProbabilityCol, MLReadable, MLWritable):
    """What was learned: `model` is what every other face of the engine reads, `history` tells of every epoch."""

    def __init__(self, data: bytes = b"", values: list[Any] | None = None, history: list[dict[str, Any]] | None = None):
        super().__init__()
        self._setDefault(probabilityCol="", rawPredictionCol="rawPrediction")
        self._data, self._values, self.history = data, values or [], history or []

    @property
    def model(self) -> _Model:
        """The model, which can be saved to a file, explained, drawn and exported."""
        return _Model(_rosenblatt.Model.from_bytes(self._data))

    @property
    def classes(self) -> list[Any]:
        """The labels it tells apart."""
        return list(self._values)

    @property
    def numFeatures(self) -> int:
        return _rosenblatt.Model.from_bytes(self._data).n_features

    @property
    def numClasses(self) -> int:
        return len(self._values)

    def predictRaw(self, value):
        return Vectors.dense(_Predict.raw(_native(self._data), _one_row(value))[0])

    def predict(self, value):
        numbers = np.frombuffer(_native(self._data).predict(_one_row(value)), np.uint32)
        return self._values[int(numbers[0])]

    def _transform(self, dataset):
        text = isinstance(self._values[0], str)
        kind: T.DataType = T.StringType() if text else T.DoubleType()
        raw_col, said_col = self.getOrDefault("rawPredictionCol"), self.getOrDefault("predictionCol")
        fields = [T.StructField("said", kind)]
        if raw_col:
            fields.append(T.StructField("raw", T.ArrayType(T.DoubleType())))
        held = _publish(dataset.sparkSession, self._data)
        predict = _arrow_udf(_Predict(held, self._values, bool(raw_col)), T.StructType(fields))
        # Spark cannot take a vector out of a batch of Parquet while it calls Python: it is taken out before, in a step
        # that depends on the partition, so that the two are not made one.
        taken = f"{self.uid} features"
        answer = predict(F.col(f"`{taken}`"))
        columns = {said_col: answer["said"]} if said_col else {}
        if raw_col:
            columns[raw_col] = array_to_vector(answer["raw"])
        rows = dataset.withColumn(taken, F.when(F.spark_partition_id() >= 0, self._columns(dataset)))
        return rows.withColumns(columns).drop(taken)

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader:
        return _Reader(cls)


class _Writer(MLWriter):
    def __init__(self, instance):
        super().__init__()
        self.instance = instance

    def saveImpl(self, path):
        told = {"values": self.instance._values, "history": self.instance.history}
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession, extraMetadata={"told": told})
        _write(self.sparkSession, f"{path.rstrip('/')}/model", 0, self.instance._data)


class _Reader(MLReader):
    def __init__(self, cls):
        super().__init__()
        self.cls = cls

    def load(self, path):
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        found = _read(self.sparkSession, f"{path.rstrip('/')}/model")
        if found is None:
            raise ValueError(f"there is no model in {path}")
        model = self.cls(found[1], metadata["told"]["values"], metadata["told"]["history"])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


# What runs in the driver.


def _sorted(values):
    if len({isinstance(value, str) for value in values}) > 1:
        raise ValueError("labels should be all numbers or all text")
    return sorted(values)


def _n_partitions(frame):
    """How many partitions there are; Spark Connect does not say, so that each is taken for the only one."""
    try:
        return frame.rdd.getNumPartitions()
    except Exception:  # noqa: BLE001  (there, it is an error of a kind that only Connect has)
        return 1


@contextlib.contextmanager
def _settings(spark, settings):
    """Settings of the session, for a while."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


@contextlib.contextmanager
def _told():
    """What a task said of a row, instead of the many lines that Spark makes of it."""
    try:
        yield
    except Exception as raised:
        said = _SAID.search(str(raised))
        if said is None:
            raise
        raise ValueError(said[1].strip()) from raised


class _Carried:
    """Bytes that travel with the function that needs them, where there is no broadcast."""

    def __init__(self, value):
        self.value = value

    def destroy(self):
        pass


def _publish(spark, data):
    try:
        return spark.sparkContext.broadcast(data)
    except Exception:  # noqa: BLE001  (Spark Connect has no context)
        return _Carried(data)


def _epoch(spark, packed, start, n_shards):
    """What every partition hands back after an epoch, in the order of partitions."""
    held = _publish(spark, start)
    try:
        shares = packed.where("part = 'train'").select("shard", "number", "data").mapInArrow(_Epoch(held), _SHARES)
        if n_shards > _TREE:
            group = F.floor(F.col("shard") / math.isqrt(n_shards)).cast("int")
            shares = shares.groupBy(group.alias("group")).applyInArrow(_add, _SHARES)
        with _told():
            return sorted((row.shard, bytes(row.share)) for row in shares.collect())
    finally:
        held.destroy()


def _judge(spark, packed, model):
    """How many rows of the validation set the model names wrongly."""
    held = _publish(spark, model.to_bytes())
    try:
        rows = packed.where("part = 'validation'").select("data").mapInArrow(_Judge(held), "errors long")
        return sum(row.errors for row in rows.collect())
    finally:
        held.destroy()


def _write(spark, path, number, data):
    spark.createDataFrame([(number, bytearray(data))], "number long, data binary").coalesce(1).write.mode(
        "overwrite"
    ).parquet(path)


def _read(spark, path):
    try:
        found = spark.read.parquet(path).collect()
    except Exception:  # noqa: BLE001  (what is not there, or was cut while it was written, is none)
        return None
    return (found[0].number, bytes(found[0].data)) if found else None


# What runs in the workers.


class _Pack:
    """From the rows of a partition to packs of the engine."""

    def __init__(self, options, n_shards):
        self.options, self.n_shards = options, n_shards

    def __call__(self, batches):
        from pyspark import TaskContext

        shard = TaskContext.get().partitionId()
        try:
            yield from self.packs(shard, batches)
        except (ValueError, TypeError) as error:
            raise ValueError(f"rosenblatt says: partition {shard}, {error}") from None

    def packs(self, shard, batches):
        rows, labels, weights, n_rows = [], [], [], 0
        for batch in batches:
            table = pa.table(batch) if isinstance(batch, dict) else pa.Table.from_batches([batch])
            table = table.combine_chunks()
            if table.num_rows == 0:
                continue
            rows.append(_matrix(_whole(table.column("features")), n_rows))
            labels.append(_labels(_whole(table.column("label")), n_rows))
            if "weight" in table.column_names:
                weights.append(_numbers(_whole(table.column("weight")), n_rows, "its weight"))
            n_rows += table.num_rows
        if not rows:
            return
        lent = _joined(rows)
        values, classes = np.unique(np.concatenate(labels), return_inverse=True)
        names = [_inputs.class_name(value) for value in values.tolist()]
        train, validation, counts, n_validation, fingerprint = _rosenblatt.pack_rows(
            self.options, lent, classes.astype(np.uint32), names, np.concatenate(weights) if weights else None,
            shard, self.n_shards,
        )
        width = lent[3] if isinstance(lent, tuple) else lent.shape[1]
        told = {
            "values": values.tolist(), "counts": counts, "n_validation": n_validation, "width": width,
            "fingerprint": fingerprint,
        }
        for part, packs in (("train", train), ("validation", validation), ("told", [json.dumps(told).encode()])):
            for number, pack in enumerate(packs):
                yield pa.RecordBatch.from_pydict(
                    {
                        "shard": pa.array([shard], pa.int32()), "part": [part],
                        "number": pa.array([number], pa.int32()), "data": pa.array([pack], pa.binary()),
                    }
                )


class _Epoch:
    """One epoch over the packs of a partition."""

    def __init__(self, held):
        self.held = held

    def __call__(self, batches):
        packs = _each(batches)
        first = next(packs, None)
        if first is None:
            return
        shard = first[0]

        def data():
            yield first[2]
            last = first[1]
            for _, number, pack in packs:
                if number != last + 1:
                    raise RuntimeError(f"partition {shard}: pack {number} came after pack {last}")
                last = number
                yield pack

        try:
            share = _rosenblatt.shard_epoch(self.held.value, shard, data())
        except ValueError as error:
            raise ValueError(f"rosenblatt says: partition {shard}, {error}") from None
        yield pa.RecordBatch.from_pydict({"shard": pa.array([shard], pa.int32()), "share": pa.array([share], pa.binary())})


class _Judge:
    """How many packed rows a model names wrongly."""

    def __init__(self, held):
        self.held = held

    def __call__(self, batches):
        packs = (value.as_py() for batch in batches for value in batch.column("data"))
        errors, _ = _rosenblatt.count_errors(_native(self.held.value), packs)
        yield pa.RecordBatch.from_pydict({"errors": pa.array([errors], pa.int64())})


class _Predict:
    """Classes, and scores if they are wanted, of a batch of rows."""

    def __init__(self, held, values, raw):
        self.held, self.values, self.wants_raw = held, values, raw

    def __call__(self, features):
        model = _native(self.held.value)
        rows = _matrix(features, 0)
        classes = np.frombuffer(model.predict(rows), np.uint32)
        text = isinstance(self.values[0], str)
        values = np.array(self.values, dtype=object if text else np.float64)
        said = pa.array(values[classes], pa.string() if text else pa.float64())
        if not self.wants_raw:
            return pa.StructArray.from_arrays([said], ["said"])
        scores = self.raw(model, rows)
        offsets = pa.array(np.arange(len(scores) + 1, dtype=np.int32) * scores.shape[1])
        raw = pa.ListArray.from_arrays(offsets, pa.array(scores.ravel()))
        return pa.StructArray.from_arrays([said, raw], ["said", "raw"])

    @staticmethod
    def raw(model, rows):
        """A score for each class; for two of them, one and its opposite."""
        n_classes = len(model.classes)
        scores = np.frombuffer(model.decision_function(rows), np.float64)
        return np.stack([-scores, scores], axis=1) if n_classes == 2 else scores.reshape(-1, n_classes)


def _arrow_udf(function, kind):
    """A function from a column to a column, both as Arrow has them."""
    arrow_udf = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:
        def whole(features: pa.Array) -> pa.Array:
            return function(features)

        return arrow_udf(whole, kind)
    import pandas as pd

    def of_series(features: pd.Series) -> pd.DataFrame:
        return function(pa.array(features.tolist())).to_pandas().apply(pd.Series)

    return F.pandas_udf(of_series, kind)


_models: dict[bytes, Any] = {}


def _native(data):
    """The model in these bytes, read once in every process."""
    key = data[32:64]
    if key not in _models:
        if len(_models) > 8:
            _models.clear()
        _models[key] = _rosenblatt.Model.from_bytes(data)
    return _models[key]


def _each(batches):
    for batch in batches:
        columns = [batch.column(name) for name in ("shard", "number", "data")]
        for place in range(batch.num_rows):
            yield tuple(column[place].as_py() for column in columns)


def _add(group):
    rows = sorted(zip(group.column("shard").to_pylist(), group.column("share").to_pylist()))
    sum_of = _rosenblatt.add_shares([share for _, share in rows])
    return pa.table({"shard": pa.array([rows[0][0]], pa.int32()), "share": pa.array([sum_of], pa.binary())})


def _whole(column):
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _first_null(array, before, what):
    if array.null_count:
        row = before + int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"row {row}: {what} is missing")


def _numbers(array, before, what):
    _first_null(array, before, what)
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def _labels(array, before):
    _first_null(array, before, "its label")
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return np.array(array.to_pylist(), dtype=str)
    if pa.types.is_boolean(array.type):
        return array.to_numpy(zero_copy_only=False).astype(np.float64)
    labels = array.to_numpy(zero_copy_only=False).astype(np.float64)
    if not np.isfinite(labels).all():
        row = before + int(np.flatnonzero(~np.isfinite(labels))[0])
        raise ValueError(f"row {row}: its label should be a number, but is {labels[row - before]}")
    return labels


def _flat(lists):
    return lists.flatten().to_numpy(zero_copy_only=False)


def _matrix(features, before):
    """Rows as the engine takes them: an array of two axes, or `(indptr, indices, data, n_features)`."""
    if isinstance(features, pa.ChunkedArray):
        features = _whole(features)
    _first_null(features, before, "its features")
    if pa.types.is_struct(features.type):
        # A vector of Spark: sparse (0) or dense (1), size, indices, values.
        kind, size, indices, values = (features.field(name) for name in ("type", "size", "indices", "values"))
        dense = kind.to_numpy(zero_copy_only=False) == 1
        if dense.all():
            return _dense(values, before)
        if not dense.any():
            return _sparse(size.to_numpy(zero_copy_only=False), indices, values, before)
        return _mixed(features)
    return _dense(features, before)


def _dense(lists, before):
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        raise ValueError(f"row {before + row} has {lengths[row]} features, where the first one here has {lengths[0]}")
    values = lists.flatten()
    if values.null_count:
        place = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        row, feature = divmod(place, int(lengths[0]))
        raise ValueError(f"row {before + row}: feature {feature} is missing")
    values = values.to_numpy(zero_copy_only=False)
    values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    return np.ascontiguousarray(values.reshape(len(lengths), -1))


def _sparse(sizes, indices, values, before):
    if (sizes != sizes[0]).any():
        row = int(np.flatnonzero(sizes != sizes[0])[0])
        raise ValueError(f"row {before + row} has {sizes[row]} features, where the first one here has {sizes[0]}")
    lengths = indices.value_lengths().to_numpy(zero_copy_only=False)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return indptr, np.ascontiguousarray(_flat(indices), np.int32), np.ascontiguousarray(_flat(values)), int(sizes[0])


def _mixed(features):
    """Vectors some of which are sparse and some dense, one by one."""
    indptr, indices, data, width = [0], [], [], 0
    for row in features.to_pylist():
        places = range(len(row["values"])) if row["type"] == 1 else row["indices"]
        width = max(width, len(row["values"]) if row["type"] == 1 else row["size"])
        indices.extend(places)
        data.extend(row["values"])
        indptr.append(len(indices))
    return np.array(indptr, np.int64), np.array(indices, np.int32), np.array(data, np.float64), width


def _one_row(vector):
    return np.asarray(vector.toArray() if hasattr(vector, "toArray") else vector, np.float64).reshape(1, -1)


def _joined(parts):
    """All parts, one behind the other."""
    widths = sorted({part[3] if isinstance(part, tuple) else part.shape[1] for part in parts})
    if len(widths) > 1:
        raise ValueError(f"rows should have as many features everywhere, but some have {widths[0]} and some {widths[-1]}")
    if not any(isinstance(part, tuple) for part in parts):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    parts = [part if isinstance(part, tuple) else _compressed(part) for part in parts]
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0] + [int(part[0][-1]) for part in parts])
    indptr = np.concatenate([[0]] + [part[0][1:] + end for part, end in zip(parts, ends)])
    return (
        indptr.astype(np.int64), np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts]),
        widths[0],
    )


def _compressed(dense):
    rows, places = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
    return indptr.astype(np.int64), places.astype(np.int32), dense[rows, places].astype(np.float64), dense.shape[1]
