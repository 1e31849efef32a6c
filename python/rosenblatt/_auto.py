"""What `train` does, as an estimator with scikit-learn's contract."""

import io
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _checks, _inputs, _product
from ._base import (
    BaseEstimator,
    ClassifierMixin,
    NotFittedError,
    available_if,
    check_classification_targets,
    column_or_1d,
    validate_data,
)
from ._estimators import _whole, seed_of

__all__ = ["AutoClassifier"]

#: What the label is called in a table that has columns of its own.
_LABEL = "label"


def _has_probabilities(estimator):
    return "model_" not in estimator.__dict__ or estimator.model_.is_calibrated


def _column_names(X):
    """What the columns of a table are called; None of arrays, whose columns have numbers."""
    return [str(name) for name in getattr(X, "column_names", X.columns)] if _is_table(X) else None


class AutoClassifier(_checks.Hints, ClassifierMixin, BaseEstimator):
    """Chooses, scales, trains, judges and calibrates, as `rosenblatt train` does.

    Candidates race on held-out rows, and the winner learns from all of them. Columns of a pandas, polars or pyarrow table may
    be categories or text; the model stores how they are encoded.

    Parameters
    ----------
    scale : str, default="auto"
        How features are brought to one scale; "none" leaves them as they are.
    calibrate : str, default="auto"
        How scores become probabilities: "auto", "platt", "isotonic" or "off".
    class_weight : Mapping[Any, float] | str, default=None
        Weight of each class: "balanced" (rare classes weigh more), or a number by class; 1 for every class if None.
    missing : str, default="error"
        What a missing value of a table (no array) is taken for: "mean", "median", "most-frequent", "zero", "drop" or "own".
    random_state : Any, default=0
        Seed of every random choice.

    Attributes
    ----------
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray
    model_ : rosenblatt.Model
        The model, which can be saved, explained, drawn and exported.
    estimate_ : dict or None
        How good it is on rows that it did not learn from; None where there were too few to hold some out.
    race_ : dict or None
        How it was chosen.
    feature_importances_ : ndarray
        By how much the loss of rows that were not learned from rises when a column is shuffled; 0 for columns that are left out.
    notes_ : list of str
        What you may want to know about how the data was understood.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [1, 100, 0.01]
    >>> fitted = AutoClassifier().fit(X, np.where(X[:, 1] > 0, "up", "down"))
    >>> fitted.predict([[0.0, 150.0, 0.0]]).tolist()
    ['up']
    """

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    model_: _product.Model
    estimate_: dict[str, Any] | None
    race_: dict[str, Any] | None
    notes_: list[str]

    def __init__(
        self,
        *,
        scale: str = "auto",
        calibrate: str = "auto",
        class_weight: Any = None,
        missing: str = "error",
        random_state: Any = 0,
    ) -> None:
        self.scale = scale
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.missing = missing
        self.random_state = random_state

    def _check(self):
        owner = type(self).__name__
        settings = [
            ("scale", "reading", "scaling", self.scale), ("calibrate", "recipe", "calibration", self.calibrate),
            ("missing", "reading", "missing", self.missing),
        ]
        _checks.check(owner, settings)
        _checks.check_seed(owner, self.random_state)
        _checks.check_class_weight(owner, "class_weight", self.class_weight)

    def fit(self, X: Any, y: Any) -> Self:
        """Learns from rows and their classes; returns itself."""
        self._check()
        with _whole(self):
            X = self._validated(X, reset=True)
            y = column_or_1d(y, warn=True)
            check_classification_targets(y)
            if len(y) != X.shape[0]:
                raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(y)]}")
            self.classes_, codes = np.unique(y, return_inverse=True)
            if len(self.classes_) < 2:
                raise ValueError(f"training needs at least two classes, but all rows are of one class: {self.classes_[0]!r}")
            names = [_inputs.class_name(value) for value in self.classes_.tolist()]
            trained = _product.train(
                _labelled(X, np.array(names)[codes]), seed=seed_of(self.random_state), scale=self.scale, calibrate=self.calibrate, missing=self.missing,
                label=_LABEL if _is_table(X) else None, learning=self._learning(), task="classification",
            )
            self.model_, self.estimate_, self.race_, self.notes_ = trained.model, trained.estimate, trained.race, trained.notes
            self._columns = _column_names(X)
            self._places = np.array([names.index(name) for name in self.model_.classes])
        return self

    def _learning(self):
        weights = self.class_weight
        if isinstance(weights, str) or weights is None:
            return {"class_weights": weights or "even"}
        return {"class_weights": {"given": {_inputs.class_name(name): float(one) for name, one in weights.items()}}}

    def _validated(self, X, reset):
        _inputs.check_sparse(X)
        if _is_table(X):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        if self.missing != "error" and isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isnan(X).any():
            raise ValueError("`missing` fills the cells of tables: pass a DataFrame, for instance pd.DataFrame(X)")
        return validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)

    def _rows(self, X):
        if "model_" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        return X if _inputs.is_file(X) else self._validated(X, reset=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of an array, a table or files."""
        rows = self._rows(X)
        numbers = np.frombuffer(self.model_._said(rows, "classes"), dtype=np.intp)
        return self.classes_[self._places[numbers]]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        rows = self._rows(X)
        shares = np.empty_like(known := self.model_.predict_proba(rows))
        shares[:, self._places] = known
        return shares

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """By how much the loss of rows that were not learned from rises when a column is shuffled."""
        if "model_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        ranked = self.model_.summary(0)["importance"]
        if ranked is None:
            raise AttributeError("columns are not ranked: there are too many, or too few rows to judge them by")
        names = self._columns or [f"feature {place + 1}" for place in range(self.n_features_in_)]
        rises = np.zeros(self.n_features_in_)
        for column in ranked["columns"]:
            rises[names.index(column["column"])] = column["rise"]
        return rises

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_table(X):
    return hasattr(X, "columns") and hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc")


def _labelled(X, names):
    """Rows and classes as one source: a table with one column more, or the arrays of one file."""
    if _is_table(X):
        import pyarrow

        if _LABEL in X.columns:
            raise ValueError(f"a column of the rows is called {_LABEL!r}, as the classes are: rename it")
        table = pyarrow.Table.from_pandas(X, preserve_index=False) if hasattr(X, "iloc") else pyarrow.table(X)
        return table.append_column(_LABEL, pyarrow.array(names.tolist()))
    kept = io.BytesIO()
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        np.savez(kept, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, format=b"csr", y=names)
    else:
        np.savez(kept, X=X, y=names)
    return kept.getvalue()
