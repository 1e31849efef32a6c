"""The perceptron family on Spark, by iterative parameter mixing.

In every epoch each partition starts from the same weights, runs the engine's own loop over its rows inside the Python
worker, and hands back what moved; the driver takes the mean. There is no barrier, no socket between tasks and no code for
the JVM: an epoch is an ordinary job, which Spark retries and speculates on as it likes. The outcome depends on the rows of
each partition and on the seed, not on which executor runs what; one partition gives the model of one machine, bit by bit.

>>> from rosenblatt.spark import PerceptronClassifier                      # doctest: +SKIP
>>> model = PerceptronClassifier(maxIter=5).fit(rows)                       # doctest: +SKIP
>>> model.transform(rows).select("prediction")                              # doctest: +SKIP
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import hashlib
import itertools
import json
import logging
import math
import os
import re
import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.ml.classification import ClassificationModel, Classifier
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import DenseMatrix, Vectors, VectorUDT
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

from . import _checks, _inputs, _keywords, _rosenblatt
from ._product import Model as _Model
from ._product import catalogue

__all__ = ["PerceptronClassifier", "PerceptronModel", "PerceptronSummary", "PerceptronTrainingSummary"]

_log = logging.getLogger(__name__)
_PACKED = "shard int, part string, number int, data binary"
_SHARES = "shard int, share binary"
#: From this number of partitions on, their shares are added in groups before the driver sees them.
_TREE = 64
#: Packs are large: few of them make a batch, in the cache and on their way to Python.
_FEW = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4",
    "spark.sql.inMemoryColumnarStorage.batchSize": "4",
}
#: Rows are packed in parts of about this many bytes.
_PART_BYTES = 1 << 20
#: How a task says what is wrong with a row, so that the driver can find it in what Spark makes of it.
_SAID = re.compile(r"ValueError: rosenblatt says: (.*)")

#: What Spark has parameters of its own for, or what is read from JSON below.
_OWN = ("seed", "epochs", "params", "class-weights", "costs")
_CONVERTERS = {"choice": TypeConverters.toString, "switch": TypeConverters.toBoolean, "at-least": TypeConverters.toInt}


def _options():
    """The settings of learning that are parameters here as they are, by the engine's name."""
    learning = next(group["options"] for group in catalogue()["options"] if group["name"] == "learning")
    kind = lambda one: next(iter(one["takes"])) if isinstance(one["takes"], dict) else one["takes"]
    return {one["name"]: (one, _CONVERTERS[kind(one)]) for one in learning if kind(one) in _CONVERTERS and one["name"] not in _OWN}


def _meaning(option):
    """What `explainParams` says of it."""
    unset = f"; {option['unset']} if not set" if option["unset"] and option["default"] is None else ""
    return option["meaning"] + unset


_OPTIONS = _options()


class _Input(HasInputCols):
    """Where the features are: `featuresCol` (vectors, arrays, text) or `inputCols` (numbers, a column each)."""

    def _columns(self, frame):
        """The features as columns that Arrow knows: one, or the four parts of a vector."""
        if self.isSet(self.inputCols):
            for name in self.getInputCols():
                _expect(frame, name, (T.NumericType, T.BooleanType), "numbers")
            return [F.array(*[F.col(_quoted(name)).cast("double") for name in self.getInputCols()]).alias("features")]
        name = self.getOrDefault("featuresCol")
        kind = frame.schema[name].dataType
        if isinstance(kind, VectorUDT):
            return _vector(F.col(_quoted(name)))
        if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, T.NumericType):
            return [F.col(_quoted(name)).alias("features")]
        _expect(frame, name, T.StringType, "vectors, arrays of numbers or text")
        return [F.col(_quoted(name)).alias("features")]

    def _is_text(self, frame):
        is_set = self.isSet(self.inputCols)
        return not is_set and isinstance(frame.schema[self.getOrDefault("featuresCol")].dataType, T.StringType)


# What a vector of Spark is stored as.
_PARTS = ["type", "size", "indices", "values"]


def _vector(column):
    """The parts of a vector, a column each: Arrow for Java takes a quarter longer where they are one. A dense one has no
    indices, and must not say so: a missing list is written by going over all that were missing before it, which for a batch
    of dense rows takes ten times longer than their values."""
    vector = F.unwrap_udt(column)
    parts = {name: vector[name] for name in _PARTS}
    parts["indices"] = F.coalesce(parts["indices"], F.array().cast("array<int>"))
    return [part.alias(name) for name, part in parts.items()]


def _features(parts):
    """The features as one column again. A vector is missing where its kind is."""
    if len(parts) == 1:
        return parts[0]
    return pa.StructArray.from_arrays(parts, _PARTS, mask=parts[0].is_null() if parts[0].null_count else None)


def _are_numbers(given):
    return isinstance(given, dict) and all(map(_checks.is_number, given.values()))


def _quoted(name):
    return "`" + name.replace("`", "``") + "`"


def _expect(frame, name, kinds, what):
    kind = frame.schema[name].dataType
    if not isinstance(kind, kinds):
        raise TypeError(f"column {name!r} should hold {what}, but is {kind.simpleString()}")


