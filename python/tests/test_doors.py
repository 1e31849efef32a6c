"""A model is one model: whichever way rows come to it, it gives them the same scores, to the bit."""

import os
import pickle
import subprocess

import numpy as np
import pytest

pytest.importorskip("sklearn")

import rosenblatt
from rosenblatt import MLPClassifier, PerceptronClassifier, Regressor, _named

PROGRAM = os.environ.get("ROSENBLATT")
#: `DOORS=300` is the long run.
N_SETS = int(os.environ.get("DOORS", "28"))

ESTIMATORS = [getattr(_named, name) for name in _named.__all__]
ESTIMATORS += [
    lambda **given: PerceptronClassifier(kernel="rbf", **given),
    lambda **given: PerceptronClassifier(feature_map="fourier", map_size=16, **given),
    lambda **given: PerceptronClassifier(multiclass="one-vs-one", **given),
    lambda **given: PerceptronClassifier(calibrate="platt", **given),
    lambda **given: PerceptronClassifier(zero="random", **given),
    lambda **given: MLPClassifier((5,), **given),
]


#: Rules that learn numbers whatever the scales of columns.
NUMBER_RULES = ["ridge", "huber", "quantile", "svr", "pa-regression"]


def drawn(seed):
    """A fitted estimator, rows whose columns have scales of their own, and whether the columns have names."""
    rng = np.random.default_rng(seed)
    width, n_classes = int(rng.integers(1, 9)), int(rng.integers(2, 5))
    scale, shift = 10.0 ** rng.integers(-3, 4, width), rng.choice([0.0, 1.0, 300.0], width)
    X = rng.normal(size=(80, width)) * scale + shift * scale
    X[rng.random(X.shape) < rng.choice([0.0, 0.5])] = 0.0
    if rng.random() < 0.2:
        X = np.round(X)
    y = rng.integers(0, n_classes, len(X))
    y[:n_classes] = range(n_classes)
    names = [f"c{place}" for place in rng.permutation(width)] if rng.random() < 0.5 else None
    estimator = ESTIMATORS[seed % len(ESTIMATORS)](max_iter=4)
    return estimator, X, y, names


def scores(model, rows):
    """What says most: scores, or probabilities where they decide."""
    calibrated = model.is_calibrated if isinstance(model, rosenblatt.Model) else not hasattr(model, "decision_function")
    return model.predict_proba(rows) if calibrated else model.decision_function(rows)


def doors_of(folder, X, y, frame, order):
    """The same rows, by every container, and by every file."""
    import polars
    import pyarrow
    import scipy.sparse

    columns = list(frame.columns)
    np.save(folder / "x.npy", X)
    return {
        "array": X, "fortran": np.asfortranarray(X), "csr": scipy.sparse.csr_matrix(X), "csc": scipy.sparse.csc_array(X),
        "pandas": frame, "polars": polars.from_pandas(frame), "arrow": pyarrow.Table.from_pandas(frame),
        "by name": frame.iloc[:, order], "npy": folder / "x.npy", "csv": csv(folder / "x.csv", X, columns),
        "labelled": csv(folder / "l.csv", X, columns, y),
        "named csv": csv(folder / "n.csv", X[:, order], [columns[place] for place in order]),
    }


