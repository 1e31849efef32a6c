"""Calls the package with arguments that make no sense, and expects an exception or an answer, never a crash.

    python -P fuzz.py [CALLS] [SEED]

Arrays of any type, shape, order and content, sparse matrices with broken indices, overlapping and read-only memory,
classes and weights that do not fit, options that make no sense, models whose bytes were changed, files that are none.
A crash of the process is the only failure; the end lists exceptions that a caller would not expect.
"""

import collections
import json
import random
import sys
import time
import warnings

import numpy as np

import rosenblatt
from rosenblatt import PerceptronClassifier, _rosenblatt

#: What a caller may expect of wrong input.
EXPECTED = (ValueError, TypeError, AttributeError, OSError, OverflowError, IndexError, KeyError, MemoryError)

DTYPES = ["f4", "f8", ">f8", "i4", "i8", "u1", "?", "c16", "O", "U3", "f2", "M8[s]"]


def numbers(rng, n):
    kind = rng.random()
    if kind < 0.75:
        return np.random.default_rng(rng.getrandbits(32)).normal(size=n)
    if kind < 0.85:
        return np.zeros(n)
    odd = [0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 2.0**53]
    return np.array([rng.choice(odd) for _ in range(n)])


def array(rng):
    rows, width = rng.choice([0, 1, 2, 3, 8, 8, 8, 17]), rng.choice([0, 1, 2, 2, 2, 5, 16])
    values = numbers(rng, rows * width).reshape(rows, width)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.random() < 0.2:
            values = values.astype(rng.choice(DTYPES))
    shape = rng.random()
    if shape < 0.1:
        values = np.asfortranarray(values)
    elif shape < 0.2:
        values = values[::-1, ::2]
    elif shape < 0.25:
        values = values.ravel()
    elif shape < 0.3:
        values = values[None]
    elif shape < 0.35 and values.size:
        # Every row is the same memory.
        values = np.lib.stride_tricks.as_strided(values, values.shape, (0, values.strides[1]))
    elif shape < 0.4:
        values.flags.writeable = False
    elif shape < 0.42:
        values = values.tolist()
    return values


