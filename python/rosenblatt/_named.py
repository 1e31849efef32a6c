"""The named members of the family. Written by `generate.py` from the engine's catalogue: do not edit."""

from collections.abc import Callable, Mapping
from typing import Any

from ._estimators import PerceptronClassifier

__all__ = [
    "Perceptron",
    "AveragedPerceptron",
    "VotedPerceptron",
    "PocketPerceptron",
    "KernelPerceptron",
    "MarginPerceptron",
    "DynamicMarginPerceptron",
    "UnevenMarginPerceptron",
    "ALMA",
    "ROMMA",
    "AggressiveROMMA",
    "PassiveAggressive",
    "PassiveAggressive2",
    "AROW",
    "BatchPerceptron",
    "MinOver",
    "LogisticSGD",
    "HingeSGD",
    "Pegasos",
    "LinearSVM",
    "LogisticRegression",
    "SparseLogisticRegression",
]


class Perceptron(PerceptronClassifier):
    """On a mistake, adds the example to the weights, read out last.

    Update: `y f(x) <= 0:  w += rate y x`. Prefer it as the baseline, and averaged or voted as a fast strong
    default. Rosenblatt 1958; bound by Block 1962 and Novikoff 1962: mistakes <= (R/margin)^2.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'perceptron', 'readout': 'last'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest',
        zero: str = 'minus', mistake: str = 'le0', bias: str | None = None, order: str | None = None,
        max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "perceptron", rate=rate, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake, bias=bias,
            order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )


class AveragedPerceptron(PerceptronClassifier):
    """On a mistake, adds the example to the weights, read out averaged.

    Update: `y f(x) <= 0:  w += rate y x`. Prefer it as the baseline, and averaged or voted as a fast strong
    default. Rosenblatt 1958; bound by Block 1962 and Novikoff 1962: mistakes <= (R/margin)^2.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'perceptron', 'readout': 'averaged'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest',
        zero: str = 'minus', mistake: str = 'le0', bias: str | None = None, order: str | None = None,
        max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "perceptron", rate=rate, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake, bias=bias,
            order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )


class VotedPerceptron(PerceptronClassifier):
    """On a mistake, adds the example to the weights, read out voted.

    Update: `y f(x) <= 0:  w += rate y x`. Prefer it as the baseline, and averaged or voted as a fast strong
    default. Rosenblatt 1958; bound by Block 1962 and Novikoff 1962: mistakes <= (R/margin)^2.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'perceptron', 'readout': 'voted'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest',
        zero: str = 'minus', mistake: str = 'le0', bias: str | None = None, order: str | None = None,
        max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "perceptron", rate=rate, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake, bias=bias,
            order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )


class PocketPerceptron(PerceptronClassifier):
    """On a mistake, adds the example to the weights, read out pocket.

    Update: `y f(x) <= 0:  w += rate y x`. Prefer it as the baseline, and averaged or voted as a fast strong
    default. Rosenblatt 1958; bound by Block 1962 and Novikoff 1962: mistakes <= (R/margin)^2.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'perceptron', 'readout': 'pocket'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest',
        zero: str = 'minus', mistake: str = 'le0', bias: str | None = None, order: str | None = None,
        max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "perceptron", rate=rate, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake, bias=bias,
            order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )


