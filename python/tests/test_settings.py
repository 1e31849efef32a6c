"""Settings by faces: what the catalogue lists has an effect through every face, or is refused by name. Nothing is accepted
and ignored.

The cases follow from the catalogue, so a setting that is added tomorrow is tried tomorrow. `CASES` says more where a value
needs certain rows, or another setting beside it; `SILENT` lists what may stay without effect, and why.
"""

import collections
import contextlib
import dataclasses
import functools
import inspect
import io
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import rosenblatt
from rosenblatt import _named, _settings

PROGRAM = os.environ.get("ROSENBLATT")
CATALOGUE = rosenblatt.catalogue()
GROUPS = {group["name"]: {option["name"]: option for option in group["options"]} for group in CATALOGUE["options"]}
PICTURES = Path(__file__).parents[2] / "crates" / "data" / "tests" / "data" / "pictures"
#: Settings that others hold, by group: options of `learning`, and dictionaries that `train` takes as keywords.
WITHIN, NESTED = ("validation", "kernel", "map", "network"), ("pictures", "limits")


def kind(option):
    """What an option takes, without its range."""
    takes = option["takes"]
    return next(iter(takes)) if isinstance(takes, dict) else takes


#: Every setting, as GROUP.NAME.
SETTINGS = {f"{group}.{name}": one for group, options in GROUPS.items() for name, one in options.items() if kind(one) != "group"}


def case(rows="classes", value=None, beside=None, words=None):
    """The rows and the settings beside which a value matters; the words of the command line where they do not follow."""
    return {"rows": rows, "value": value, "beside": beside or {}, "words": words}


MLP, MAP, KERNEL = {"learning.algorithm": "mlp"}, {"map.name": "fourier"}, {"kernel.name": "polynomial"}
CASES = {
    "recipe.task": case("numbers", "classification"),
    "recipe.choice": case(value="given"),
    "recipe.estimate": case("plain", ("folds", 4)),
    "recipe.time": case(value="day"),
    "recipe.group": case(value="who"),
    "recipe.positive": case(value="no"),
    "recipe.online": case("plain", True),
    "recipe.blank": case("plain", True, words="--start-from base.model --blank"),
    "race.candidates": case(value=["perceptron"]),
    "race.budget": case(value=0.5),
    "memory.bytes": case("plain", 2000),
    "memory.cache": case("plain", "rows.cache", {"memory.bytes": 2000}),
    "learning.algorithm": case(value="pa1"),
    "learning.params": case(value={"C": 0.37}, beside={"learning.algorithm": "pa1"}),
    "learning.mistake": case(value="pred"),
    "learning.ratchet": case(value=False, beside={"learning.readout": "pocket"}),
    "learning.class-weights": case(value={"given": {"yes": 7.0}}),
    "learning.costs": case(value={"given": {"yes": 9.0}}),
    "validation.fraction": case(value=0.3),
    "map.name": case(value="nystroem"),
    "map.size": case(value=16, beside=MAP),
    "map.kernel": case(value="laplacian", beside=MAP),
    "map.params": case(value={"gamma": 0.3}, beside=MAP, words="--gamma 0.3"),
    "kernel.name": case(value="rbf"),
    "kernel.params": case(value={"gamma": 0.3}, beside=KERNEL, words="--gamma 0.3"),
    "kernel.normalised": case(value=True, beside=KERNEL),
    "kernel.memory": case(value=1000, beside=KERNEL),
    "kernel.device": case(value="cpu", beside=KERNEL),
    "kernel.budget": case(value=3, beside=KERNEL),
    "kernel.removal": case(value="random", beside={**KERNEL, "kernel.budget": 3}),
    "network.sizes": case(value=[3], beside=MLP, words="--hidden 3"),
    "network.activation": case(beside=MLP),
    "network.loss": case(beside=MLP),
    "network.optimiser": case(value="sgd", beside=MLP),
    "tagging.algorithm": case("sentences", "pa1"),
    "tagging.params": case("sentences", {"C": 0.37}, {"tagging.algorithm": "pa1"}, "--param C=0.37"),
    "tagging.averaged": case("sentences", False, words="--readout last"),
    "tagging.voted": case("sentences", True, words="--readout voted"),
    "tagging.epochs": case("sentences", 2),
    "tagging.seed": case("sentences", 1),
    "tagging.features": case("sentences", "ner"),
    "tagging.template": case("sentences", "U00:%x[0,0]\nB\n"),
    "tagging.history": case("sentences", 2),
    "tagging.beam": case("sentences", 1),
    "tagging.violation": case("sentences", "early", {"tagging.beam": 1}),
    "tagging.cost": case("sentences", 0.9),
    "tagging.constraints": case("chunks", "none"),
    "tagging.min-count": case("sentences", 5),
    "tagging.hash-bits": case("sentences", 8),
    "tagging.shards": case("sentences", 2),
    "tagging.label": case("sentences", "1"),
    "text.units": case("text", "characters"),
    "text.shortest": case("text", 2, words="--ngrams 2-2"),
    "text.longest": case("text", 3, words="--ngrams 1-3"),
    "text.weighting": case("text", "binary"),
    "text.unit-length": case("text", False),
    "text.min-count": case("text", 9),
    "text.keep-names": case("text", True, {"reading.hash-bits": 4}),
    "pictures.size": case("pictures", [3, 3], words="--size 3x3"),
    "pictures.colour": case("pictures", True),
    "pictures.unscaled": case("pictures", True),
    "limits.line-bytes": case(value=2),
    "limits.features": case(value=1),
    "limits.classes": case(value=1),
    "limits.categories": case(value=1),
    "limits.vocabulary": case("text", 1),
    "limits.pixels": case("pictures", 1),
    "limits.held-bytes": case("arrays", 1),
    "reading.format": case("either", "csv"),
    "reading.label": case(value=3),
    "reading.weight": case(value="a"),
    "reading.ignore": case(value=["a"]),
    "reading.categorical": case(value=["a"]),
    "reading.header": case("words", False),
    "reading.delimiter": case(value=";"),
    "reading.positive": case(value="no"),
    "reading.classes": case(value=["yes", "no", "low", "other"]),
    "reading.grow-classes": case("stream", True, {"recipe.online": True}),
    "reading.missing": case("gaps", "mean"),
    "reading.zero-based": case("numbered", True),
    "reading.hash-bits": case(value=3),
    "reading.scaling": case(value="min-max"),
    "reading.shape": case(value="bend(knots=3)"),
    "reading.text-columns": case(value=["city"]),
    "reading.crosses": case(value=[["a", "b"]]),
    "reading.unknown": case("plain", "error"),
    "reading.on-bad-row": case("broken", "skip"),
    "reading.labels-file": case("idx", "other-labels.idx"),
    "reading.threads": case("text", 1),
}

