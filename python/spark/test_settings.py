"""Settings by faces, the face of Spark: every parameter reaches the engine, or is refused by name before a job begins.

No cluster is needed: what workers do with packed rows is done here, by the same functions. As a program, it asks about rows.
"""

import collections
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import rosenblatt
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.ml.param import shared
from pyspark.sql import SparkSession
from rosenblatt import _rosenblatt
from rosenblatt.spark import PerceptronClassifier, PerceptronModel

OPTIONS = {
    (group["name"], option["name"]): option
    for group in rosenblatt.catalogue()["options"] for option in group["options"]
    if not (isinstance(option["takes"], dict) and "group" in option["takes"])
}
CHOICES = {one["name"]: [choice["example"] for choice in one["choices"]] for one in rosenblatt.catalogue()["choices"]}
#: Names of columns: which there are, the rows decide.
COLUMNS = {
    param.name for name in ("FeaturesCol", "InputCols", "LabelCol", "PredictionCol", "ProbabilityCol", "RawPredictionCol", "WeightCol")
    for param in getattr(shared, f"Has{name}")().params
}
#: Values of what takes no choice, switch or number, and what a parameter needs beside it.
VALUES = {
    "algorithm": "pa1", "params_": {"C": 0.37}, "classWeight": {"1": 7.0}, "costs": {"1": 9.0}, "text": {"longest": 3}, "calibrate": "isotonic",
    "mixing": "errors", "checkpointDir": "folder", "validationFraction": 0.37, "ratchet": False, "mistake": "pred", "readout": "last",
}
BESIDE = {
    "params_": {"algorithm": "pa1"}, "costs": {"probabilityCol": "p"}, "calibrate": {"probabilityCol": "p"},
    "checkpointInterval": {"checkpointDir": "folder"}, "resume": {"checkpointDir": "folder"},
}
#: What decides nothing about a model, and what it decides.
ELSEWHERE = {
    "hashBits": "how text is read", "text": "how text is read", "calibrate": "how scores become probabilities",
    "checkpointDir": "where checkpoints are", "checkpointInterval": "how often they are written", "resume": "whether one is read",
}


def value_of(name, learner):
    """A value that is not the default."""
    if name in VALUES:
        return VALUES[name]
    default = learner.getOrDefault(name) if learner.hasDefault(name) else None
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 2
    option = next(option for option in OPTIONS.values() if option["spark"] == name)
    takes = option["takes"]
    if isinstance(takes, dict) and "choice" in takes:
        return next(example for example in CHOICES[takes["choice"]] if example != default)
    return 3


class Untouched:
    """Rows that must not be looked at."""

    sparkSession = None

    def __getattr__(self, asked):
        raise AssertionError(f"the rows were asked for {asked}")


def learned(learner):
    """The model of some rows in two parts, as a cluster learns it; the error if a parameter is refused before that."""
    try:
        learner._check()
    except ValueError as error:
        return error
    options, random = json.dumps(learner._options()), np.random.default_rng(0)
    X = random.normal(size=(1_200, 3))
    y = ((X[:, 0] + random.normal(size=1_200) > 0.5) + (X[:, 1] > 0)).astype(np.uint32)
    parts, names = [slice(0, 900), slice(900, 1_200)], ["0", "1", "2"]
    packed = [_rosenblatt.pack_rows(options, X[part], y[part], names, None, place, 2) for place, part in enumerate(parts)]
    counts = np.sum([one[2] for one in packed], axis=0).tolist()
    mixture = _rosenblatt.Mixture(options, names, counts, 3, 2, learner.getOrDefault("mixing"))
    while not mixture.is_over:
        mixture.take([_rosenblatt.shard_epoch(mixture.start(), place, iter(one[0])) for place, one in enumerate(packed)])
        held = [pack for one in packed for pack in one[1]]
        if held:
            mixture.judged(*_rosenblatt.count_errors(mixture.model_so_far(), iter(held)))
    return mixture.model().to_bytes()


OWN = [param.name for param in PerceptronClassifier().params if param.name not in COLUMNS and param.name != "thresholds"]


def test_every_parameter_has_an_effect_or_is_refused(capsys):
    plain, found, wrong = PerceptronClassifier(), collections.Counter(), ""
    for name in OWN:
        beside = BESIDE.get(name, {})
        value = value_of(name, plain)
        without, changed = PerceptronClassifier(**beside), PerceptronClassifier(**beside, **{name: value})
        models = learned(without), learned(changed)
        if isinstance(models[1], ValueError):
            outcome = "refused" if name.lower() in str(models[1]).lower().replace("-", "") else f"refused without its name: {models[1]}"
        elif models[0] != models[1]:
            outcome = "effective" if models[0][64:] != models[1][64:] else "recorded"
        else:
            outcome = "effective elsewhere" if name in ELSEWHERE else "silent"
        found[outcome] += 1
        if outcome.startswith(("silent", "refused without")) or name in ELSEWHERE and outcome != "effective elsewhere":
            wrong += f"{name}={value!r} is {outcome}\n"
    # What is no parameter here is refused by name, with its cure.
    for (_, engine), option in OPTIONS.items():
        names = {option["spark"], option["python"], engine} - {param.name for param in plain.params}
        for name in names:
            with pytest.raises(TypeError, match=f"no parameter '{name}'"):
                PerceptronClassifier(**{name: 1})
        found["no parameter"] += option["spark"] not in OWN
    with capsys.disabled():
        print(f"\nSpark: {len(OWN)} parameters, {', '.join(f'{n} {outcome}' for outcome, n in sorted(found.items()))}")
    assert not wrong, wrong


