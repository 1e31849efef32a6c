"""scikit-learn's contract, and what estimators must agree on."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

import rosenblatt
from rosenblatt import PerceptronClassifier, _named
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

# scikit-learn excuses its own Perceptron and SGDClassifier from the first two.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data": "a weight scales a step; it does not repeat a visit",
    "check_sample_weight_equivalence_on_sparse_data": "a weight scales a step; it does not repeat a visit",
}


# Where the rule itself contradicts a check.
NO_WEIGHTS = "a constraint decides how far it steps, so it takes no weights and says so"
OWN_SCALE = "it scales its steps itself, or counts rows: a weight of 1000 does not drown the other class"
BY_CLASS = {
    "ROMMA": {"check_sample_weights_list": NO_WEIGHTS, "check_class_weight_classifiers": NO_WEIGHTS},
    "AggressiveROMMA": {"check_sample_weights_list": NO_WEIGHTS, "check_class_weight_classifiers": NO_WEIGHTS},
    "DynamicMarginPerceptron": {"check_class_weight_classifiers": OWN_SCALE},
    "ALMA": {"check_class_weight_classifiers": OWN_SCALE},
    "PassiveAggressive2": {"check_class_weight_classifiers": OWN_SCALE},
    "LogisticSGD": {"check_class_weight_classifiers": OWN_SCALE},
    "PocketPerceptron": {"check_class_weight_classifiers": OWN_SCALE},
    "MinOver": {
        "check_class_weight_classifiers": OWN_SCALE,
        "check_classifiers_train": "it looks for the largest margin, which blobs that overlap do not have",
    },
}


def excused(estimator):
    own = BY_CLASS.get(type(estimator).__name__, {})
    if getattr(estimator, "readout", None) == "pocket" or getattr(estimator, "kernel", None) is not None:
        own = {"check_class_weight_classifiers": OWN_SCALE, **own}
    return {**EXCUSED, **own}


EVERY = [getattr(_named, name)() for name in _named.__all__]
EVERY += [PerceptronClassifier(readout=readout) for readout in ("last", "averaged", "voted", "pocket", "averaged-pre")]
EVERY += [PerceptronClassifier(multiclass=scheme) for scheme in ("one-vs-one", "direct-max", "direct-uniform")]
EVERY += [PerceptronClassifier(kernel=kernel) for kernel in ("polynomial", "rbf")]
EVERY += [PerceptronClassifier(feature_map="fourier", map_size=64), PerceptronClassifier(calibrate="platt")]


@parametrize_with_checks(EVERY, expected_failed_checks=excused)
def test_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), y


def test_weights_equal_scikit_learns(cancer):
    from sklearn.linear_model import Perceptron

    X, y = cancer
    theirs = Perceptron(shuffle=False, tol=None, max_iter=7).fit(X, y)
    ours = rosenblatt.Perceptron(order="given", max_iter=7, early_stopping=False, stop_when_clean=False).fit(X, y)
    assert np.array_equal(theirs.coef_, ours.coef_)
    assert np.array_equal(theirs.intercept_, ours.intercept_)


def test_the_same_rows_give_the_same_bytes_however_they_are_stored():
    import pandas
    import polars
    import scipy.sparse

    rng = np.random.default_rng(5)
    X = (rng.integers(-40, 40, size=(300, 6)) / 8).astype(np.float64)
    X[rng.random(X.shape) < 0.4] = 0.0
    y = np.where(X[:, 0] + X[:, 1] > X[:, 2], "up", "down")
    make = lambda: rosenblatt.AveragedPerceptron(max_iter=5)
    expected = make().fit(X, y).model_.to_bytes()
    csr = scipy.sparse.csr_matrix(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    unsorted = scipy.sparse.csr_matrix((csr.data[::-1], csr.indices[::-1], csr.indptr[-1] - csr.indptr[::-1]), X.shape)[::-1]
    stored = [np.asfortranarray(X), X.astype(np.float32), X.tolist(), X[:, ::-1][:, ::-1], csr, csr.astype(np.float32), wide,
              csr.tocsc(), csr.tocoo(), unsorted]
    for rows in stored:
        assert make().fit(rows, y).model_.to_bytes() == expected, type(rows)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    named = make().fit(frame, y).model_.to_bytes()
    assert make().fit(polars.DataFrame(X, schema=list("abcdef")), y).model_.to_bytes() == named
    assert rosenblatt.Model.from_bytes(named).feature_names == list("abcdef")


def test_rows_are_not_changed_and_may_be_read_only():
    X, y = make_classification(2_000, 50, random_state=3)
    before = X.copy()
    rosenblatt.AveragedPerceptron(max_iter=2).fit(X, y)
    assert np.array_equal(X, before)
    X.flags.writeable = False
    rosenblatt.AveragedPerceptron(max_iter=2).fit(X, y)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is counted in kilobytes only there")
@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_rows_are_not_copied(kind):
    # The peak of a process of its own, which counts what the engine takes, too.
    script = f"""
