"""`AutoClassifier` is `train` with scikit-learn's contract."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import rosenblatt
from rosenblatt import AutoClassifier
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([AutoClassifier()])
def test_contract(estimator, check):
    check(estimator)


def test_it_does_what_train_does(tmp_path):
    X, y = load_wine(return_X_y=True)
    path = tmp_path / "wine.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", comments="", fmt="%.17g",
               header=",".join([*(f"f{place}" for place in range(1, 14)), "label"]))
    trained, fitted = rosenblatt.train(path), AutoClassifier().fit(X, y)
    assert np.array_equal(trained.model.predict_proba(X), fitted.predict_proba(X))
    assert fitted.estimate_["error"] == trained.estimate["error"] and fitted.race_ is not None
    assert np.array_equal(fitted.predict(X), fitted.classes_[fitted.predict_proba(X).argmax(1)])
    # Columns of different scales, which one perceptron does not get right.
    assert cross_val_score(AutoClassifier(), X, y, cv=3).mean() > 0.93
    fitted.model_.save(tmp_path / "wine.model")
    assert np.array_equal(rosenblatt.load(tmp_path / "wine.model").predict(X).astype(int), fitted.predict(X))


def test_tables_may_have_categories_and_text():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"colour": rng.choice(["red", "green", "blue"], 300), "size": rng.normal(size=300) * 1000})
    y = np.where((frame["colour"] == "red") & (frame["size"] > -500), "yes", "no")
    for table in (frame, polars.from_pandas(frame)):
        fitted = AutoClassifier().fit(table, y)
        assert fitted.score(table, y) > 0.85 and fitted.feature_names_in_.tolist() == ["colour", "size"]
        assert fitted.predict(table).tolist() == fitted.model_.predict(table).tolist()
    with pytest.raises(ValueError, match="label"):
        AutoClassifier().fit(frame.rename(columns={"size": "label"}), y)


def test_columns_have_importances():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)) * [1, 100, 1, 1]
    y = np.where(X[:, 1] + 40 * X[:, 3] > 0, "up", "down")
    fitted = AutoClassifier().fit(X, y)
    found = fitted.feature_importances_
    assert found.shape == (4,) and found.argsort()[::-1][:2].tolist() == [1, 3] and found[1] > 10 * abs(found[0])
    of_model = {column["column"]: column["rise"] for column in fitted.model_.summary(0)["importance"]["columns"]}
    assert found[1] == of_model["feature 2"]
    # A column that is left out, as all its values are the same, stands at 0 in its place.
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    frame.insert(1, "same", 1.0)
    found = AutoClassifier().fit(frame, y).feature_importances_
    assert found.shape == (5,) and found[1] == 0 and found.argsort()[::-1][:2].tolist() == [2, 4]
    with pytest.raises(AttributeError, match="not ranked"):
        AutoClassifier().fit(rng.normal(size=(60, 201)), np.arange(60) % 2).feature_importances_
    with pytest.raises(AttributeError, match="fit"):
        AutoClassifier().feature_importances_


def test_sparse_rows_and_classes_of_any_kind():
    import scipy.sparse

    X, y = load_iris(return_X_y=True)
    expected = AutoClassifier(scale="none").fit(X, y).predict(X)
    for classes in (y * 10, y == 0, np.array(["b", "a", "c"])[y]):
        fitted = AutoClassifier(scale="none").fit(scipy.sparse.csr_matrix(X), classes)
        assert fitted.classes_.tolist() == sorted(set(classes.tolist()))
        assert fitted.score(X, classes) > 0.9 and fitted.predict_proba(X).shape == (150, len(fitted.classes_))
    assert (expected == y).mean() > 0.9
    for wrong, name in [({"scale": "big"}, "scale"), ({"calibrate": 3}, "calibrate"), ({"random_state": -1}, "random_state")]:
        with pytest.raises(ValueError, match=name):
            AutoClassifier(**wrong).fit(X, y)


def test_missing_values_of_a_table_are_filled_in_as_train_does():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    y = np.where(frame["a"] > 0, "up", "down")
    frame.loc[::7, "b"] = np.nan
    with pytest.raises(ValueError, match='missing="mean"'):
        AutoClassifier().fit(frame, y)
    fitted = AutoClassifier(missing="mean").fit(frame, y)
    assert fitted.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="missing"):
        AutoClassifier(missing="guess").fit(frame, y)