class PerceptronClassifier(
    Classifier, _Input, HasProbabilityCol, HasMaxIter, HasSeed, HasWeightCol, DefaultParamsReadable, DefaultParamsWritable
):
    """Learns a linear classifier where the rows are.

    Parameters are the engine's settings of learning (`explainParams` says what each means), `params_` those of the rule,
    `readout` one of `last` and `averaged`; and of mixing: `mixing` (`uniform`, `errors`, `rows`), `validationFraction` and `patience`
    for stopping early, `checkpointDir`, `checkpointInterval` and `resume`. Text is hashed to `2^hashBits` features, as `text`
    says. With a `probabilityCol`, `calibrate` (`platt`, `isotonic`) says how scores become probabilities.
    """

    hashBits: Param = Param(
        Params._dummy(), "hashBits", "number of features that text is hashed to, as a power of two", TypeConverters.toInt
    )
    text: Param = Param(
        Params._dummy(), "text", "how text becomes features, as the engine's options of text in JSON", TypeConverters.toString
    )
    calibrate: Param = Param(
        Params._dummy(), "calibrate", "how scores become probabilities, if there is a column for them: platt or isotonic",
        TypeConverters.toString,
    )

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
    costs: Param = Param(
        Params._dummy(), "costs", "what mistakes cost, which decides the class of a model with probabilities: `even`, `balanced`, a "
        "threshold for the second of two classes, or JSON by class or TRUE:NAMED",
        TypeConverters.toString,
    )
    for _option, _converter in _OPTIONS.values():
        locals()[_option["spark"]] = Param(Params._dummy(), _option["spark"], _meaning(_option), _converter)
    del _option, _converter

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._setDefault(
            maxIter=20, seed=0, probabilityCol="", rawPredictionCol="rawPrediction", classWeight="even", mixing="uniform",
            validationFraction=0.1, patience=5, checkpointInterval=1, resume=False, hashBits=18, calibrate="platt",
            text="{}", costs="even",
            **{option["spark"]: option["default"] for option, _ in _OPTIONS.values() if option["default"] is not None},
        )
        self.setParams(**settings)

    def setParams(self, **settings: Any) -> PerceptronClassifier:
        """Sets parameters by name."""
        if "costs" in settings and not isinstance(settings["costs"], str):
            settings["costs"] = json.dumps(settings["costs"])
        for name in ("params_", "text"):
            if isinstance(settings.get(name), dict):
                settings[name] = json.dumps({key.replace("_", "-"): value for key, value in settings[name].items()})
        if isinstance(settings.get("classWeight"), dict):
            settings["classWeight"] = json.dumps(
                {_inputs.class_name(name): weight for name, weight in settings["classWeight"].items()}
            )
        unknown = [name for name in settings if not self.hasParam(name)]
        if unknown:
            raise TypeError(f"there is no parameter {unknown[0]!r}{_keywords.meant(unknown[0], [one.name for one in self.params])}")
        return self._set(**settings)

    def _options(self) -> dict[str, Any]:
        """The engine's description of what is learned."""
        asked: dict[str, Any] = {
            engine: self.getOrDefault(option["spark"]) for engine, (option, _) in _OPTIONS.items() if self.isSet(option["spark"])
        }
        asked["seed"], asked["epochs"] = self.getOrDefault("seed"), self.getOrDefault("maxIter")
        if self.isSet("params_"):
            asked["params"] = self._json("params_", "a number for each parameter of the rule, as JSON", _are_numbers)
        asked["class-weights"] = self.getOrDefault("classWeight")
        if asked["class-weights"] not in ("even", "balanced"):
            what = '"even", "balanced" or a number, 0 or more, for each class, as JSON'
            fits = lambda given: _are_numbers(given) and min(given.values(), default=0) >= 0
            asked["class-weights"] = {"given": self._json("classWeight", what, fits)}
        asked["costs"] = self.getOrDefault("costs")
        if asked["costs"] not in ("even", "balanced"):
            what = '"even", "balanced", a threshold, or a number for each class or TRUE:NAMED, as JSON'
            costs = self._json("costs", what, lambda given: _are_numbers(given) or _checks.is_number(given))
            asked["costs"] = {"given": costs} if isinstance(costs, dict) else {"threshold": float(costs)}
        fraction = self.getOrDefault("validationFraction")
        asked["validation"] = {"fraction": fraction, "patience": self.getOrDefault("patience")} if fraction > 0 else None
        return asked

    def _json(self, name, what, fits):
        """What a parameter holds as JSON."""
        text = self.getOrDefault(name)
        with contextlib.suppress(ValueError):
            if fits(value := json.loads(text)):
                return value
        _checks.refuse(type(self).__name__, name, what, text)

    def _text(self):
        """How text becomes features."""
        given = self._json("text", "the engine's options of text, as JSON", lambda given: isinstance(given, dict))
        return _keywords.text(type(self).__name__, given)

    def _reading(self):
        """How a column of text is read."""
        text = {"weighting": "count", **self._text()}
        if text["weighting"] == "tf-idf":
            raise ValueError("tf-idf has to know all texts before the first is read; weigh words by count, binary or frequency")
        if text.get("keep-names"):
            raise ValueError("names of hashed words are not kept where rows are in several places; leave keep_names out")
        name = self.getOrDefault("featuresCol")
        return json.dumps({
            "text-columns": [name], "hash-bits": self.getOrDefault("hashBits"), "text": text, "label": "absent",
            "scaling": "none", "threads": 1,
        })

    def _schema(self, dataset, reading):
        """What other faces must know to read such a table."""
        name, label = self.getOrDefault("featuresCol"), self.getOrDefault("labelCol")
        *_, schema = _rosenblatt.read_rows(reading, pa.table({name: ["a word"]}))
        ignored = [column for column in dataset.columns if column not in (name, label)]
        return json.dumps({**json.loads(schema), "label": label, "ignored": ignored})

    def _check(self):
        """Refuses parameters that are none, before a job begins."""
        owner = type(self).__name__
        settings = [
            (option["spark"], "learning", engine, self.getOrDefault(option["spark"]))
            for engine, (option, _) in _OPTIONS.items() if self.isSet(option["spark"])
        ]
        settings += [("maxIter", "learning", "epochs", self.getOrDefault("maxIter"))]
        settings += [("patience", "validation", "patience", self.getOrDefault("patience"))]
        settings += [("hashBits", "reading", "hash-bits", self.getOrDefault("hashBits"))]
        settings += [("seed", "learning", "seed", self.getOrDefault("seed"))]
        fraction = self.getOrDefault("validationFraction")
        if fraction != 0:
            settings += [("validationFraction", "validation", "fraction", fraction)]
        _checks.check(owner, settings)
        if self.getOrDefault("checkpointInterval") < 1:
            _checks.refuse(owner, "checkpointInterval", "a whole number, 1 or more", self.getOrDefault("checkpointInterval"))
        if self.isSet("hashBits") or self.isSet("text"):
            try:
                _rosenblatt.read_rows(self._reading(), pa.table({self.getOrDefault("featuresCol"): ["a word"]}))
            except ValueError as error:
                name = "hashBits" if "hash" in str(error) else "text"
                raise ValueError(f"{name} of {owner} cannot be {self.getOrDefault(name)!r}: {error}") from None
        for name, needed in (("calibrate", "probabilityCol"), ("checkpointInterval", "checkpointDir"), ("resume", "checkpointDir")):
            if self.isSet(name) and self.getOrDefault(name) is not False and not (self.isDefined(needed) and self.getOrDefault(needed)):
                raise ValueError(f"{name} means nothing without {needed}: set it, or leave {name} out")
        if self.isSet("patience") and fraction == 0:
            raise ValueError("patience means nothing without validationFraction: set it above 0, or leave patience out")
        # What belongs together, the engine knows; classes are not known yet.
        options = {**self._options(), "class-weights": "even", "costs": "even"}
        _rosenblatt.Mixture(json.dumps(options), ["a", "b"], [1, 1], 1, 1, self.getOrDefault("mixing"))

    def _fit(self, dataset):
        spark = dataset.sparkSession
        self._check()
        options = json.dumps(self._options())
        if self.getOrDefault("calibrate") not in ("platt", "isotonic"):
            raise ValueError(f"calibrate should be platt or isotonic, but is {self.getOrDefault('calibrate')!r}")
        if self.getOrDefault("probabilityCol") and not self.getOrDefault("validationFraction") > 0:
            raise ValueError("probabilities are fitted on the validation set; raise validationFraction above 0")
        if self.getOrDefault("costs") != "even" and not self.getOrDefault("probabilityCol"):
            raise ValueError("costs are weighed by probabilities: name a probabilityCol")
        label = self.getOrDefault("labelCol")
        _expect(dataset, label, (T.NumericType, T.BooleanType, T.StringType), "numbers or text")
        columns = [*self._columns(dataset), F.col(_quoted(label)).alias("label")]
        if self.isSet("weightCol"):
            _expect(dataset, self.getWeightCol(), T.NumericType, "numbers")
            columns.append(F.col(_quoted(self.getWeightCol())).cast("double").alias("weight"))
        reading = self._reading() if self._is_text(dataset) else None
        for name in ("hashBits", "text"):
            if self.isSet(name) and reading is None:
                raise ValueError(f"{name} is for a column of text, but the features are numbers: leave it out")
        schema = self._schema(dataset, reading) if reading else None
        text = reading and (reading, self.getOrDefault("featuresCol"))
        in_cache = "spark.sql.inMemoryColumnarStorage.batchSize"
        with _settings(spark, {in_cache: _FEW[in_cache]}):
            for pack in self._ways_to_pack(options, _n_partitions(dataset), text):
                packed = dataset.select(*columns).mapInArrow(pack, _PACKED).persist()
                try:
                    began = time.monotonic()
                    with _message_alone():
                        facts = packed.where("part = 'facts'").select("shard", "data").collect()
                    facts = [json.loads(row.data) for row in sorted(facts, key=lambda row: row.shard)]
                    is_ahead = pack.went_ahead(facts)
                    if is_ahead or pack.keeps:
                        model = self._train(spark, packed, options, facts, schema, began if is_ahead else None)
                        return self._copyValues(model)
                finally:
                    packed.unpersist()

    def _ways_to_pack(self, options, n_shards, text):
        """How rows are packed; if the first way did not do, in the second.

        The first epoch needs no other place's rows if all places know all classes, so the task that packs rows may learn
        from them at once. That takes no more memory if their order is given, or if no later epoch needs them.
        """
        is_given = self.isSet("order") and self.getOrDefault("order") == "given"
        is_sole = self.getOrDefault("maxIter") == 1 and not self.getOrDefault("validationFraction") > 0
        is_counted = self.getOrDefault("classWeight") == "balanced" and n_shards > 1
        if (is_given or is_sole) and not is_counted and not self.getOrDefault("resume"):
            yield _Pack(options, n_shards, text, self.getOrDefault("mixing"), not is_sole)
        yield _Pack(options, n_shards, text)

    def _train(self, spark, packed, options, facts, schema, ahead):
        if not facts:
            raise ValueError("there are no rows to learn from")
        values = sorted({value for one in facts for value in one["values"]})
        counts = [sum(dict(zip(one["values"], one["counts"])).get(value, 0) for one in facts) for value in values]
        widths = sorted({one["width"] for one in facts})
        if len(widths) > 1:
            raise ValueError(f"rows should have as many features everywhere, but have {widths[0]} here and {widths[-1]} there")
        n_validation = sum(one["n_validation"] for one in facts)
        if self.getOrDefault("probabilityCol") and not n_validation:
            raise ValueError("there are too few rows to hold some out for probabilities: a thousand in all are needed")
        digest = hashlib.sha256("".join(one["fingerprint"] for one in facts).encode()).hexdigest()
        checkpoint, turn = self._latest(spark, digest) if self.getOrDefault("resume") else (None, 0)
        mixture = _rosenblatt.Mixture(
            options, [_inputs.class_name(value) for value in values], counts, widths[0], len(facts),
            self.getOrDefault("mixing"), facts[0]["fingerprint"] if len(facts) == 1 else None, checkpoint,
        )
        if self.isSet("checkpointDir") and not self.getOrDefault("resume"):
            # What an earlier run left there must not be taken for what this one did.
            for slot in self._slots():
                _write(spark, slot, 0, mixture.checkpoint(), digest)
        history = []
        with _settings(spark, _FEW):
            while not mixture.is_over:
                # What was learned while rows were packed, if that was so.
                began = ahead or time.monotonic()
                start = b"" if ahead else mixture.start()
                shares = _first_epoch(packed, len(facts)) if ahead else _epoch(spark, packed, start, len(facts))
                ahead = None
                number, rounds, mistakes, updates, errors, weighted = mixture.take([share for _, share in shares])
                epoch = {
                    "epoch": number, "rounds": rounds, "mistakes": mistakes, "updates": updates, "errors": errors,
                    "weightedMistakes": weighted, "bytesPublished": len(start),
                    "bytesReturned": sum(len(share) for _, share in shares), "bytesCached": sum(one["bytes"] for one in facts),
                }
                if n_validation:
                    wrong = _judge(spark, packed, mixture.model_so_far())
                    mixture.judged(wrong, n_validation)
                    epoch["validationErrors"] = wrong
                epoch["seconds"] = round(time.monotonic() - began, 3)
                history.append(epoch)
                _log.info("epoch %(epoch)d: %(mistakes)d mistakes in %(rounds)d rows, %(seconds).1f s", epoch)
                if self.isSet("checkpointDir") and (number % self.getOrDefault("checkpointInterval") == 0 or mixture.is_over):
                    # In turn, so that one of the two is whole whatever happens while the other is written.
                    _write(spark, self._slots()[turn], number, mixture.checkpoint(), digest)
                    turn = 1 - turn
            model = mixture.model(schema)
            if self.getOrDefault("probabilityCol"):
                scores = _validation(spark, packed, model, _Scores, "shard int, scores binary")
                scores = [bytes(row.scores) for row in sorted(scores, key=lambda row: row.shard)]
                model = _rosenblatt.with_probabilities(model, self.getOrDefault("calibrate"), scores)
        return PerceptronModel(model.to_bytes(), values, history)

    def _slots(self):
        return [f"{self.getOrDefault('checkpointDir').rstrip('/')}/slot-{slot}" for slot in (0, 1)]

    def _latest(self, spark, digest):
        """The last whole checkpoint, if there is one, and whose turn is next."""
        found, unreadable = [], None
        for turn, slot in enumerate(self._slots()):
            try:
                found += [(row.number, 1 - turn, row) for row in _read(spark, slot)]
            except Exception as error:  # noqa: BLE001  (of what kind, that depends on the file system)
                # The other is whole: the two are never written at once.
                unreadable = error
        if not found:
            if unreadable is not None:
                raise unreadable
            return None, 0
        _, turn, last = max(found)
        if last.rows != digest:
            raise ValueError("the checkpoint is of other rows, or of rows parted in another way; leave resume out to begin anew")
        return bytes(last.data), turn