def csv(path, X, names, labels=None):
    columns = [X] if labels is None else [X, np.asarray(labels)[:, None]]
    header = ",".join([*names, *(["kind"] if labels is not None else [])])
    np.savetxt(path, np.hstack(columns), delimiter=",", header=header, comments="", fmt="%.17g")
    return path


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(N_SETS))
def test_models_through_every_door(seed, tmp_path):
    import pandas
    import scipy.sparse

    estimator, X, y, names = drawn(seed)
    frame = pandas.DataFrame(X, columns=names or [f"unnamed {place}" for place in range(X.shape[1])])
    estimator.fit(frame if names else X, y)
    if names:
        # The same rows, of which the model has names and this array none.
        estimator.__dict__.pop("feature_names_in_")
    expected, classes = scores(estimator, X), np.array(estimator.model_.classes)[np.searchsorted(estimator.classes_, estimator.predict(X))]
    estimator.model_.save(tmp_path / "m.model")
    models = {"model_": estimator.model_, "saved": rosenblatt.load(tmp_path / "m.model"), "pickled": pickle.loads(pickle.dumps(estimator.model_))}
    order = np.random.default_rng(seed).permutation(X.shape[1]) if names else np.arange(X.shape[1])
    doors = doors_of(tmp_path, X, y, frame, order)
    for way, model in models.items():
        for door, rows in doors.items():
            assert np.array_equal(scores(model, rows), expected), (way, door)
            assert np.array_equal(model.predict(rows), classes), (way, door)
    for door in ("csv", "npy", "labelled", "array", "csr"):
        assert np.array_equal(scores(estimator, doors[door]), expected), door
    single = X.astype(np.float32)
    assert np.array_equal(scores(estimator.model_, single), scores(estimator, single))
    if getattr(estimator, "zero", "minus") != "random":
        for row in range(0, len(X), 20):
            for one in (X[row : row + 1], frame.iloc[row : row + 1], scipy.sparse.csr_matrix(X[row : row + 1])):
                assert np.array_equal(scores(estimator.model_, one), expected[row : row + 1]), row
    again = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(scores(again, X), expected)
    judged = estimator.model_.evaluate(tmp_path / "l.csv", label="kind")
    wrong = np.mean(classes.astype(int) != y)
    assert judged["rows"] == len(X) and judged["error"] == pytest.approx(wrong)
    if PROGRAM is not None:
        asked = [PROGRAM, "predict", tmp_path / "l.csv", "--model", tmp_path / "m.model"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        assert done.stdout.split() == classes.tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(N_SETS // 4))
def test_numbers_through_every_door(seed, tmp_path):
    import pandas
    import scipy.sparse

    _, X, y, names = drawn(seed)
    y = y + np.random.default_rng(seed).normal(size=len(y))
    frame = pandas.DataFrame(X, columns=names or [f"unnamed {place}" for place in range(X.shape[1])])
    estimator = Regressor(NUMBER_RULES[seed % len(NUMBER_RULES)], max_iter=4).fit(frame if names else X, y)
    expected = estimator.predict(frame if names else X)
    estimator.model_.save(tmp_path / "m.model")
    models = {"model_": estimator.model_, "saved": rosenblatt.load(tmp_path / "m.model"), "pickled": pickle.loads(pickle.dumps(estimator.model_))}
    order = np.random.default_rng(seed).permutation(X.shape[1]) if names else np.arange(X.shape[1])
    doors = doors_of(tmp_path, X, y, frame, order)
    for way, model in models.items():
        for door, rows in doors.items():
            assert np.array_equal(model.predict(rows), expected), (way, door)
        for row in range(0, len(X), 20):
            for one in (X[row : row + 1], frame.iloc[row : row + 1], scipy.sparse.csr_matrix(X[row : row + 1])):
                assert np.array_equal(model.predict(one), expected[row : row + 1]), (way, row)
    assert np.array_equal(pickle.loads(pickle.dumps(estimator)).predict(frame if names else X), expected)
    found = estimator.model_.evaluate(tmp_path / "l.csv", label="kind")
    assert found["rmse"]["value"] == pytest.approx(np.sqrt(np.mean((expected - y) ** 2)))
    if PROGRAM is not None:
        asked = [PROGRAM, "predict", tmp_path / "l.csv", "--model", tmp_path / "m.model"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        assert [float(line) for line in done.stdout.split()] == expected.tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
def test_models_over_http(tmp_path):
    import pandas

    fitted = {}
    for seed in range(N_SETS):
        estimator, X, y, names = drawn(seed)
        if seed % 6 == 5:
            estimator = Regressor(NUMBER_RULES[seed // 6 % len(NUMBER_RULES)], max_iter=4)
        for called in (None, names or [f"c{place}" for place in range(X.shape[1])]):
            name = f"m{seed}{'' if called is None else 'named'}"
            estimator.fit(X if called is None else pandas.DataFrame(X, columns=called), y)
            estimator.model_.save(tmp_path / f"{name}.model")
            fitted[name] = estimator.model_, X, called
    assert {len(model.classes) for model, *_ in fitted.values()} > {1, 2}
    words = [PROGRAM, "serve", str(tmp_path), "--address", "127.0.0.1:0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        address = "http://" + server.stdout.readline().split("http://")[1].split(",")[0]
        with rosenblatt.Client(address) as client:
            for name, (model, X, called) in fitted.items():
                rows = [X] if called is None else [X, [dict(zip(called[::-1], row[::-1])) for row in X.tolist()]]
                for given in rows:
                    if model.task == "numbers":
                        found = client.predict(name, given)
                        assert [one["prediction"] for one in found] == model.predict(X).tolist(), name
                        continue
                    found = client.predict(name, given, scores=True)
                    assert [one["class"] for one in found] == model.predict(X).tolist(), name
                    if len(model.classes) == 2:
                        assert [np.ravel(one["scores"])[-1] for one in found] == model.decision_function(X).tolist(), name
    finally:
        server.terminate()
        server.wait(30)


def test_many_rows_that_lie_column_by_column():
    import pandas

    rng = np.random.default_rng(4)
    X = rng.normal(size=(2_500, 5))
    y = (X[:, 0] > 0).astype(int)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    for zero in ("minus", "random"):
        fitted = rosenblatt.Perceptron(max_iter=2, zero=zero).fit(frame, y)
        X[100:2_400:7] = 0.0
        changed = pandas.DataFrame(X, columns=list("abcde"))
        expected = fitted.model_._native.decision_function(X)
        for rows in (changed, np.asfortranarray(X)):
            assert fitted.model_.decision_function(rows).tobytes() == expected
        assert fitted.decision_function(changed).tobytes() == expected
        classes = np.frombuffer(fitted.model_._native.predict(X), np.intp)
        assert np.array_equal(fitted.predict(changed), fitted.classes_[classes])
    wrong = changed.copy()
    wrong.iloc[2_222, 3] = np.nan
    with pytest.raises(ValueError, match="row 2222"):
        fitted.predict(wrong)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(changed[list("edcba")])


def test_a_model_explains_what_it_predicts(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)) * [1, 100, 0.01] + [0, 500, 1]
    y = (X[:, 1] > 500).astype(int)
    fitted = rosenblatt.AveragedPerceptron().fit(X, y)
    for reasons, expected in zip(fitted.model_.explain(X[:5], most=3), fitted.coef_ * X[:5]):
        sign = 1 if reasons["class"] == "1" else -1
        spoken = {one["feature"]: one["contribution"] for one in reasons["for"] + reasons["against"]}
        assert spoken == {f"feature {place + 1}": sign * value for place, value in enumerate(expected)}
    numbers = Regressor().fit(X, X @ [1.0, 0.5, 30.0])
    for reasons, expected in zip(numbers.model_.explain(X[:5], most=3), numbers.predict(X[:5])):
        parts = [one["contribution"] for one in reasons["for"] + reasons["against"]]
        assert reasons["prediction"] == expected and reasons["base"] + sum(parts) == pytest.approx(expected)
    page = fitted.model_.report(csv(tmp_path / "t.csv", X, ["a", "b", "c"], y), label="kind")
    assert "<html" in page


def test_features_without_names_come_in_their_order(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)) * [1, 100, 0.01]
    y = (X[:, 1] > 0).astype(int)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    model = rosenblatt.train(tmp_path / "rows.npz", algorithm="perceptron").model
    expected = model.decision_function(X)
    names = ["width", "height", "depth"]
    for path in (csv(tmp_path / "t.csv", X, names), csv(tmp_path / "l.csv", X, names, y)):
        assert np.array_equal(model.decision_function(path), expected)
    assert model.evaluate(tmp_path / "l.csv")["error"] == np.mean(model.predict(X).astype(int) != y)
    with pytest.raises(ValueError, match="2 columns of features, expected 3"):
        model.predict(csv(tmp_path / "two.csv", X[:, :2], names[:2]))


def test_rows_of_another_form_are_refused(tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    unnamed = rosenblatt.AveragedPerceptron().fit(X, y).model_
    for rows in (X[:, :2], csv(tmp_path / "two.csv", X[:, :2], ["a", "b"])):
        with pytest.raises(ValueError, match="features"):
            unnamed.predict(rows)
    (tmp_path / "words.csv").write_text("a,b,c\n" + "1,red,2\n3,blue,4\n" * 10)
    with pytest.raises(ValueError, match="red"):
        unnamed.predict(tmp_path / "words.csv")
