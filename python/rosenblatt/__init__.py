"""The perceptron family: standard, averaged, voted, pocket, margin, kernel and more, on one engine.

Estimators keep scikit-learn's contract:

>>> import numpy as np
>>> from rosenblatt import AveragedPerceptron
>>> X = np.array([[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]])
>>> AveragedPerceptron().fit(X, ["apple", "apple", "banana", "banana"]).predict([[1.5, 0.2]]).tolist()
['apple']

`train` is what the command line does: from a file or a table to a model, an honest estimate and a story.
"""

from ._rosenblatt import __version__
from ._product import Model, Trained, catalogue, compare, load, plot, trace, train

_NAMED = {
    "AROW",
    "ALMA",
    "AggressiveROMMA",
    "AveragedPerceptron",
    "BatchPerceptron",
    "KernelPerceptron",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronClassifier",
    "PocketPerceptron",
    "VotedPerceptron",
}


def __getattr__(name):
    # scikit-learn takes a second to import: those who only train from files need not wait for it.
    from . import _estimators, _named

    for module in (_estimators, _named):
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__():
    from . import _estimators, _named

    return sorted({*globals(), *_estimators.__all__, *_named.__all__})


__all__ = ["Model", "Trained", "catalogue", "compare", "load", "plot", "trace", "train", "__version__"]