def test_every_setting_of_learning_that_fits_is_a_parameter():
    """By the catalogue: a choice, a switch or a whole number of learning is one, by its name in Spark."""
    for (group, name), option in OPTIONS.items():
        kind = next(iter(option["takes"])) if isinstance(option["takes"], dict) else option["takes"]
        if group == "learning" and kind in ("choice", "switch", "at-least"):
            assert option["spark"] in OWN, name


def test_what_decides_elsewhere_is_heeded_there():
    plain = PerceptronClassifier(featuresCol="t")
    assert json.loads(plain._reading()) != json.loads(PerceptronClassifier(featuresCol="t", hashBits=20)._reading())
    assert json.loads(plain._reading()) != json.loads(PerceptronClassifier(featuresCol="t", text={"longest": 3})._reading())
    assert plain._options()["costs"] != PerceptronClassifier(costs=0.3)._options()["costs"]
    assert PerceptronClassifier(checkpointDir="folder/")._slots() == ["folder/slot-0", "folder/slot-1"]


@pytest.mark.parametrize("name, value", [
    ("classWeight", "foo"), ("classWeight", "[1]"), ("classWeight", {"1": "much"}), ("classWeight", {"1": -1}),
    ("costs", "foo"), ("costs", {"1": "much"}), ("costs", "[]"),
    ("params_", "C=1"), ("params_", {"C": "much"}), ("params_", "3"),
    ("text", "{longest: 3}"), ("text", {"longest": "three"}), ("text", {"longst": 3}), ("text", {"units": "sounds"}),
    ("bias", "much"), ("rate", "fast"), ("hashBits", 0), ("hashBits", -3), ("hashBits", 99), ("multiclass", "some"), ("zero", "nought"),
    ("maxUpdates", 0), ("calibrate", "plat"), ("calibrate", "platt"), ("checkpointInterval", 3), ("resume", True),
])
def test_wrong_values_are_named_before_a_job(name, value):
    with pytest.raises(ValueError, match=name) as error:
        PerceptronClassifier(**{name: value})._fit(Untouched())
    assert "line 1" not in str(error.value) and "Expecting" not in str(error.value)


@pytest.mark.parametrize("name, value", [("maxIter", "ten"), ("hashBits", "many"), ("stopWhenClean", "yes"), ("rate", [1]), ("validationFraction", "half")])
def test_values_of_another_type_are_named_at_once(name, value):
    with pytest.raises(TypeError, match=name):
        PerceptronClassifier(**{name: value})


def test_a_slip_in_a_name_is_answered():
    for slip, cure in (("maxIer", "maxIter"), ("max_iter", "maxIter"), ("epochs", "maxIter"), ("class_weight", "classWeight")):
        with pytest.raises(TypeError, match=f"no parameter '{slip}'; did you mean '{cure}'"):
            PerceptronClassifier(**{slip: 1})


@pytest.mark.parametrize("owner", [PerceptronClassifier(), PerceptronModel()])
def test_every_parameter_is_explained(owner):
    """`explainParams` says of each what it means, and more than its name."""
    for param in owner.params:
        meaning = param.doc.strip()
        assert len(meaning.split()) > 1 and meaning.lower().replace(" ", "") != param.name.lower(), param
        assert param.name in owner.explainParams() and meaning in owner.explainParams()


def test_rows_that_do_not_fit_are_refused_in_a_sentence():
    """In a process of its own: other tests need a session with settings of theirs."""
    subprocess.run([sys.executable, __file__], check=True, timeout=400)


def rows_of_another_width(spark):
    X = np.random.default_rng(0).normal(size=(60, 3))
    rows = [(Vectors.dense(row), float(row[0] > 0), *row) for row in X.tolist()]
    data = spark.createDataFrame(rows, ["features", "label", *"abc"])
    settings = {"maxIter": 1, "validationFraction": 0.0}
    model = PerceptronClassifier(**settings).fit(data)
    what = "rows have 2 features, but the model knows 3"
    narrow = spark.createDataFrame([(Vectors.dense(row[:2]), row[:2], Vectors.sparse(2, [0], [1.0])) for row in X.tolist()], ["features", "list", "thin"])
    for column in ("features", "list", "thin"):
        with pytest.raises(Exception, match=f"ValueError: {what}") as error:
            model.transform(narrow, {model.featuresCol: column}).select("prediction").collect()
        assert "Traceback" not in str(error.value) and len(str(error.value)) < 200
    of_columns = PerceptronClassifier(inputCols=["a", "b", "c"], **settings).fit(data)
    # Where columns say how wide they are, before a job.
    with pytest.raises(ValueError, match=what):
        of_columns.transform(data, {of_columns.inputCols: ["a", "b"]})
    assembled = VectorAssembler(inputCols=["a", "b"], outputCol="two").transform(data)
    with pytest.raises(ValueError, match=what):
        model.transform(assembled, {model.featuresCol: "two"})
    with pytest.raises(ValueError, match="rows have 1 features, but the model knows 3"):
        model.predict(Vectors.dense([1.0]))
    assert model.transform(data).where("prediction >= 0").count() == 60


def what_means_nothing_for_these_rows(spark):
    X = np.random.default_rng(0).normal(size=(60, 3))
    data = spark.createDataFrame([(Vectors.dense(row), float(row[0] > 0)) for row in X.tolist()], ["features", "label"])
    for name, value in (("hashBits", 10), ("text", {"longest": 1})):
        with pytest.raises(ValueError, match=f"{name} is for a column of text"):
            PerceptronClassifier(maxIter=1, **{name: value}).fit(data)
    with pytest.raises(ValueError, match="patience means nothing without validationFraction"):
        PerceptronClassifier(validationFraction=0.0, patience=3).fit(data)


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.memory", "700m").getOrCreate()
    rows_of_another_width(session)
    what_means_nothing_for_these_rows(session)
    session.stop()
