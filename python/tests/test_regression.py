"""Numbers to predict: scikit-learn's contract, and its solutions."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LinearRegression, Ridge
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
