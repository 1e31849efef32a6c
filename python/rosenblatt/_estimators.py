"""Estimators with scikit-learn's contract. What is learned, and how, is the engine's business."""

import inspect
import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, _inputs, _keywords, _rosenblatt
from ._base import (
    BaseEstimator,
    CallbackSupportMixin,
    ClassifierMixin,
    ConvergenceWarning,
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

__all__ = ["PerceptronClassifier", "expected_failed_checks"]

#: Parameters whose names are words of Python, or that scikit-learn has a word for.
_ENGINE_NAMES = {"lam": "lambda", "tol": "tolerance"}
#: Rules whose score is the logarithm of the odds.
_LOGISTIC = ("logistic", "logistic-dual", "logistic-l1")
_DEFAULTS = {name: one.default for name, one in inspect.signature(Settings.__init__).parameters.items()}
#: Settings that may be left open.
_OPEN = {name for name, default in _DEFAULTS.items() if default is None}
#: Settings that Python takes in forms of its own.
_OWN_FORMS = ("class_weight", "costs", "random_state", "kernel_params")


@contextmanager
def _whole(estimator):
    """What fails, or is interrupted, leaves the estimator as it was."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        for name in estimator.__dict__.keys() - before.keys():
            del estimator.__dict__[name]
        estimator.__dict__.update(before)
        raise


def _is_calibrated(estimator):
    if getattr(estimator, "model_", None) is not None:
        return estimator.model_.is_calibrated
    return estimator._will_have_probabilities()


def _has_probabilities(estimator):
    if _is_calibrated(estimator) or estimator._has_odds():
        return True
    # What a method lacks is shown beneath the error that it is not there.
    raise AttributeError('set calibrate="platt" before fit, and the estimator has probabilities')


def _learns_online(estimator):
    try:
        estimator._check()
    except ValueError:
        # `fit` reports what is wrong.
        return True
    if estimator.calibrate:
        raise AttributeError("partial_fit fits no probabilities: set calibrate=None, or use fit")
    weights = estimator._class_weights()
    # What depends on the rows is checked when they come.
    asked = {**estimator._options(0), "class-weights": "even" if weights == "balanced" else weights}
    if _rosenblatt.learns_online(json.dumps(asked)):
        return True
    raise AttributeError("this rule solves a problem over all rows; AROW, LogisticSGD and Perceptron learn row by row")


class PerceptronClassifier(Settings, _checks.Hints, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
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
        return {name: _checks.plain(value) for name, value in asked.items()}

    def _check(self):
        """Refuses parameters that are none, before a row is looked at."""
        owner = type(self).__name__
        given = []
        for name, (group, engine) in SETTINGS.items():
            value = getattr(self, name)
            if name not in _OWN_FORMS and not (value is None and name in _OPEN):
                is_rate = name == "rate" and _checks.is_number(value)
                given.append((name, group, engine, str(value) if is_rate else value))
        _checks.check(owner, given)
        for name in ("early_stopping", "merge_rows", "warm_start"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                _checks.refuse(owner, name, "True or False", getattr(self, name))
        if self.calibrate is not None and not (isinstance(self.calibrate, str) and self.calibrate in ("platt", "isotonic")):
            _checks.refuse(owner, "calibrate", '"platt", "isotonic" or None', self.calibrate)
        if self.callback is not None and not callable(self.callback):
            _checks.refuse(owner, "callback", "something that can be called, or None", self.callback)
        if self._rule_params:
            own = {name: (_ENGINE_NAMES.get(name, name), getattr(self, name)) for name in self._rule_params}
            _keywords.check_params(owner, self._fixed["algorithm"], own)
        if self.kernel_params is not None and not isinstance(self.kernel_params, Mapping):
            _checks.refuse(owner, "kernel_params", "a dictionary or None", self.kernel_params)
        if self.kernel_params and self.kernel is None and self.feature_map is None:
            raise ValueError("kernel_params are those of a kernel or a map, but neither kernel nor feature_map is set")
        if self.map_size != _DEFAULTS["map_size"] and self.feature_map is None:
            raise ValueError(f"map_size is for a feature map, but feature_map is not set: set it, or leave map_size at {_DEFAULTS['map_size']}")
        if self.support_budget is not None and self.kernel is None:
            raise ValueError("support_budget is for the support vectors of a kernel, but kernel is not set")
        if self.validation_fraction != _DEFAULTS["validation_fraction"] and not self._has_validation():
            raise ValueError("validation_fraction is for early stopping, but early_stopping is False: set it, or leave the fraction out")
        _checks.check_seed(owner, self.random_state)
        _checks.check_class_weight(owner, "class_weight", self.class_weight)
        _checks.check_costs(owner, self.costs)

    def _has_validation(self):
        """Whether a fraction of the rows is kept apart. scikit-learn's checks set the patience in any case."""
        return self.early_stopping

    def _will_have_probabilities(self):
        return bool(self.calibrate)

    def _solves(self):
        """Whether the rule looks for one solution, to a tolerance."""
        return "tol" in self._rule_params

    def _has_odds(self):
        """Whether scores are logarithms of odds."""
        is_logistic = self._fixed.get("algorithm", self.algorithm) in _LOGISTIC
        return is_logistic and self.multiclass == "one-vs-rest" and self.readout in (None, "last", "averaged")

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
        _inputs.check_sparse(X)
        known = (_inputs.is_plain(X) or _inputs.is_plain_sparse(X)) and _inputs.is_plain_column(y, X.shape[0])
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

        `X` may be the name of a file, of several, or of a folder, and `y` the name of its label column. If it is larger
        than memory, the rows are cached on disk.
        """
        self._check()
        with _whole(self):
            if _inputs.is_path(X):
                starts = coef_init is not None or self.warm_start and "coef_" in self.__dict__
                return self._fit_files(X, y, sample_weight, starts)
            return self._fit_rows(X, y, sample_weight, coef_init, intercept_init)

    def _fit_rows(self, X, y, sample_weight, coef_init, intercept_init):
        X, y, weights = self._take_in(X, y, sample_weight, reset=True)
        start = self._start(coef_init, intercept_init)
        self.classes_, codes = _inputs.classes_of(y)
        if len(self.classes_) < 2:
            raise ValueError(f"training needs at least two classes, but all rows are of one class: {self.classes_[0]!r}")
        weighed = self._class_weights()
        if isinstance(weighed, dict) and not any(weighed["given"].get(name, 1) for name in self._names()):
            raise ValueError(f"class_weight should leave some class a weight, but all of them have none: {self.class_weight!r}")
        if self.costs is not None and self.calibrate is None:
            raise ValueError('costs are weighed by probabilities: set calibrate="platt" or "isotonic"')
        options = self._options(self._seed())
        given = (_inputs.lend(X), codes, self._names(), weights, self._features(), self.merge_rows)
        context = self._context(X, y)
        if self.calibrate is None:
            native = _rosenblatt.fit(json.dumps(options), *given, start, self._on_epoch(context), self._base())
        else:
            folds = min(5, int(np.bincount(codes).min()))
            if folds < 2:
                raise ValueError("fitting probabilities needs two rows of every class")
            recipe = {"choice": "given", "learning": options, "estimate": {"folds": folds}, "calibration": self.calibrate}
            native = _rosenblatt.fit_by_recipe(json.dumps(recipe), *given, self._on_epoch(context))
        self._fitted(native, context)
        return self

    def _fit_files(self, X, y, sample_weight, starts):
        if sample_weight is not None or starts or self.merge_rows:
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
        native, _ = _rosenblatt.train(json.dumps(recipe), given, name, None, self._on_epoch(context), figures=False)
        self.classes_, self.n_features_in_ = _inputs.values_of(native.classes), native.n_features
        self.__dict__.pop("feature_names_in_", None)
        if native.feature_names is not None:
            self.feature_names_in_ = np.array(native.feature_names, dtype=object)
        self._fitted(native, context)
        return self

    def _fitted(self, native, context):
        if native.task != "classes":
            raise ValueError("a classifier learns classes: for numbers there is Regressor")
        for name in ("_learner", "_checkpoint"):
            self.__dict__.pop(name, None)
        self._take_over(native)
        if self._solves() and json.loads(native.summary(0))["training-summary"]["stopped"] == "epochs":
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.n_iter_} epochs: raise max_iter or tol, or scale the features",
                ConvergenceWarning,
            )
        if context is not None:
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes={})

    def _context(self, X, y):
        """Where scikit-learn's callbacks stand, if there are any."""
        if not getattr(self, "_skl_callbacks", None):
            return None
        context = self._init_callback_context(max_subtasks=self.max_iter)
        return context.call_on_fit_task_begin(estimator=self, X=X, y=y)

    def _on_epoch(self, context):
        """What is called after each epoch."""
        if context is None and self.callback is None:
            return None

        def each(*counts):
            stop = False
            if self.callback is not None:
                stop = bool(self.callback(dict(zip(("epoch", "rounds", "mistakes", "updates", "errors"), counts))))
            if context is not None:
                epoch = context.subcontext(task_name="epoch").call_on_fit_task_begin(estimator=self)
                stop |= bool(epoch.call_on_fit_task_end(estimator=self))
            return stop

        return each

    def _base(self):
        """The model to start from, of those that have no hyperplanes."""
        return None

    def _start(self, coef, intercept):
        if self.warm_start and coef is None and getattr(self, "model_", None) is not None:
            coef, intercept = getattr(self, "coef_", None), getattr(self, "intercept_", None)
            if coef is None and self._base() is None:
                raise ValueError(
                    "warm_start starts from the weights of the last fit, but a vote, a kernel or a feature map has none: "
                    "set warm_start=False"
                )
        width = self.n_features_in_ if coef is None else np.atleast_2d(np.asarray(coef)).shape[1]
        if width != self.n_features_in_:
            has = f"it has {width} features, and the rows have {self.n_features_in_}"
            raise ValueError(f"Provided coef_init does not match dataset: {has}.")
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
        """Learns from each row once, in their order. Averages, votes and pockets continue.

        A new class is added with zero weights.
        """
        self._check()
        with _whole(self):
            return self._learn(X, y, classes, sample_weight)

    def _learn(self, X, y, classes, sample_weight):
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
            if not first and (copy := self._learner.checkpoint()) is not None:
                # If this fails, the learner that is there must not know them.
                self._learner = _rosenblatt.Learner(self._asked, self._names(), self._features(), copy)
            self._learner.take_in([_inputs.class_name(value) for value in all_classes.tolist()])
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
        numbers = _inputs.numbers_of(X, self.__dict__.get("feature_names_in_"))
        if numbers is not None:
            return _inputs.lend(numbers, by_columns=True)
        _inputs.check_sparse(X)
        checked = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        return _inputs.lend(checked, by_columns=True)

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

    @available_if(lambda estimator: not _is_calibrated(estimator))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row for two classes, positive for the second; else the score of each class.

        If the model is calibrated, probabilities decide the class; use `predict_proba` instead.
        """
        scores = np.frombuffer(self._said(X, "scores"), dtype=np.float64).copy()
        n_classes = len(self.classes_)
        return scores if n_classes == 2 else scores.reshape(-1, n_classes)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        if not _is_calibrated(self):
            return _shares(self.decision_function(X))
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


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Which of scikit-learn's checks an estimator fails by default, and why; pass it to `check_estimator`.

    >>> from sklearn.utils.estimator_checks import check_estimator              # doctest: +SKIP
    >>> check_estimator(AROW(), expected_failed_checks=expected_failed_checks(AROW()))  # doctest: +SKIP
    """
    named = type(estimator).__name__
    failed: dict[str, str] = {}
    if named == "Regressor":
        return _failed_by_rules_for_numbers(estimator.algorithm)
    if named in ("MLPClassifier", "BatchPerceptron") or not isinstance(estimator, PerceptronClassifier):
        return failed
    if not estimator.merge_rows:
        why = "rows are visited one after the other, so that a row of weight 2 is not two rows; it is with merge_rows=True"
        if estimator._solves():
            why = "a row of weight 2 is two rows up to the tolerance of the solver; it is exactly with merge_rows=True"
        failed["check_sample_weight_equivalence_on_dense_data"] = why
        failed["check_sample_weight_equivalence_on_sparse_data"] = why
    weights = {
        **dict.fromkeys(
            ("ALMA", "ROMMA", "AggressiveROMMA", "DynamicMarginPerceptron"),
            'the margin is one of the whole vector, and a bias of 1 is small beside rows of 20; bias="augmented(10)" is not',
        ),
        "LogisticSGD": "a weight of 1000 times a rate of 1 is no gradient step; rate=0.001 makes it one",
    }
    if named in weights:
        failed["check_class_weight_classifiers"] = weights[named]
    return failed


def _failed_by_rules_for_numbers(algorithm):
    """The checks that a rule for numbers fails, and why."""
    whys = {
        "svr": "the standard deviation of the targets, which epsilon and C go by, counts rows and not their weights",
        **dict.fromkeys(("lms", "pa-regression"), "rows are visited one after the other, so that a row of weight 2 is not two rows"),
    }
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    failed = dict.fromkeys(checks, whys[algorithm]) if algorithm in whys else {}
    if algorithm == "lms":
        why = "features of about 100 are too large for a rate of 0.01: scale them, or lower the rate"
        failed |= dict.fromkeys(("check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in"), why)
    return failed


def _shares(odds):
    """Probabilities of classes: of two by the odds of the second, of more in proportion to what each has against the rest."""
    shares = -np.logaddexp(0.0, -(np.column_stack([-odds, odds]) if odds.ndim == 1 else odds))
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def seed_of(random_state):
    """The engine's seed for what scikit-learn takes as one."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