def sparse(rng):
    import scipy.sparse

    rows, width, entries = rng.choice([0, 1, 3, 9]), rng.choice([0, 1, 4, 30]), rng.choice([0, 1, 5, 20])
    kind = rng.choice(["i4", "i8"])
    indices = np.array([rng.choice([0, 1, 2, 3, width - 1, width, -1, 2**31 - 1]) for _ in range(entries)], kind)
    cuts = sorted(rng.randint(0, entries) for _ in range(rows))
    indptr = np.array([0, *cuts], kind)
    if rng.random() < 0.7 and rows:
        indptr[-1] = entries
    if rng.random() < 0.2 and rows:
        indptr[rng.randrange(rows + 1)] = rng.choice([-1, entries + 1, 2**31 - 1])
    data = numbers(rng, entries).astype(rng.choice(["f4", "f8"]))
    if rng.random() < 0.5:
        return indptr, indices, data, rng.choice([width, width + 1, 0, 2**32, 2**40])
    # SciPy would refuse this, so its checks are bypassed.
    matrix = scipy.sparse.csr_matrix((max(rows, 1), max(width, 1)))
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    if rng.random() < 0.5:
        matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def classes(rng, n):
    kind = rng.random()
    if kind < 0.5:
        return np.array([rng.randrange(rng.choice([1, 2, 3])) for _ in range(n)])
    if kind < 0.7:
        return np.array([rng.choice(["a", "b", "é", ""]) for _ in range(n)])
    return rng.choice([None, [], [0] * (n + 1), np.zeros((n, 2)), numbers(rng, n), ["a", 1] * (n // 2), np.array(0)])


def estimator(rng):
    settings = {}
    words = {
        "algorithm": ["perceptron", "pa1", "arow", "romma", "svm-dual", "minover", "nothing", "", None, 3],
        "readout": ["last", "averaged", "voted", "pocket", "x", None],
        "multiclass": ["one-vs-rest", "one-vs-one", "direct-max", 7],
        "kernel": [None, None, None, "rbf", "polynomial", "precomputed", "x"],
        "max_iter": [1, 2, 5, 0, -1, 2.5, None],
        "max_updates": [None, 0, 3, -4],
        "calibrate": [None, None, None, "platt", "isotonic", "x"],
        "class_weight": [None, "balanced", {0: 2.0}, {0: -1.0}, {"a": np.nan}, "x"],
        "feature_map": [None, None, None, "fourier", "nystroem"],
        "map_size": [4, 0, -1],
        "order": [None, "given", "worst", [2, 1]],
        "rate": [None, 0.5, "1/k", "x", -1, float("nan")],
        "validation_fraction": [0.1, 2.0],
        "merge_rows": [False, True],
        "random_state": [0, None, -1, 2**70],
    }
    for name in rng.sample(sorted(words), rng.choice([0, 0, 1, 2, 4])):
        settings[name] = rng.choice(words[name])
    return PerceptronClassifier(**settings)


def thing(rng, depth=0):
    """Anything that may stand where an attribute, a token or a label should."""
    simple = ["a", "b", "", "é", "\ud800", "x\ty", "O", "B-NP", "I-NP", 1, 2.5, -1, True, None, 10**400, float("nan"), float("inf"),
              b"raw", np.float32(2), np.str_("n"), np.array([1.0, 2.0]), np.array("s"), object()]
    kind = rng.random()
    if depth > 3 or kind < 0.6:
        return rng.choice(simple)
    some = [thing(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind < 0.8:
        return {one if isinstance(one, (str, int)) else "k": thing(rng, depth + 1) for one in some}
    return rng.choice([some, tuple(some), iter(some), {one for one in some if isinstance(one, (str, int))}])


def tokens(rng):
    """Sentences, mostly as they should be."""
    kinds = [lambda: {"w": rng.choice("abc"), "n": rng.random()}, lambda: [rng.choice("abc")], lambda: rng.choice("abc")]
    kind = rng.choice(kinds)
    return [[thing(rng) if rng.random() < 0.02 else kind() for _ in range(rng.randrange(5))] for _ in range(rng.randrange(5))]


def tagger(rng):
    words = {
        "algorithm": ["ap", "pa", "arow", "lbfgs", "svm-dual", "x", None],
        "max_iterations": [1, 2, 0, -1, 2.5],
        "features": ["auto", "tagging", "ner", "letters", "x", None],
        "template": [None, "U0:%x[0,0]", "U0:%x[0,9]", "x", ""],
        "history": [1, 2, 3],
        "beam": [None, 1, 4, 0],
        "constraints": ["auto", "none", "bio", "x"],
        "min_freq": [1, 2, -1],
        "label_cost": [0.0, 1.0, -1.0, float("nan")],
        "c": [None, 1.0, -1.0],
        "random_state": [0, None, -1],
    }
    chosen = rng.sample(sorted(words), rng.choice([0, 0, 1, 2, 4]))
    return rosenblatt.SequencePerceptron(**{"max_iterations": 2, **{name: rng.choice(words[name]) for name in chosen}})


OPTIONS = json.dumps({"algorithm": "perceptron", "epochs": 2})


class Calls:
    """One call each, of a kind that `kinds` lists."""

    def __init__(self, rng):
        self.rng = rng
        X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.2]])
        self.fitted = rosenblatt.AveragedPerceptron(max_iter=2).fit(X, np.array([0, 1, 1, 0]))
        self.bytes = self.fitted.model_.to_bytes()
        self.online = rosenblatt.AveragedPerceptron()
        self.tagger = rosenblatt.SequencePerceptron().fit([[{"w": "a"}, {"w": "b"}]], [["A", "B"]])
        self.kinds = [self.fit, self.fit, self.tag, self.tag, self.native, self.native, self.predict, self.partial, self.spoiled, self.table,
                      self.certificate, self.read]

    def fit(self):
        X = array(self.rng) if self.rng.random() < 0.7 else sparse(self.rng)
        y = classes(self.rng, len(X) if hasattr(X, "__len__") else 3)
        weight = self.rng.choice([None, None, None, 1.0, numbers(self.rng, 3), [-1.0] * 3])
        estimator(self.rng).fit(X, y, sample_weight=weight).predict(X)

    def tag(self):
        rng = self.rng
        X = thing(rng) if rng.random() < 0.1 else tokens(rng)
        y = [[rng.choice(["A", "B", "O", "B-NP", "I-NP"]) for _ in line] for line in X] if isinstance(X, list) else thing(rng)
        if rng.random() < 0.2:
            y = rng.choice([y[1:], [*y, ["A"]], [["A"]], thing(rng), None]) if isinstance(y, list) else y
        kind = rng.random()
        if kind < 0.5:
            self.tagger = tagger(rng).fit(X, y)
        elif kind < 0.6:
            rng.choice([self.tagger.score, self.tagger.evaluate])(X, y)
        elif kind < 0.9:
            rng.choice([self.tagger.predict, self.tagger.explain, self.tagger.predict_single])(X)
        else:
            bad = bytearray(self.tagger.model_.to_bytes())
            bad[rng.randrange(len(bad))] = rng.randrange(256)
            rosenblatt.Tagger.from_bytes(bytes(bad)).predict(X)

    def native(self):
        rng = self.rng
        X = sparse(rng) if rng.random() < 0.5 else array(rng)
        codes = np.array([rng.choice([0, 1, 2, 2**32 - 1]) for _ in range(rng.choice([0, 1, 3, 8, 9]))], "u4")
        names = rng.choice([["a", "b"], ["a"], [], ["a", "a"], ["a", "b", "c"]])
        start = rng.choice([None, None, ([1.0], [0.0]), ([], []), ([1.0] * 5, [0.0, 1.0])])
        _rosenblatt.fit(OPTIONS, X, codes, names, None, None, rng.random() < 0.2, start)

    def predict(self):
        X = array(self.rng) if self.rng.random() < 0.7 else sparse(self.rng)
        self.rng.choice([self.fitted.predict, self.fitted.decision_function, self.fitted.model_._native.predict])(X)

    def partial(self):
        if self.rng.random() < 0.05:
            self.online = estimator(self.rng)
        X = array(self.rng)
        self.online.partial_fit(X, classes(self.rng, len(X)), classes=self.rng.choice([None, [0, 1], ["a", "b"], [3]]))

    def spoiled(self):
        bad = bytearray(self.bytes)
        for _ in range(self.rng.randrange(1, 4)):
            bad[self.rng.randrange(len(bad))] = self.rng.randrange(256)
        rosenblatt.Model.from_bytes(bytes(bad[: self.rng.choice([len(bad), self.rng.randrange(len(bad))])]))

    def table(self):
        cells = ["1", "2.5", "a", "b", "", "NaN", "-", "1e999", '"', "x y", "\x00"]
        lines = [",".join(self.rng.choice(cells) for _ in range(self.rng.choice([1, 3, 3, 3]))) for _ in range(self.rng.randrange(9))]
        rosenblatt.trace(("u,v,label\n" + "\n".join(lines)).encode(), last=3)

    def certificate(self):
        X = array(self.rng)
        rosenblatt.certify(X, classes(self.rng, len(X)), seconds=self.rng.choice([0.01, 0.0, -1.0, float("nan")]))

    def read(self):
        given = self.rng.choice([b"", b"\xff\xfe", 3, None, [], [1], "no such file", array(self.rng), {}, b"PAR1", b"ARROW1\x00\x00"])
        self.fitted.model_.predict(given)


def run(n_calls, seed):
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    calls, outcomes, odd = Calls(rng), collections.Counter(), {}
    for _ in range(n_calls):
        call = rng.choice(calls.kinds)
        try:
            call()
            outcomes["answered"] += 1
        except EXPECTED as error:
            outcomes[type(error).__name__] += 1
        except Exception as error:  # noqa: BLE001
            odd.setdefault(f"{call.__name__}: {type(error).__name__}: {error}", rng.getstate())
            outcomes["odd"] += 1
    return outcomes, odd


if __name__ == "__main__":
    n_calls, seed = map(int, [*sys.argv[1:], "10000", "0"][:2] if len(sys.argv) != 2 else [sys.argv[1], "0"])
    start = time.time()
    outcomes, odd = run(n_calls, seed)
    print(f"{n_calls} calls in {time.time() - start:.0f} s:", ", ".join(f"{count} {what}" for what, count in outcomes.most_common()))
    for what in odd:
        print("odd:", what)
    sys.exit(1 if odd else 0)
