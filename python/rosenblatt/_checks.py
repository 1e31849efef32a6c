"""Parameters in Python's words. What a setting takes is declared with it, in the engine."""

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np

from . import _rosenblatt

#: What scikit-learn calls otherwise, and what says it here.
SYNONYMS = {
    "fit_intercept": 'a bias is learned unless bias="none"',
    "eta0": "the learning rate is `rate`",
    "learning_rate": 'the learning rate is `rate`: a number, or a schedule such as "1/sqrt(k)"',
    "power_t": 'the learning rate is `rate`: a number, or a schedule such as "1/k^0.5"',
    "shuffle": 'rows are shuffled in every epoch unless order="given"',
    "tol": "training ends after `n_iter_no_change` epochs without progress on the validation set, or after `max_iter`",
    "tolerance": "the tolerance of solvers is `tol`",
    "verbose": "`callback` is called after every epoch: callback=print",
    "n_jobs": "one thread fits a model; GridSearchCV and others have an `n_jobs` that fits several at once",
    "penalty": "LogisticRegression, SparseLogisticRegression and LinearSVM have a penalty: `l1` and 1 / `C` are its strengths",
    "alpha": "LogisticRegression, SparseLogisticRegression and LinearSVM have a penalty, of strength 1 / `C`",
    "l1_ratio": "LogisticRegression, SparseLogisticRegression and LinearSVM have a penalty: `l1` and 1 / `C` are its strengths",
    "average": 'weights are averaged with readout="averaged"',
    "loss": "each rule is a class of its own, or the `algorithm` of PerceptronClassifier",
    "solver": "each rule is a class of its own, or the `algorithm` of PerceptronClassifier",
    "multi_class": '`multiclass` chooses how classes are separated: "one-vs-rest", "one-vs-one" and others',
}


class Hints:
    """Maps scikit-learn's names of parameters to ours, for error messages."""

    _synonyms = SYNONYMS

    def __new__(cls, *args, **given):
        cls._answer(given, TypeError)
        return super().__new__(cls)

    def set_params(self, **given):
        """Sets parameters by name; returns itself."""
        self._answer(given, ValueError)
        return super().set_params(**given)

    @classmethod
    def _answer(cls, given, error):
        for name in given.keys() & cls._synonyms.keys():
            if name not in cls._get_param_names():
                raise error(f"{cls.__name__} has no parameter {name!r}: {cls._synonyms[name]}")


def plain(value):
    """NumPy's numbers as Python's, which JSON knows."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _json(value):
    """A value as JSON has it; a list, which no setting takes, in place of what JSON does not have."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return []
    return value if isinstance(value, (bool, int, float, str, dict)) else []


def is_number(value):
    """Whether this is a number, and finite."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and math.isfinite(value)


def refuse(owner, name, what, value):
    """Raises the error that scikit-learn raises."""
    raise ValueError(f"The {name!r} parameter of {owner} must be {what}. Got {value!r} instead.")


def check(owner, settings):
    """Refuses the first value that its setting does not take; a setting is a name, the engine's group and name, and a value."""
    given = [(group, engine, _json(value)) for _, group, engine, value in settings]
    wrong = _rosenblatt.first_wrong(json.dumps(given, default=repr))
    if wrong is not None:
        place, what = wrong
        name, _, _, value = settings[place]
        refuse(owner, name, what, value)


def check_seed(owner, value):
    """Refuses an invalid seed."""
    if isinstance(value, (bool, np.bool_)) or isinstance(value, Integral) and value < 0:
        refuse(owner, "random_state", "a whole number, 0 or more, a RandomState or None", value)


def check_class_weight(owner, name, weights):
    """Refuses invalid class weights."""
    what = '"balanced", None, or a number, 0 or more, for each class'
    if isinstance(weights, Mapping):
        if not all(is_number(weight) and weight >= 0 for weight in weights.values()):
            refuse(owner, name, what, weights)
    elif weights is not None and not (isinstance(weights, str) and weights == "balanced"):
        refuse(owner, name, what, weights)


def check_costs(owner, costs):
    """Refuses invalid costs."""
    is_given = isinstance(costs, Mapping) and all(map(is_number, costs.values()))
    if costs is not None and not is_given and not is_number(costs) and not (isinstance(costs, str) and costs in ("even", "balanced")):
        refuse(owner, "costs", '"balanced", "even", a threshold, a number for each class or pair of classes, or None', costs)
