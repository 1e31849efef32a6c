"""The parts of scikit-learn that estimators use, and stand-ins if it is not installed."""

import inspect

import numpy as np

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:
        """Without scikit-learn 1.9 there is `callback` alone."""

    def with_callbacks(method):
        """The method as it is."""
        return method


try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils import check_random_state, column_or_1d
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight as check_sample_weight
    from sklearn.utils.validation import validate_data
except ImportError:

    class ConvergenceWarning(UserWarning):
        """The solver stopped before it reached its tolerance."""

    class NotFittedError(ValueError, AttributeError):
        """The estimator has not learned anything yet."""

    class ClassifierMixin:
        """A classifier."""

        def score(self, X, y, sample_weight=None):
            """The accuracy: the share of rows that are predicted correctly."""
            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

        def __sklearn_tags__(self):
            raise AttributeError("scikit-learn is not installed")

    class RegressorMixin:
        """A regressor."""

        def score(self, X, y, sample_weight=None):
            """R2: the share of the variance that the model explains."""
            y = np.asarray(y, dtype=np.float64)
            left = np.average((y - self.predict(X)) ** 2, weights=sample_weight)
            whole = np.average((y - np.average(y, weights=sample_weight)) ** 2, weights=sample_weight)
            return float(1.0 - left / whole) if whole > 0.0 else float(left == 0.0)

        def __sklearn_tags__(self):
            raise AttributeError("scikit-learn is not installed")

    class BaseEstimator:
        """Parameters by name."""

        @classmethod
        def _get_param_names(cls):
            parameters = inspect.signature(cls.__init__).parameters.values()
            return sorted(one.name for one in parameters if one.name != "self")

        def get_params(self, deep=True):
            """Every parameter and its value."""
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            """Changes parameters; returns itself."""
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            usual = inspect.signature(type(self).__init__).parameters
            given = [f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name].default]
            return f"{type(self).__name__}({', '.join(given)})"

    def available_if(check):
        """A method that is there only if `check` says so."""

        class Available:
            def __init__(self, method):
                self.method = method

            def __get__(self, estimator, owner=None):
                if estimator is not None and not check(estimator):
                    raise AttributeError(f"{type(estimator).__name__} has no attribute {self.method.__name__!r}")
                return self.method.__get__(estimator, owner)

        return Available

    def check_random_state(seed):
        """A source of random numbers."""
        return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)

    def check_classification_targets(y):
        """Raises an error if the labels are not classes."""
        if y.dtype.kind == "f" and not np.all(y == np.floor(y)):
            raise ValueError("Unknown label type: continuous")

    def column_or_1d(y, warn=False):
        """A column as one axis."""
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.ravel()
        if y.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        return y

    def check_sample_weight(sample_weight, X, dtype):
        """One weight for each row."""
        n_rows = X.shape[0]
        weights = np.full(n_rows, sample_weight, dtype) if np.isscalar(sample_weight) else np.asarray(sample_weight, dtype)
        if weights.shape != (n_rows,):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
        return weights

    def validate_data(estimator, X, y="no", *, accept_sparse=False, dtype=(), reset, skip_check_array=False):
        """Rows of numbers, as many features as before; tables that are not looked at, too."""
        if not skip_check_array and not hasattr(X, "tocsr"):
            X = np.asarray(X)
            if X.dtype not in dtype:
                X = X.astype(dtype[0])
            if X.ndim != 2:
                raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
        if X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        values = X.data if hasattr(X, "tocsr") else X
        if not skip_check_array and not np.isfinite(values).all():
            raise ValueError("Input X contains NaN or infinity.")
        if reset:
            estimator.n_features_in_ = X.shape[1]
        elif X.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input"
            )
        if isinstance(y, str):
            return X
        y = np.asarray(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(y)]}")
        return X, y
