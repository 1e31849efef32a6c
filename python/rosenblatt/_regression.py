"""Numbers to predict, as an estimator with scikit-learn's contract."""

import json
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, _inputs, _rosenblatt
from ._base import BaseEstimator, NotFittedError, RegressorMixin, check_sample_weight, column_or_1d, validate_data
from ._estimators import _whole, seed_of
from ._product import Model
from ._settings import SETTINGS

__all__ = ["Regressor"]

#: What scikit-learn's regressors call otherwise, and what says it here.
_SYNONYMS = {
    **_checks.SYNONYMS,
    "fit_intercept": "a bias is always learned",
    "alpha": 'the penalty of ridge is params={"l2": ...}',
    "penalty": 'the penalty of ridge is params={"l2": ...}',
    "l1_ratio": 'the penalty of ridge is params={"l2": ...}',
    "epsilon": 'parameters of the rule are params, such as {"epsilon": ...}',
    "loss": "each loss is a rule: see `algorithm`",
    "solver": "each rule is solved in one way: see `algorithm`",
    "shuffle": "rows are shuffled in every epoch",
    "verbose": "a fit prints nothing",
    "average": "each rule keeps its last weights or their average as it should",
    "tol": "training ends when the rule has its solution, or after `max_iter`",
}


class Regressor(_checks.Hints, RegressorMixin, BaseEstimator):
    """Predicts a number by any rule of the family that learns numbers.

    For intervals, train with `rosenblatt.train`, which holds rows out: its `model.predict_interval(X)` has them.

    Parameters
    ----------
    algorithm : str, default="ridge"
        The rule: "ridge" (least squares if `l2` is 0), "huber", "quantile", "svr", "lms" or "pa-regression".
    params : Mapping[str, float], default=None
        Parameters of the rule, such as {"l2": 1.0}; see `rosenblatt.catalogue()`.
    rate : float | str, default=None
        Learning rate of `lms`; the rule's own if None.
    max_iter : int, default=200
        Maximum number of epochs.
    random_state : Any, default=0
        Seed of every random choice.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_iter_ : int
        Epochs of the last fit.
    n_features_in_ : int
    feature_names_in_ : ndarray
    model_ : rosenblatt.Model
        The model, which can be saved, explained and exported.

    >>> fitted = Regressor().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> fitted.predict([[10.0]]).round(6).tolist()
    [21.0]
    """

    coef_: NDArray[np.float64]
    intercept_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    model_: Model

    _synonyms = _SYNONYMS

    def __init__(
        self,
        algorithm: str = "ridge",
        *,
        params: Mapping[str, float] | None = None,
        rate: Any = None,
        max_iter: int = 200,
        random_state: Any = 0,
    ) -> None:
        self.algorithm = algorithm
        self.params = params
        self.rate = rate
        self.max_iter = max_iter
        self.random_state = random_state

    def _options(self):
        owner = type(self).__name__
        if self.params is not None and not isinstance(self.params, Mapping):
            _checks.refuse(owner, "params", "a dictionary or None", self.params)
        given = {"algorithm": self.algorithm, "max_iter": self.max_iter}
        given |= {name: value for name, value in (("params", self.params), ("rate", self.rate)) if value is not None}
        if _checks.is_number(self.rate):
            given["rate"] = str(self.rate)
        _checks.check(owner, [(name, *SETTINGS[name], value) for name, value in given.items()])
        _checks.check_seed(owner, self.random_state)
        return {
            "algorithm": self.algorithm,
            "params": {name: float(value) for name, value in (self.params or {}).items()},
            "rate": None if self.rate is None else str(self.rate),
            "epochs": _checks.plain(self.max_iter),
            "seed": seed_of(self.random_state),
            "validation": None,
        }

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from rows and their numbers; returns itself."""
        options = self._options()
        with _whole(self):
            _inputs.check_sparse(X)
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), reset=True)
            y = column_or_1d(y, warn=True).astype(np.float64)
            if len(y) < 2:
                raise ValueError("training needs at least two rows, but n_samples = 1")
            if not np.isfinite(y).all():
                raise ValueError("Input y contains NaN or infinity: every row needs a finite number.")
            weights = None
            if sample_weight is not None:
                weights = np.ascontiguousarray(check_sample_weight(sample_weight, X, dtype=np.float64))
            targets, codes = np.unique(y, return_inverse=True)
            names = getattr(self, "feature_names_in_", None)
            features = None if names is None else [str(name) for name in names]
            native = _rosenblatt.fit(
                json.dumps(options), _inputs.lend(X), codes.astype(np.uint32), [repr(one) for one in targets.tolist()],
                weights, features, numbers=True,
            )
            self.model_, self.n_iter_ = Model(native), max(1, native.n_epochs)
            # Every rule for numbers keeps weights.
            planes = native.planes() or (b"", b"")
            coef, biases = (np.frombuffer(part, dtype=np.float64).copy() for part in planes)
            self.coef_, self.intercept_ = coef, float(biases[0])
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number of each row."""
        if "model_" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        _inputs.check_sparse(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        return np.frombuffer(self.model_._said_of_rows(_inputs.lend(X, by_columns=True), "scores"), dtype=np.float64)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