class PerceptronTrainingSummary:
    """How a training went, epoch by epoch."""

    def __init__(self, history: list[dict[str, Any]]) -> None:
        self.history = history

    @property
    def totalIterations(self) -> int:
        """Epochs."""
        return len(self.history)

    @property
    def objectiveHistory(self) -> list[float]:
        """The share of mistakes in every epoch."""
        return [epoch["mistakes"] / max(1, epoch["rounds"]) for epoch in self.history]


class PerceptronSummary:
    """How good a model is: `predictions`, and figures by label in the order of `labels`."""

    def __init__(self, predictions: Any, counts: dict[tuple[Any, Any], int]) -> None:
        self.predictions, self._counts = predictions, counts

    @property
    def labels(self) -> list[Any]:
        """The labels of the rows and of the predictions."""
        return sorted({label for pair in self._counts for label in pair})

    def _sum(self, keep):
        return sum(count for pair, count in self._counts.items() if keep(*pair))

    @property
    def accuracy(self) -> float:
        """The share of rows that get their label."""
        return self._sum(lambda label, predicted: label == predicted) / max(1, self._sum(lambda label, predicted: True))

    @property
    def precisionByLabel(self) -> list[float]:
        """For each label, the share of rows with it among those that were given it."""
        return [self._counts.get((one, one), 0) / max(1, self._sum(lambda label, predicted: predicted == one)) for one in self.labels]

    @property
    def recallByLabel(self) -> list[float]:
        """For each label, the share of its rows that were given it."""
        return [self._counts.get((one, one), 0) / max(1, self._sum(lambda label, predicted: label == one)) for one in self.labels]

    def fMeasureByLabel(self, beta: float = 1.0) -> list[float]:
        """For each label, the harmonic mean of precision and recall, which counts `beta` times as much."""
        pairs = zip(self.precisionByLabel, self.recallByLabel)
        square = beta * beta
        return [(1 + square) * p * r / (square * p + r) if p + r else 0.0 for p, r in pairs]


