"""Taggers of sentences: what `sklearn_crfsuite.CRF` takes, and what the command line does."""

import json
import os
import pickle
import random
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

import rosenblatt
from rosenblatt import SequencePerceptron

PROGRAM = os.environ.get("ROSENBLATT")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="the variable ROSENBLATT does not name the command line program")

WORDS = {"DT": ["the", "a", "every"], "JJ": ["old", "quick", "Small"], "NN": ["dog", "engine", "run", "walk"],
         "VB": ["runs", "run", "walk", "sleeps"]}
NEXT = {None: ["DT", "NN"], "DT": ["JJ", "NN"], "JJ": ["JJ", "NN"], "NN": ["VB"], "VB": ["DT", "JJ"]}


def sentences(n, seed):
    """Words and labels, some of which only their neighbours tell apart."""
    rng = random.Random(seed)
    words, labels = [], []
    for _ in range(n):
        label, line = None, []
        for _ in range(rng.randrange(1, 12)):
            label = rng.choice(NEXT[label])
            line.append((rng.choice(WORDS[label]), label))
        words.append([word for word, _ in line])
        labels.append([label for _, label in line])
    return words, labels


def attributes(words, at):
    return {
        "word": words[at], "len": len(words[at]) / 4, "title": words[at].istitle(), "bias": 1,
        "before": {"word": words[at - 1], "last": [words[at - 1][-1:]]} if at else {"edge": True},
    }


def dicts(words):
    return [[attributes(line, at) for at in range(len(line))] for line in words]


def escaped(name):
    return name.replace("\\", "\\\\").replace(":", "\\:")


def items(X, y):
    """The same attributes as CRFsuite's own file has them, by the rules of python-crfsuite."""

    def flat(token, prefix=""):
        for key, value in token.items():
            if isinstance(value, str):
                yield f"{prefix}{key}:{value}", 1.0
            elif isinstance(value, dict):
                yield from flat(value, f"{prefix}{key}:")
            elif isinstance(value, (list, set)):
                yield from ((f"{prefix}{key}:{one}", 1.0) for one in value)
            else:
                yield f"{prefix}{key}", float(value)

    lines = []
    for tokens, labels in zip(X, y):
        for token, label in zip(tokens, labels):
            lines.append("\t".join([label, *(f"{escaped(name)}:{value!r}" for name, value in flat(token))]))
        lines.append("")
    return "\n".join([*lines, ""])


@needs_program
@pytest.mark.parametrize("settings, flags", [
    ({}, []),
    ({"algorithm": "pa", "c": 0.5, "max_iterations": 4, "random_state": 3},
     ["--algorithm", "pa1", "--param", "C=0.5", "--epochs", "4", "--seed", "3"]),
    ({"history": 2, "label_cost": 1.0, "min_freq": 2, "averaging": False},
     ["--history", "2", "--label-cost", "1", "--min-count", "2", "--readout", "last"]),
])
def test_dicts_give_the_bytes_of_the_command_line_on_crfsuites_file(settings, flags, tmp_path):
    words, y = sentences(60, 1)
    X = dicts(words)
    (tmp_path / "a.crfsuite").write_text(items(X, y))
    model = SequencePerceptron(**settings).fit(X, y)
    command = [PROGRAM, "train", tmp_path / "a.crfsuite", "--quiet", "--model", tmp_path / "a.model", *flags]
    subprocess.run(command, check=True)
    assert model.model_.to_bytes() == (tmp_path / "a.model").read_bytes()
    # Read from the file, the same sentences get the same labels.
    assert rosenblatt.load(tmp_path / "a.model").predict(tmp_path / "a.crfsuite") == model.predict(X)


@needs_program
@pytest.mark.parametrize("name", ["a.conll", "a.conllu"])
def test_files_give_the_bytes_of_the_command_line(name, tmp_path):
    for part, seed in [("train", 1), ("test", 2)]:
        lines = []
        for line, labels in zip(*sentences(60, seed)):
            for number, (word, label) in enumerate(zip(line, labels), 1):
                lines.append(f"{word} {label}" if name == "a.conll" else f"{number}\t{word}\t_\t{label}" + "\t_" * 6)
            lines.append("")
        (tmp_path / f"{part}-{name}").write_text("\n".join([*lines, ""]))
    train, test, path = tmp_path / f"train-{name}", tmp_path / f"test-{name}", tmp_path / "a.model"

    def program(*words):
        return subprocess.run([PROGRAM, *words], check=True, capture_output=True).stdout

    program("train", train, "--epochs", "3", "--quiet", "--model", path)
    trained = rosenblatt.train(train, epochs=3)
    assert trained.model.to_bytes() == path.read_bytes()
    assert trained.story["sentences"] == 60 and repr(trained) == "<60 sentences, 4 labels>"
    assert SequencePerceptron(max_iterations=3).fit(train).model_ == trained.model
    tagger = rosenblatt.load(path)
    assert isinstance(tagger, rosenblatt.Tagger)
    assert tagger.write(test, tmp_path / "out").encode() == program("predict", test, "--model", path)
    assert (tmp_path / "out").read_bytes() == program("predict", test, "--model", path)
    assert tagger.evaluate(test) == json.loads(program("evaluate", test, "--json", "--model", path))
    found = json.loads(program("inspect", path, "--json"))
    assert found.pop("bytes") == path.stat().st_size
    assert tagger.summary(8) == found and tagger.task == found["task"] == "tags"
    assert sum(tagger.predict(test), []) == [line.split()[3 if "u" in name else -1] for line in tagger.write(test).splitlines() if line]
    assert len(tagger.explain(test, 2)[0][0]["attributes"]) == 2