#: What is excused: by face and setting, that it is silent, or that its refusal does not name it, and why. An excuse that is
#: no longer needed fails.
PROMISE = "it changes no bit, by promise"
EXCUSED = {
    ("command line", "reading.threads"): ("silent", PROMISE),
    ("command line", "kernel.device"): ("silent unnamed", PROMISE),
    ("train", "reading.threads"): ("silent", PROMISE),
    ("train", "kernel.device"): ("silent", PROMISE),
    **{
        ("command line", setting): ("unnamed", "the parser names only the option that is missing")
        for setting in ("kernel.memory", "kernel.normalised", "kernel.budget", "kernel.removal", "map.size", "tagging.violation")
    },
    ("train", "limits.held-bytes"): ("unnamed", "the limit has no option on the command line"),
    **{
        (solver, "n_iter_no_change"): ("silent", "it is about early_stopping, and scikit-learn's checks set it in any case")
        for solver in ("LinearSVM", "LogisticRegression", "SparseLogisticRegression")
    },
    ("MinOver", "warm_start"): ("silent", "its weights return, so that more epochs end where the last ones ended"),
    ("MLPClassifier", "max_fun"): ("silent", "it is about scikit-learn's lbfgs, and taken so that its programs run"),
    ("MLPClassifier", "power_t"): ("silent", 'it is about learning_rate="invscaling", as in scikit-learn'),
    ("MLPClassifier", "learning_rate"): ("silent", 'it is about solver="sgd", as in scikit-learn'),
    ("MLPClassifier", "validation_fraction"): ("silent", "it is about early_stopping, as in scikit-learn"),
    ("SequencePerceptron", "all_possible_states"): ("silent", "True is what holds anyway, and all else is refused"),
    ("SequencePerceptron", "all_possible_transitions"): ("silent", "True is what holds anyway, and all else is refused"),
}

#: Outcomes, by face.
TALLY: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)


def count(face, setting, outcomes):
    """Counts what came of a setting, alone and beside what it needs; the last is what it is counted as. Says what is wrong."""
    TALLY[face][outcomes[-1]] += 1
    wrong = sorted({outcome for outcome in outcomes if outcome in ("silent", "unnamed")})
    excused, why = EXCUSED.get((face, setting), ("", ""))
    if wrong == sorted(excused.split()):
        return ""
    return f"{setting} through {face} is {', '.join(outcomes)}" + (f", so this is no excuse: {why}" if excused else "") + "\n"


def test_excuses_are_about_what_there_is():
    for face, setting in EXCUSED:
        assert setting in SETTINGS if face not in ESTIMATORS else setting in parameters(getattr(rosenblatt, face)())


@pytest.fixture(scope="module", autouse=True)
def counted(request):
    """Prints the counts at the end."""
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        for face, found in TALLY.items():
            print(f"\n{face}: {sum(found.values())} settings, {', '.join(f'{n} {kind}' for kind, n in sorted(found.items()))}", end="")
    if "ROSENBLATT_SETTINGS_TRIED" in os.environ:
        tried = sum(sum(found.values()) for found in TALLY.values())
        Path(os.environ["ROSENBLATT_SETTINGS_TRIED"]).write_text(str(tried), encoding="utf-8")


def value_of(setting):
    """A value that is not the default."""
    option, given = SETTINGS[setting], CASES.get(setting, case())["value"]
    if given is not None:
        return given
    default, takes = option["default"], kind(option)
    if takes == "switch":
        return not default
    if takes == "choice":
        listed = [one for group in CATALOGUE["choices"] if group["name"] == option["takes"]["choice"] for one in group["choices"]]
        return next(one["example"] for one in listed if one["name"] != default)
    if takes == "at-least":
        return max(option["takes"]["at-least"], default or 0) + 2
    return 0.37 if takes in ("between", "positive", "from-zero") else "x"


# Rows.