class KernelPerceptron(PerceptronClassifier):
    """On a mistake, adds the example to the weights.

    Update: `y f(x) <= 0:  w += rate y x`. Prefer it as the baseline, and averaged or voted as a fast strong
    default. Rosenblatt 1958; bound by Block 1962 and Novikoff 1962: mistakes <= (R/margin)^2.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'perceptron'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = 'polynomial', kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "perceptron", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )


class MarginPerceptron(PerceptronClassifier):
    """Steps until every example clears a fixed margin.

    Update: `y f(x) <= margin:  w += rate y x`. Prefer it when the plain perceptron stops too close to the
    examples. Duda and Hart 1973; Krauth and Mezard 1987: updates <= (R^2 + 2 margin) / best^2.

    Parameters
    ----------
    margin : float, default=1.0
        how far above zero `y f(x)` must be; zero or positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'fixed-margin'}
    _rule_params = ('margin',)
    margin: float

    def __init__(
        self,
        *,
        margin: float = 1.0, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "fixed-margin", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.margin = margin


class DynamicMarginPerceptron(PerceptronClassifier):
    """Demands a margin that it estimates on the way.

    Update: `y f(x) <= (1 - epsilon) |w|^2 / k:  w += y x`. Prefer it for nearly the largest margin on
    separable data, without a solver. Panagiotakopoulos and Tsampouka 2011: final margin >= (1 - epsilon)
    best.

    Parameters
    ----------
    epsilon : float, default=0.5
        the share of the best margin that may be missed; above 0 and at most 1
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'dynamic-margin'}
    _rule_params = ('epsilon',)
    epsilon: float

    def __init__(
        self,
        *,
        epsilon: float = 0.5, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "dynamic-margin", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.epsilon = epsilon


class UnevenMarginPerceptron(PerceptronClassifier):
    """One margin for positive and another for negative examples.

    Update: `y f(x) <= margin of y's side:  w += rate y x`. Prefer it when one class is much rarer than the
    other. Li, Zaragoza, Herbrich, Shawe-Taylor and Kandola 2002.

    Parameters
    ----------
    plus : float, default=1.0
        margin of positive examples; zero or positive
    minus : float, default=0.1
        margin of negative examples; zero or positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'paum'}
    _rule_params = ('plus', 'minus')
    plus: float
    minus: float

    def __init__(
        self,
        *,
        plus: float = 1.0, minus: float = 0.1, rate: str | float | None = None, readout: str | None = None,
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
        super().__init__(
            "paum", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake,
            bias=bias, order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )
        self.plus = plus
        self.minus = minus


class ALMA(PerceptronClassifier):
    """Falling demand, falling step, weights kept in the unit ball.

    Update: `y w.x/|x| <= (1 - alpha) B/sqrt(k):  w += y x C/(|x| sqrt(k)), then |w| <= 1`. Prefer it for
    large margins on noisy data in few epochs. Gentile 2001 (p = 2): margin >= (1 - alpha) best after
    O(1/(alpha best)^2) steps.

    Parameters
    ----------
    alpha : float, default=0.9
        the share of the best margin that may be missed; above 0 and at most 1
    B : float, default=0.0
        the first demand; 0 stands for 1/alpha; zero or positive
    C : float, default=1.4142135623730951
        the first step; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'alma'}
    _rule_params = ('alpha', 'B', 'C')
    alpha: float
    B: float
    C: float

    def __init__(
        self,
        *,
        alpha: float = 0.9, B: float = 0.0, C: float = 1.4142135623730951, rate: str | float | None = None,
        readout: str | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest', zero: str = 'minus',
        mistake: str = 'le0', bias: str | None = None, order: str | None = None, max_iter: int = 20,
        max_updates: int | None = None, stop_when_clean: bool = True, early_stopping: bool = True,
        validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "alma", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake,
            bias=bias, order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )
        self.alpha = alpha
        self.B = B
        self.C = C


class ROMMA(PerceptronClassifier):
    """On a mistake, the shortest vector that keeps the old constraint and meets the new one.

    Update: `y f(x) <= 0:  w = c w + d x, shortest with w.w_old >= |w_old|^2 and y w.x >= 1`. Prefer it for a
    better margin than the perceptron's at its price. Li and Long 2002: mistakes <= (R/margin)^2.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'romma'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "romma", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )


class AggressiveROMMA(PerceptronClassifier):
    """ROMMA's step on every example whose margin is below 1.

    Update: `y f(x) < 1:  ROMMA's step`. Prefer it for the maximum margin on separable data, step by step. Li
    and Long 2002: mistakes <= (R/margin)^2; cycling converges to the maximum margin.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'aggressive-romma'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "aggressive-romma", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )


class PassiveAggressive(PerceptronClassifier):
    """The passive-aggressive step, capped at C.

    Update: `y f(x) < 1:  w += y x min(C, (1 - y f(x)) / |x|^2)`. Prefer it as a robust default on noisy data.
    Crammer et al. 2006: mistakes <= max(R^2, 1/C) / margin^2.

    Parameters
    ----------
    C : float, default=1.0
        aggressiveness: how much one example may change; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'pa1'}
    _rule_params = ('C',)
    C: float

    def __init__(
        self,
        *,
        C: float = 1.0, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "pa1", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake,
            bias=bias, order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )
        self.C = C