class PerceptronModel(ClassificationModel, _Input, HasProbabilityCol, MLReadable, MLWritable):
    """The result: `model` is what the command line and the server read, `history` has a record of every epoch."""

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

    def _planes(self):
        planes = _rosenblatt.Model.from_bytes(self._data).planes()
        if planes is None:
            raise ValueError("this model has no hyperplanes")
        weights, biases = (np.frombuffer(part, dtype=np.float64) for part in planes)
        return weights.reshape(len(biases), -1), biases

    @property
    def coefficientMatrix(self) -> DenseMatrix:
        """The weights: a row for two classes, else one for each class or pair of classes."""
        weights, _ = self._planes()
        return DenseMatrix(*weights.shape, weights.ravel().tolist(), isTransposed=True)

    @property
    def interceptVector(self) -> Any:
        """The biases, one for each row of `coefficientMatrix`."""
        return Vectors.dense(self._planes()[1].tolist())

    def _of_two(self, what):
        weights, biases = self._planes()
        if len(biases) > 1:
            raise ValueError(f"of more than two classes there is {what}")
        return weights[0], biases[0]

    @property
    def coefficients(self) -> Any:
        """The weights of a model of two classes."""
        return Vectors.dense(self._of_two("coefficientMatrix")[0].tolist())

    @property
    def intercept(self) -> float:
        """The bias of a model of two classes."""
        return float(self._of_two("interceptVector")[1])

    @property
    def hasSummary(self) -> bool:
        """Whether it has a summary of its training."""
        return bool(self.history)

    @property
    def summary(self) -> PerceptronTrainingSummary:
        """How its training went."""
        return PerceptronTrainingSummary(self.history)

    def evaluate(self, dataset: Any) -> PerceptronSummary:
        """How good it is on rows whose labels are known."""
        label, predicted = self.getOrDefault("labelCol"), self.getOrDefault("predictionCol")
        predictions = self.transform(dataset)
        kind = "string" if isinstance(self._values[0], str) else "double"
        pair = [F.col(_quoted(label)).cast(kind).alias("label"), F.col(_quoted(predicted)).alias("predicted")]
        counts = predictions.select(*pair).groupBy("label", "predicted").count().collect()
        return PerceptronSummary(predictions, {(row["label"], row["predicted"]): row["count"] for row in counts})

    def predictRaw(self, value):
        return Vectors.dense(_Predict(_Carried(self._data), self._values, "raw").of(_one_row(value))[0])

    def predictProbability(self, value):
        return Vectors.dense(_Predict(_Carried(self._data), self._values, "probability").of(_one_row(value))[0])

    def predict(self, value):
        answer = _Predict(_Carried(self._data), self._values, "class").of(_one_row(value))[0]
        return answer if isinstance(answer, str) else float(answer)

    def _transform(self, dataset):
        if self.getOrDefault("probabilityCol") and not self.model.is_calibrated:
            raise ValueError("this model has no probabilities; fit it with a probabilityCol, or leave probabilityCol empty")
        self._check_width(dataset)
        kind = T.StringType() if isinstance(self._values[0], str) else T.DoubleType()
        held = _publish(dataset.sparkSession, self._data)
        text = self.getOrDefault("featuresCol") if self._is_text(dataset) else None
        # Spark cannot take a vector out of a batch of Parquet while it calls Python: it is taken out before, in a step
        # that depends on the partition, so that the two are not made one.
        taken = {f"{self.uid} {place}": part for place, part in enumerate(self._columns(dataset))}
        features, columns = [F.col(_quoted(name)) for name in taken], {}
        # A function for each column, so that Spark computes only the columns you select; features go to Python once.
        for what, name in (("class", "predictionCol"), ("raw", "rawPredictionCol"), ("probability", "probabilityCol")):
            if self.getOrDefault(name):
                function = _Predict(held, self._values, what, text)
                answer = _arrow_udf(function, kind if what == "class" else T.ArrayType(T.DoubleType()))(*features)
                columns[self.getOrDefault(name)] = answer if what == "class" else array_to_vector(answer)
        rows = dataset.withColumns({name: F.when(F.spark_partition_id() >= 0, part) for name, part in taken.items()})
        return rows.withColumns(columns).drop(*taken)

    def _check_width(self, dataset):
        """Refuses rows of another width before a job begins, where columns say how wide they are."""
        if self.isSet(self.inputCols):
            width = len(self.getInputCols())
        else:
            width = dataset.schema[self.getOrDefault("featuresCol")].metadata.get("ml_attr", {}).get("num_attrs")
        if width is not None and width != self.numFeatures:
            raise ValueError(f"rows have {width} features, but the model knows {self.numFeatures}")

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
        extra = {"values": self.instance._values, "history": self.instance.history}
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession, extraMetadata={"told": extra})
        _write(self.sparkSession, f"{path.rstrip('/')}/model", 0, self.instance._data, "")


