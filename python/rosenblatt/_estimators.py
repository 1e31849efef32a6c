"""Estimators with scikit-learn's contract. What is learned, and how, is the engine's business."""

import json

import numpy as np

from . import _inputs, _rosenblatt
from ._base import (
    BaseEstimator,
    ClassifierMixin,
    NotFittedError,
    available_if,
    check_classification_targets,
    check_random_state,
    check_sample_weight,
    column_or_1d,
    validate_data,
)

__all__ = ["PerceptronClassifier"]

#: Parameters whose names are words of Python.
_ENGINE_NAMES = {"lam": "lambda"}


def _has_probabilities(estimator):
    if getattr(estimator, "model_", None) is not None:
        return estimator.model_.is_calibrated
    return bool(estimator.calibrate)


def _learns_online(estimator):
    weights = estimator._class_weights()
    # What cannot be known before the rows is said when they come.
    asked = {**estimator._options(0), "class-weights": "even" if weights == "balanced" else weights}
    return _rosenblatt.learns_online(json.dumps(asked))


class PerceptronClassifier(ClassifierMixin, BaseEstimator):
    """Any member of the perceptron family, by name.

    Parameters
    ----------
    algorithm : str, default="perceptron"
        The update rule; `rosenblatt.catalogue()["algorithms"]` lists them.
    params : dict, default=None
        Parameters of the rule, by name; what is not here has its default.
    rate : str or float, default=None
        The learning rate: 1, "0.5/k", "1/sqrt(k)"; the rule's own if None.
    readout : str, default=None
        What the model is made of: "last", "averaged", "voted", "pocket", ...; what suits the rule if None.
    multiclass : str, default="one-vs-rest"
        How more than two classes are told apart: "one-vs-rest", "one-vs-one", "direct-max", ...
    bias : str, default=None
        How the hyperplane gets off the origin; the rule's own way if None.
    order : str, default=None
        In which order rows are visited: "shuffle-epoch", "given", ...; the rule's own if None.
    zero, mistake : str
        What a score of zero predicts, and what counts as a mistake.
    max_iter : int, default=20
        The most epochs.
    max_updates : int, default=None
        The most steps.
    stop_when_clean : bool, default=True
        Stop after an epoch in which nothing was left to learn.
    early_stopping : bool, default=True
        Keep a validation set of `validation_fraction` apart where there are 1,000 rows or more, stop after
        `n_iter_no_change` epochs without progress on it, and keep the hypothesis that did best there.
    class_weight : dict, "balanced" or None, default=None
        How much each class counts.
    kernel : str, default=None
        What takes the place of the product of rows: "polynomial", "rbf", ...
    kernel_params : dict, default=None
        Parameters of the kernel, by name.
    support_budget : int, default=None
        The most support vectors of a kernel.
    feature_map : str, default=None
        The map that rows go through before they are learned from: "fourier", "nystroem" or "sketch".
    map_size : int, default=1024
        How many features come out of the map, at most.
    calibrate : "platt", "isotonic" or None, default=None
        Fit probabilities on folds that were not learned from, for `predict_proba`.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    random_state : int, RandomState or None, default=0
        Decides every random choice.

    Attributes
    ----------
    classes_ : ndarray
    coef_, intercept_ : ndarray
        Weights and biases: one row for two classes, else one for each class (or pair of classes).
    n_iter_ : int
        Epochs of the last fit.
    n_features_in_ : int
    feature_names_in_ : ndarray
    model_ : rosenblatt.Model
        The model, which can be saved, explained, drawn and exported.
    """

    def __init__(self, algorithm="perceptron", *, params=None, rate=None, readout=None, multiclass="one-vs-rest",
                 bias=None, order=None, zero="minus", mistake="le0", max_iter=20, max_updates=None,
                 stop_when_clean=True, early_stopping=True, validation_fraction=0.1, n_iter_no_change=5,
                 class_weight=None, kernel=None, kernel_params=None, support_budget=None, feature_map=None,
                 map_size=1024, calibrate=None, warm_start=False, random_state=0):
        self.algorithm = algorithm
        self.params = params
        self.rate = rate
        self.readout = readout
        self.multiclass = multiclass
        self.bias = bias
        self.order = order
        self.zero = zero
        self.mistake = mistake
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.stop_when_clean = stop_when_clean
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.support_budget = support_budget
        self.feature_map = feature_map
        self.map_size = map_size
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.random_state = random_state

    #: What a named class fixes, by the engine's names.
    _fixed = {}
    #: Parameters of the rule that a named class takes as its own.
    _rule_params = ()

    def _options(self, seed):
        """The engine's description of what is learned."""
        asked = {
            "algorithm": self.algorithm,
            "params": self._params(),
            "rate": None if self.rate is None else str(self.rate),
            "readout": self.readout,
            "multiclass": self.multiclass,
            "bias": self.bias,
            "order": self.order,
            "zero": self.zero,
            "mistake": self.mistake,
            "seed": seed,
            "epochs": self.max_iter,
            "max-updates": self.max_updates,
            "stop-when-clean": self.stop_when_clean,
            "validation": None,
            "class-weights": self._class_weights(),
        }
        if self.early_stopping:
            asked["validation"] = {"fraction": self.validation_fraction, "patience": self.n_iter_no_change}
        if self.kernel is not None:
            asked["kernel"] = {"name": self.kernel, "params": self.kernel_params or {}, "budget": self.support_budget}
        if self.feature_map is not None:
            asked["map"] = {"name": self.feature_map, "size": self.map_size, "params": self.kernel_params or {}}
        asked.update(self._fixed)
        return {name: _plain(value) for name, value in asked.items()}

    def _params(self):
        own = {_ENGINE_NAMES.get(name, name): getattr(self, name) for name in self._rule_params}
        return own or dict(self.params or {})

    def _class_weights(self):
        if self.class_weight is None:
            return "even"
        if isinstance(self.class_weight, str):
            return self.class_weight
        return {"given": {_inputs.class_name(name): float(weight) for name, weight in self.class_weight.items()}}

    def _seed(self):
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _take_in(self, X, y, sample_weight, reset):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        weights = None
        if sample_weight is not None:
            weights = np.ascontiguousarray(check_sample_weight(sample_weight, X, dtype=np.float64))
        return X, y, weights

    def _names(self):
        return [_inputs.class_name(value) for value in self.classes_.tolist()]

    def _features(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def fit(self, X, y, sample_weight=None, coef_init=None, intercept_init=None):
        """Learns from rows and their classes; returns itself."""
        start = self._start(coef_init, intercept_init)
        X, y, weights = self._take_in(X, y, sample_weight, reset=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"training needs at least two classes, but all rows are of one class: {self.classes_[0]!r}")
        options = self._options(self._seed())
        given = (_inputs.lend(X), codes.astype(np.uint32), self._names(), weights, self._features())
        if self.calibrate is None:
            native = _rosenblatt.fit(json.dumps(options), *given, start)
        else:
            folds = min(5, int(np.bincount(codes).min()))
            if folds < 2:
                raise ValueError("fitting probabilities needs two rows of every class")
            recipe = {"choice": "given", "learning": options, "estimate": {"folds": folds}, "calibration": self.calibrate}
            native = _rosenblatt.fit_by_recipe(json.dumps(recipe), *given)
        for name in ("_learner", "_checkpoint"):
            self.__dict__.pop(name, None)
        self._take_over(native)
        return self

    def _start(self, coef, intercept):
        if self.warm_start and coef is None and getattr(self, "model_", None) is not None:
            coef, intercept = getattr(self, "coef_", None), getattr(self, "intercept_", None)
        if coef is None:
            return None
        coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        biases = np.zeros(len(coef)) if intercept is None else np.atleast_1d(np.asarray(intercept, dtype=np.float64))
        if biases.shape != (len(coef),):
            raise ValueError(f"intercept_init should have {len(coef)} values, one for each row of coef_init")
        return coef.T.ravel().tolist(), biases.tolist()

    @available_if(_learns_online)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns from each row once, in their order. Averages, votes and pockets go on where they stood."""
        known = getattr(self, "_checkpoint", None)
        first = getattr(self, "_learner", None) is None and known is None
        X, y, weights = self._take_in(X, y, sample_weight, reset=first)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
            if len(self.classes_) < 2:
                raise ValueError("partial_fit needs the names of all classes at its first call: give `classes`")
            self._asked = json.dumps(self._options(self._seed()))
            self._learner = _rosenblatt.Learner(self._asked, self._names(), self._features())
        elif known is not None:
            self._learner = _rosenblatt.Learner(self._asked, self._names(), self._features(), known)
            del self._checkpoint
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"`classes={classes!r}` is not the same as at the first call of partial_fit")
        places = np.searchsorted(self.classes_, y)
        places[places == len(self.classes_)] = 0
        unknown = self.classes_[places] != y
        if unknown.any():
            raise ValueError(f"class {y[unknown][0]!r} was not among the classes of the first call of partial_fit")
        self._learner.learn(_inputs.lend(X), places.astype(np.uint32), self._names(), weights, self._features())
        self._take_over(self._learner.model())
        return self

    def _take_over(self, native):
        from ._product import Model

        self.model_ = Model(native)
        self.n_iter_ = max(1, self.model_.summary(0)["training-summary"]["epochs"])
        planes = native.planes()
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if planes is not None and self.feature_map is None:
            weights, biases = (np.frombuffer(part, dtype=np.float64).copy() for part in planes)
            self.coef_, self.intercept_ = weights.reshape(len(biases), -1), biases

    def _rows(self, X):
        if getattr(self, "model_", None) is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        return _inputs.lend(X)

    def predict(self, X):
        """The class of each row."""
        rows = self._rows(X)
        return self.classes_[np.frombuffer(self.model_._native.predict(rows), dtype=np.uint32)]

    @available_if(lambda estimator: not _has_probabilities(estimator))
    def decision_function(self, X):
        """The score of each row for two classes, positive for the second; else the score of each class.

        With probabilities, which then decide about classes, there is `predict_proba` instead.
        """
        rows = self._rows(X)
        n_classes = len(self.classes_)
        scores = np.frombuffer(self.model_._native.decision_function(rows), dtype=np.float64).copy()
        return scores if n_classes == 2 else scores.reshape(-1, n_classes)

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """The probability of each class for each row."""
        rows = self._rows(X)
        shares = np.frombuffer(self.model_._native.predict_proba(rows), dtype=np.float64).copy()
        return shares.reshape(-1, len(self.classes_))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self):
        state = dict(super().__getstate__())
        # What is learned piece by piece lives in the engine; a copy goes on from a checkpoint of it.
        learner = state.pop("_learner", None)
        if learner is not None:
            state["_checkpoint"] = learner.checkpoint()
        return state


def _plain(value):
    """NumPy's numbers as Python's, which JSON knows."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value