class PassiveAggressive2(PerceptronClassifier):
    """The passive-aggressive step, softened by C.

    Update: `y f(x) < 1:  w += y x (1 - y f(x)) / (|x|^2 + 1/(2C))`. Prefer it on noisy data, where PA-I is
    too abrupt. Crammer et al. 2006: mistakes <= (R^2 + 1/(2C)) / margin^2.

    Parameters
    ----------
    C : float, default=1.0
        aggressiveness: how much one example may change; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'pa2'}
    _rule_params = ('C',)
    C: float

    def __init__(
        self,
        *,
        C: float = 1.0, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "pa2", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake,
            bias=bias, order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )
        self.C = C


class AROW(PerceptronClassifier):
    """Steps along what is uncertain; features seen often move little.

    Update: `y f(x) < 1:  b = 1/(x'Sx + r), w += y (1 - y f(x)) b Sx, S -= b (Sx)(Sx)'`. Prefer it on text and
    other sparse data with rare but telling features. Crammer, Kulesza and Dredze 2009, diagonal.

    Parameters
    ----------
    r : float, default=1.0
        how slowly variances shrink; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'arow'}
    _rule_params = ('r',)
    r: float

    def __init__(
        self,
        *,
        r: float = 1.0, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "arow", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero, mistake=mistake,
            bias=bias, order=order, max_iter=max_iter, max_updates=max_updates, stop_when_clean=stop_when_clean,
            early_stopping=early_stopping, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, class_weight=class_weight, costs=costs, feature_map=feature_map,
            map_size=map_size, kernel=kernel, kernel_params=kernel_params, support_budget=support_budget,
            calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start, callback=callback,
            random_state=random_state,
        )
        self.r = r


class BatchPerceptron(PerceptronClassifier):
    """Adds up the mistakes of a batch and moves once.

    Update: `after each batch:  w += rate (sum or mean of y x over its mistakes)`. Prefer it to see gradient
    descent on the perceptron criterion. Duda and Hart 1973.

    Parameters
    ----------
    size : float, default=0.0
        rows in a batch; 0 for all; a whole number, 0 or more
    mean : float, default=0.0
        1 to divide a move by the number of mistakes, 0 to add them up; 0 or 1
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'batch'}
    _rule_params = ('size', 'mean')
    size: float
    mean: float

    def __init__(
        self,
        *,
        size: float = 0.0, mean: float = 0.0, rate: str | float | None = None, readout: str | None = None,
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
        super().__init__(
            "batch", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.size = size
        self.mean = mean


class MinOver(PerceptronClassifier):
    """Always steps on the example with the smallest margin.

    Update: `x the worst of all:  w += y x`. Prefer it to approach the maximum margin on small data. Krauth
    and Mezard 1987: |w|/k falls to the largest margin.

    Parameters
    ----------
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'minover'}
    _rule_params = ()

    def __init__(
        self,
        *,
        rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'direct-max', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "minover", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )


class LogisticSGD(PerceptronClassifier):
    """Logistic regression by stochastic gradient, for comparison.

    Update: `always:  w = (1 - rate l2) w + rate y x / (1 + exp(y f(x)))`. Prefer it when calibrated
    probabilities matter more than speed. Cox 1958; stochastic gradient after Robbins and Monro 1951.

    Parameters
    ----------
    l2 : float, default=0.0
        strength of the penalty on large weights; zero or positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'logistic'}
    _rule_params = ('l2',)
    l2: float

    def __init__(
        self,
        *,
        l2: float = 0.0, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "logistic", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.l2 = l2


class HingeSGD(PerceptronClassifier):
    """Linear SVM: stochastic gradient on the hinge loss with an L2 penalty.

    Update: `always:  w *= 1 - rate l2; y f(x) <= 1:  w += rate y x`. Prefer it for an SVM with a learning
    rate of your own. Zhang 2004; Bottou 2010.

    Parameters
    ----------
    l2 : float, default=0.0001
        strength of the penalty on large weights; zero or positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'hinge'}
    _rule_params = ('l2',)
    l2: float

    def __init__(
        self,
        *,
        l2: float = 0.0001, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "hinge", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.l2 = l2


class Pegasos(PerceptronClassifier):
    """Linear SVM by stochastic sub-gradient, for comparison.

    Update: `always:  w *= 1 - 1/t; y f(x) < 1:  w += y x / (lambda t)`. Prefer it for a soft-margin SVM on
    large data. Shalev-Shwartz, Singer, Srebro and Cotter 2011.

    Parameters
    ----------
    lam : float, default=0.0001
        strength of the penalty on large weights; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'pegasos'}
    _rule_params = ('lam',)
    lam: float

    def __init__(
        self,
        *,
        lam: float = 0.0001, rate: str | float | None = None, readout: str | None = None, ratchet: bool = True,
        multiclass: str = 'one-vs-rest', zero: str = 'minus', mistake: str = 'le0', bias: str | None = None,
        order: str | None = None, max_iter: int = 20, max_updates: int | None = None, stop_when_clean: bool = True,
        early_stopping: bool = True, validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "pegasos", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.lam = lam


class LinearSVM(PerceptronClassifier):
    """The linear support vector machine, solved to a tolerance by dual coordinate descent.

    Update: `b' = clip(b + (1 - y f(x)) / x.x, 0, C):  w += (b' - b) y x`. Prefer it when the best hyperplane
    matters more than the time to find it, and nothing is to be tuned but C. Hsieh, Chang, Lin, Keerthi and
    Sundararajan 2008.

    Parameters
    ----------
    C : float, default=1.0
        how much errors count beside small weights; positive
    squared : float, default=1.0
        1 for the squared hinge loss, 0 for the hinge loss; 0 or 1
    l1 : float, default=0.0
        strength of the penalty on absolute weights, which leaves only features that pay for it; zero or positive
    tol : float, default=0.001
        training ends after an epoch in which no visit changed a margin by more; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'svm-dual'}
    _rule_params = ('C', 'squared', 'l1', 'tol')
    C: float
    squared: float
    l1: float
    tol: float

    def __init__(
        self,
        *,
        C: float = 1.0, squared: float = 1.0, l1: float = 0.0, tol: float = 0.001, rate: str | float | None = None,
        readout: str | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest', zero: str = 'minus',
        mistake: str = 'le0', bias: str | None = None, order: str | None = None, max_iter: int = 10000,
        max_updates: int | None = None, stop_when_clean: bool = True, early_stopping: bool = False,
        validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "svm-dual", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.C = C
        self.squared = squared
        self.l1 = l1
        self.tol = tol


class LogisticRegression(PerceptronClassifier):
    """Logistic regression with a penalty, solved to a tolerance by dual coordinate descent.

    Update: `b' minimises the dual, 0 < b' < C:  w += (b' - b) y x`. Prefer it when probabilities matter, and
    nothing is to be tuned but C. Yu, Huang and Lin 2011.

    Parameters
    ----------
    C : float, default=1.0
        how much errors count beside small weights; positive
    l1 : float, default=0.0
        strength of the penalty on absolute weights, which leaves only features that pay for it; zero or positive
    tol : float, default=0.001
        training ends after an epoch in which no visit changed a margin by more; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'logistic-dual'}
    _rule_params = ('C', 'l1', 'tol')
    C: float
    l1: float
    tol: float

    def __init__(
        self,
        *,
        C: float = 1.0, l1: float = 0.0, tol: float = 0.001, rate: str | float | None = None,
        readout: str | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest', zero: str = 'minus',
        mistake: str = 'le0', bias: str | None = None, order: str | None = None, max_iter: int = 10000,
        max_updates: int | None = None, stop_when_clean: bool = True, early_stopping: bool = False,
        validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "logistic-dual", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.C = C
        self.l1 = l1
        self.tol = tol


class SparseLogisticRegression(PerceptronClassifier):
    """Logistic regression that leaves out features: most weights are exactly zero.

    Update: `b' minimises the dual:  v += (b' - b) y x, w = sign(v) max(|v| - l1, 0)`. Prefer it to find the
    few features among many that matter. Shalev-Shwartz and Zhang 2014; elastic net by Zou and Hastie 2005.

    Parameters
    ----------
    C : float, default=1.0
        how much errors count beside small weights; positive
    l1 : float, default=1.0
        strength of the penalty on absolute weights, which leaves only features that pay for it; zero or positive
    tol : float, default=0.001
        training ends after an epoch in which no visit changed a margin by more; positive
    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {'algorithm': 'logistic-l1'}
    _rule_params = ('C', 'l1', 'tol')
    C: float
    l1: float
    tol: float

    def __init__(
        self,
        *,
        C: float = 1.0, l1: float = 1.0, tol: float = 0.001, rate: str | float | None = None,
        readout: str | None = None, ratchet: bool = True, multiclass: str = 'one-vs-rest', zero: str = 'minus',
        mistake: str = 'le0', bias: str | None = None, order: str | None = None, max_iter: int = 10000,
        max_updates: int | None = None, stop_when_clean: bool = True, early_stopping: bool = False,
        validation_fraction: float = 0.1, n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[Any, float] | float | str | None = None, feature_map: str | None = None,
        map_size: int = 1024, kernel: str | None = None, kernel_params: Mapping[str, Any] | None = None,
        support_budget: int | None = None, calibrate: str | None = None, merge_rows: bool = False,
        warm_start: bool = False, callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            "logistic-l1", rate=rate, readout=readout, ratchet=ratchet, multiclass=multiclass, zero=zero,
            mistake=mistake, bias=bias, order=order, max_iter=max_iter, max_updates=max_updates,
            stop_when_clean=stop_when_clean, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, class_weight=class_weight,
            costs=costs, feature_map=feature_map, map_size=map_size, kernel=kernel, kernel_params=kernel_params,
            support_budget=support_budget, calibrate=calibrate, merge_rows=merge_rows, warm_start=warm_start,
            callback=callback, random_state=random_state,
        )
        self.C = C
        self.l1 = l1
        self.tol = tol