import resource, numpy as np, scipy.sparse, rosenblatt
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 40)).astype("{'float64' if kind == 'csr' else kind}")
X = scipy.sparse.csr_matrix(X) if "{kind}" == "csr" else X
size = X.data.nbytes + (X.indices.nbytes if "{kind}" == "csr" else 0)
y = np.arange(200_000) % 2
rosenblatt.AveragedPerceptron(max_iter=1).fit(X[:100], y[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rosenblatt.AveragedPerceptron(max_iter=1).fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / size)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.3, done.stdout


def test_partial_fit_goes_on_where_it_stood(cancer):
    X, y = cancer
    whole = rosenblatt.AveragedPerceptron().partial_fit(X, y, classes=[0, 1])
    pieces = rosenblatt.AveragedPerceptron()
    for start in range(0, len(X), 100):
        pieces.partial_fit(X[start:start + 100], y[start:start + 100], classes=[0, 1])
        # A copy goes on where the original stood.
        pieces = pickle.loads(pickle.dumps(pieces))
    assert np.array_equal(whole.coef_, pieces.coef_)


def test_pickles_hold_the_safe_model_and_predict_the_same(cancer):
    X, y = cancer
    first = rosenblatt.VotedPerceptron(max_iter=3).fit(X, y)
    again = pickle.loads(pickle.dumps(first))
    assert np.array_equal(first.decision_function(X), again.decision_function(X))
    assert first.model_ == again.model_


def test_probabilities_add_up_and_are_there_only_if_asked_for(cancer):
    X, y = cancer
    assert not hasattr(rosenblatt.AveragedPerceptron(), "predict_proba")
    fitted = rosenblatt.AveragedPerceptron(calibrate="platt").fit(X, y)
    shares = fitted.predict_proba(X)
    assert np.allclose(shares.sum(1), 1) and (shares.argmax(1) == fitted.predict(X)).mean() > 0.99


def test_drop_in():
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.multiclass import OneVsOneClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(rosenblatt.PassiveAggressive(), {"C": [0.01, 0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    pipe = make_pipeline(make_column_transformer((StandardScaler(), [0, 1, 2, 3])), rosenblatt.AROW())
    assert cross_val_score(pipe, X, y, cv=3, n_jobs=2).mean() > 0.85
    assert OneVsOneClassifier(rosenblatt.AveragedPerceptron()).fit(X, y).score(X, y) > 0.9
    assert CalibratedClassifierCV(rosenblatt.AveragedPerceptron(), cv=3).fit(X, y).predict_proba(X).shape == (150, 3)
    assert permutation_importance(rosenblatt.AROW().fit(X, y), X, y, n_repeats=2).importances_mean.shape == (4,)
    texts = ["win cash now", "see you soon", "cash prize win", "dinner soon"] * 5
    spam = make_pipeline(TfidfVectorizer(), rosenblatt.AveragedPerceptron()).fit(texts, [1, 0, 1, 0] * 5)
    assert spam.predict(["win a prize", "see you at dinner"]).tolist() == [1, 0]


@pytest.mark.parametrize("broken, words", [
    (lambda X: np.where(X > 1, np.nan, X), "NaN"),
    (lambda X: np.where(X > 1, np.inf, X), "infinity"),
    (lambda X: X[:0], "0 sample"),
    (lambda X: X[:, :0], "0 feature"),
    (lambda X: X.astype(str).astype(object) + "x", "could not convert"),
])
def test_bad_rows_are_an_exception(broken, words):
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.arange(30) % 2
    with pytest.raises(ValueError, match=words):
        rosenblatt.AveragedPerceptron().fit(broken(X), y[: len(broken(X))])


def test_broken_sparse_matrices_are_an_exception():
    from rosenblatt import _rosenblatt

    options = '{"algorithm": "perceptron"}'
    codes = np.array([0, 1], dtype=np.uint32)
    good = dict(indptr=np.array([0, 1, 2], np.int32), indices=np.array([0, 1], np.int32), data=np.array([1.0, 2.0]), width=2)
    fit = lambda parts: _rosenblatt.fit(options, tuple(parts.values()), codes, ["a", "b"])
    fit(good)
    for change in [
        {"indices": np.array([0, -1], np.int32)},
        {"indices": np.array([0, 2], np.int32)},
        {"indices": np.array([0, 2**40], np.int64)},
        {"indices": np.array([0], np.int32)},
        {"indptr": np.array([0, 2, 1], np.int32)},
        {"indptr": np.array([0, 1, 9], np.int32)},
        {"indptr": np.array([1, 1, 2], np.int32)},
        {"indptr": np.array([0, 2], np.int32)},
        {"data": np.array([1, 2])},
    ]:
        with pytest.raises((ValueError, TypeError)):
            fit({**good, **change})


def test_names_are_wrong_in_python_words():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="did you mean `perceptron`"):
        PerceptronClassifier("percetpron").fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        PerceptronClassifier().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="X has 3 features, but"):
        PerceptronClassifier().fit(X, y).predict(X[:, :3])
