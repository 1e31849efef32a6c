"""The settings of learning as estimators take them. Written by `generate.py` from the engine's catalogue: do not edit."""

from collections.abc import Callable, Mapping
from typing import Any

#: Where the engine keeps each: the group, and its name there.
SETTINGS = {
    "algorithm": ("learning", "algorithm"),
    "params": ("learning", "params"),
    "rate": ("learning", "rate"),
    "readout": ("learning", "readout"),
    "ratchet": ("learning", "ratchet"),
    "multiclass": ("learning", "multiclass"),
    "zero": ("learning", "zero"),
    "mistake": ("learning", "mistake"),
    "bias": ("learning", "bias"),
    "order": ("learning", "order"),
    "max_iter": ("learning", "epochs"),
    "max_updates": ("learning", "max-updates"),
    "stop_when_clean": ("learning", "stop-when-clean"),
    "validation_fraction": ("validation", "fraction"),
    "n_iter_no_change": ("validation", "patience"),
    "class_weight": ("learning", "class-weights"),
    "costs": ("learning", "costs"),
    "feature_map": ("map", "name"),
    "map_size": ("map", "size"),
    "kernel": ("kernel", "name"),
    "kernel_params": ("kernel", "params"),
    "support_budget": ("kernel", "budget"),
    "random_state": ("learning", "seed"),
}


class Settings:
    """
    Parameters
    ----------
    algorithm : str, default='perceptron'
        Update rule, or `auto`: a race of several. The table of algorithms lists all, each with its formula, its
        source and its parameters.
    params : Mapping[str, float], default=None
        Parameters of the update rule, by name. Parameters that are left out have their defaults.
    rate : str | float, default=None
        Learning rate: a number, or a schedule such as 0.5/k, 1/sqrt(k) or 1/k^0.25; the rule's own if None.
    readout : str, default=None
        Which weights the model keeps: the last ones, their average, all of them to vote, or the best; averaged; last
        for rules that settle on one if None.
    ratchet : bool, default=True
        Whether the pocket counts errors on all training rows before it replaces its weights. Without that, the
        weights with the longest run of correct predictions win (readout pocket).
    multiclass : str, default='one-vs-rest'
        How more than two classes are separated. A race also tries one-vs-one.
    zero : str, default='minus'
        What a score of zero predicts.
    mistake : str, default='le0'
        What counts as a mistake: a margin of at most 0 (le0), below 0 (lt0), or a wrong prediction (pred).
    bias : str, default=None
        How the bias is learned; the rule's own way if None.
    order : str, default=None
        Order in which rows are visited; shuffle-epoch, or the rule's own if None.
    max_iter : int, default=20
        Maximum number of epochs. Each visits every training row. Candidates of a race have numbers of their own.
    max_updates : int, default=None
        Maximum number of updates; no limit if None.
    stop_when_clean : bool, default=True
        Whether training stops when nothing is left to learn. That is after an epoch without a mistake or an update,
        when the rule has converged, or when the weights of an earlier epoch return under an order that repeats.
    early_stopping : bool, default=True
        Keep a validation set apart where there are 1,000 rows or more, stop after `n_iter_no_change` epochs without
        progress on it, and keep the hypothesis that did best there.
    validation_fraction : float, default=0.1
        Share of the training rows in the validation set, the same of every class.
    n_iter_no_change : int, default=5
        Number of epochs without progress on the validation set after which training stops.
    class_weight : Mapping[Any, float] | str, default=None
        Weight of each class: even, balanced (rare classes weigh more), or a number by class; 1 for every class if
        None.
    costs : Mapping[Any, float] | float | str, default=None
        Cost of mistakes, by which a model with probabilities names the class of least expected cost. Even, balanced
        (inversely proportional to class frequency), a threshold for the positive class, or a number by class or by
        TRUE:NAMED: with yes=5, missing a row of class yes costs 5; 1 for every mistake if None.
    feature_map : str, default=None
        Feature map that stands in for a kernel, at the speed of a hyperplane; no map if None.
    map_size : int, default=1024
        Maximum number of features that the map makes.
    kernel : str, default=None
        Kernel to learn with; no kernel if None.
    kernel_params : Mapping[str, Any], default=None
        Parameters of the kernel, by name: numbers, or scale and auto for a factor that follows from the rows.
    support_budget : int, default=None
        Maximum number of support vectors; no limit if None.
    calibrate : str, default=None
        Fit probabilities, by "platt" or "isotonic", on folds that were not learned from.
    merge_rows : bool, default=False
        Learn from equal rows of a class as one with the sum of their weights, in an order that does not depend on
        theirs: a row of weight 2 is then exactly two rows.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    callback : Callable[[dict[str, int]], object], default=None
        Called after each epoch with a dictionary of its number, rounds, mistakes, updates and errors; what returns
        true ends the fit. scikit-learn's callbacks are taken by `set_callbacks`.
    random_state : Any, default=0
        Seed of every random choice.
    """

    def __init__(
        self,
        algorithm: str = 'perceptron',
        *,
        params: Mapping[str, float] | None = None, rate: str | float | None = None, readout: str | None = None,
        ratchet: bool = True, multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0',
        bias: str | None = None, order: str | None = None, max_iter: int = 20, max_updates: int | None = None,
        stop_when_clean: bool = True, early_stopping: bool = True, validation_fraction: float = 0.1,
        n_iter_no_change: int = 5, class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        self.algorithm = algorithm
        self.params = params
        self.rate = rate
        self.readout = readout
        self.ratchet = ratchet
        self.multiclass = multiclass
        self.zero = zero
        self.mistake = mistake
        self.bias = bias
        self.order = order
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.stop_when_clean = stop_when_clean
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.costs = costs
        self.feature_map = feature_map
        self.map_size = map_size
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.support_budget = support_budget
        self.calibrate = calibrate
        self.merge_rows = merge_rows
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
