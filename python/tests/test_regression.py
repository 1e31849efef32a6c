"""Numbers to predict: scikit-learn's contract, and its solutions."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor, Ridge
from sklearn.svm import LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt
from rosenblatt import Regressor


@parametrize_with_checks([Regressor(), Regressor("huber")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def _drawn(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, 6)) * [1, 10, 0.1, 3, 1, 5] + 2
    return X, X @ random.normal(size=6) + random.normal(size=120) + 50


@pytest.mark.parametrize("l2", [0.0, 1.0, 30.0])
def test_ridge_is_scikit_learns(l2):
    for seed in range(10):
        X, y = _drawn(seed)
        ours = Regressor(params={"l2": l2}).fit(X, y)
        theirs = (LinearRegression() if l2 == 0 else Ridge(alpha=l2)).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-12)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantiles_lose_no_more_than_scikit_learns(q):
    def loss(model, X, y):
        off = y - model.predict(X)
        return np.maximum(q * off, (q - 1) * off).mean()

    for seed in range(10):
        X, y = _drawn(seed)
        ours = Regressor("quantile", params={"q": q}, max_iter=500).fit(X, y)
        # A linear program, solved exactly.
        theirs = QuantileRegressor(quantile=q, alpha=0, solver="highs").fit(X, y)
        assert loss(ours, X, y) == pytest.approx(loss(theirs, X, y), rel=1e-4)


def test_huber_loses_no_more_than_scikit_learns():
    for seed in range(10):
        X, y = _drawn(seed)
        y[::10] += 40
        theirs = HuberRegressor(epsilon=1.35, alpha=0.01, tol=1e-10, max_iter=100_000).fit(X, y)
        # Theirs finds the scale, too; ours takes what it found.
        delta, l2 = 1.35 * theirs.scale_, 0.01 * theirs.scale_
        ours = Regressor("huber", params={"delta": delta / y.std(), "l2": l2}, max_iter=500).fit(X, y)

        def loss(model):
            off = np.abs(y - model.predict(X))
            costs = np.where(off < delta, off**2 / 2, delta * off - delta**2 / 2)
            return costs.sum() + l2 / 2 * (model.coef_ @ model.coef_)

        assert loss(ours) <= loss(theirs) * (1 + 1e-8)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize(("squared", "name"), [(0, "epsilon_insensitive"), (1, "squared_epsilon_insensitive")])
def test_support_vector_regression_is_liblinears(squared, name):
    for seed in range(10):
        X, y = _drawn(seed)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        # Ours learns targets in standard deviations, and gives weights in their units.
        scaled = (y - y.mean()) / y.std()
        theirs = LinearSVR(C=0.5, epsilon=0.1, loss=name, dual=True, tol=1e-8, max_iter=1_000_000).fit(X, scaled)
        params = {"C": 0.5, "epsilon": 0.1, "squared": squared, "tolerance": 1e-8}
        ours = Regressor("svr", params=params, max_iter=200_000).fit(X, y)
        np.testing.assert_allclose(ours.coef_ / y.std(), theirs.coef_, atol=1e-5)
        np.testing.assert_allclose((ours.intercept_ - y.mean()) / y.std(), np.ravel(theirs.intercept_)[0], atol=1e-5)


def test_a_rule_for_classes_is_refused_and_the_other_way_round():
    X, y = _drawn(1)
    with pytest.raises(ValueError, match="classifies rows"):
        Regressor("perceptron").fit(X, y)
    with pytest.raises(ValueError, match="predicts numbers"):
        rosenblatt.PerceptronClassifier(algorithm="ridge").fit(X, y > 50)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_iter", "ten"), ("max_iter", -1), ("max_iter", 2.5), ("random_state", -1), ("rate", "soon"), ("params", 3),
     ("params", {"l2": "much"}), ("algorithm", "rigde"), ("algorithm", None)],
)
def test_parameters_are_named_in_pythons_words(name, value):
    X, y = _drawn(3)
    with pytest.raises(ValueError) as error:
        Regressor(**{name: value}).fit(X, y)
    assert "line 1" not in str(error.value) and "u64" not in str(error.value)
    assert name in str(error.value) or str(value) in str(error.value)


def test_what_scikit_learn_calls_otherwise_is_answered():
    for name in ("alpha", "fit_intercept", "tol", "solver", "shuffle", "n_jobs"):
        with pytest.raises(TypeError, match=f"Regressor has no parameter '{name}': "):
            Regressor(**{name: 1})


def test_train_sees_that_a_label_is_a_quantity():
    X, y = _drawn(2)
    lines = [",".join(map(repr, map(float, [*row, target]))) for row, target in zip(X, y)]
    trained = rosenblatt.train(("a,b,c,d,e,f,price\n" + "\n".join(lines) + "\n").encode(), label="price")
    assert trained.model.task == "numbers" and trained.estimate["r2"]["value"] > 0.9
    numbers = trained.model.predict("\n".join(["a,b,c,d,e,f", *(line.rsplit(",", 1)[0] for line in lines[:3])]).encode() + b"\n")
    assert numbers.shape == (3,) and abs(numbers - y[:3]).max() < 5
    assert "root mean squared error" in repr(trained)


def test_intervals_of_a_trained_model_are_those_of_the_command_line():
    pandas = pytest.importorskip("pandas")
    X, y = _drawn(3)
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(price=y)
    model = rosenblatt.train(frame, label="price").model
    intervals = model.predict_interval(frame, 0.9)
    predicted = model.predict(frame)
    assert intervals.shape == (120, 2)
    assert np.all(intervals[:, 0] < predicted) and np.all(predicted < intervals[:, 1])
    assert np.all(np.ptp(model.predict_interval(frame, 0.5), axis=1) < np.ptp(intervals, axis=1))
    assert 0.8 < np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1])) <= 1
    with pytest.raises(ValueError, match="interval"):
        model.predict_interval(frame, 1.5)
    with pytest.raises(ValueError, match="held out"):
        Regressor().fit(X, y).model_.predict_interval(X)