def test_attributes_mean_what_they_mean_to_crfsuite():
    token = {"word": "x", "len": 3.0, "flag": True, "no": False, "e": "", "n": {"a": "b", "c": 2.5, "d": {"e": True}},
             "l": ["p", "q"], "s": {"u"}, "t": ("v",), "np": np.float32(2.0), "ni": np.int64(3), "a:b": "c\t\n"}
    X, y = [[token, ["plain", "b:c"]], [["plain"]]], [["A", "B"], ["A"]]
    tagger = SequencePerceptron(max_iterations=3).fit(X, y)
    named = {name for name, _ in tagger.state_features_}
    # `no` counts nothing, so it never has a weight.
    assert named == {"word:x", "len", "flag", "e:", "n:a:b", "n:c", "n:d:e", "l:p", "l:q", "s:u", "t:v", "np", "ni",
                     "a:b:c\t\n", "plain", "b:c"}
    assert set(tagger.transition_features_) <= {(a, b) for a in "AB" for b in "AB"}
    reasons = tagger.explain(X, 20)
    assert [[token["label"] for token in line] for line in reasons] == tagger.predict(X) == y
    weights = tagger.state_features_
    assert dict(reasons[0][0]["attributes"])["len"] == pytest.approx(3.0 * weights["len", "A"])
    assert all(token["lead"] > 0 for line in reasons for token in line)


def test_it_learns_and_is_an_estimator():
    words, y = sentences(150, 3)
    new_words, new_y = sentences(50, 4)
    X, new_X = dicts(words), dicts(new_words)
    model = SequencePerceptron("ap", max_iterations=6).fit(X, y)
    assert model.classes_ == sorted({label for line in y for label in line}) and model.n_iter_ <= 6
    assert model.score(new_X, new_y) > 0.9
    right = [one == other for ours, theirs in zip(model.predict(new_X), new_y) for one, other in zip(ours, theirs)]
    assert model.score(new_X, new_y) == pytest.approx(np.mean(right))
    assert model.predict_single(new_X[0]) == model.predict(new_X)[0]
    assert model.evaluate(new_X, new_y)["sentences"] == 50
    # Sentences without tokens are no trouble, and other sequences than lists work.
    assert model.predict([[], new_X[0], []]) == [[], model.predict_single(new_X[0]), []]
    assert model.predict([]) == []
    kept = np.empty(len(X), dtype=object)
    kept[:] = X
    assert SequencePerceptron("ap", max_iterations=6).fit(kept, iter(y)).model_ == model.model_
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "model_")
    assert copy.set_params(max_iterations=1).fit(X, y).n_iter_ == 1
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(new_X) == model.predict(new_X) and again.model_ == model.model_


def test_sentences_that_are_held_out_make_probabilities(tmp_path):
    words, y = sentences(200, 9)
    # Some labels are wrong: who is never wrong on new sentences learns nothing of how sure to be.
    y = [["NN" if (7 * i + j) % 11 == 0 else label for j, label in enumerate(line)] for i, line in enumerate(y)]
    model = SequencePerceptron(max_iterations=3, holdout=0.25).fit(dicts(words), y)
    plain = SequencePerceptron(max_iterations=3).fit(dicts(words), y)
    assert model.estimate_["sentences"] == 50 and model.estimate_["accuracy"] > 0.8 and plain.estimate_ is None
    shares = [token["probability"] for line in model.explain(dicts(words)) for token in line]
    assert all(0 <= share <= 1 for share in shares) and np.mean(shares) > 0.8
    # What is kept learned from all of them.
    assert model.predict(dicts(words)) == plain.predict(dicts(words))
    assert "probability" not in plain.explain(dicts(words))[0][0]
    lines = "".join("".join(f"{w} {l}\n" for w, l in zip(*line)) + "\n" for line in zip(words, y))
    (tmp_path / "a.conll").write_text(lines)
    trained = rosenblatt.train(tmp_path / "a.conll", folds=3, epochs=2)
    assert trained.estimate["trainings"] == 3 and trained.estimate["sentences"] == 200
    if PROGRAM is not None:
        command = [PROGRAM, "train", tmp_path / "a.conll", "--folds", "3", "--epochs", "2", "--quiet", "--model", tmp_path / "m"]
        subprocess.run(command, check=True)
        assert trained.model.to_bytes() == (tmp_path / "m").read_bytes()
    hashed = SequencePerceptron(max_iterations=3, hash_bits=12, shards=2).fit(dicts(words), y)
    assert hashed.score(dicts(words), y) > 0.85


