"""The perceptron family: standard, averaged, voted, pocket, margin, kernel and more, on one engine.

Estimators keep scikit-learn's contract:

>>> import numpy as np
>>> from rosenblatt import AveragedPerceptron
>>> X = np.array([[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]])
>>> AveragedPerceptron().fit(X, ["apple", "apple", "banana", "banana"]).predict([[1.5, 0.2]]).tolist()
['apple']

`train` does what the command line does: from a file or a table to a model with an estimate of its error.
"""

from importlib import import_module

# As `typing` has it, which takes longer to import than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._auto import AutoClassifier as AutoClassifier
    from ._client import Client, ServerError
    from ._estimators import PerceptronClassifier as PerceptronClassifier
    from ._estimators import expected_failed_checks as expected_failed_checks
    from ._named import *
    from ._network import MLPClassifier as MLPClassifier
    from ._product import Model, Tagger, Trained, catalogue, compare, load, mix, plot, trace, train
    from ._proof import Certificate, certify
    from ._regression import Regressor as Regressor
    from ._rosenblatt import __version__
    from ._sequence import SequencePerceptron as SequencePerceptron

#: What is no estimator, and where it is.
_PLACES = {
    **dict.fromkeys(("Model", "Tagger", "Trained", "catalogue", "compare", "load", "mix", "plot", "trace", "train"), "_product"),
    "Certificate": "_proof", "certify": "_proof", "Client": "_client", "ServerError": "_client", "__version__": "_rosenblatt",
}


# Everything is imported when it is first asked for: numpy takes a tenth of a second, scikit-learn a whole one.
def _part(name: str) -> "Any":
    return import_module(f"{__name__}.{name}")


def _all_estimators() -> "dict[str, Any]":
    modules = [_part(name) for name in ("_estimators", "_named", "_auto", "_network", "_regression", "_sequence")]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def __getattr__(name: str) -> "Any":
    if name in _PLACES:
        found = {name: getattr(_part(_PLACES[name]), name)}
    elif name == "__all__":
        found = {name: sorted({*_PLACES, *_all_estimators()})}
    elif name.startswith("_"):
        # Names of modules are asked for, too, while they are imported.
        found = {}
    else:
        found = _all_estimators()
    globals().update(found)
    if name not in found:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
    return found[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_all_estimators()})