class _Reader(MLReader):
    def __init__(self, cls):
        super().__init__()
        self.cls = cls

    def load(self, path):
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        found = _read(self.sparkSession, f"{path.rstrip('/')}/model")
        if not found:
            raise ValueError(f"there is no model in {path}")
        model = self.cls(bytes(found[0].data), metadata["told"]["values"], metadata["told"]["history"])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


# What runs in the driver.


def _n_partitions(frame):
    """How many partitions there are. Spark Connect does not say, so that rows are asked where they are."""
    try:
        return frame.rdd.getNumPartitions()
    except PySparkException:
        last = frame.select(F.spark_partition_id().alias("number")).agg(F.max("number")).head()[0]
        return 1 if last is None else last + 1


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
def _message_alone():
    """The message of the task that failed on a row, without the stack traces that Spark wraps around it."""
    try:
        yield
    except Exception as raised:
        found = _SAID.search(str(raised))
        if found is None:
            raise
        raise ValueError(found[1].strip()) from raised


class _Carried:
    """Bytes that travel with the function that needs them, where there is no broadcast."""

    def __init__(self, value):
        self.value = value

    def destroy(self):
        pass


def _publish(spark, data):
    try:
        context = spark.sparkContext
    except (PySparkException, AttributeError):
        # Spark Connect has none, and no broadcast.
        return _Carried(data)
    return context.broadcast(data)


