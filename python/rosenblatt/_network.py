"""The multi-layer perceptron with the parameters of scikit-learn's `MLPClassifier`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _checks, _keywords
from ._checks import plain
from ._estimators import PerceptronClassifier

__all__ = ["MLPClassifier"]

#: Default batch size, the same as scikit-learn's.
_BATCH = 200
#: Numbers, and what the engine calls them.
_NUMBERS = {
    "alpha": "weight-decay", "power_t": "power", "tol": "tolerance", "momentum": "momentum", "beta_1": "beta1", "beta_2": "beta2",
    "epsilon": "epsilon",
}


def _is_count(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 1


class MLPClassifier(PerceptronClassifier):
    """Layers of units between features and scores, learned by back-propagation.

    The parameters are those of scikit-learn's `MLPClassifier`, and mean the same; `solver="lbfgs"` is not available. Weights
    are drawn after He for relu and after Glorot for the others, biases begin with zero.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Units of every hidden layer.
    activation : "relu", "tanh", "logistic" or "identity", default="relu"
        What hidden units make of their sums.
    solver : "adam" or "sgd", default="adam"
        How weights descend the gradient.
    alpha : float, default=0.0001
        How much weights are drawn to zero.
    batch_size : int or "auto", default="auto"
        Rows of a batch; 200 if "auto".
    learning_rate : "constant", "invscaling" or "adaptive", default="constant"
        "sgd": the rate stays as it is; is divided by the number of rows seen to the power of `power_t` after every epoch; or
        is divided by 5 where lack of progress would have ended the fit, until it is below 1e-6.
    learning_rate_init : float, default=0.001
        The rate to begin with.
    power_t : float, default=0.5
        The power of "invscaling".
    max_iter : int, default=200
        The most epochs.
    shuffle : bool, default=True
        Visit rows in another order in every epoch.
    random_state : int, RandomState or None, default=0
        Decides every random choice.
    tol, n_iter_no_change : float, int
        Stop when the loss has not fallen by `tol` for this many epochs; with `early_stopping`, when the validation set
        shows no progress.
    verbose : bool, default=False
        Print the loss of every epoch.
    warm_start : bool, default=False
        Start from the weights of the last fit, if that was to rows in memory, of the same classes and layers.
    momentum, nesterovs_momentum : float, bool
        How much of the last step is made again ("sgd").
    early_stopping : bool, default=False
        Keep a validation set of `validation_fraction` apart, stop after `n_iter_no_change` epochs without progress on it,
        and keep the network that did best there.
    beta_1, beta_2, epsilon : float
        The numbers of "adam".
    max_fun : int
        Taken for the sake of those who give it: it is about "lbfgs".
    loss : "softmax", "hinge" or "perceptron", default="softmax"
        What scores cost; only "softmax" makes them probabilities.
    class_weight : dict, "balanced" or None, default=None
        How much each class counts.
    calibrate, merge_rows, callback
        As in `PerceptronClassifier`.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        Weights and biases, layer by layer.
    loss_curve_, loss_ : list of float, float
        The mean loss of every epoch of `fit`, weight decay included, and of the last one.
    best_loss_ : float or None
        The least of them; None with early stopping.
    validation_scores_, best_validation_score_ : list of float, float, or None
        With early stopping, which share of the validation set was right after every epoch, and at best.
    t_ : int
        Rows seen by `fit`, epoch by epoch.
    n_layers_, n_outputs_, out_activation_
        Layers, those of features and scores included; scores; and "logistic" of two classes, else "softmax".
    classes_, n_iter_, n_features_in_, feature_names_in_, model_
        As in `PerceptronClassifier`.
    """

    coefs_: list[NDArray[np.float64]]
    intercepts_: list[NDArray[np.float64]]
    loss_curve_: list[float]
    loss_: float
    best_loss_: float | None
    validation_scores_: list[float] | None
    best_validation_score_: float | None
    t_: int
    n_layers_: int
    n_outputs_: int
    out_activation_: str

    _fixed = {"algorithm": "mlp"}

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = 0,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int = 10,
        max_fun: int = 15000,
        loss: str = "softmax",
        class_weight: Mapping[Any, float] | str | None = None,
        calibrate: str | None = None,
        merge_rows: bool = False,
        callback: Callable[[dict[str, int]], object] | None = None,
    ) -> None:
        super().__init__(
            "mlp", max_iter=max_iter, early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, calibrate=calibrate, merge_rows=merge_rows,
            warm_start=warm_start, callback=callback, random_state=random_state,
        )
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.verbose = verbose
        self.max_fun = max_fun
        self.shuffle = shuffle
        self.tol = tol
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.loss = loss

    def _check(self):
        super()._check()
        owner = type(self).__name__
        if self.solver == "lbfgs":
            raise ValueError(
                'solver should be "adam" or "sgd", but is "lbfgs"; for few rows, solver="adam" with learning_rate_init=0.01 '
                "and as large a batch_size comes as far"
            )
        if self.learning_rate not in ("constant", "invscaling", "adaptive"):
            raise ValueError(f'learning_rate should be "constant", "invscaling" or "adaptive", but is {self.learning_rate!r}')
        choices = (("activation", "activation"), ("solver", "optimiser"), ("loss", "loss"))
        _checks.check(owner, [(name, "network", engine, getattr(self, name)) for name, engine in choices])
        _keywords.check_params(owner, "mlp", {name: (engine, getattr(self, name)) for name, engine in _NUMBERS.items()})
        if not _checks.is_number(self.learning_rate_init) or self.learning_rate_init <= 0:
            _checks.refuse(owner, "learning_rate_init", "a positive number", self.learning_rate_init)
        if self.batch_size != "auto" and not _is_count(self.batch_size):
            _checks.refuse(owner, "batch_size", '"auto" or a whole number, 1 or more', self.batch_size)
        sizes = self.hidden_layer_sizes
        if not all(map(_is_count, sizes if isinstance(sizes, (Sequence, np.ndarray)) and not isinstance(sizes, str) else [sizes])):
            _checks.refuse(owner, "hidden_layer_sizes", "a whole number, 1 or more, or a sequence of them", sizes)
        if self._falls("adaptive") and self.early_stopping:
            raise ValueError('learning_rate="adaptive" goes by the loss of the rows learned from: early_stopping should be False')
        for name in ("shuffle", "nesterovs_momentum", "verbose"):
            if not isinstance(getattr(self, name), (bool, np.bool_, int)):
                _checks.refuse(owner, name, "True or False", getattr(self, name))

    def _has_validation(self):
        # As in scikit-learn, whose estimator takes the fraction without early stopping.
        return True

    def _options(self, seed):
        asked = super()._options(seed)
        asked["rate"] = str(plain(self.learning_rate_init))
        asked["order"] = None if self.shuffle else "given"
        if asked["validation"] is not None:
            asked["validation"]["min-rows"] = 0
        sizes = np.atleast_1d(np.asarray(self.hidden_layer_sizes, dtype=np.int64)).tolist()
        asked["network"] = {
            "sizes": sizes, "activation": self.activation, "optimiser": self.solver, "loss": self.loss,
        }
        return asked

    def _falls(self, how):
        return self.solver == "sgd" and self.learning_rate == how

    def _base(self):
        if not self.warm_start or "model_" not in self.__dict__:
            return None
        if self.model_.classes != self._names():
            raise ValueError(f"warm_start needs the classes of the last fit, which were {self.model_.classes}")
        if self.model_.n_features != self.n_features_in_:
            raise ValueError(f"warm_start needs the {self.model_.n_features} features of the last fit, not {self.n_features_in_}")
        return self.model_._native

    def _on_epoch(self, context):
        callback = super()._on_epoch(context)
        self._losses = losses = []

        def each(*counts):
            epoch, loss = counts[0], counts[-1]
            if epoch == 1:
                losses.clear()
            losses.append(loss)
            if self.verbose:
                print(f"Iteration {epoch}, loss = {loss:.8f}", flush=True)
            return callback is not None and callback(*counts)

        return each

    def _will_have_probabilities(self):
        return self.loss == "softmax" or super()._will_have_probabilities()

    def _params(self):
        batch = _BATCH if self.batch_size == "auto" else self.batch_size
        # With a validation set, that alone says when it is enough. Zero would be no tolerance at all, and never end.
        tolerance = 0.0 if self.early_stopping else max(self.tol, np.nextafter(0.0, 1.0))
        numbers = {
            "batch": min(batch, getattr(self, "_few_rows", batch)),
            "weight-decay": self.alpha,
            "momentum": self.momentum,
            "nesterov": float(self.nesterovs_momentum),
            "beta1": self.beta_1,
            "beta2": self.beta_2,
            "epsilon": self.epsilon,
            "tolerance": tolerance,
            "patience": self.n_iter_no_change,
            "power": self.power_t if self._falls("invscaling") else 0.0,
            "adaptive": self._falls("adaptive"),
        }
        return {name: float(value) for name, value in numbers.items()}

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns from each row once, in their order, in batches; a batch that is not full waits for the next call.

        All classes are to be named in the first call. Batches are no larger than the rows of the first call.
        """
        if "_few_rows" not in self.__dict__:
            self._few_rows = max(1, X.shape[0] if hasattr(X, "shape") else len(X))
        try:
            super().partial_fit(X, y, classes, sample_weight)
        except BaseException:
            if "model_" not in self.__dict__:
                del self._few_rows
            raise
        return self

    def _fitted(self, native, context):
        self.__dict__.pop("_few_rows", None)
        before = (self.loss_curve_, self.t_) if self.warm_start and "loss_curve_" in self.__dict__ else ([], 0)
        summary = json.loads(native.summary(0))["training-summary"]
        self.loss_curve_ = before[0] + self.__dict__.pop("_losses")
        self.t_ = before[1] + summary["rows"] * native.n_epochs
        self.loss_ = self.loss_curve_[-1]
        validation = summary.get("validation") if self.early_stopping else None
        if validation is None:
            self.best_loss_, self.validation_scores_, self.best_validation_score_ = min(self.loss_curve_), None, None
        else:
            self.best_loss_ = None
            self.validation_scores_ = [1 - errors / validation["rows"] for errors in validation["errors"]]
            self.best_validation_score_ = max(self.validation_scores_)
        super()._fitted(native, context)

    def _take_over(self, native):
        super()._take_over(native)
        sizes, weights, biases = native.network()
        weights, biases = np.frombuffer(weights), np.frombuffer(biases)
        self.coefs_, self.intercepts_ = [], []
        for inputs, units in zip(sizes, sizes[1:]):
            self.coefs_.append(weights[: inputs * units].reshape(inputs, units).copy())
            self.intercepts_.append(biases[:units].copy())
            weights, biases = weights[inputs * units :], biases[units:]
        self.n_layers_, self.n_outputs_ = len(sizes), sizes[-1]
        self.out_activation_ = "logistic" if self.n_outputs_ == 1 else "softmax"