def table(label):
    """Rows with numbers, categories, groups and times."""
    lines = [f"a,b,city,who,day,{label}"]
    for row in range(90):
        a, b = row * 37 % 89 / 10, row * 53 % 97 / 10
        score = a - b + row % 3 + row * 17 % 7 / 3
        answer = f"{score:.2f}" if label == "price" else "no" if score < -1 else "low" if score < 4 else "yes"
        lines.append(f"{a},{b},{'xyz'[row % 3]},p{row % 9},{row},{answer}")
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of all rows."""
    path, lines = tmp_path_factory.mktemp("rows"), table("kind")
    write = lambda name, lines: (path / name).write_text("\n".join(lines) + "\n")
    write("classes.csv", lines)
    write("numbers.csv", table("price"))
    write("gaps.csv", [line if row % 9 or not row else line[line.index(",") :] for row, line in enumerate(lines)])
    write("late.csv", ["a,kind", *(f"{row % 7},{'no' if row % 7 < 3 else 'yes'}" for row in range(100_000)), "3,low", "4,low"])
    write("words.csv", ["a,b,kind", *(f"{'xyz'[row % 3]},{'uv'[row // 3 % 2]},{'no' if row % 7 < 3 else 'yes'}" for row in range(60))])
    write("broken.csv", [*lines[:50], "1,2,x", *lines[50:]])
    write("s.conll", ("the D|cat N|runs V||a D|run N||she P|ran V|home N||runs N|end V||" * 6).split("|"))
    write("c.conll", ("the B-NP|cat I-NP|runs B-VP||a B-NP|run I-NP|ends O||she B-NP|ran B-VP|home I-VP||" * 6).split("|"))
    texts = [["cash prize", "win now", "see you", "at home"][(row * 7 + row // 5) % 4] for row in range(60)]
    write("t.tsv", [f"{'yes' if row % 4 < 2 else 'no'}\t{text} one{row % 3} two{row % 11}" for row, text in enumerate(texts)])
    write("either.tsv", [f"{'yes' if row % 4 < 2 else 'no'}\t{text}" for row, text in enumerate(texts)])
    write("n.svm", [f"{row % 2} 1:{row % 7} 3:{row * 5 % 11} 4:{row % 2 + row % 3 / 2}" for row in range(60)])
    random, codes = np.random.default_rng(1), np.arange(40, dtype=np.uint8) % 2
    pixels = random.integers(0, 256, (40, 4, 4), np.uint8)
    for name, labels in (("some-labels.idx", codes), ("other-labels.idx", codes ^ (np.arange(40) % 3 == 0))):
        (path / name).write_bytes(struct.pack(">HBBI", 0, 8, 1, 40) + labels.astype(np.uint8).tobytes())
    (path / "some-images.idx").write_bytes(struct.pack(">HBBIII", 0, 8, 3, 40, 4, 4) + pixels.tobytes())
    np.savez(path / "arrays.npz", X=random.normal(size=(40, 3)), y=codes)
    return path


#: The file of each kind of rows, and what is set for them.
SHORT = {"learning.algorithm": "perceptron", "learning.epochs": 3, "recipe.estimate": ("holdout", 0.3)}
ROWS = {
    "classes": ("classes.csv", SHORT),
    "plain": ("classes.csv", {"learning.algorithm": "perceptron"}),
    "numbers": ("numbers.csv", {"reading.label": "price", "learning.algorithm": "ridge"}),
    "gaps": ("gaps.csv", SHORT),
    # The program reads it from stdin, so it cannot look through it first.
    "stream": ("late.csv", {"learning.algorithm": "perceptron"}),
    "words": ("words.csv", SHORT),
    "broken": ("broken.csv", SHORT),
    "sentences": ("s.conll", {"tagging.epochs": 3}),
    "chunks": ("c.conll", {"tagging.epochs": 3}),
    "text": ("t.tsv", SHORT),
    "either": ("either.tsv", SHORT),
    "numbered": ("n.svm", SHORT),
    "pictures": (PICTURES, {"learning.algorithm": "perceptron"}),
    "idx": ("some-images.idx", {**SHORT, "reading.labels-file": "some-labels.idx"}),
    "arrays": ("arrays.npz", SHORT),
}


# What came of an attempt.


@dataclasses.dataclass
class Came:
    """Of a training: why it was refused, or what it reported and left."""

    refusal: str | None = None
    report: Any = None
    model: bytes = b""
    left: Any = None

    def beside(self, plain, names):
        """What this is beside the same without the setting, which is called by these names."""
        if self.refusal is not None:
            return "refused" if is_named(names, self.refusal) else "unnamed"
        if plain.refusal is not None or (self.report, self.left, _payload(self.model)) != (plain.report, plain.left, _payload(plain.model)):
            return "effective"
        return "recorded" if self.model != plain.model else "silent"


def _payload(model):
    """A model without its header, which repeats the settings."""
    return model[64 + int.from_bytes(model[16:24], "little") :]


def timeless(report):
    """A report without times, and without what only repeats the settings."""
    if isinstance(report, dict):
        left_out = {"spec", "model", "model-bytes", "options", "command", "train-again"}
        return {name: timeless(one) for name, one in report.items() if "second" not in name and name not in left_out}
    return [timeless(one) for one in report] if isinstance(report, list) else report


def is_named(names, message):
    """Whether a message calls the setting by one of its names, and says more than that."""
    text, names = message.lower().replace("-", "_"), {name.lower().replace("-", "_") for name in names if name}
    return any(re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) for name in names) and len(message.split()) > 4


def names_of(setting):
    """What faces call a setting, and what is in its value."""
    option, value = SETTINGS[setting], value_of(setting)
    inner = value if isinstance(value, dict) and "given" not in value else ()
    return {setting.partition(".")[2], option["python"], option["spark"], option["flag"], *inner}


def ways(needed):
    """A setting is tried alone, and beside what it needs, if that is anything."""
    return [{}, needed] if needed else [{}]


# The command line.


@functools.cache
def flags():
    """The options of `train`: what each takes, None if it is a switch."""
    listed = json.loads(subprocess.run([PROGRAM, "catalogue", "--json"], check=True, capture_output=True).stdout)
    command = next(command for command in listed["commands"] if command["name"] == "train")
    return {option["name"]: option["takes"] for option in command["options"]}


def words_of(setting, value):
    """The words that set it. One without a flag is tried by its name."""
    if setting == "recipe.estimate":
        return [f"--{value[0]}", str(value[1])]
    found, option = CASES.get(setting, case()), SETTINGS[setting]
    if found["words"] is not None and value == found["value"]:
        return found["words"].split()
    flag = f"--{option['flag'] or setting.partition('.')[2]}"
    if flag[2:] in flags() and flags()[flag[2:]] is None:
        return [flag]
    if isinstance(value, dict):
        return [part for name, one in value.get("given", value).items() for part in (flag, f"{name}={one}")]
    if isinstance(value, list):
        return [flag, ",".join(value[0] if isinstance(value[0], list) else value)]
    return [flag, {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)]


def by_command(folder, rows, asked):
    """What `train` makes of settings in a shell."""
    with tempfile.TemporaryDirectory() as here:
        for file in folder.iterdir():
            os.symlink(file, Path(here, file.name))
        before = set(os.listdir(here))
        words = [word for one in asked.items() for word in words_of(*one)]
        if "base.model" in words:
            begin = [PROGRAM, "train", folder / ROWS[rows][0], "--algorithm", "perceptron", "--quiet", "--model", "base.model"]
            subprocess.run(begin, cwd=here, check=True, capture_output=True)
        file = folder / ROWS[rows][0]
        command = [PROGRAM, "train", "-" if rows == "stream" else file, *words, "--model", "out", "--json"]
        with open(file if rows == "stream" else os.devnull) as stdin:
            done = subprocess.run(command, cwd=here, stdin=stdin, capture_output=True, text=True, timeout=200)
        if done.returncode:
            assert done.returncode in (1, 2) and "error: " in done.stderr, done
            return Came(refusal=done.stderr)
        return Came(None, timeless(json.loads(done.stdout)), Path(here, "out").read_bytes(), set(os.listdir(here)) - before)


# `rosenblatt.train`.


def keywords_of(asked):
    """Settings as keywords of `train`."""
    keywords: dict[str, Any] = {}
    known = inspect.signature(rosenblatt.train).parameters
    for setting, value in asked.items():
        group, _, name = setting.partition(".")
        flag, name = (SETTINGS[setting]["flag"] or "").replace("-", "_"), name.replace("-", "_")
        if setting == "recipe.estimate":
            keywords[value[0]] = value[1]
        elif group in ("learning", "tagging"):
            keywords.setdefault("learning", {})[name] = value
        elif group in WITHIN:
            if setting == "validation.patience":
                # The flag means what it says of few rows, too.
                keywords.setdefault("learning", {}).setdefault(group, {})["min_rows"] = 0
            keywords.setdefault("learning", {}).setdefault(group, {})[name] = value
        elif group in NESTED:
            keywords.setdefault(group, {})[name] = value
        else:
            keywords[flag if flag in known else name] = value
    return keywords


def by_train(folder, rows, asked):
    """What `rosenblatt.train` makes of settings."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        trained = rosenblatt.train(folder / ROWS[rows][0], **keywords_of(asked))
    except (ValueError, TypeError, FileNotFoundError) as error:
        return Came(refusal=str(error))
    finally:
        os.chdir(before)
    return Came(None, timeless([trained.estimate, trained.race, trained.notes, trained.story]), trained.model.to_bytes())


