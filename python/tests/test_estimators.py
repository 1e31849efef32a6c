"""scikit-learn's contract, and what estimators must agree on."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

import rosenblatt
from rosenblatt import MLPClassifier, PerceptronClassifier, _named
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

# Every named class, and every read-out, multiclass scheme and kernel.
EVERY = [getattr(_named, name)() for name in _named.__all__]
EVERY += [PerceptronClassifier(readout=readout) for readout in ("last", "averaged", "voted", "pocket", "averaged-pre", "random")]
EVERY += [PerceptronClassifier(multiclass=scheme)
          for scheme in ("one-vs-one", "direct-max", "direct-uniform", "direct-proportional")]
EVERY += [PerceptronClassifier(kernel=kernel) for kernel in ("linear", "polynomial", "rbf", "laplacian", "cosine", "sigmoid")]
EVERY += [PerceptronClassifier(feature_map="fourier", map_size=64), PerceptronClassifier(calibrate="platt")]
EVERY += [MLPClassifier(20, learning_rate_init=0.01, max_iter=100), MLPClassifier((8, 8), "tanh", loss="hinge", max_iter=100, learning_rate_init=0.01)]


def suited(estimator, check):
    """The estimator with what a check needs, as scikit-learn has it for its own (`PER_ESTIMATOR_CHECK_PARAMS`)."""
    if check.startswith("check_sample_weight_equivalence"):
        # A row of weight 2 is two rows only where equal rows are one, in an order of their own.
        return {"merge_rows": True}
    if check == "check_class_weight_classifiers":
        # All rows are to be of one class, and their values are 20 or so: rules that ask for a margin of the whole vector
        # want a bias of that size, kernels one at all, a cubic goes its own way far out, and 1000 times a rate of 1 is no gradient step.
        if type(estimator).__name__ in ("ALMA", "ROMMA", "AggressiveROMMA", "DynamicMarginPerceptron"):
            return {"bias": "augmented(10)"}
        if getattr(estimator, "kernel", None) == "polynomial":
            return {"kernel_params": {"degree": 2}}
        if getattr(estimator, "kernel", None) is not None:
            return {"bias": "learned"}
        if type(estimator).__name__ == "LogisticSGD":
            return {"rate": 0.001}
    return {}


@parametrize_with_checks(EVERY)
def test_contract(estimator, check):
    check(clone(estimator).set_params(**suited(estimator, check.func.__name__)))


AS_THEY_COME = [getattr(_named, name)() for name in _named.__all__] + [PerceptronClassifier(), MLPClassifier()]


@parametrize_with_checks(AS_THEY_COME, expected_failed_checks=rosenblatt.expected_failed_checks, xfail_strict=True)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_contract_as_they_come(estimator, check):
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
    script = Path(__file__).parents[1] / "peak.py"
    done = subprocess.run([sys.executable, "-P", script, kind], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.15, done.stdout


def test_partial_fit_goes_on_where_it_stood(cancer):
    X, y = cancer
    whole = rosenblatt.AveragedPerceptron().partial_fit(X, y, classes=[0, 1])
    pieces = rosenblatt.AveragedPerceptron()
    for start in range(0, len(X), 100):
        pieces.partial_fit(X[start:start + 100], y[start:start + 100], classes=[0, 1])
        # A copy goes on where the original stood.
        pieces = pickle.loads(pickle.dumps(pieces))
    assert np.array_equal(whole.coef_, pieces.coef_)


def test_a_class_that_is_new_is_taken_in():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(1)
    two = rng.permutation(np.flatnonzero(y != 1))
    every = rng.permutation(len(y))
    for named in (rosenblatt.AveragedPerceptron, rosenblatt.VotedPerceptron, rosenblatt.AROW, rosenblatt.PassiveAggressive):
        learner = named().partial_fit(X[two], y[two])
        before = learner.coef_.copy() if hasattr(learner, "coef_") else None
        assert learner.classes_.tolist() == [0, 2] and set(learner.predict(X[two])) <= {0, 2}
        # A copy goes on where the original stood, and takes in the class, too.
        again = pickle.loads(pickle.dumps(learner))
        for one in (learner, again):
            for _ in range(5):
                one.partial_fit(X[every], y[every])
        assert learner.classes_.tolist() == [0, 1, 2]
        assert learner.score(X, y) > 0.7 and (learner.predict(X[y == 1]) == 1).mean() > 0.2, named
        assert np.array_equal(learner.decision_function(X), again.decision_function(X))
        if before is not None:
            assert before.shape == (1, 4) and learner.coef_.shape == (3, 4)
    with pytest.raises(ValueError, match="all numbers or all text"):
        learner.partial_fit(X[:2], np.array(["a", "b"]))
    with pytest.raises(ValueError, match="two classes"):
        rosenblatt.AveragedPerceptron().partial_fit(X[:5], y[:5])


def test_partial_fit_goes_on_from_a_fit(cancer):
    X, y = cancer
    fitted = rosenblatt.Perceptron(max_iter=5).fit(X, y)
    planes = fitted.coef_.copy()
    # A row that is right already moves nothing.
    right = np.flatnonzero((2 * y - 1) * fitted.decision_function(X) > 0)[:1]
    assert np.array_equal(fitted.partial_fit(X[right], y[right]).coef_, planes)


def test_epochs_are_told_and_may_be_ended(cancer):
    X, y = cancer
    epochs = []
    fitted = rosenblatt.AveragedPerceptron(max_iter=50, stop_when_clean=False, callback=lambda epoch: epochs.append(epoch) or len(epochs) == 3)
    assert fitted.fit(X, y).n_iter_ == 3
    assert [epoch["epoch"] for epoch in epochs] == [1, 2, 3] and epochs[0]["rounds"] == len(y) and epochs[0]["mistakes"] > 0
    with pytest.raises(ZeroDivisionError):
        rosenblatt.AveragedPerceptron(callback=lambda epoch: 1 / 0).fit(X, y)


def test_callbacks_of_scikit_learn(cancer):
    pytest.importorskip("sklearn.callback")
    X, y = cancer

    class Counting:
        def setup(self, estimator, context):
            self.epochs = []

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "epoch":
                self.epochs.append(context.task_id)
                return len(self.epochs) == 4

        def teardown(self, estimator, context):
            self.is_over = True

    counting = Counting()
    fitted = rosenblatt.AROW(max_iter=30, stop_when_clean=False).set_callbacks(counting).fit(X, y)
    assert counting.epochs == [0, 1, 2, 3] and counting.is_over and fitted.n_iter_ == 4


def test_start_and_warm_start(cancer):
    X, y = cancer
    given = dict(order="given", early_stopping=False, stop_when_clean=False)
    whole = rosenblatt.Perceptron(max_iter=6, **given).fit(X, y)
    half = rosenblatt.Perceptron(max_iter=3, warm_start=True, **given).fit(X, y).fit(X, y)
    assert np.array_equal(whole.coef_, half.coef_)
    start = rosenblatt.Perceptron(max_iter=3, **given).fit(X, y)
    again = rosenblatt.Perceptron(max_iter=3, **given).fit(X, y, coef_init=start.coef_, intercept_init=start.intercept_)
    assert np.array_equal(whole.coef_, again.coef_)
    with pytest.raises(ValueError, match="intercept_init"):
        again.fit(X, y, coef_init=start.coef_, intercept_init=[1.0, 2.0])


@pytest.mark.parametrize("make", [rosenblatt.AveragedPerceptron, lambda **given: MLPClassifier((4,), **given)])
def test_a_fit_that_fails_leaves_the_model_whole(cancer, make):
    X, y = cancer
    stopped = lambda epoch: (_ for _ in ()).throw(KeyboardInterrupt)
    fitted = make(max_iter=3).fit(X, y)
    before = fitted.decision_function(X) if hasattr(fitted, "decision_function") else fitted.predict_proba(X)
    spoiled = X[:, :3].copy()
    spoiled[5, 1] = np.nan
    for given, changed, error in [
        ((spoiled, y), {}, ValueError),
        ((X[:, :3], np.zeros(len(y))), {}, ValueError),
        ((X[:, :3], y), {"callback": stopped}, KeyboardInterrupt),
        ((X[:, :3], y), {"max_iter": 0}, ValueError),
    ]:
        with pytest.raises(error):
            fitted.set_params(**changed).fit(*given)
        fitted.set_params(max_iter=3, callback=None)
        assert fitted.n_features_in_ == 30 and fitted.classes_.tolist() == [0, 1]
        again = fitted.decision_function(X) if hasattr(fitted, "decision_function") else fitted.predict_proba(X)
        assert np.array_equal(before, again)
    # What fails at first leaves nothing.
    fresh = make()
    with pytest.raises(ValueError):
        fresh.fit(spoiled, y)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_pieces_that_fail_leave_the_model_whole(cancer):
    X, y = cancer
    whole, pieces = rosenblatt.AveragedPerceptron(), rosenblatt.AveragedPerceptron()
    for one in (whole, pieces):
        one.partial_fit(X[:200], y[:200])
    spoiled = X[200:300].copy()
    spoiled[5, 1] = np.nan
    for labels in (y[200:300], y[200:300] + 5):
        with pytest.raises(ValueError):
            pieces.partial_fit(spoiled, labels)
        assert pieces.classes_.tolist() == [0, 1]
    for one in (whole, pieces):
        one.partial_fit(X[200:], y[200:])
    assert np.array_equal(whole.coef_, pieces.coef_)


def test_a_start_of_another_width_is_refused(cancer):
    X, y = cancer
    narrow = X[:, :3]
    for width in (1, 7, 99):
        with pytest.raises(ValueError, match="Provided coef_init does not match dataset"):
            rosenblatt.AveragedPerceptron().fit(X, y, coef_init=np.ones((1, width)))
    with pytest.raises(ValueError):
        rosenblatt.AveragedPerceptron().fit(X, y, coef_init=np.ones((3, 30)))
    warm = rosenblatt.AveragedPerceptron(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="Provided coef_init does not match dataset"):
        warm.fit(narrow, y)
    assert warm.score(X, y) > 0.9
    with pytest.raises(ValueError, match="30 features"):
        MLPClassifier((4,), warm_start=True).fit(X, y).fit(narrow, y)


def test_metadata_is_routed(cancer):
    from sklearn import config_context
    from sklearn.model_selection import cross_validate

    X, y = cancer
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    with config_context(enable_metadata_routing=True):
        asking = rosenblatt.AveragedPerceptron().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scores = cross_validate(asking, X, y, params={"sample_weight": weights}, cv=3)["test_score"]
    assert (scores > 0.9).all()


def test_it_shows_itself(cancer):
    from sklearn.utils import estimator_html_repr

    assert "AROW" in estimator_html_repr(rosenblatt.AROW(r=0.5)) and "r=0.5" in repr(rosenblatt.AROW(r=0.5))


def test_weights_of_rows_and_classes_mean_the_same(cancer):
    X, y = cancer
    by_class = rosenblatt.AveragedPerceptron(class_weight={0: 2.0, 1: 0.5}).fit(X, y)
    by_row = rosenblatt.AveragedPerceptron().fit(X, y, sample_weight=np.where(y == 0, 2.0, 0.5))
    assert np.array_equal(by_class.coef_, by_row.coef_)
    hidden = rosenblatt.AROW(order="given").fit(X, y, sample_weight=(np.arange(len(y)) < 300).astype(float))
    assert np.array_equal(hidden.coef_, rosenblatt.AROW(order="given").fit(X[:300], y[:300]).coef_)


def test_files_are_fitted_too(tmp_path):
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(2)
    X = rng.integers(-8, 8, size=(400, 6)) / 4.0
    y = (X @ rng.normal(size=6) > 0).astype(int)
    make = lambda: rosenblatt.AveragedPerceptron(max_iter=4)
    expected = make().fit(X, y)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,kind", comments="", fmt="%g")
    by_svm, by_csv = make().fit(tmp_path / "t.svm"), make().fit(str(tmp_path / "t.csv"), "kind")
    assert np.array_equal(by_svm.coef_, expected.coef_) and np.array_equal(by_csv.coef_, expected.coef_)
    assert np.array_equal(by_svm.classes_, [0, 1]) and by_svm.score(X, y) == expected.score(X, y)
    assert np.array_equal(by_csv.predict(tmp_path / "t.csv"), expected.predict(X))
    assert by_csv.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(FileNotFoundError):
        make().fit(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="label column"):
        make().fit(tmp_path / "t.csv", y)


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


def test_displays():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from sklearn.inspection import DecisionBoundaryDisplay
    from sklearn.model_selection import LearningCurveDisplay

    X, y = load_iris(return_X_y=True)
    fitted = rosenblatt.AROW().fit(X[:, :2], y)
    assert DecisionBoundaryDisplay.from_estimator(fitted, X[:, :2], response_method="predict").surface_ is not None
    binary = rosenblatt.AROW().fit(X[:, :2], y == 0)
    assert DecisionBoundaryDisplay.from_estimator(binary, X[:, :2], response_method="decision_function").response.std() > 0
    shown = LearningCurveDisplay.from_estimator(rosenblatt.AROW(), X, y, cv=3, shuffle=True, random_state=0)
    assert shown.test_scores.shape[1] == 3


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


def test_no_call_breaks_the_process():
    # A short one; `python -P fuzz.py 1000000` is the long one.
    fuzz = Path(__file__).parents[1] / "fuzz.py"
    done = subprocess.run([sys.executable, "-P", str(fuzz), "3000", "7"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def test_arrays_may_change_while_they_are_learned_from():
    import threading

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 20)), rng.integers(0, 3, 20_000)
    is_over = threading.Event()

    def spoil():
        while not is_over.is_set():
            X[rng.integers(0, len(X), 100)] = rng.choice([np.nan, 1e300, 0.0, np.inf])

    spoiling = threading.Thread(target=spoil)
    spoiling.start()
    try:
        for _ in range(10):
            try:
                rosenblatt.AveragedPerceptron(max_iter=3).fit(X, y).predict(X)
            except (ValueError, RuntimeError):
                pass
    finally:
        is_over.set()
        spoiling.join()


def test_more_entries_than_there_are_is_an_exception():
    import scipy.sparse
    from rosenblatt import _rosenblatt

    # One value, strided to look like 2^31 of them, in memory that is not there.
    data = np.lib.stride_tricks.as_strided(np.ones(1), (2**31 + 8,), (0,))
    indices = np.lib.stride_tricks.as_strided(np.zeros(1, np.int32), (2**31 + 8,), (0,))
    with pytest.raises((ValueError, TypeError)):
        _rosenblatt.fit('{"algorithm": "perceptron"}', (np.array([0, 2**31 + 8]), indices, data, 4), np.zeros(1, np.uint32), ["a", "b"])
    wide = np.lib.stride_tricks.as_strided(np.ones(1), (2**31 + 8, 2), (0, 0))
    with pytest.raises((ValueError, TypeError)):
        _rosenblatt.fit('{"algorithm": "perceptron"}', wide, np.zeros(1, np.uint32), ["a", "b"])
    # Rows that are one another's memory are rows like others.
    same = np.lib.stride_tricks.as_strided(np.array([1.0, 2.0, 3.0, 4.0]), (3, 2), (8, 8))
    y = np.array([0, 1, 0])
    assert np.array_equal(rosenblatt.AROW().fit(same, y).coef_, rosenblatt.AROW().fit(same.copy(), y).coef_)


@pytest.mark.parametrize("broken, words", [
    (lambda X: np.where(X > 1, np.nan, X), "NaN"),
    (lambda X: np.where(X > 1, np.inf, X), "inf"),
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


@pytest.mark.parametrize("name, values", {
    "max_iter": ["ten", -1, 0, 2.5, None, True, np.nan],
    "random_state": [-1, True],
    "bias": [True, "much"],
    "order": ["sideways", 3],
    "multiclass": ["some", None],
    "calibrate": [True, "plat"],
    "class_weight": ["foo", {0: -1.0}, {0: "much"}, 3, {0: 0, 1: 0}],
    "costs": ["foo", {0: "much"}],
    "early_stopping": ["yes", None, 1],
    "merge_rows": ["no"],
    "warm_start": [0],
    "validation_fraction": [0.0, 1.5, "half"],
    "n_iter_no_change": [0, 1.5],
    "rate": ["fast", True, [1]],
    "support_budget": [0, "few"],
    "kernel_params": [3, {"gamma": 1.0}],
    "map_size": [0, 2.5],
    "callback": ["print"],
    "C": ["large", None, True],
}.items())
def test_wrong_parameters_are_named(name, values):
    X, y = make_classification(40, 4, random_state=0)
    for value in values:
        wrong = rosenblatt.PassiveAggressive(**{name: value})
        for learn in (wrong.fit, wrong.partial_fit):
            with pytest.raises(ValueError, match=name) as error:
                learn(X, y)
            assert "column" not in str(error.value) and "line 1" not in str(error.value)
            if name in ("class_weight", "costs"):
                break


@pytest.mark.parametrize("name", ["fit_intercept", "eta0", "shuffle", "tol", "verbose", "n_jobs", "penalty", "tolerance"])
def test_names_of_scikit_learn_are_answered_with_ours(name):
    with pytest.raises(TypeError, match=f"AROW has no parameter '{name}': "):
        rosenblatt.AROW(**{name: 1})
    with pytest.raises(ValueError, match=f"AROW has no parameter '{name}': "):
        rosenblatt.AROW().set_params(**{name: 1})
    with pytest.raises(TypeError, match="unexpected keyword"):
        rosenblatt.AROW(nonsense=1)
    assert rosenblatt.LinearSVM(tol=0.1).tol == 0.1 and MLPClassifier(shuffle=False, tol=0.1).tol == 0.1


SOLVERS = (rosenblatt.LinearSVM, rosenblatt.LogisticRegression, rosenblatt.SparseLogisticRegression)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_converge_or_say_that_they_did_not(solver, cancer, recwarn):
    from sklearn.exceptions import ConvergenceWarning

    for X, y in (cancer, load_iris(return_X_y=True), make_classification(300, 5, random_state=1), make_classification(2_000, 20, random_state=2)):
        fitted = solver().fit(X, y)
        assert fitted.n_iter_ < fitted.max_iter and not [one for one in recwarn if issubclass(one.category, ConvergenceWarning)]
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        solver(max_iter=2).fit(*cancer)


def test_logistic_regression_is_the_one_of_scikit_learn(cancer):
    from sklearn.linear_model import LogisticRegression

    X, y = cancer
    # Their bias costs nothing, ours is a weight like others: both are far from their limits here.
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000, fit_intercept=False).fit(X, y)
    ours = rosenblatt.LogisticRegression(tol=1e-9, max_iter=10_000, bias="none").fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert np.array_equal(ours.decision_function(X) > 0, ours.predict_proba(X)[:, 1] > 0.5)
    iris = rosenblatt.LogisticRegression().fit(*load_iris(return_X_y=True))
    shares = iris.predict_proba(load_iris().data * 1e4)
    assert np.allclose(shares.sum(1), 1) and np.array_equal(iris.classes_[shares.argmax(1)], iris.predict(load_iris().data * 1e4))


def test_a_sparse_matrix_with_broken_pointers_is_an_exception():
    script = """
