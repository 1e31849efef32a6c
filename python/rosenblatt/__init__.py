"""The perceptron family: standard, averaged, voted, pocket, margin, kernel and more, on one engine.

Estimators keep scikit-learn's contract:

>>> import numpy as np
>>> from rosenblatt import AveragedPerceptron
>>> X = np.array([[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]])
>>> AveragedPerceptron().fit(X, ["apple", "apple", "banana", "banana"]).predict([[1.5, 0.2]]).tolist()
['apple']

`train` is what the command line does: from a file or a table to a model, an honest estimate and a story.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._rosenblatt import __version__
from ._client import Client, ServerError
from ._product import Model, Tagger, Trained, catalogue, compare, load, mix, plot, trace, train
from ._proof import Certificate, certify

if TYPE_CHECKING:
    from ._estimators import PerceptronClassifier as PerceptronClassifier
    from ._named import *
    from ._network import MLPClassifier as MLPClassifier
    from ._sequence import SequencePerceptron as SequencePerceptron


def _all_estimators() -> dict[str, Any]:
    # scikit-learn takes a second to import: those who only train from files need not wait for it.
    modules = [import_module(f"{__name__}.{name}") for name in ("_estimators", "_named", "_network", "_sequence")]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def __getattr__(name: str) -> Any:
    # Names of modules are asked for, too, while they are imported.
    if not name.startswith("_") and (found := _all_estimators().get(name)) is not None:
        return found
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_all_estimators()})


__all__ = [
    "Certificate", "Client", "Model", "ServerError", "Tagger", "Trained", "catalogue", "certify", "compare", "load", "mix", "plot", "trace", "train", "__version__",
]
