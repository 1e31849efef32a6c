"""Estimators with scikit-learn's contract. What is learned, and how, is the engine's business."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _inputs, _rosenblatt
from ._base import (
    BaseEstimator,
    CallbackSupportMixin,
    ClassifierMixin,
    NotFittedError,
    available_if,
    check_classification_targets,
    check_random_state,
    check_sample_weight,
    column_or_1d,
    validate_data,
    with_callbacks,
)
from ._product import Model
from ._settings import SETTINGS, Settings

__all__ = ["PerceptronClassifier"]

#: Parameters whose names are words of Python.
_ENGINE_NAMES = {"lam": "lambda"}


def _has_probabilities(estimator):
    if getattr(estimator, "model_", None) is not None:
        return estimator.model_.is_calibrated
    return estimator._will_have_probabilities()


def _learns_online(estimator):
    weights = estimator._class_weights()
    # What cannot be known before the rows is said when they come.
    asked = {**estimator._options(0), "class-weights": "even" if weights == "balanced" else weights}
    return _rosenblatt.learns_online(json.dumps(asked))


class PerceptronClassifier(Settings, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Any member of the perceptron family, by name.

    {parameters}

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

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    model_: Model

    #: What a named class fixes, by the engine's names.
    _fixed: dict[str, Any] = {}
    #: Parameters of the rule that a named class takes as its own.
    _rule_params: tuple[str, ...] = ()

    def _options(self, seed):
        """The engine's description of what is learned."""
        asked: dict[str, Any] = {"validation": {}, "kernel": {}, "map": {}}
        for name, (group, engine) in SETTINGS.items():
            (asked if group == "learning" else asked[group])[engine] = getattr(self, name)
        asked["params"], asked["seed"] = self._params(), seed
        asked["rate"] = None if self.rate is None else str(self.rate)
        asked["class-weights"], asked["costs"] = self._class_weights(), self._costs()
        if not self.early_stopping:
            asked["validation"] = None
        params = asked["kernel"].pop("params") or {}
        for group in ("kernel", "map"):
            asked[group]["params"] = params
            if asked[group]["name"] is None:
                del asked[group]
        asked.update(self._fixed)
        return {name: _plain(value) for name, value in asked.items()}

    def _will_have_probabilities(self):
        return bool(self.calibrate)

    def _params(self):
        own = {_ENGINE_NAMES.get(name, name): getattr(self, name) for name in self._rule_params}
        return own or dict(self.params or {})

    def _class_weights(self):
        if self.class_weight is None:
            return "even"
        if isinstance(self.class_weight, str):
            return self.class_weight
        return {"given": {_inputs.class_name(name): float(weight) for name, weight in self.class_weight.items()}}

    def _costs(self):
        if self.costs is None:
            return "even"
        if isinstance(self.costs, str):
            return self.costs
        if not isinstance(self.costs, Mapping):
            return {"threshold": float(self.costs)}
        pair = lambda key: ":".join(map(_inputs.class_name, key)) if isinstance(key, tuple) else _inputs.class_name(key)
        return {"given": {pair(key): float(cost) for key, cost in self.costs.items()}}

    def _seed(self):
        return seed_of(self.random_state)

    def _take_in(self, X, y, sample_weight, reset):
        known = _inputs.is_plain(X) and _inputs.is_plain_column(y, len(X))
        if known and reset:
            # What is plainly right is not looked at twice. Whether all values are finite, the engine sees.
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        elif not (known and self._fits(X)):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)
            check_classification_targets(y)
            y = column_or_1d(y, warn=True)
        weights = None
        if sample_weight is not None:
            weights = np.ascontiguousarray(check_sample_weight(sample_weight, X, dtype=np.float64))
        return X, y, weights

    def _fits(self, X):
        return X.shape[1] == self.n_features_in_ and "feature_names_in_" not in self.__dict__

    def _names(self):
        return [_inputs.class_name(value) for value in self.classes_.tolist()]

    def _features(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Learns from rows and their classes; returns itself.

        `X` may be the name of a file, of several, or of a folder, and `y` the name of its label column. It may hold more
        than memory does: the rows are then kept on disk.
        """
        start = self._start(coef_init, intercept_init)
        if _inputs.is_path(X):
            return self._fit_files(X, y, sample_weight, start)
        X, y, weights = self._take_in(X, y, sample_weight, reset=True)
        self.classes_, codes = _inputs.classes_of(y)
        if len(self.classes_) < 2:
            raise ValueError(f"training needs at least two classes, but all rows are of one class: {self.classes_[0]!r}")
        if self.costs is not None and self.calibrate is None:
            raise ValueError('costs are weighed by probabilities: set calibrate="platt" or "isotonic"')
        options = self._options(self._seed())
        given = (_inputs.lend(X), codes, self._names(), weights, self._features(), self.merge_rows)
        context = self._context(X, y)
        if self.calibrate is None:
            native = _rosenblatt.fit(json.dumps(options), *given, start, self._told(context), self._base())
        else:
            folds = min(5, int(np.bincount(codes).min()))
            if folds < 2:
                raise ValueError("fitting probabilities needs two rows of every class")
            recipe = {"choice": "given", "learning": options, "estimate": {"folds": folds}, "calibration": self.calibrate}
            native = _rosenblatt.fit_by_recipe(json.dumps(recipe), *given, self._told(context))
        self._fitted(native, context)
        return self

    def _fit_files(self, X, y, sample_weight, start):
        if sample_weight is not None or start is not None or self.merge_rows:
            raise ValueError("weights, a start and merge_rows are for rows in memory, not for files")
        if y is not None and not isinstance(y, str):
            raise ValueError("beside the name of a file, y should be the name of its label column")
        recipe = {
            "choice": "given",
            "learning": self._options(self._seed()),
            "estimate": {"hold-out": 0.0} if self.calibrate is None else {"folds": 5},
            "calibration": self.calibrate or "off",
            "reading": {"scaling": "none", "precision": "f64", **({} if y is None else {"label": {"named": y}})},
        }
        given, name = _inputs.source(X)
        if not _inputs.is_small(given):
            recipe["memory"] = {"bytes": _inputs.free_memory() // 2}
        context = self._context(None, None)
        native, _ = _rosenblatt.train(json.dumps(recipe), given, name, None, self._told(context), figures=False)
        self.classes_, self.n_features_in_ = _inputs.values_of(native.classes), native.n_features
        self.__dict__.pop("feature_names_in_", None)
        if native.feature_names is not None:
            self.feature_names_in_ = np.array(native.feature_names, dtype=object)
        self._fitted(native, context)
        return self

    def _fitted(self, native, context):
        for name in ("_learner", "_checkpoint"):
            self.__dict__.pop(name, None)
        self._take_over(native)
        if context is not None:
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes={})

    def _context(self, X, y):
        """Where scikit-learn's callbacks stand, if there are any."""
        if not getattr(self, "_skl_callbacks", None):
            return None
        context = self._init_callback_context(max_subtasks=self.max_iter)
        return context.call_on_fit_task_begin(estimator=self, X=X, y=y)

    def _told(self, context):
        """What is called after each epoch."""
        if context is None and self.callback is None:
            return None

        def told(*counts):
            stop = False
            if self.callback is not None:
                stop = bool(self.callback(dict(zip(("epoch", "rounds", "mistakes", "updates", "errors"), counts))))
            if context is not None:
                epoch = context.subcontext(task_name="epoch").call_on_fit_task_begin(estimator=self)
                stop |= bool(epoch.call_on_fit_task_end(estimator=self))
            return stop

        return told

    def _base(self):
        """The model to start from, of those that have no hyperplanes."""
        return None

    def _start(self, coef, intercept):
        if self.warm_start and coef is None and getattr(self, "model_", None) is not None:
            coef, intercept = getattr(self, "coef_", None), getattr(self, "intercept_", None)
        return self._planes(coef, intercept)

    @staticmethod
    def _planes(coef, intercept):
        if coef is None:
            return None
        coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        biases = np.zeros(len(coef)) if intercept is None else np.atleast_1d(np.asarray(intercept, dtype=np.float64))
        if biases.shape != (len(coef),):
            raise ValueError(f"intercept_init should have {len(coef)} values, one for each row of coef_init")
        return coef.T.ravel().tolist(), biases.tolist()

    @available_if(_learns_online)
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learns from each row once, in their order. Averages, votes and pockets go on where they stood.

        A class that was not known so far is taken in: its weights begin with zero.
        """
        first = "_learner" not in self.__dict__ and "_checkpoint" not in self.__dict__
        X, y, weights = self._take_in(X, y, sample_weight, reset=first and "model_" not in self.__dict__)
        known = [self.classes_] if "classes_" in self.__dict__ and not (first and "model_" not in self.__dict__) else []
        named = known + [np.unique(y)] + ([] if classes is None else [np.unique(classes)])
        if len({_inputs.is_text(one) for one in named}) > 1:
            raise ValueError("classes should be all numbers or all text, those of earlier calls of partial_fit included")
        all_classes = np.unique(np.concatenate(named))
        if len(all_classes) < 2:
            raise ValueError("partial_fit needs two classes to begin with: name those to come with `classes`")
        if first:
            start = None
            if known:
                # What was fitted at once goes on here, as far as hyperplanes tell.
                start = self._planes(getattr(self, "coef_", None), getattr(self, "intercept_", None))
            self.classes_ = known[0] if start is not None else all_classes
            self._asked = json.dumps(self._options(self._seed()))
            self._learner = _rosenblatt.Learner(self._asked, self._names(), self._features(), None, start)
        elif "_checkpoint" in self.__dict__:
            self._learner = _rosenblatt.Learner(self._asked, self._names(), self._features(), self._checkpoint)
            del self._checkpoint
        if len(all_classes) > len(self.classes_):
            names = [_inputs.class_name(value) for value in all_classes.tolist()]
            self._learner.take_in(names)
            self.classes_ = all_classes
        codes = np.searchsorted(self.classes_, y).astype(np.uint32)
        self._learner.learn(_inputs.lend(X), codes, self._names(), weights, self._features())
        self._take_over(self._learner.model())
        return self

    def _take_over(self, native):
        self.model_ = Model(native)
        self.n_iter_ = max(1, native.n_epochs)
        planes = native.planes()
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if planes is not None and self.feature_map is None:
            weights, biases = (np.frombuffer(part, dtype=np.float64).copy() for part in planes)
            self.coef_, self.intercept_ = weights.reshape(len(biases), -1), biases

    def _rows(self, X):
        if "model_" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        if _inputs.is_plain(X) and self._fits(X):
            return X
        if _inputs.is_plain_sparse(X) and self._fits(X):
            return _inputs.lend(X)
        return _inputs.lend(validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False))

    def _said(self, X, what):
        """Numbers that the engine gives for rows of an array, or of files."""
        if _inputs.is_path(X) and "model_" in self.__dict__:
            return self.model_._said(X, what)
        rows = self._rows(X)
        return self.model_._said_of_rows(rows, what)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of an array, or of files."""
        numbers = np.frombuffer(self._said(X, "classes"), dtype=np.intp)
        return self.classes_[numbers]

    @available_if(lambda estimator: not _has_probabilities(estimator))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row for two classes, positive for the second; else the score of each class.

        With probabilities, which then decide about classes, there is `predict_proba` instead.
        """
        scores = np.frombuffer(self._said(X, "scores"), dtype=np.float64).copy()
        n_classes = len(self.classes_)
        return scores if n_classes == 2 else scores.reshape(-1, n_classes)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        shares = np.frombuffer(self._said(X, "probabilities"), dtype=np.float64).copy()
        return shares.reshape(-1, len(self.classes_))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # What always steps on the worst row looks for a margin that rows which overlap do not have.
        tags.classifier_tags.poor_score = _rosenblatt.picks_worst(self._fixed.get("algorithm", self.algorithm))
        return tags

    def __getstate__(self):
        state = dict(super().__getstate__())
        # What is learned piece by piece lives in the engine; a copy goes on from a checkpoint of it.
        learner = state.pop("_learner", None)
        if learner is not None:
            state["_checkpoint"] = learner.checkpoint()
        return state


assert PerceptronClassifier.__doc__ and Settings.__doc__
PerceptronClassifier.__doc__ = PerceptronClassifier.__doc__.replace("{parameters}", Settings.__doc__.strip())


def seed_of(random_state):
    """The engine's seed for what scikit-learn takes as one."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _plain(value):
    """NumPy's numbers as Python's, which JSON knows."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value