import numpy as np, scipy.sparse, rosenblatt
X, y = np.eye(4), [0, 1, 0, 1]
fitted = rosenblatt.AROW().fit(X, y)
for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix):
    for pointers in ([0, 1, 2, 3, 10**9], [0, -5, 2, 3, 4], [0, 3, 2, 3, 4], [1, 1, 2, 3, 4], [0, 4]):
        broken = make(X)
        broken.indptr = np.array(pointers, dtype=np.int32)
        for ask in (lambda X: rosenblatt.AROW().fit(X, y), lambda X: rosenblatt.AROW().partial_fit(X, y), fitted.predict, fitted.model_.predict):
            try:
                ask(broken)
            except ValueError:
                continue
            raise SystemExit(f"{make.__name__} {pointers}")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_rows_are_predicted_in_parts_as_if_at_once(n_classes, dtype):
    import scipy.sparse

    rng = np.random.default_rng(5)
    X = scipy.sparse.random(5_000, 40, density=0.2, format="csr", random_state=5).astype(dtype)
    y = rng.integers(0, n_classes, 5_000)
    model = rosenblatt.AveragedPerceptron(max_iter=2).fit(X[:500], y[:500])
    dense = X.toarray()
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    # A zero that is stored, among rows like others, is none.
    zeros = X.copy()
    zeros.data[zeros.indptr[3_000]] = 0.0
    for rows, as_dense in [(X, dense), (wide, dense), (zeros, zeros.toarray())]:
        assert np.array_equal(model.predict(rows), model.predict(as_dense))
        assert np.array_equal(model.decision_function(rows), model.decision_function(as_dense))
    late = X.copy()
    late.data[late.indptr[4_500]] = np.nan
    with pytest.raises(ValueError, match="row 4500"):
        model.predict(late)
    beyond = X.copy()
    beyond.indices[beyond.indptr[4_501] - 1] = 40
    with pytest.raises(ValueError):
        model.predict(beyond)
    row = next(row for row in range(4_500, 5_000) if X.indptr[row + 1] - X.indptr[row] > 2)
    last = X.indptr[row + 1] - 1
    for wrong, words in [(40, "beyond"), (-1, "negative"), (X.indices[last - 1], "ascend"), (0, "ascend")]:
        indices = X.indices.copy()
        indices[last] = wrong
        for ask in (model.model_._native.predict, model.model_._native.decision_function):
            with pytest.raises(ValueError, match=words):
                ask((X.indptr, indices, X.data, 40))
    # Narrower rows have fewer features, whatever the model knows.
    with pytest.raises(ValueError, match="beyond"):
        model.model_._native.predict((X.indptr, X.indices, X.data, 39))


def test_what_a_method_lacks_is_said_beneath_the_error():
    for estimator, method, cure in (
        (rosenblatt.LogisticRegression(), "partial_fit", "LogisticSGD"),
        (rosenblatt.LogisticSGD(calibrate="platt"), "partial_fit", "calibrate=None"),
        (rosenblatt.AROW(), "predict_proba", 'calibrate="platt"'),
    ):
        assert not hasattr(estimator, method)
        with pytest.raises(AttributeError) as found:
            getattr(estimator, method)
        assert cure in str(found.value.__cause__ or found.value)