def _epoch(spark, packed, start, n_shards):
    """What every partition hands back after an epoch."""
    held = _publish(spark, start)
    try:
        rows = packed.where("part = 'train'").select("shard", "number", "data")
        return _gathered(rows.mapInArrow(_Epoch(held), _SHARES), n_shards)
    finally:
        held.destroy()


def _first_epoch(packed, n_shards):
    """What every partition handed back while it was packed."""
    return _gathered(packed.where("part = 'share'").select("shard", F.col("data").alias("share")), n_shards)


def _gathered(shares, n_shards):
    """The shares, in the order of partitions; of many partitions as sums of groups."""
    if n_shards > _TREE:
        group = F.floor(F.col("shard") / math.isqrt(n_shards)).cast("int")
        shares = shares.groupBy(group.alias("group")).applyInArrow(_add, _SHARES)
    with _message_alone():
        return sorted((row.shard, bytes(row.share)) for row in shares.collect())


def _validation(spark, packed, model, function, fields):
    """What every partition says of its validation set."""
    held = _publish(spark, model.to_bytes())
    try:
        rows = packed.where("part = 'validation'").select("shard", "number", "data")
        with _message_alone():
            return rows.mapInArrow(function(held), fields).collect()
    finally:
        held.destroy()


def _judge(spark, packed, model):
    """How many rows of the validation set the model names wrongly."""
    return sum(row.errors for row in _validation(spark, packed, model, _Judge, "errors long"))


def _write(spark, path, number, data, rows):
    """One row that says all: of which epoch it is, of which rows, and what it holds."""
    frame = spark.createDataFrame([(number, rows, bytearray(data))], "number long, rows string, data binary")
    frame.coalesce(1).write.mode("overwrite").parquet(path)


def _read(spark, path):
    """The row that was written there; none if nothing was, or if its writer was stopped in the middle."""
    try:
        return spark.read.parquet(path).collect()
    except PySparkException as error:
        if error.getCondition() in ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"):
            return []
        raise


# What runs in the workers.


class _Pack:
    """From the rows of a partition to packs of the engine; with `mixing`, and what an epoch makes of them."""

    def __init__(self, options, n_shards, text, mixing=None, keeps=True):
        self.options, self.n_shards, self.text, self.mixing, self.keeps = options, n_shards, text, mixing, keeps

    def went_ahead(self, facts):
        """Whether what all partitions learned is what they should have: they knew all classes, and how many they are."""
        know_all = all(one["is_ahead"] and one["values"] == facts[0]["values"] for one in facts)
        return know_all and len(facts) == self.n_shards

    def may_go_ahead(self, names, counts):
        """Whether a partition with these counts of classes may learn from its rows before it knows those of the others."""
        weights = json.loads(self.options).get("class-weights")
        weighted = weights["given"] if isinstance(weights, dict) else ()
        return self.mixing is not None and sum(count > 0 for count in counts) > 1 and set(weighted) <= set(names)

    def __call__(self, batches):
        from pyspark import TaskContext

        shard = TaskContext.get().partitionId()
        try:
            yield from self.packs(shard, batches)
        except (ValueError, TypeError) as error:
            raise ValueError(f"rosenblatt says: partition {shard}, {error}") from None
        finally:
            _give_back()

    def packs(self, shard, batches):
        packer, classes, weights, n_rows, width = _rosenblatt.Packer(self.options), _Classes(), [], 0, None
        for table in _parts(batches):
            names = ["features"] if "features" in table.column_names else _PARTS
            features = _features([_whole(table.column(name)) for name in names])
            rows = _matrix(features, n_rows) if self.text is None else self.hashed(features, n_rows)
            width = width or _width(rows)
            _same_width(np.array([width, _width(rows)]), n_rows - 1)
            packer.add(rows)
            classes.add(_labels(_whole(table.column("label")), n_rows))
            if "weight" in table.column_names:
                weights.append(_weights(_whole(table.column("weight")), n_rows))
            n_rows += table.num_rows
            # Nothing of it is held while the next is made.
            del table, features, rows
        if not n_rows:
            return
        values, classes = classes.in_order()
        names = [_inputs.class_name(value) for value in values]
        weights = np.concatenate(weights) if weights else None
        packing = packer.finish(classes, names, weights, shard, self.n_shards)
        packs, n_bytes, is_ahead = packing, 0, self.may_go_ahead(names, packing.counts)
        if is_ahead:
            start = _rosenblatt.Mixture(self.options, names, packing.counts, width, self.n_shards, self.mixing).start()
            if self.keeps:
                held = collections.deque(packing)
                share = _rosenblatt.shard_epoch(start, shard, (pack for part, _, pack in held if part == "train"))
                # Each is let go of as soon as Spark has it.
                packs = (held.popleft() for _ in range(len(held)))
            else:
                share, packs = packing.epoch(start, shard), ()
            yield _packed(shard, "share", 0, share)
        for part, number, pack in packs:
            n_bytes += len(pack)
            yield _packed(shard, part, number, pack)
        facts = {
            "values": values, "counts": packing.counts, "n_validation": packing.n_validation, "width": width,
            "fingerprint": packing.fingerprint, "bytes": n_bytes, "is_ahead": is_ahead,
        }
        yield _packed(shard, "facts", 0, json.dumps(facts).encode())

    def hashed(self, texts, before):
        """Rows of texts."""
        reading, name = self.text
        _first_null(texts, before, "its text")
        offsets, indices, values, width, _ = _rosenblatt.read_rows(reading, pa.table({name: texts}))
        return np.frombuffer(offsets, np.int64), np.frombuffer(indices, np.int32), np.frombuffer(values, np.float32), width