@functools.cache
def attempt(face, folder, rows, asked):
    return {"command line": by_command, "train": by_train}[face](folder, rows, json.loads(asked))


@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_command_line_and_train_heed_or_refuse(setting, folder):
    found, models = CASES.get(setting, case("sentences" if setting.startswith("tagging.") else "classes")), []
    for face in ("command line", "train"):
        outcomes = []
        for beside in ways(found["beside"]):
            plain = {**ROWS[found["rows"]][1], **beside}
            asked = {**plain, setting: value_of(setting)}
            without, changed = (attempt(face, folder, found["rows"], json.dumps(one)) for one in (plain, asked))
            outcomes.append(changed.beside(without, names_of(setting)))
        assert not (wrong := count(face, setting, outcomes)), wrong
        models.append(changed.model)
    if all(models):
        assert models[0] == models[1], "one setting, two models"


# Estimators.

ESTIMATORS = [*_named.__all__, "PerceptronClassifier", "MLPClassifier", "Regressor", "AutoClassifier", "SequencePerceptron"]
ROW = np.random.default_rng(3)
X = np.vstack([np.round(ROW.normal(size=(50, 3)), 1), np.ones((6, 3))])
Y = np.concatenate([np.where(X[:50, 0] + ROW.normal(size=50) > 0.5, 2, np.where(X[:50, 1] > 0.3, 1, 0)), [0, 1, 2, 0, 0, 1]])
SENTENCES = [[{"w": word} for word in line.split()] for line in ("the cat runs", "a run", "she ran home", "runs end")] * 5
TAGS = [["D", "N", "V"], ["D", "N"], ["P", "V", "N"], ["N", "V"]] * 5

#: Values of what is no setting of learning, and what has a form of its own in Python.
OWN = {
    "algorithm": "pa1", "params": {"C": 0.37}, "random_state": 1, "max_iter": 2, "early_stopping": None, "calibrate": "isotonic",
    "merge_rows": True, "warm_start": True, "callback": "print", "class_weight": {0: 7.0}, "costs": {0: 9.0}, "rate": 0.37,
    "kernel": "rbf", "feature_map": "nystroem", "map_size": 16, "kernel_params": {"gamma": 0.3}, "support_budget": 3,
    "validation_fraction": 0.37, "ratchet": False, "scale": "min-max", "missing": "mean", "hidden_layer_sizes": (3,),
    "activation": "tanh", "solver": "sgd", "alpha": 0.37, "batch_size": 7, "learning_rate": "invscaling", "learning_rate_init": 0.1,
    "power_t": 0.3, "shuffle": False, "tol": 0.37, "verbose": True, "momentum": 0.5, "nesterovs_momentum": False, "beta_1": 0.5,
    "beta_2": 0.5, "epsilon": 0.1, "n_iter_no_change": 2, "max_fun": 7, "loss": "hinge", "max_iterations": 2, "averaging": False,
    "voted": True, "features": "ner", "template": "U00:%x[0,0]\nB\n", "history": 2, "beam": 1, "violation": "early", "label_cost": 0.9,
    "constraints": "none", "min_freq": 6, "hash_bits": 8, "shards": 2, "holdout": 0.3, "c": 0.37, "all_possible_states": True,
    "all_possible_transitions": True,
}
#: What a parameter needs beside it, by class or for all.
BESIDE: dict[str, dict[str, Any]] = {
    "params": {"algorithm": "pa1"}, "costs": {"calibrate": "platt"}, "map_size": {"feature_map": "fourier"}, "kernel_params": {"kernel": "rbf"},
    "support_budget": {"kernel": "rbf"}, "ratchet": {"readout": "pocket"}, "c": {"algorithm": "pa1"}, "violation": {"beam": 1},
    "power_t": {"solver": "sgd", "learning_rate": "invscaling"}, "learning_rate": {"solver": "sgd"}, "momentum": {"solver": "sgd"},
    "nesterovs_momentum": {"solver": "sgd"}, "Regressor.params": {"algorithm": "svr"}, "Regressor.rate": {"algorithm": "lms"},
    "validation_fraction": {"early_stopping": True}, "template": {"words": True}, "features": {"words": True}, "warm_start": {"max_iter": 2},
}


def parameters(estimator):
    """The parameters of an estimator, with their defaults."""
    return {name: one.default for name, one in inspect.signature(type(estimator).__init__).parameters.items() if name != "self"}


