"""The structured perceptron, with the interface of `sklearn_crfsuite.CRF`."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from . import _checks, _inputs, _rosenblatt
from ._base import BaseEstimator, NotFittedError
from ._checks import plain
from ._estimators import seed_of
from ._product import Model, Tagger, _attributes, _tagging

__all__ = ["SequencePerceptron"]

#: What CRFsuite calls rules that are here, too.
_RULES = {"ap": "perceptron", "pa": "pa1"}
#: Settings, and what the engine calls them.
_SETTINGS = {
    "algorithm": "algorithm", "params": "params", "max_iterations": "epochs", "history": "history", "beam": "beam",
    "violation": "violation", "constraints": "constraints", "min_freq": "min-count", "hash_bits": "hash-bits", "shards": "shards",
}
#: What it trains that is no perceptron.
_FIELDS = ("lbfgs", "l2sgd")


class SequencePerceptron(BaseEstimator):
    """Labels the tokens of sentences together: parts of speech, phrases, names.

    `X` is a list of sentences, each a list of tokens; `y` a list of lists of labels. A token is what `sklearn_crfsuite.CRF`
    takes, a dict of attributes (`{"word": "dog", "length": 3.0, "is_title": False, "next": {"word": "runs"}}`) or a list of
    them, and means the same: text makes the attribute `word:dog`, numbers and truth values count as much as they are,
    and what is nested has its names joined by colons. A token that is a word gets the attributes of a ready-made set
    instead. `X` may also be the name of a file of sentences.

    This is not a conditional random field, so there are no marginal probabilities. `explain` shows the lead of each label: how
    much the score falls if the token has another one. With `holdout`, held-out sentences turn leads into probabilities.

    Parameters
    ----------
    algorithm : str, default="perceptron"
        The update rule: "perceptron" (also "ap"), "pa1" (also "pa"), "arow" and all others that step along single rows.
    params : dict, default=None
        Parameters of the rule, by name.
    max_iterations : int, default=15
        The most epochs.
    averaging : bool, default=True
        Keep the mean of all hypotheses, not the last one.
    voted : bool, default=False
        Keep all hypotheses and let them vote, in place of their mean; for small data, as there may be 5000 of them.
    features : str, default="auto"
        Of words, the ready-made set that makes their attributes ("tagging", "chunking", "ner"), or a file of templates.
        Attributes are taken as they are ("letters"). "auto" takes what suits.
    template : str, default=None
        Templates of CRF++ as text, in place of `features`; tokens are then lists of cells, or words.
    history : int, default=1
        How many labels before it a label depends on: 1 or 2.
    beam : int, default=None
        How many labels a search keeps at each token; all, for an exact search, if None.
    violation : "max-violation", "early" or "complete"
        What becomes of true labels that a beam has lost.
    label_cost : float, default=0.0
        By how much true labels should lead for every wrong label of a rival beyond the first.
    constraints : str, default="auto"
        Which labels may follow which: "bio", "bioes", "bilou", "iob1", "none", or "auto" for the scheme that `y` keeps to.
    min_freq : int, default=1
        Attributes that turn up less often are left out.
    hash_bits : int, default=None
        Attributes are hashed into a table of two to the power of this, and their names forgotten.
    shards : int, default=1
        Split the sentences into this many shards that learn in parallel, and average their weights after every epoch.
    holdout : float, default=0.0
        A second tagger does not see this share of the sentences and is judged on them: `estimate_`, and probabilities. The
        one that is kept learns from all.
    c : float, default=None
        The aggressiveness of "pa1" and "pa2", which `params={"C": c}` says as well.
    all_possible_states, all_possible_transitions : True or None
        Every attribute may have a weight for every label, and every pair of labels one, as CRFsuite has it if these are true.
    verbose : bool, default=False
        Print a line after each epoch.
    callback : callable, default=None
        Called after each epoch with a dictionary of its number, rounds, mistakes, updates and errors; what returns
        true ends the fit.
    random_state : int, RandomState or None, default=0
        Decides the order in which sentences are met.

    Attributes
    ----------
    classes_ : list of str
    n_iter_ : int
        Epochs of the last fit.
    estimate_ : dict or None
        What was right of the sentences that were held out.
    model_ : rosenblatt.Tagger
        The tagger, which can be saved, explained and written with.
    state_features_, transition_features_ : dict
        The weight of each attribute and label, and of each label and the next, as `sklearn_crfsuite` has them; a vote has
        none.

    >>> X = [[{"w": "the"}, {"w": "dog"}, {"w": "runs"}], [{"w": "a"}, {"w": "cat"}, {"w": "sleeps"}]]
    >>> y = [["DT", "NN", "VB"], ["DT", "NN", "VB"]]
    >>> tagger = SequencePerceptron(algorithm="ap", max_iterations=5).fit(X, y)
    >>> tagger.predict([[{"w": "the"}, {"w": "cat"}, {"w": "runs"}]])
    [['DT', 'NN', 'VB']]
    """

    classes_: list[str]
    n_iter_: int
    estimate_: dict[str, Any] | None
    model_: Tagger

    def __init__(
        self,
        algorithm: str = "perceptron",
        *,
        params: Mapping[str, float] | None = None,
        max_iterations: int | None = None,
        averaging: bool = True,
        voted: bool = False,
        features: str | os.PathLike[str] = "auto",
        template: str | None = None,
        history: int = 1,
        beam: int | None = None,
        violation: str = "max-violation",
        label_cost: float = 0.0,
        constraints: str = "auto",
        min_freq: int = 1,
        hash_bits: int | None = None,
        shards: int = 1,
        holdout: float = 0.0,
        c: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        verbose: bool = False,
        callback: Callable[[dict[str, int]], object] | None = None,
        random_state: Any = 0,
    ) -> None:
        self.algorithm = algorithm
        self.params = params
        self.max_iterations = max_iterations
        self.averaging = averaging
        self.voted = voted
        self.features = features
        self.template = template
        self.history = history
        self.beam = beam
        self.violation = violation
        self.label_cost = label_cost
        self.constraints = constraints
        self.min_freq = min_freq
        self.hash_bits = hash_bits
        self.shards = shards
        self.holdout = holdout
        self.c = c
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def _options(self, label=None):
        """The engine's description of what is learned."""
        if self.algorithm in _FIELDS:
            raise ValueError(
                f"algorithm={self.algorithm!r} trains a conditional random field, and this is a perceptron; "
                'algorithm="ap", "pa" or "arow" learn from the same attributes'
            )
        self._check()
        for name in ("all_possible_states", "all_possible_transitions"):
            if getattr(self, name) not in (None, True):
                raise ValueError(f"{name} should be True or None, but is {getattr(self, name)!r}: no weight is left out here")
        params = dict(self.params or {})
        if self.c is not None:
            params["C"] = float(self.c)
        asked = {
            "algorithm": _RULES.get(self.algorithm, self.algorithm),
            "params": params,
            "epochs": self.max_iterations,
            "averaged": bool(self.averaging),
            "voted": bool(self.voted),
            "seed": seed_of(self.random_state),
            "template": self.template,
            "history": self.history,
            "beam": self.beam,
            "violation": self.violation,
            "cost": self.label_cost,
            "constraints": self.constraints,
            "min-count": self.min_freq,
            "hash-bits": self.hash_bits,
            "shards": self.shards,
            "label": label,
            **({} if self.template is not None else _attributes(self.features)),
        }
        return {name: plain(value) for name, value in asked.items() if value is not None}

    def _check(self):
        """Refuses parameters that are none, before a sentence is looked at."""
        owner = type(self).__name__
        given = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}
        if isinstance(self.algorithm, str) and self.algorithm in _RULES:
            del given["algorithm"]
        _checks.check(owner, [(name, "tagging", _SETTINGS[name], value) for name, value in given.items()])
        for name in ("averaging", "voted", "verbose"):
            if not isinstance(getattr(self, name), (bool, np.bool_, int)):
                _checks.refuse(owner, name, "True or False", getattr(self, name))
        if not _checks.is_number(self.label_cost) or self.label_cost < 0:
            _checks.refuse(owner, "label_cost", "a number, 0 or more", self.label_cost)
        if not _checks.is_number(self.holdout) or not 0 <= self.holdout < 1:
            _checks.refuse(owner, "holdout", "a number from 0 to less than 1", self.holdout)
        if self.c is not None and (not _checks.is_number(self.c) or self.c <= 0):
            _checks.refuse(owner, "c", "a positive number or None", self.c)
        if self.template is not None and not isinstance(self.template, str):
            _checks.refuse(owner, "template", "templates as text, or None", self.template)
        if self.template is not None and self.features != "auto":
            raise ValueError("template and features both say what the attributes of a token are: leave one of them out")
        if self.callback is not None and not callable(self.callback):
            _checks.refuse(owner, "callback", "something that can be called, or None", self.callback)
        _checks.check_seed(owner, self.random_state)

    def _tokens(self):
        """What tokens are taken for; nothing where they say it themselves."""
        if self.features == "auto" and self.template is None:
            return None
        return "attributes" if self.features == "letters" and self.template is None else "cells"

    def _on_epoch(self):
        if self.callback is None and not self.verbose:
            return None

        def each(*counts):
            summary = dict(zip(("epoch", "rounds", "mistakes", "updates", "errors"), counts))
            if self.verbose:
                print(f"epoch {summary['epoch']}: a mistake in {summary['mistakes']} of {summary['rounds']} sentences", flush=True)
            return False if self.callback is None else self.callback(summary)

        return each

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns from sentences and the labels of their tokens; returns itself.

        `X` may be the name of a file of sentences, or of several, and `y` the name or the number of its label's column.
        """
        if _inputs.is_file(X):
            if y is not None and not isinstance(y, (str, int)):
                raise ValueError("beside the name of a file, y should be the name or the number of its label's column")
            given, name = _inputs.source(X)
            recipe = _tagging(self._options(None if y is None else str(y)), self.holdout)
            native, _ = _rosenblatt.train(recipe, given, name, None, self._on_epoch())
        else:
            if y is None:
                raise ValueError("y should be a list of lists of labels; only files bring their own")
            native = _rosenblatt.fit_tagger(_tagging(self._options(), self.holdout), X, y, self._tokens(), self._on_epoch())
        self._take_over(Model(native))
        return self

    def _take_over(self, tagger):
        self.model_ = tagger
        self.classes_ = tagger.classes
        self.n_iter_ = max(1, tagger._native.n_epochs)
        self.estimate_ = tagger.summary(0)["estimate"]

    def _fitted(self):
        if "model_" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        return self.model_

    def predict(self, X: Any) -> list[list[str]]:
        """The label of each token of each sentence."""
        return self._fitted().predict(X)

    def predict_single(self, xseq: Any) -> list[str]:
        """The label of each token of one sentence."""
        return self._fitted().predict([xseq])[0]

    def score(self, X: Any, y: Any = None) -> float:
        """The accuracy: the share of tokens that are labelled correctly."""
        return self.evaluate(X, y)["accuracy"]

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Accuracy of tokens and sentences, and precision, recall and F1 of spans as conlleval counts them."""
        if y is None and not _inputs.is_file(X):
            raise ValueError("y should be a list of lists of labels; only files bring their own")
        return self._fitted().evaluate(X, y)

    def explain(self, X: Any, most: int = 5) -> list[list[dict[str, Any]]]:
        """For each token its label, its lead, what the labels before it add, and the attributes that add most."""
        return self._fitted().explain(X, most)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each attribute for each label; those that are zero are left out."""
        return {(attribute, label): weight for attribute, label, weight in self._fitted()._native.weights()[0]}

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each label after each other one; those that are zero are left out."""
        return {(before, label): weight for before, label, weight in self._fitted()._native.weights()[1]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tagger to a file, which the command line reads as well."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The tagger in a file, with the parameters that it was trained with."""
        tagger = Model(_rosenblatt.Model.load(path))
        if not isinstance(tagger, Tagger):
            raise ValueError(f"{path} is a model of rows, and this estimator labels the tokens of sentences; `load` reads it")
        options = tagger.summary(0)["options"]
        named = {"averaged": "averaging", "epochs": "max_iterations", "seed": "random_state", "cost": "label_cost",
                 "min-count": "min_freq"}
        known = {named.get(name, name.replace("-", "_")): value for name, value in options.items() if name != "label"}
        model = cls(**known)
        model._take_over(tagger)
        return model