class _Classes:
    """The classes of rows, as numbers: four bytes a row, however many classes come later."""

    def __init__(self):
        self.known, self.numbers = {}, []

    def add(self, labels):
        values, places = np.unique(labels, return_inverse=True)
        numbers = [self.known.setdefault(value, len(self.known)) for value in values.tolist()]
        self.numbers.append(np.array(numbers, np.uint32)[places])

    def in_order(self):
        """The classes, sorted, and which of them each row is of."""
        values = sorted(self.known)
        ranks = np.empty(len(values), np.uint32)
        ranks[[self.known[value] for value in values]] = np.arange(len(values))
        return values, ranks[np.concatenate(self.numbers)]


def _parts(batches):
    """Batches as tables, in parts: what is made of a part on the way to its pack is several times its size."""
    for batch in batches:
        table = pa.table(batch) if isinstance(batch, dict) else pa.Table.from_batches([batch])
        n_rows = table.num_rows // (table.nbytes // _PART_BYTES + 1) + 1
        for first in range(0, table.num_rows, n_rows):
            yield table.slice(first, n_rows)
        # Nothing of it is held while the next comes.
        del batch, table


def _give_back():
    """Returns unused memory to the system: a worker outlives its task, and so would its heap."""
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _packed(shard, part, number, data):
    numbers = [pa.array([number], pa.int32()) for number in (shard, number)]
    return pa.RecordBatch.from_pydict({"shard": numbers[0], "part": [part], "number": numbers[1], "data": pa.array([data], pa.binary())})


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
            for expected, (_, number, pack) in enumerate(itertools.chain([first], packs)):
                if number != expected:
                    raise RuntimeError(f"partition {shard}: pack {number} came where pack {expected} should")
                yield pack

        try:
            share = _rosenblatt.shard_epoch(self.held.value, shard, data())
        except ValueError as error:
            raise ValueError(f"rosenblatt says: partition {shard}, {error}") from None
        finally:
            _give_back()
        yield pa.RecordBatch.from_pydict({"shard": pa.array([shard], pa.int32()), "share": pa.array([share], pa.binary())})


class _Judge:
    """How many packed rows a model names wrongly."""

    def __init__(self, held):
        self.held = held

    def __call__(self, batches):
        errors, _ = _rosenblatt.count_errors(_native(self.held.value), (pack for _, _, pack in _each(batches)))
        yield pa.RecordBatch.from_pydict({"errors": pa.array([errors], pa.int64())})


class _Scores(_Judge):
    """What a model says of packed rows."""

    def __call__(self, batches):
        packs = _each(batches)
        first = next(packs, None)
        if first is None:
            return
        data = (pack for _, _, pack in itertools.chain([first], packs))
        scores = _rosenblatt.validation_scores(_native(self.held.value), data)
        yield pa.RecordBatch.from_pydict({"shard": pa.array([first[0]], pa.int32()), "scores": pa.array([scores], pa.binary())})


class _Predict:
    """Predictions for a batch of rows: the class of each (`class`), `raw` scores or the `probability` of classes."""

    def __init__(self, held, values, what, text=None):
        self.held, self.values, self.what, self.text = held, values, what, text

    def __call__(self, *parts):
        try:
            if self.text is not None:
                _first_null(parts[0], 0, "its text", " of a batch")
            answers = self.of(_last_matrix(parts) if self.text is None else pa.table({self.text: parts[0]}))
        except (ValueError, TypeError):
            # The row is wrong and not this program, so its message comes alone. The worker ends with it.
            os.environ["SPARK_HIDE_TRACEBACK"] = "1"
            raise
        if self.what == "class":
            return pa.array(answers, pa.string() if isinstance(self.values[0], str) else pa.float64())
        offsets = pa.array(np.arange(len(answers) + 1, dtype=np.int32) * len(self.values))
        return pa.ListArray.from_arrays(offsets, pa.array(answers.ravel()))

    def of(self, rows):
        """An answer for each row."""
        model = _native(self.held.value)
        if isinstance(rows, pa.Table):
            asked = {"class": "classes", "raw": "scores", "probability": "probabilities"}[self.what]
            answers = model.predict_source(rows, asked)
        else:
            width = _width(rows)
            if width != model.n_features:
                raise ValueError(f"rows have {width} features, but the model knows {model.n_features}")
            ask = {"class": model.predict, "raw": model.decision_function, "probability": model.predict_proba}[self.what]
            answers = ask(rows)
        if self.what == "class":
            text = isinstance(self.values[0], str)
            return np.array(self.values, dtype=object if text else np.float64)[np.frombuffer(answers, np.intp)]
        numbers = np.frombuffer(answers, np.float64)
        # Two classes have one score, and its opposite.
        alone = self.what == "raw" and len(self.values) == 2
        return np.stack([-numbers, numbers], axis=1) if alone else numbers.reshape(-1, len(self.values))


