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
        MLPClassifier(learning_rate="faster").fit(X, y)
    with pytest.raises(ValueError, match="early_stopping should be False"):
        MLPClassifier(solver="sgd", learning_rate="adaptive", early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match='solver="adam" with'):
        MLPClassifier(solver="lbfgs").fit(X, y)


def theirs(**settings):
    from sklearn.neural_network import MLPClassifier as Theirs

    return Theirs(**settings)


@pytest.mark.parametrize("settings", [
    dict(),
    dict(early_stopping=True, max_iter=40, validation_fraction=0.2),
    dict(solver="sgd", learning_rate="invscaling", learning_rate_init=0.5, power_t=0.3),
    dict(solver="sgd", learning_rate="adaptive", learning_rate_init=0.1, tol=0.02, n_iter_no_change=2, max_iter=60),
])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_has_the_attributes_of_theirs(settings, n_classes):
    digits = load_digits(n_class=n_classes)
    X, y = digits.data / 16.0, digits.target
    settings = {"hidden_layer_sizes": (9,), "random_state": 1, "max_iter": 12, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = theirs(**settings).fit(X, y)
    model = MLPClassifier(**settings).fit(X, y)
    known = {"loss_", "loss_curve_", "best_loss_", "validation_scores_", "best_validation_score_", "t_", "n_iter_", "n_layers_",
             "n_outputs_", "out_activation_", "coefs_", "intercepts_", "classes_", "n_features_in_"}
    assert known == {name for name in vars(peer) if name.endswith("_") and not name.startswith("_")}
    for name in known:
        ours, other = getattr(model, name), getattr(peer, name)
        assert isinstance(ours, type(other)) or isinstance(other, (float, np.floating)), name
    for name in ("n_layers_", "n_outputs_", "out_activation_", "n_features_in_"):
        assert getattr(model, name) == getattr(peer, name), name
    assert [layer.shape for layer in model.coefs_] == [layer.shape for layer in peer.coefs_]
    assert [layer.shape for layer in model.intercepts_] == [layer.shape for layer in peer.intercepts_]
    assert len(model.loss_curve_) == model.n_iter_ and model.loss_ == model.loss_curve_[-1]
    assert model.t_ % model.n_iter_ == 0 and abs(model.t_ // model.n_iter_ - peer.t_ // peer.n_iter_) <= n_classes
    # Other weights to begin with, but the same way down.
    assert model.loss_curve_[5] < 2 * peer.loss_curve_[5] + 0.1
    if model.validation_scores_ is None:
        assert model.best_loss_ == min(model.loss_curve_)
    else:
        assert len(model.validation_scores_) == model.n_iter_ and model.best_validation_score_ > 0.9
    if "adaptive" in settings.values():
        # Lack of progress alone does not end it.
        constant = MLPClassifier(**{**settings, "learning_rate": "constant"}).fit(X, y)
        assert model.n_iter_ > constant.n_iter_


def test_a_warm_start_goes_on_and_the_loss_is_that_of_its_probabilities():
    from sklearn.metrics import log_loss

    X, y = make_moons(200, noise=0.2, random_state=0)
    model = MLPClassifier((8,), "tanh", solver="sgd", learning_rate_init=0.1, batch_size=200, alpha=0.1, max_iter=3, tol=0.0,
                          warm_start=True)
    model.fit(X, y)
    for fits in (2, 3):
        price = 0.5 * model.alpha * sum((layer**2).sum() for layer in model.coefs_) / len(X)
        expected = log_loss(y, model.predict_proba(X)) + price
        model.fit(X, y)
        assert len(model.loss_curve_) == 3 * fits and model.t_ == 600 * fits and model.n_iter_ == 3
        assert model.loss_curve_[3 * fits - 3] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="classes of the last fit"):
        model.fit(X, y + 1)
    with pytest.raises(ValueError, match="of the same layers"):
        model.set_params(hidden_layer_sizes=(5,)).fit(X, y)
    assert len(model.set_params(warm_start=False).fit(X, y).loss_curve_) == 3


def test_losses_are_printed(capsys):
    X, y = make_moons(60, random_state=0)
    model = MLPClassifier((4,), max_iter=2, verbose=True).fit(X, y)
    assert capsys.readouterr().out.splitlines() == [
        f"Iteration {number}, loss = {loss:.8f}" for number, loss in enumerate(model.loss_curve_, 1)
    ]


def test_it_learns_piece_by_piece():
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = MLPClassifier(16, learning_rate_init=0.02, batch_size=20)
    for _ in range(60):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.score(X, y) > 0.9