def value_for(estimator, name, default):
    """A value of a parameter that is not its default."""
    by_name = {"lam": "lambda", "tol": "tolerance"}
    rule = next(one for one in CATALOGUE["algorithms"] if one["name"] == estimator._fixed.get("algorithm", "perceptron")) \
        if hasattr(estimator, "_fixed") else {"params": []}
    if name in getattr(estimator, "_rule_params", ()):
        spec = next(one for one in rule["params"] if one["name"] == by_name.get(name, name))
        return 1.0 - default if spec["range"] == "0 or 1" else default + 3 if "whole" in spec["range"] else default / 2 or 0.3
    if isinstance(default, bool):
        return not default
    if type(estimator).__name__ == "Regressor" and name in ("algorithm", "params"):
        return {"algorithm": "huber", "params": {"C": 0.37}}[name]
    if type(estimator).__name__ == "SequencePerceptron" and name == "algorithm":
        return "pa1"
    if name in OWN and OWN[name] != default:
        return OWN[name]
    places = [f"{group}.{engine}" for python, (group, engine) in _settings.SETTINGS.items() if python == name]
    assert places, f"say what {name} of {type(estimator).__name__} may be"
    return value_of(places[0]) if value_of(places[0]) != default else OWN[name]


def came_of(name, settings, with_words=False):
    """What a fit makes of an estimator, twice, so that a warm start is seen."""
    heard: list[Any] = []
    given = {key: heard.append if key == "callback" else value for key, value in settings.items()}
    rows = {"SequencePerceptron": (SENTENCES, TAGS), "Regressor": (X, X @ [1.0, 2.0, -1.0] + ROW_NOISE)}.get(name, (X, Y))
    if with_words:
        rows = [[token["w"] for token in sentence] for sentence in SENTENCES], TAGS
    if name == "AutoClassifier":
        pandas = pytest.importorskip("pandas")
        rows = pandas.DataFrame(X.copy(), columns=list("abc")), Y
        if "missing" in settings:
            rows[0].iloc[::9, 0] = np.nan
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = getattr(rosenblatt, name)(**given)
            fitted.fit(*rows)
            fitted.fit(*rows)
    except (ValueError, TypeError) as error:
        return Came(refusal=str(error))
    report = timeless([getattr(fitted, "estimate_", None), fitted.model_.is_calibrated, getattr(fitted, "n_iter_", None)])
    return Came(None, report, fitted.model_.to_bytes(), [printed.getvalue(), len(heard)])


def called(parameter, value):
    """What messages call a parameter, or what is in it."""
    group, engine = _settings.SETTINGS.get(parameter, (parameter, parameter))
    return {parameter, engine if engine != "name" else group, *(value if isinstance(value, dict) and parameter.endswith("params") else ())}


ROW_NOISE = np.random.default_rng(4).normal(size=len(X))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_heed_or_refuse(name):
    estimator, wrong = getattr(rosenblatt, name)(), ""
    own = parameters(estimator)
    for parameter, default in own.items():
        value = value_for(estimator, parameter, default)
        needs = BESIDE.get(f"{name}.{parameter}", BESIDE.get(parameter, {}))
        words = needs.get("words", False) and name == "SequencePerceptron"
        needs = {key: one for key, one in needs.items() if key in own}
        outcomes = []
        for beside in ways(needs):
            without, changed = came_of(name, beside, words), came_of(name, {**beside, parameter: value}, words)
            # Some rules go with none of what it needs.
            if without.refusal is None:
                outcomes.append(changed.beside(without, called(parameter, value)))
        wrong += count(name, parameter, outcomes)
    for setting, option in SETTINGS.items():
        if option["python"] in own:
            continue
        with pytest.raises(TypeError) as refused:
            getattr(rosenblatt, name)(**{option["python"]: value_of(setting)})
        wrong += count(name, setting, [Came(str(refused.value)).beside(None, {option["python"]})])
    assert not wrong, wrong


#: Parameters that the command line has, too. Its patience is about few rows as well, which estimators always learn from.
SHARED = [
    python for python, place in _settings.SETTINGS.items()
    if (SETTINGS[".".join(place)]["flag"] or CASES.get(".".join(place), case())["words"]) and python != "n_iter_no_change"
]


@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
@pytest.mark.parametrize("parameter", SHARED)
def test_estimators_learn_from_files_what_the_command_line_learns(parameter, folder):
    python = {".".join(place): name for name, place in _settings.SETTINGS.items()}
    setting = ".".join(_settings.SETTINGS[parameter])
    beside = CASES.get(setting, case())["beside"]
    given = {python[one]: value for one, value in {"learning.epochs": 3, **beside, setting: value_of(setting)}.items()}
    given = {name: value.get("given", value) if isinstance(value, dict) else value for name, value in given.items()}
    asked = {"reading.label": "kind", "reading.scaling": "none", "reading.precision": "f64", "recipe.calibration": "off"}
    asked |= {"learning.algorithm": "perceptron", "learning.epochs": 3, "recipe.estimate": ("holdout", 0), **beside, setting: value_of(setting)}
    if parameter == "costs":
        given["calibrate"] = "platt"
        asked |= {"recipe.calibration": "platt", "recipe.estimate": ("folds", 5)}
    fitted = rosenblatt.PerceptronClassifier(**given).fit(str(folder / "classes.csv"), "kind")
    shell = by_command(folder, "classes", asked)
    assert shell.refusal is None, shell.refusal
    assert fitted.model_.to_bytes() == shell.model


# The server.


