"""The package is the command line in Python: the same files, the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rosenblatt

BUNDLED = Path(__file__).parents[2] / "crates" / "data" / "bundled"
MIXED = Path(__file__).parents[2] / "crates" / "data" / "tests" / "data" / "mixed"
PROGRAM = os.environ.get("ROSENBLATT")


@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
@pytest.mark.parametrize("path", [BUNDLED / "iris.csv", BUNDLED / "sms-spam.tsv", MIXED / "table.csv"])
def test_train_gives_the_bytes_of_the_command_line(path, tmp_path):
    subprocess.run([PROGRAM, "train", path, "--quiet", "--model", tmp_path / "m.model"], check=True)
    assert rosenblatt.train(path).model.to_bytes() == (tmp_path / "m.model").read_bytes()


def test_tables_and_files_give_the_same_bytes():
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    expected = rosenblatt.train(MIXED / "table.csv")
    assert expected.estimate["error"] < 0.5 and expected.race is not None
    frame = pandas.read_csv(MIXED / "table.csv")
    for table in [frame, polars.read_csv(MIXED / "table.csv"), arrow.Table.from_pandas(frame)]:
        assert rosenblatt.train(table).model == expected.model, type(table)


def test_a_model_predicts_files_tables_and_arrays(tmp_path):
    model = rosenblatt.train(BUNDLED / "iris.csv").model
    model.save(tmp_path / "iris.model")
    model = rosenblatt.load(tmp_path / "iris.model")
    by_file = model.predict(BUNDLED / "iris.csv")
    rows = np.genfromtxt(BUNDLED / "iris.csv", delimiter=",", skip_header=1, usecols=range(4))
    assert np.array_equal(model.predict(rows), by_file)
    assert model.predict_proba(rows).shape == (150, 3)
    assert model.decision_function(rows).shape == (150, 3)
    judged = model.evaluate(BUNDLED / "iris.csv")
    assert judged["rows"] == 150 and judged["error"] < 0.1
    assert len(model.explain(rows[:2], most=3)) == 2
    assert model.plot(BUNDLED / "iris.csv", "confusion").startswith("<?xml")
    assert "<html" in model.report(BUNDLED / "iris.csv")


def test_errors_speak_python(tmp_path):
    (tmp_path / "gaps.csv").write_text("u,v,label\n1,,a\n2,3,b\n")
    with pytest.raises(ValueError, match='missing="mean"'):
        rosenblatt.train(tmp_path / "gaps.csv")
    with pytest.raises(FileNotFoundError):
        rosenblatt.train(tmp_path / "nothing.csv")
    with pytest.raises(ValueError):
        rosenblatt.Model.from_bytes(b"not a model")
    with pytest.raises(TypeError):
        rosenblatt.train(42)


def test_compare_and_trace():
    table = rosenblatt.compare(BUNDLED / "banknote.csv", ["perceptron", "pa1(C=0.1)"], folds=3)
    assert [row["algorithm"] for row in table][1].startswith("pa1")
    rounds = rosenblatt.trace(b"u,v,label\n1,1,a\n1,-1,b\n", last=4)
    assert rounds[0]["round"] == 1


def test_ctrl_c_is_answered_within_a_second():
    script = (
        "import numpy as np, rosenblatt, signal, time\n"
        # A shell that runs the tests in the background may ignore signals of this kind, and children inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "X = np.random.default_rng(0).normal(size=(200_000, 50)); y = np.arange(200_000) % 2\n"
        "print('go', flush=True)\n"
        "rosenblatt.AveragedPerceptron(max_iter=10**9, early_stopping=False).fit(X, y)\n"
    )
    import signal
    import time

    pytest.importorskip("sklearn")
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "go\n"
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


def test_import_is_light():
    heavy = ["numpy", "sklearn", "pandas", "json", "typing", "rosenblatt._rosenblatt", "rosenblatt._product"]
    loaded = f"print(*[name for name in {heavy} if name in sys.modules])"
    code = f"import sys, rosenblatt; {loaded}; rosenblatt.train; {loaded}; rosenblatt.Perceptron; {loaded}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    at_first, to_train, to_fit = (line.split() for line in done.stdout.splitlines())
    assert at_first == []
    assert "rosenblatt._product" in to_train and "sklearn" not in to_train
    assert "sklearn" in to_fit


def test_what_is_imported_late_is_all_there():
    names: dict[str, object] = {}
    exec("from rosenblatt import *", names)
    assert set(rosenblatt.__all__) < set(names)
    assert {"train", "AveragedPerceptron", "AutoClassifier", "MLPClassifier", "SequencePerceptron"} < set(names)
    assert set(rosenblatt.__all__) < set(dir(rosenblatt))
    assert rosenblatt.Perceptron is rosenblatt.Perceptron and issubclass(rosenblatt.Perceptron, rosenblatt.PerceptronClassifier)
    for name in ("nothing", "_nothing"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(rosenblatt, name)
    with pytest.raises(ImportError):
        exec("from rosenblatt import nothing")


def test_what_is_said_is_done(tmp_path):
    table = tmp_path / "t.csv"
    rows = [f"{'ab'[i % 2]},{i % 7},{i % 5 if i % 11 else ''},{'good day to you' if i % 2 else 'win cash now'} {i}" for i in range(120)]
    table.write_text("kind,u,v,note\n" + "\n".join(rows) + "\n")
    settings = dict(missing="mean", algorithm="pa1", params={"C": 0.1}, epochs=3)
    by_name = rosenblatt.train(table, label="kind", text="note", **settings)
    assert by_name.model.classes == ["a", "b"] and by_name.race is None
    assert rosenblatt.train(table, label=1, text=["note"], **settings).model == by_name.model
    assert any("note=" in name or "good" in name for name in by_name.model.feature_names)
    plain = rosenblatt.train(table, label="kind", ignore=["note"], scale="none", folds=3, calibrate="off", **settings)
    assert plain.story["scaling"] == "none" and not plain.model.is_calibrated
    stages = []
    rosenblatt.train(table, label="kind", ignore=["note"], callback=stages.append, **settings)
    assert "training" in stages
    assert rosenblatt.train(table, label="kind", ignore=["note"], online=True, **{**settings, "epochs": None}).estimate is None
    with pytest.raises(TypeError, match="did you mean 'label'"):
        rosenblatt.train(table, lable="kind", **settings)


def test_only_what_has_weights_is_explained(tmp_path):
    mapped = rosenblatt.train(BUNDLED / "iris.csv", learning={"map": {"name": "fourier", "size": 64}}).model
    with pytest.raises(ValueError):
        mapped.explain(BUNDLED / "iris.csv")
    model = rosenblatt.train(BUNDLED / "iris.csv").model
    model.export(tmp_path / "iris.onnx")
    assert (tmp_path / "iris.onnx").stat().st_size > 100


def test_one_message_is_one_row():
    model = rosenblatt.train(BUNDLED / "sms-spam.tsv").model
    assert model.predict(b"WINNER! Claim your prize now").tolist() == ["spam"]


def test_tables_are_read_where_they_are(tmp_path):
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame({
        "size": rng.integers(0, 50, 300) / 4,
        "count": rng.integers(0, 9, 300),
        "colour": pandas.Categorical(rng.choice(["red", "green", "blue"], 300)),
        "grade": pandas.Categorical(rng.choice([1, 2, 3], 300)),
        "open": rng.random(300) < 0.5,
        "kind": rng.choice(["a", "b"], 300),
    })
    frame["kind"] = np.where(frame["size"] > 6, "a", "b")
    frame.to_csv(tmp_path / "t.csv", index=False)
    # Booleans are spelled otherwise by those who write text.
    text = (tmp_path / "t.csv").read_text().replace("True", "true").replace("False", "false")
    (tmp_path / "t.csv").write_text(text)
    settings = dict(algorithm="perceptron", label="kind")
    expected = rosenblatt.train(tmp_path / "t.csv", **settings)
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    chunked = arrow.concat_tables([table.slice(0, 120), table.slice(120, 0), table.slice(120)])
    for given in [frame, frame.set_index(rng.permutation(300)), table, chunked, polars.from_pandas(frame)]:
        assert rosenblatt.train(given, **settings).model == expected.model, type(given)
        assert np.array_equal(expected.model.predict(given), expected.model.predict(tmp_path / "t.csv"))

    class Stream:
        """Anything that has the method is a table."""

        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    assert rosenblatt.train(Stream(table), **settings).model == expected.model
    with pytest.raises(ValueError, match="cannot be read"):
        used = table.__arrow_c_stream__()
        broken = type("Broken", (), {"__arrow_c_stream__": lambda self, requested_schema=None: used})()
        rosenblatt.train(broken, **settings)
        rosenblatt.train(broken, **settings)


def test_proofs_are_checked_saved_loaded_and_drawn(tmp_path):
    from rosenblatt import Certificate, certify

    X = np.genfromtxt(BUNDLED / "iris.csv", delimiter=",", skip_header=1, usecols=range(4))
    y = np.genfromtxt(BUNDLED / "iris.csv", delimiter=",", skip_header=1, usecols=4, dtype=str)
    found = certify(X, y)
    assert {name: proof.separable for name, proof in found.items()} == {"setosa": True, "versicolor": False, "virginica": False}
    proof = found["setosa"]
    low, high = proof.margin
    assert 0.8175 < low <= high < 0.8176 and proof.coef_.shape == (4,)
    assert ((X @ proof.coef_ + proof.intercept_ > 0) == (y == "setosa")).all()
    proof.save(tmp_path / "proof.json")
    loaded = Certificate.load(tmp_path / "proof.json").check(X, y).check(BUNDLED / "iris.csv")
    assert loaded.margin == proof.margin and repr(loaded) == repr(proof)
    if PROGRAM is not None:
        subprocess.run([PROGRAM, "certify", BUNDLED / "iris.csv", "--check", tmp_path / "proof.json"], check=True, capture_output=True)
    wrong = X.copy()
    wrong[0], wrong[60] = X[60], X[0]
    with pytest.raises(ValueError, match="refused"):
        loaded.check(wrong, y)
    assert proof.plot(X, y).startswith("<?xml") and "support" in found["versicolor"].plot(X, y)
    assert certify(BUNDLED / "iris.csv", positive="setosa").margin == proof.margin
    assert certify(X, y, positive="versicolor", against="virginica").separable is False
    assert certify(X[:, :2], y == "setosa", degree=2).separable
    with pytest.raises(ValueError, match="no class"):
        certify(X, y, positive=7)
    with pytest.raises(ValueError, match="still open"):
        certify(X, y, positive="versicolor", seconds=0.0).save(tmp_path / "none.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match="not a certificate"):
        Certificate.load(tmp_path / "other.json")


def test_pictures_and_pages(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    _, ax = pyplot.subplots()
    model = rosenblatt.train(BUNDLED / "iris.csv", algorithm="perceptron").model
    picture = model.plot(BUNDLED / "iris.csv", "confusion", ax=ax)
    assert ax.images and picture._repr_svg_().startswith("<?xml")
    picture.save(tmp_path / "c.svg")
    picture.save(tmp_path / "c.png")
    assert (tmp_path / "c.svg").read_text() == picture and (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert rosenblatt.plot(BUNDLED / "banknote.csv", "roc", ax=ax).startswith("<?xml")
    assert "<td>setosa, versicolor, virginica</td>" in model._repr_html_()
    page = model.report(BUNDLED / "iris.csv", tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == page and page._repr_html_() == page


@pytest.mark.parametrize("name", ["spam", "separable"])
def test_notebooks_run(name):
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    path = Path(__file__).parents[1] / "notebooks" / f"{name}.ipynb"
    book = nbformat.read(path, as_version=4)
    # The kernel of this Python, whatever others are installed.
    manager = pytest.importorskip("jupyter_client").KernelManager()
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    client.NotebookClient(book, km=manager, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
