"""The multi-layer perceptron beside scikit-learn's."""

import importlib.util
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons

from rosenblatt import MLPClassifier

FIXTURES = Path(__file__).parents[2] / "crates" / "layers" / "tests" / "fixtures"


def test_the_losses_that_rust_is_held_to_are_scikit_learns():
    """What the Rust laws compare with, made once more by the scikit-learn that is here."""
    spec = importlib.util.spec_from_file_location("generate_mlp", FIXTURES / "generate_mlp.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    kept, name = {}, None
    for line in (FIXTURES / "mlp.txt").read_text().splitlines():
        word, _, rest = line.partition(" ")
        name = rest if word == "case" else name
        if word == "losses":
            kept[name] = [struct.unpack(">d", bytes.fromhex(bits))[0] for bits in rest.split()]
    digits = load_digits()
    x, y = digits.data[:200] / 16.0, digits.target[:200]
    assert set(kept) == set(generate.CASES)
    for name, settings in generate.CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, _, _ = generate.fit(x, (y >= 5).astype(int) if name.endswith("two") else y, settings)
        assert np.allclose(model.loss_curve_, kept[name], rtol=0, atol=1e-9), name


@pytest.mark.parametrize("settings", [
    dict(hidden_layer_sizes=(32,), batch_size=50, max_iter=30),
    dict(hidden_layer_sizes=(32, 16), activation="tanh", batch_size=50, max_iter=30),
    dict(hidden_layer_sizes=32, activation="logistic", batch_size=50, max_iter=40, learning_rate_init=0.01),
    dict(hidden_layer_sizes=(32,), solver="sgd", learning_rate_init=0.05, batch_size=50, max_iter=30, alpha=1e-3),
])
def test_the_same_parameters_learn_as_well_as_theirs(settings):
    from sklearn.neural_network import MLPClassifier as Theirs

    digits = load_digits()
    X, y = digits.data / 16.0, digits.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Theirs(random_state=0, **settings).fit(X[:1200], y[:1200]).score(X[1200:], y[1200:])
    ours = MLPClassifier(random_state=0, **settings).fit(X[:1200], y[:1200])
    assert ours.score(X[1200:], y[1200:]) > theirs - 0.03
    assert [layer.shape for layer in ours.coefs_][0][0] == 64 and len(ours.intercepts_[-1]) == 10


def test_its_weights_are_its_probabilities():
    X, y = make_moons(400, noise=0.1, random_state=0)
    model = MLPClassifier((12,), "tanh", learning_rate_init=0.02, max_iter=100, batch_size=20).fit(X, y)
    hidden = np.tanh(X @ model.coefs_[0] + model.intercepts_[0])
    scores = (hidden @ model.coefs_[1] + model.intercepts_[1]).ravel()
    shares = model.predict_proba(X)
    assert np.allclose(shares[:, 1], 1 / (1 + np.exp(-scores)), atol=1e-12) and np.allclose(shares.sum(1), 1)
    assert model.score(X, y) > 0.97 and model.n_iter_ <= 100
    assert not hasattr(model, "decision_function") and not hasattr(model, "coef_")
    hinge = MLPClassifier((12,), loss="hinge", max_iter=50).fit(X, y)
    assert hasattr(hinge, "decision_function") and not hasattr(hinge, "predict_proba")
    with pytest.raises(ValueError, match="learning_rate"):
        MLPClassifier(learning_rate="adaptive").fit(X, y)
    with pytest.raises(ValueError, match="optimiser"):
        MLPClassifier(solver="lbfgs").fit(X, y)


def test_it_learns_piece_by_piece():
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = MLPClassifier(16, learning_rate_init=0.02, batch_size=20)
    for _ in range(60):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.score(X, y) > 0.9