def test_grid_search_with_a_scorer():
    words, y = sentences(60, 5)
    X = dicts(words)

    def whole(truth, found):
        return float(np.mean([list(one) == list(other) for one, other in zip(truth, found)]))

    search = GridSearchCV(SequencePerceptron(max_iterations=2), {"algorithm": ["ap", "pa"], "min_freq": [1, 3]}, cv=3,
                          scoring=make_scorer(whole))
    search.fit(X, y)
    assert search.best_params_["algorithm"] in ("ap", "pa") and search.best_score_ > 0.3
    assert len(cross_val_score(SequencePerceptron(max_iterations=2), X, y, cv=3)) == 3


def test_words_get_ready_made_attributes(tmp_path):
    words, y = sentences(100, 6)
    new_words, new_y = sentences(40, 7)
    model = SequencePerceptron(max_iterations=4).fit(words, y)
    assert model.score(new_words, new_y) > 0.9
    model.save(tmp_path / "w.model")
    again = SequencePerceptron.load(tmp_path / "w.model")
    assert again.predict(new_words) == model.predict(new_words) and again.max_iterations == 4
    # A token of several cells, by templates of CRF++; the file says the same as the text.
    cells = [[[word, word[-1:]] for word in line] for line in words]
    text = "U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[-1,0]/%x[0,0]\nB\n"
    (tmp_path / "t.txt").write_text(text)
    by_text = SequencePerceptron(template=text, max_iterations=3).fit(cells, y)
    assert by_text.score(cells, y) > 0.95
    assert SequencePerceptron(features=tmp_path / "t.txt", max_iterations=3).fit(cells, y).model_ == by_text.model_
    spans = [["O" if label == "VB" else "B-NP" if at == 0 or line[at - 1] == "VB" else "I-NP" for at, label in enumerate(line)]
             for line in y]
    model = SequencePerceptron(features="chunking", max_iterations=3).fit(words, spans)
    assert model.model_.summary()["constraints"] == "bio"
    assert model.evaluate(words, spans)["invalid-sentences"] == 0


@pytest.mark.parametrize("X, y, words", [
    ([[{"a": None}]], [["A"]], "sentence 1, token 1: `a` should be text, a number"),
    ([[{"a": 1}], [{"a": float("nan")}]], [["A"], ["B"]], "sentence 2, token 1: .*finite"),
    ([[{3: "x"}]], [["A"]], "the name of an attribute should be text, but is int"),
    ([[["a", 1]]], [["A"]], "an attribute of a list should be text, but is int"),
    ([[{"a": [1]}]], [["A"]], "an attribute of a list should be text, but is int"),
    ([[{"a": 1}, {"a": 2}]], [["A"]], "sentence 1, token 2: there should be as many labels as tokens"),
    ([[{"a": 1}]], [["A", "B"]], "as many labels as tokens"),
    ([[{"a": 1}]], [["A"], ["B"]], "X has 1 and y more"),
    ([[{"a": 1}], [{"a": 1}]], [["A"]], "y has labels of 1 sentences"),
    ([[{"a": 1}]], [[1]], r"a label should be text, but is int; `str\(label\)`"),
    ([[{"a": 1}]], [["A\tB"]], "no tabs"),
    ([[{"a": 1}]], [[""]], "should have letters"),
    ([[{"a": 1}]], ["AB"], "should be a list of labels, but is str"),
    ([{"a": 1}], [["A"]], "sentence 1 should be a list of tokens, but is dict"),
    (3, [["A"]], "X should be a list of sentences, but is int"),
    ([["w"]], None, "y should be a list of lists"),
    ([["w", ["a", "b"]]], [["A", "B"]], "every token should have 2 cells"),
    ([["w", {"a": 1}]], [["A", "B"]], "a token should be a word, or a list of cells, but is dict"),
    ([[{"a": "\ud800"}]], [["A"]], "half a surrogate"),
    ([[{"a": 1}]], [["A"]], "at least two"),
    ([], [], "no "),
])
def test_what_is_wrong_is_said_where_it_is(X, y, words):
    with pytest.raises(ValueError, match=words):
        SequencePerceptron().fit(X, y)


