"""What the loops beside it share: made-up rows of one place, and what is done where they lie.

Features are parts of 64, so that sums and means of four places are exact: adding in another order gives the same bits.
"""

import json

import numpy as np
from rosenblatt import Model, _rosenblatt

OPTIONS = json.dumps({"algorithm": "perceptron", "epochs": 5, "order": "given", "readout": "last", "validation": None})
NAMES = ["down", "up"]
N_PLACES, N_ROWS, N_FEATURES = 4, 600, 6


def rows(place):
    """Features and classes by number, one row in ten of the wrong class."""
    random = np.random.default_rng(place)
    X = random.integers(-64, 65, (N_ROWS, N_FEATURES)) / 64
    y = (X[:, 0] - X[:, 1] > 0) ^ (random.random(N_ROWS) < 0.1)
    return X, y.astype(np.uint32)


def pack(place):
    """The rows of a place as packs, made where they are, and how many there are of each class."""
    packs, _, counts, _, _ = _rosenblatt.pack_rows(OPTIONS, *rows(place), NAMES, None, place, N_PLACES)
    return packs, counts


def epoch(start, place, packed):
    """What the rows of a place make of the weights that all start from."""
    return _rosenblatt.shard_epoch(start, place, iter(packed[0]))


def mixed(counts, each):
    """The model; `each` makes every place run an epoch from the given start."""
    mixture = _rosenblatt.Mixture(OPTIONS, NAMES, np.sum(counts, axis=0).tolist(), N_FEATURES, N_PLACES)
    while not mixture.is_over:
        number, rounds, mistakes, *_ = mixture.take(each(mixture.start()))
        print(f"epoch {number}: {mistakes} mistakes in {rounds} rows", flush=True)
    return Model(mixture.model())