@pytest.fixture(scope="module")
def client(folder, tmp_path_factory):
    """A server with a model, and a client of it."""
    models = tmp_path_factory.mktemp("models")
    trained = rosenblatt.train(folder / "classes.csv", algorithm="perceptron", epochs=1, ignore=["day", "who"])
    trained.model.save(models / "m.model")
    words = [PROGRAM, "serve", str(models), "--address", "127.0.0.1:0", "--max-versions", "3"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        with rosenblatt.Client("http://" + server.stdout.readline().split("http://")[1].split(",")[0]) as client:
            yield client
    finally:
        server.terminate()
        server.wait(30)


def by_server(client, asked):
    """What a version makes of a setting: learned by rows from zero, or refused."""
    groups: dict[str, Any] = {}
    for setting, value in asked.items():
        group, _, name = setting.partition(".")
        (groups.setdefault(group, {}) if group in WITHIN else groups)[name] = value
    of_learning = all(setting.partition(".")[0] in ("learning", *WITHIN) for setting in asked)
    body = {"of": 1, "blank": True, **({"learning": groups} if of_learning else groups)}
    try:
        if "blank" in groups:
            body["blank"] = False
        client._json("POST", "/v1/models/m/versions", json.dumps(body).encode())
        lines = [line.split(",") for line in table("kind")[1:40]]
        client.learn("m", [{"a": float(a), "b": float(b), "city": city} for a, b, city, *_ in lines], [line[-1] for line in lines])
        try:
            came = client.learn("m", [{"a": 1.0, "b": 2.0, "city": "x"}], ["a new class"])["new-classes"]
        except rosenblatt.ServerError as error:
            came = error.code
        # The file waits for all that was acknowledged; a description may be older.
        file = client.download("m")
        return Came(None, timeless(rosenblatt.Model.from_bytes(file).summary(5)), file, came)
    except rosenblatt.ServerError as error:
        return Came(refusal=str(error))


@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
def test_the_server_heeds_or_refuses(client):
    came, wrong = functools.cache(lambda asked: by_server(client, json.loads(asked))), ""
    for setting in SETTINGS:
        of_learning = setting.partition(".")[0] in ("learning", *WITHIN)
        beside = CASES.get(setting, case())["beside"] if of_learning else {}
        # What belongs together is refused together.
        names = {*names_of(setting), *(name for one in beside for name in (*names_of(one), *one.split("."))), "gamma"}
        without, changed = came(json.dumps(beside)), came(json.dumps({**beside, setting: value_of(setting)}))
        wrong += count("server", setting, [changed.beside(without, names)])
    assert not wrong, wrong


@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
def test_no_word_of_a_query_is_left_unheard(client):
    """Settings are no words of queries, but for those that the server has itself."""
    body, wrong = json.dumps({"rows": [[1, 2, "x"]], "labels": ["no"]}).encode(), ""
    for path, setting in itertools.product(("learn", "predict", "explain", "evaluate"), SETTINGS):
        name = setting.partition(".")[2]
        if (path, name) == ("learn", "grow-classes"):
            continue
        try:
            client._ask("POST", f"/v1/models/m/{path}?{name}=1", body, {"content-type": "application/json"})
            outcome = "silent"
        except rosenblatt.ServerError as error:
            assert error.status == 400, error
            # The help lists words that there are.
            outcome = Came(error.problem["detail"]).beside(None, names_of(setting))
        wrong += count(f"query of {path}", setting, [outcome])
    assert not wrong, wrong


# Messages, and what stays whole.


@pytest.mark.parametrize("keywords, words", [
    ({"lable": "kind"}, r"train\(\) got an unexpected keyword argument 'lable'; did you mean 'label'\?"),
    ({"max_iter": 3}, r"'max_iter'; did you mean 'epochs'"),
    ({"calibration": "off"}, r"'calibration'; did you mean 'calibrate'"),
    ({"beam": 2}, r"'beam'; pass learning={'beam': ...}"),
    ({"refit": False}, r"'refit'; on the command line it is `--no-refit`"),
    ({"nonsense": 1}, r"'nonsense'; known are algorithm, "),
    ({"learning": {"epoch": 3}}, "'learning' of train has no option 'epoch'; did you mean 'epochs'"),
    ({"learning": {"kernel": {"degree": 3}}}, "'learning.kernel' of train has no option 'degree'; known are "),
    ({"learning": {"epochs": "ten"}}, "'learning.epochs' parameter of train must be a whole number, 1 or more. Got 'ten'"),
    ({"learning": {"validation": {"fraction": 2}}}, "'learning.validation.fraction' parameter of train must be a number between 0 and 1"),
    ({"learning": {"class_weights": "foo"}}, "'learning.class_weights' parameter of train must be "),
    ({"learning": 3}, "'learning' parameter of train must be a dictionary"),
    ({"epochs": 3, "learning": {"epochs": 4}}, "'epochs' of train is set twice"),
    ({"scale": "none", "scaling": "none"}, "'scale' and 'scaling' of train set the same"),
    ({"epochs": 0}, "'epochs' parameter of train must be"),
    ({"folds": 1}, "'folds' parameter of train must be"),
    ({"holdout": 2}, "'holdout' parameter of train must be"),
    ({"folds": 3, "holdout": 0.2}, "folds and holdout of train both"),
    ({"memory": "1GB"}, "'memory' parameter of train must be"),
    ({"task": "sort"}, "'task' parameter of train must be one of"),
    ({"callback": "print"}, "'callback' parameter of train must be something that can be called"),
    ({"missing": "guess"}, "'missing' parameter of train must be"),
    ({"delimiter": ";;"}, "'delimiter' parameter of train must be"),
    ({"cross": 3}, "'cross' parameter of train must be"),
    ({"ignore": 3.5}, "'ignore' parameter of train must be"),
    ({"size": "big"}, "'size' parameter of train must be"),
    ({"ngrams": "few"}, "'ngrams' parameter of train must be"),
    *(({"online": True, **more}, f"'{next(iter(more))}' of train means nothing with online=True") for more in (
        {"epochs": 3}, {"folds": 3}, {"holdout": 0.2}, {"calibrate": "platt"}, {"memory": 1000})),
    ({"online": True, "learning": {"order": "given"}}, "'order' of train means nothing with online=True"),
])
def test_wrong_keywords_of_train_are_named_in_pythons_words(keywords, words, folder):
    with pytest.raises((TypeError, ValueError), match=words) as error:
        rosenblatt.train(folder / "classes.csv", **keywords)
    assert "line 1 column" not in str(error.value) and "unknown field" not in str(error.value)


def test_other_functions_answer_slips_as_well(folder):
    path = folder / "classes.csv"
    model = rosenblatt.train(path, algorithm="perceptron", epochs=1).model
    for ask in (lambda **given: rosenblatt.compare(path, "perceptron", **given), lambda **given: rosenblatt.trace(path, **given),
                lambda **given: rosenblatt.certify(path, **given), lambda **given: model.evaluate(path, **given)):
        with pytest.raises(TypeError, match="unexpected keyword argument 'lable'; did you mean 'label'"):
            ask(lable="kind")
    for ask in (rosenblatt.compare, rosenblatt.plot):
        with pytest.raises(ValueError, match="no option 'epoch'; did you mean 'epochs'"):
            ask(path, "perceptron" if ask is rosenblatt.compare else "boundary", learning={"epoch": 3})
    with pytest.raises(ValueError, match="'missing' is for files and tables"):
        rosenblatt.certify(X, Y > 0, missing="mean")


def test_advice_in_pythons_words_can_be_followed(folder):
    """The engine's cures name options as the command line does, and `train` takes those names."""
    train = functools.partial(rosenblatt.train, algorithm="perceptron", epochs=1, holdout=0.0)
    broken, plain = folder / "broken.csv", folder / "classes.csv"
    with pytest.raises(ValueError):
        train(broken)
    assert train(broken, skip_bad_rows=True).model == train(broken, on_bad_row="skip").model
    with pytest.raises(ValueError, match="max_line"):
        train(plain, max_line=5)
    assert train(plain, max_line=500).model == train(plain).model
    text = folder / "t.tsv"
    for flag, names in (({"words": "binary"}, {"weighting": "binary"}), ({"characters": True}, {"units": "characters"}),
                        ({"ngrams": (1, 3)}, {"longest": 3}), ({"ngrams": "2-2"}, {"shortest": 2})):
        assert train(text, **flag).model == train(text, **names).model != train(text).model, flag
    assert train(plain, cross=("a", "b")).model == train(plain, crosses=[["a", "b"]]).model
    assert train(plain, ignore="a", delimiter=",").model == train(plain, ignore=["a"]).model
    given = {"class_weights": {"yes": 7.0}, "rate": 0.5, "validation": {"min_rows": 5}}
    engines = {"class-weights": {"given": {"yes": 7.0}}, "rate": "0.5", "validation": {"min-rows": 5}}
    assert train(plain, learning=given).model == train(plain, learning=engines).model
    # Nothing in place of a value may mean something.
    assert train(plain, learning={"validation": None}).model != train(plain).model


@pytest.mark.parametrize("name, value", [
    ("activation", "foo"), ("activation", 3), ("alpha", "x"), ("alpha", -1.0), ("hidden_layer_sizes", "a"), ("hidden_layer_sizes", (3, "b")),
    ("hidden_layer_sizes", 0), ("hidden_layer_sizes", (4, -1)), ("hidden_layer_sizes", 2.5), ("solver", "newton"), ("batch_size", 0),
    ("batch_size", "many"), ("learning_rate_init", "fast"), ("learning_rate_init", 0), ("power_t", "x"), ("tol", "x"), ("tol", -1.0),
    ("momentum", 1.0), ("momentum", None), ("beta_1", 1.5), ("beta_2", "x"), ("epsilon", 0), ("loss", "cubic"), ("shuffle", "yes"),
    ("verbose", "loud"), ("nesterovs_momentum", None), ("max_iter", 0), ("validation_fraction", 2), ("n_iter_no_change", 0),
    ("learning_rate", "faster"),
])
def test_wrong_parameters_of_networks_are_named(name, value):
    wrong = rosenblatt.MLPClassifier(**{name: value})
    for learn in (wrong.fit, lambda X, y: wrong.partial_fit(X, y, [0, 1, 2])):
        with pytest.raises(ValueError, match=rf"\b{name}\b") as error:
            learn(X, Y)
        assert "line 1" not in str(error.value) and "could not convert" not in str(error.value)


@pytest.mark.parametrize("name, value", [
    ("algorithm", "percetpron"), ("params", {"C": "much"}), ("max_iterations", "ten"), ("max_iterations", 0), ("averaging", "yes"),
    ("voted", None), ("features", "nouns"), ("template", 3), ("history", 0), ("beam", "wide"), ("violation", "late"), ("label_cost", -1),
    ("label_cost", "high"), ("constraints", "bi"), ("min_freq", 1.5), ("hash_bits", "many"), ("shards", 0), ("holdout", 1.5), ("c", "x"),
    ("verbose", "loud"), ("callback", 3), ("random_state", -1), ("all_possible_states", False),
])
def test_wrong_parameters_of_taggers_are_named(name, value):
    with pytest.raises(ValueError) as error:
        rosenblatt.SequencePerceptron(**{name: value}).fit(SENTENCES, TAGS)
    assert "line 1" not in str(error.value) and re.search(rf"\b{name}\b|did you mean", str(error.value)), error.value


@pytest.mark.parametrize("make, name, value", [
    (rosenblatt.LinearSVM, "tol", -1.0), (rosenblatt.LinearSVM, "C", 0), (rosenblatt.LinearSVM, "squared", 2), (rosenblatt.LinearSVM, "l1", -1),
    (rosenblatt.Pegasos, "lam", 0), (rosenblatt.ALMA, "alpha", 2), (rosenblatt.BatchPerceptron, "size", 1.5), (rosenblatt.AROW, "r", np.inf),
    (rosenblatt.Perceptron, "map_size", 7), (rosenblatt.Perceptron, "support_budget", 7), (rosenblatt.LinearSVM, "validation_fraction", 0.3),
])
def test_parameters_out_of_range_or_without_meaning_are_named(make, name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        make(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("name, hint", {
    "fit_intercept": 'bias="none"', "eta0": "`rate`", "shuffle": 'order="given"', "tol": "`n_iter_no_change`", "verbose": "callback=print",
    "n_jobs": "one thread fits a model",
}.items())
def test_names_of_scikit_learn_are_answered_with_what_does_it(name, hint):
    for make in (rosenblatt.PassiveAggressive, rosenblatt.PerceptronClassifier, rosenblatt.AROW):
        with pytest.raises(TypeError, match=f"{make.__name__} has no parameter '{name}': .*{re.escape(hint)}"):
            make(**{name: False})
    # What the hint names is there, and does it.
    assert {"bias", "rate", "order", "n_iter_no_change", "callback"} <= parameters(rosenblatt.PassiveAggressive()).keys()
    assert not rosenblatt.PassiveAggressive(bias="none").fit(X, Y).intercept_.any()


def test_expected_failed_checks_know_every_estimator():
    from sklearn.utils.estimator_checks import check_estimator

    for name in ESTIMATORS:
        assert isinstance(rosenblatt.expected_failed_checks(getattr(rosenblatt, name)()), dict)
    for algorithm in ("ridge", "huber", "quantile", "svr", "lms", "pa-regression"):
        estimator = rosenblatt.Regressor(algorithm)
        failed = check_estimator(estimator, expected_failed_checks=rosenblatt.expected_failed_checks(estimator), on_fail=None, on_skip=None)
        assert not [one["check_name"] for one in failed if one["status"] == "failed"], algorithm


SOLVERS = (rosenblatt.LinearSVM, rosenblatt.LogisticRegression, rosenblatt.SparseLogisticRegression)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_looser_tolerance_ends_sooner(solver):
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    features, classes = load_breast_cancer(return_X_y=True)
    fits = [solver(tol=tol).fit(scale(features), classes) for tol in (0.5, 1e-2, 1e-4)]
    epochs = [fit.n_iter_ for fit in fits]
    assert epochs[0] < epochs[1] < epochs[2], epochs
    # Looser is farther from the solution.
    far = [np.linalg.norm(fit.coef_ - fits[2].coef_) for fit in fits]
    assert far[0] > far[1] > 0


def test_defaults_are_those_of_scikit_learns_solvers():
    """`C` of 1, the squared hinge, and a bias that is a weight like others, as liblinear has it."""
    from sklearn import svm
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    features, classes = load_breast_cancer(return_X_y=True)
    features = scale(features)
    theirs = svm.LinearSVC(tol=1e-8, max_iter=1_000_000, dual=True).fit(features, classes)
    ours = rosenblatt.LinearSVM(tol=1e-8).fit(features, classes)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4) and np.allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    near = rosenblatt.LinearSVM().fit(features, classes)
    assert np.abs(near.coef_ - theirs.coef_).max() < 0.02 * np.abs(theirs.coef_).max()


def regressor_rows():
    return X, X @ [1.0, 2.0, -1.0] + ROW_NOISE


@pytest.mark.parametrize("make, rows", [
    (rosenblatt.Regressor, regressor_rows), (lambda: rosenblatt.Regressor("svr"), regressor_rows),
    (rosenblatt.AutoClassifier, lambda: (X, Y)), (lambda: rosenblatt.MLPClassifier((4,)), lambda: (X, Y)),
    (rosenblatt.SequencePerceptron, lambda: (SENTENCES, TAGS)),
])
def test_a_refit_that_fails_leaves_the_model_whole(make, rows):
    given, answers = rows()
    fitted = make().fit(given, answers)
    before, state = fitted.model_.to_bytes(), dict(vars(fitted))
    is_table = not isinstance(given, list)
    broken = np.where(given > 1, np.nan, given) if is_table else [*given[:-1], [3]]
    for bad in ((given, answers[:-1]), (given, None), (broken, answers)):
        with pytest.raises((ValueError, TypeError)):
            fitted.fit(*bad)
        assert vars(fitted).keys() == state.keys() and all(vars(fitted)[name] is state[name] for name in state)
    assert fitted.model_.to_bytes() == before
    again = make().fit(given, answers)
    assert list(fitted.predict(given)) == list(again.predict(given))


def test_broken_pointers_are_an_exception_for_every_estimator():
    """In a process of its own, as a crash would end it."""
    script = """
import numpy as np, scipy.sparse, rosenblatt
X, y = np.eye(6), np.array([0, 1, 0, 1, 0, 1])
for make in (rosenblatt.Regressor, rosenblatt.AutoClassifier, lambda: rosenblatt.MLPClassifier((3,), max_iter=2), rosenblatt.LinearSVM):
    fitted = make().fit(X, y)
    learns = [make().fit] + ([make().partial_fit] if hasattr(make(), "partial_fit") else [])
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix):
        for pointers in ([0, 1, 2, 3, 4, 5, 10**9], [0, -5, 2, 3, 4, 5, 6], [0, 3, 2, 3, 4, 5, 6], [1, 1, 2, 3, 4, 5, 6], [0, 6]):
            broken = kind(X)
            broken.indptr = np.array(pointers, dtype=np.int32)
            for ask in [*(lambda X, learn=learn: learn(X, y) for learn in learns), fitted.predict, fitted.model_.predict]:
                try:
                    ask(broken)
                except ValueError:
                    continue
                raise SystemExit(f"{type(fitted).__name__} {kind.__name__} {pointers}")
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")
def test_a_client_goes_on_after_a_refusal(client):
    """What the server refuses before it has read the body ends the connection; what is asked next must not fail by that."""
    versions = len(client.versions("m")["versions"])
    for _ in range(40):
        with pytest.raises(rosenblatt.ServerError):
            client._ask("POST", "/v1/models/m/learn?epochs=3", b'{"rows": [], "labels": []}' + b" " * 100_000, {"content-type": "application/json"})
        assert client.keep("m") >= versions


def test_a_setting_that_is_added_to_the_catalogue_is_a_parameter_with_its_documentation(tmp_path):
    """What `generate.py` writes follows from the catalogue alone: one entry more is a keyword of every estimator."""
    generate = Path(__file__).parents[1] / "generate.py"
    # The package may be tested away from its sources.
    if not generate.exists():
        pytest.skip("generate.py is not here")
    listed = json.loads(json.dumps(CATALOGUE))
    learning = next(group for group in listed["options"] if group["name"] == "learning")
    seed = next(option for option in learning["options"] if option["name"] == "seed")
    more = {"name": "n-coins", "python": "n_coins", "default": 3, "meaning": "Number of coins to toss", "details": "Each is fair"}
    learning["options"].append({**seed, **more, "unset": "", "takes": {"at-least": 1}})
    kept = tmp_path / "catalogue.json"
    kept.write_text(json.dumps(listed))
    words = [sys.executable, "-P", str(generate), "--catalogue", str(kept), str(tmp_path)]
    subprocess.run(words, check=True)
    written = {}
    exec((tmp_path / "_settings.py").read_text(), written)
    settings = written["Settings"]
    assert inspect.signature(settings).parameters["n_coins"].default == 3
    assert settings(n_coins=5).n_coins == 5
    assert "n_coins : int, default=3\n        Number of coins to toss. Each is fair.\n" in settings.__doc__
    assert written["SETTINGS"]["n_coins"] == ("learning", "n-coins")
    assert "n_coins: int = 3" in (tmp_path / "_named.py").read_text()
    assert "n_coins" not in inspect.signature(_settings.Settings).parameters
    # What was written is what the catalogue says, and not what the engine's says.
    assert subprocess.run([*words, "--check"]).returncode == 0