_last: tuple[Any, Any] = (None, None)


def _last_matrix(parts):
    """The rows of a batch, which several functions are asked about one after the other."""
    global _last
    if _last[0] is not parts[-1]:
        _last = (parts[-1], _matrix(_features(parts), 0, " of a batch"))
    return _last[1]


def _arrow_udf(function, kind):
    """A function from columns to one, all as Arrow has them."""
    arrow_udf = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:
        def of_columns(*columns: pa.Array) -> pa.Array:
            return function(*columns)

        return arrow_udf(of_columns, kind)
    # Spark 4.0 has none; there, columns come as pandas has them.
    import pandas as pd

    def of_pandas(*columns):
        return pd.Series(function(*[pa.array(column) for column in columns]).to_pylist())

    # Spark needs this and cannot look it up from here.
    of_pandas.__annotations__ = {"columns": pd.Series, "return": pd.Series}
    return F.pandas_udf(of_pandas, kind)


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


def _first(wrong):
    """The place of the first that is wrong."""
    return int(np.flatnonzero(wrong)[0])


def _first_null(array, before, what, where=""):
    if array.null_count:
        row = before + _first(array.is_null().to_numpy(zero_copy_only=False))
        raise ValueError(f"row {row}{where}: {what} is missing")


def _weights(array, before):
    _first_null(array, before, "its weight")
    weights = np.ascontiguousarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = _first(wrong)
        raise ValueError(f"row {before + row}: its weight should be zero or positive, but is {weights[row]}")
    return weights


def _labels(array, before):
    _first_null(array, before, "its label")
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return np.array(array.to_pylist(), dtype=str)
    # Without a negative zero, which would be a class of its own by name.
    labels = array.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
    wrong = ~(np.abs(labels) <= 2**53)
    if wrong.any():
        row = _first(wrong)
        raise ValueError(f"row {before + row}: its label should be a number of at most 2^53, but is {labels[row]}")
    return labels


def _flat(lists):
    return lists.flatten().to_numpy(zero_copy_only=False)


def _width(rows):
    return rows[3] if isinstance(rows, tuple) else rows.shape[1]


def _matrix(features, before, where=""):
    """Rows as the engine takes them: an array of two axes, or `(indptr, indices, data, n_features)`."""
    if isinstance(features, pa.ChunkedArray):
        features = _whole(features)
    _first_null(features, before, "its features", where)
    if pa.types.is_struct(features.type):
        # A vector of Spark: sparse (0) or dense (1), size, indices, values.
        kind, size, indices, values = (features.field(name) for name in ("type", "size", "indices", "values"))
        dense = kind.to_numpy(zero_copy_only=False) == 1
        if dense.all():
            return _dense(values, before)
        if not dense.any():
            return _sparse(size.to_numpy(zero_copy_only=False), indices, values, before)
        return _mixed(features, before)
    return _dense(features, before)


def _dense(lists, before):
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    _same_width(lengths, before)
    values = lists.flatten()
    if values.null_count:
        place = _first(values.is_null().to_numpy(zero_copy_only=False))
        row, feature = divmod(place, int(lengths[0]))
        raise ValueError(f"row {before + row}: feature {feature} is missing")
    values = values.to_numpy(zero_copy_only=False)
    values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    return np.ascontiguousarray(values.reshape(len(lengths), -1))


def _same_width(widths, before):
    wrong = widths != widths[0]
    if wrong.any():
        row = _first(wrong)
        raise ValueError(f"row {before + row} has {widths[row]} features, where the first one here has {widths[0]}")


def _sparse(sizes, indices, values, before):
    _same_width(sizes, before)
    lengths = indices.value_lengths().to_numpy(zero_copy_only=False)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return indptr, np.ascontiguousarray(_flat(indices), np.int32), np.ascontiguousarray(_flat(values)), int(sizes[0])


def _mixed(features, before):
    """Vectors some of which are sparse and some dense, one by one."""
    indptr, indices, data, widths = [0], [], [], []
    for row in features.to_pylist():
        places = range(len(row["values"])) if row["type"] == 1 else row["indices"]
        widths.append(len(row["values"]) if row["type"] == 1 else row["size"])
        indices.extend(places)
        data.extend(row["values"])
        indptr.append(len(indices))
    _same_width(np.array(widths), before)
    return np.array(indptr, np.int64), np.array(indices, np.int32), np.array(data, np.float64), widths[0]


def _one_row(vector):
    if isinstance(vector, str):
        raise TypeError("text is predicted by transform")
    return np.asarray(vector.toArray() if hasattr(vector, "toArray") else vector, np.float64).reshape(1, -1)