def test_what_cannot_be_had_is_said_with_a_cure(tmp_path):
    X, y = [[{"a": 1}, {"b": 1}]], [["A", "B"]]
    for settings, words in [
        ({"algorithm": "lbfgs"}, 'algorithm="ap"'),
        ({"algorithm": "neverheard"}, "neverheard"),
        ({"algorithm": "svm-dual"}, "steps along single rows"),
        ({"all_possible_states": False}, "all_possible_states should be True or None"),
        ({"history": 3}, "history"),
        ({"features": "wrods"}, "tagging, chunking"),
        ({"constraints": "bio"}, "constraints"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"template": "X0:%x[0,0]"}, "line 1 of the template"),
    ]:
        with pytest.raises(ValueError, match=words):
            SequencePerceptron(**settings).fit([["a", "b"]] if "template" in settings else X, y)
    nested = {"a": 1}
    nested["self"] = nested
    with pytest.raises(ValueError, match="16 deep"):
        SequencePerceptron().fit([[nested]], [["A"]])
    with pytest.raises(ValueError, match="not fitted"):
        SequencePerceptron().predict(X)
    with pytest.raises(AttributeError):
        SequencePerceptron().predict_marginals(X)
    fitted = SequencePerceptron().fit(X, y)
    with pytest.raises(ValueError, match="a token should be a dict or a list of attributes, but is str"):
        fitted.predict([["word"]])
    with pytest.raises(FileNotFoundError):
        fitted.predict(tmp_path / "nothing.conll")
    (tmp_path / "bad.conll").write_text("a b N\nc d\n\n")
    with pytest.raises(ValueError, match="bad.conll:2:1"):
        SequencePerceptron().fit(tmp_path / "bad.conll")
    with pytest.raises(ValueError, match="`positive` is for rows of a table"):
        rosenblatt.train(tmp_path / "bad.conll", positive="N")
    with pytest.raises(ValueError, match="'holdout' parameter of SequencePerceptron must be a number"):
        SequencePerceptron(holdout=2.0).fit(X, y)
    spoiled = bytearray(fitted.model_.to_bytes())
    spoiled[-3] ^= 1
    with pytest.raises(ValueError):
        rosenblatt.Tagger.from_bytes(bytes(spoiled))


def test_epochs_are_reported_and_may_be_ended(capsys):
    words, y = sentences(40, 8)
    epochs = []
    SequencePerceptron(callback=lambda epoch: epochs.append(epoch) or epoch["epoch"] == 2, verbose=True).fit(dicts(words), y)
    assert [epoch["epoch"] for epoch in epochs] == [1, 2] and epochs[0]["rounds"] == 40
    assert capsys.readouterr().out.startswith("epoch 1: a mistake in ")

    def broken(epoch):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        SequencePerceptron(callback=broken).fit(dicts(words), y)


def test_a_vote_shows_no_weights_of_its_last_hypothesis():
    X, y = sentences(40, 1)
    tagger = SequencePerceptron(voted=True).fit(X, y)
    for ask in (lambda: tagger.state_features_, lambda: tagger.transition_features_, lambda: tagger.explain(X[:1])):
        with pytest.raises(ValueError, match="is a vote of many"):
            ask()
    summary = tagger.model_.summary(3)
    assert summary["top-attributes"] is None and summary["transitions"] is None


def test_other_threads_go_on_and_ctrl_c_is_answered():
    script = """if True:
        import random, signal, threading, time
        from rosenblatt import SequencePerceptron
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored in the background
        rng = random.Random(0)
        X = [[{f"a{rng.randrange(999)}": 1.0, f"b{rng.randrange(999)}": 1.0} for _ in range(20)] for _ in range(2000)]
        y = [[rng.choice("ABCD") for _ in line] for line in X]
        turns = []
        def count():
            while True:
                turns.append(1)
                time.sleep(0.01)
        threading.Thread(target=count, daemon=True).start()
        def watch(epoch):
            if epoch["epoch"] == 1:
                print(len(turns), "begun", flush=True)
        try:
            SequencePerceptron(max_iterations=100000, callback=watch).fit(X, y)
        finally:
            print(len(turns), flush=True)
    """
    import signal

    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = int(child.stdout.readline().split()[0])
    timer = threading.Timer(1.0, lambda: child.send_signal(signal.SIGINT))
    timer.start()
    printed, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert int(printed) > before + 5
