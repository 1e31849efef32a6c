"""What the command line does: from files and tables to models and predictions."""

import html
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _checks, _inputs, _keywords, _rosenblatt


def catalogue() -> dict[str, Any]:
    """Every algorithm, kernel, read-out, format, figure and option, with default, range, meaning and source."""
    return json.loads(_rosenblatt.catalogue())


def _kebab(given):
    return {name.replace("_", "-"): value for name, value in given.items() if value is not None}


class Model:
    """A trained model: the same file that the command line writes and reads.

    >>> model = train(b"legs,weight,label\\n" + b"4,3.5,cat\\n2,0.1,bird\\n4,5,cat\\n2,0.2,bird\\n" * 5).model
    >>> model.predict(b"weight,legs\\n4,4\\n0.1,2\\n").tolist()
    ['cat', 'bird']
    """

    def __new__(cls, native: _rosenblatt.Model) -> Self:
        # The file knows its task, and the class of a model says it.
        return super().__new__(Tagger if native.task == "tags" else cls)  # type: ignore[return-value]

    def __init__(self, native: _rosenblatt.Model) -> None:
        self._native = native

    @property
    def task(self) -> str:
        """What it predicts: `classes` or `numbers` for rows, or `tags` for sentences."""
        return self._native.task

    @property
    def classes(self) -> list[str]:
        """The names of the classes, or of the labels of tokens."""
        return self._native.classes

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self._native.n_features

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features; None if they have none."""
        return self._native.feature_names

    @property
    def is_calibrated(self) -> bool:
        """Whether it has probabilities."""
        return self._native.is_calibrated

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, whole or not at all."""
        self._native.save(path)

    def to_bytes(self) -> bytes:
        """The bytes of its file."""
        return self._native.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model in these bytes; nothing in them is ever executed."""
        return cls(_rosenblatt.Model.from_bytes(data))

    def predict(self, data: Any) -> NDArray[Any]:
        """The class of each row of a file, a table or an array; the number, of a model that predicts numbers."""
        if self.task == "numbers":
            return self._rows(self._said(data, "scores"), 1).ravel()
        numbers = np.frombuffer(self._said(data, "classes"), dtype=np.intp)
        return np.array(self.classes)[numbers]

    def predict_interval(self, data: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Between which numbers the true one of each row lies with this probability, for a model that predicts numbers.

        The residuals of held-out rows say how far that is, so the model must have been trained by `rosenblatt.train`.
        """
        reach = self._native.reach(coverage)
        predicted = self.predict(data)
        return np.column_stack([predicted - reach, predicted + reach])

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        return self._rows(self._said(data, "probabilities"), len(self.classes))

    def decision_function(self, data: Any) -> NDArray[np.float64]:
        """The score of each row for two classes, else of each class."""
        n_classes = len(self.classes)
        scores = self._rows(self._said(data, "scores"), 1 if n_classes == 2 else n_classes)
        return scores.ravel() if n_classes == 2 else scores

    def _said(self, data, what):
        """Numbers that the engine gives for rows: what a model learned from in memory, it sees there."""
        if _inputs.are_rows(data) and not self._native.has_schema:
            if data.shape[1] != self.n_features:
                raise ValueError(f"X has {data.shape[1]} features, but the model has {self.n_features}")
            return self._said_of_rows(_inputs.lend(data, by_columns=True), what)
        given, name = _inputs.source(data)
        return self._native.predict_source(given, what, name)

    def _said_of_rows(self, rows, what):
        name = {"classes": "predict", "scores": "decision_function", "probabilities": "predict_proba"}[what]
        return getattr(self._native, name)(rows)

    @staticmethod
    def _rows(numbers: bytes, width: int) -> NDArray[np.float64]:
        return np.frombuffer(numbers, dtype=np.float64).reshape(-1, width).copy()

    def evaluate(self, data: Any, **reading: Any) -> dict[str, Any]:
        """Error, confusion, precision, recall, AUC, Brier score of rows whose labels are known."""
        given, name = _inputs.source(data)
        return json.loads(self._native.evaluate_source(given, json.dumps(_keywords.reading("evaluate", reading)), name))

    def explain(self, data: Any, most: int = 5) -> list[dict[str, Any]]:
        """For each row, the features with the largest contributions for and against its class."""
        given, name = _inputs.source(data)
        return json.loads(self._native.explain_source(given, most, name))

    def summary(self, most: int = 10) -> dict[str, Any]:
        """The classes, settings, training summary, hyperplanes and top features of the model."""
        return json.loads(self._native.summary(most))

    def export(self, path: str | os.PathLike[str], format: str = "onnx") -> None:
        """Writes the model for other programs: ONNX, JSON, CSV and more; `catalogue()` lists them."""
        written = self._native.export(format)
        with open(path, "wb") as file:
            file.write(written)

    def plot(
        self, data: Any, kind: str = "boundary", *, label: str | int | None = None, ax: Any = None, **settings: Any
    ) -> "Picture":
        """A picture of the model and rows; notebooks show it by themselves, and axes of Matplotlib hold it as `ax`."""
        given, name = _inputs.source(data)
        reading = json.dumps(_keywords.reading("plot", {"label": label}))
        return Picture.of(self._native.plot(kind, _settings(settings), given, reading, name), ax)

    def report(
        self, data: Any, path: str | os.PathLike[str] | None = None, *, label: str | int | None = None
    ) -> "Page":
        """The report on the model and rows as a page of HTML; written to `path` if there is one."""
        given, name = _inputs.source(data)
        page = self._native.report(given, json.dumps(_keywords.reading("report", {"label": label})), name)
        if path is not None:
            _inputs.write(path, page)
        return Page(page)

    def __reduce__(self):
        return (Model.from_bytes, (self.to_bytes(),))

    def __eq__(self, other):
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self):
        summary = self.summary(0)
        rows = {
            "algorithm": summary["spec"]["algorithm"], "classes": ", ".join(self.classes[:10]), "features": self.n_features,
            "rows learned from": summary["training-summary"]["rows"], "epochs": self._native.n_epochs,
            "probabilities": "yes" if self.is_calibrated else "no",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table>"

    def __repr__(self):
        return f"<rosenblatt.Model of {self.n_features} features and classes {', '.join(self.classes[:5])}>"


class Tagger(Model):
    """A model whose task is tags: it labels the tokens of sentences.

    Sentences are files in any of its formats, the bytes of one, or lists of tokens: words where it was trained on words
    (lists of cells where its columns are more), dicts or lists of attributes where it was trained on those.

    >>> tagger = train(b"the DT\\ndog NN\\nruns VB\\n\\na DT\\ncat NN\\nruns VB\\n\\n", features="tagging").model
    >>> tagger.predict([["the", "cat", "runs"]])
    [['DT', 'NN', 'VB']]
    >>> tagger.write(b"a\\ndog\\nruns\\n\\n", format="columns")
    'a DT\\ndog NN\\nruns VB\\n\\n'
    """

    # Sentences have a label a token, where rows have one: the answers of both differ.
    def predict(self, data: Any, format: str | None = None) -> list[list[str]]:  # type: ignore[override]
        """The label of each token of each sentence."""
        return self._ask("tags", data, format=format)

    def write(self, data: Any, path: str | os.PathLike[str] | None = None, format: str | None = None) -> str:
        """The sentences of a file with their labels, as the command line writes them; written to `path` if there is one."""
        given, name = _inputs.source(data)
        written = self._native.answer_source("text", given, format, name)
        if path is not None:
            _inputs.write(path, written)
        return written

    def evaluate(  # type: ignore[override]
        self, data: Any, labels: Any = None, format: str | None = None
    ) -> dict[str, Any]:
        """Accuracy of tokens and sentences, and precision, recall and F1 of spans as conlleval counts them."""
        return json.loads(self._ask("agreement", data, labels, format=format))

    def explain(  # type: ignore[override]
        self, data: Any, most: int = 5, format: str | None = None
    ) -> list[list[dict[str, Any]]]:
        """For each token its label, how far it leads over the best labels in which it has another, what the labels before
        it add, and the attributes that add most; of a tagger for which sentences were held out, also the probability that
        the label is right."""
        return json.loads(self._ask("reasons", data, format=format, most=most))

    def _ask(self, what, data, labels=None, *, format=None, most=0):
        if not _inputs.is_file(data):
            return self._native.answer(what, data, labels, most)
        given, name = _inputs.source(data)
        return self._native.answer_source(what, given, format, name, most)

    def __repr__(self):
        return f"<rosenblatt.Tagger of labels {', '.join(self.classes[:5])}>"


class Picture(str):
    """An SVG, which notebooks show."""

    _drawing: _rosenblatt.Drawing

    @classmethod
    def of(cls, drawing: _rosenblatt.Drawing, ax: Any = None) -> Self:
        """What was drawn, in the axes of Matplotlib, too, if there are some."""
        picture = cls(drawing.svg())
        picture._drawing = drawing
        if ax is not None:
            picture.show_in(ax)
        return picture

    def _repr_svg_(self):
        return str(self)

    def __repr__(self):
        return f"<picture, {len(self)} bytes of SVG>"

    def show_in(self, ax: Any, scale: float = 2.0) -> Any:
        """Fills axes of Matplotlib with it; returns them."""
        import io

        import matplotlib.image

        ax.imshow(matplotlib.image.imread(io.BytesIO(self._drawing.png(scale)), format="png"))
        ax.set_axis_off()
        return ax

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file: as PNG if the name says so, else as SVG."""
        if str(path).lower().endswith(".png"):
            with open(path, "wb") as file:
                file.write(self._drawing.png(2.0))
        else:
            _inputs.write(path, self)

    def __reduce__(self):
        return (Picture, (str(self),))


class Page(str):
    """A page of HTML, which notebooks show."""

    def __repr__(self):
        return f"<page, {len(self)} bytes of HTML>"

    def _repr_html_(self):
        return str(self)


@dataclass
class Trained:
    """A model with its report."""

    #: A `Model`, or a `Tagger` where the data were sentences.
    model: Any
    #: How good it is on rows, or sentences, it did not learn from: error, its interval, confusion and more; None if none were
    #: held out.
    estimate: dict[str, Any] | None
    #: How it was chosen, if candidates raced for it.
    race: dict[str, Any] | None
    #: What a person may want to know about how the data was understood.
    notes: list[str]
    #: Rows, features, classes, scaling, training error.
    story: dict[str, Any]

    def __repr__(self):
        if "sentences" in self.story:
            return f"<{self.story['sentences']} sentences, {len(self.story['labels'])} labels>"
        judged = ""
        if self.model.task == "numbers" and self.estimate is not None:
            judged = f", root mean squared error {self.estimate['rmse']['value']:.4g}"
        elif self.estimate is not None:
            judged = f", {100 * self.estimate['error']:.1f} % of new rows wrong"
        return f"<{self.story['rows']} rows, {self.story['features']} features{judged}>"


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file; a `Tagger` if its task is tags."""
    return Model(_rosenblatt.Model.load(path))


def mix(models: Sequence[Model], by: str = "uniform") -> Model:
    """The mean of models trained with the same settings in several places, weighted by `uniform`, `errors` or `rows`. Works for taggers, too.

    Mix after every epoch, and start the next from the mean: that is iterative parameter mixing.
    """
    return Model(_rosenblatt.mix([model._native for model in models], by))


def train(
    data: Any,
    *,
    label: str | int | None = None,
    text: str | Sequence[str] | None = None,
    algorithm: str | None = None,
    params: Mapping[str, float] | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    holdout: float | None = None,
    folds: int | None = None,
    calibrate: str | None = None,
    positive: str | None = None,
    task: str | None = None,
    time: str | None = None,
    group: str | None = None,
    memory: int | None = None,
    online: bool = False,
    learning: Mapping[str, Any] | None = None,
    callback: Callable[[str], object] | None = None,
    features: str | os.PathLike[str] | None = None,
    **reading: Any,
) -> Trained:
    """Trains from a file, several files, a folder, a pandas, polars or pyarrow table, exactly as the command line does.

    If you set no option of learning, candidates race on the data. `label` is the name of a column or its
    number (1 is the first, -1 the last), `text` one or several columns of text. `task` is "classification" or "regression", to override
    what `train` detects. `learning` takes any option of the engine
    by name (see `catalogue()`); other keywords are options of reading (`missing="mean"`, `shape="auto"`,
    `ignore=["id"]`). `time` and `group` name columns that split race, folds and held-out rows: the model learns from
    earlier rows and is judged on later ones, and no group is on both sides. `callback` receives the name of each stage.

    Files that are called like sentences (`news.conllu`, `news.conll`) or whose `format` is one of sentences give a tagger, as
    does `features`: a ready-made set of attributes ("tagging", "chunking", "ner", "letters"), "auto", or a file of templates.

    >>> trained = train(b"u,v,kind\\n" + b"".join(b"%d,%d,%s\\n" % (i, -i, b"ab"[i > 20 :][:1]) for i in range(40)))
    >>> trained.model.classes
    ['a', 'b']
    """
    read = _keywords.reading("train", {"label": label, "text": text, **reading}, train.__kwdefaults__ or ())
    given, name = _inputs.source(data)
    of_sentences = features is not None or _rosenblatt.are_sentences(given if isinstance(given, list) else [], reading.get("format"))
    own = {"algorithm": algorithm, "params": params, "epochs": epochs, "seed": seed}
    options = _keywords.learning("train", learning, "tagging" if of_sentences else "learning", **own)
    estimate = _keywords.estimate("train", folds, holdout)
    rows = {"positive": positive, "task": task, "time": time, "group": group, "memory": memory}
    recipe = _keywords.recipe("train", **rows, calibrate=calibrate, online=online or None)
    if online:
        _keywords.check_online("train", options, folds=folds, holdout=holdout, calibrate=calibrate, memory=memory)
    if callback is not None and not callable(callback):
        _checks.refuse("train", "callback", "something that can be called, or None", callback)
    if of_sentences:
        if meant := [name for name, value in {"text": text, **rows, **reading, "format": None}.items() if value is not None]:
            raise ValueError(f"`{meant[0]}` is for rows of a table, but these are sentences: leave it out")
        options.update(_kebab({"label": None if label is None else str(label)}), **_attributes(features))
        recipe = _tagging(options, holdout, folds, calibrate, reading.get("format"), online)
        tagger = Model(_rosenblatt.train(recipe, given, name, callback)[0])
        return Trained(tagger, tagger.summary(0)["estimate"], None, [], tagger.summary(0))
    recipe |= {"reading": read, "learning": options} | ({} if estimate is None else {"estimate": estimate})
    native, story = _rosenblatt.train(json.dumps(recipe), given, name, callback)
    story = json.loads(story)
    estimate, race, notes = (story.pop(part) for part in ("estimate", "race", "notes"))
    return Trained(Model(native), estimate, race, notes, story)


def _tagging(options, holdout, folds=None, calibrate=None, format=None, online=False):
    """The recipe of a model of tags, as JSON."""
    plan = {"hold-out": float(holdout or 0.0)} if folds is None else {"folds": folds}
    recipe = {"tagging": options, "estimate": plan, "calibration": calibrate or "auto", "online": bool(online)}
    return json.dumps({**recipe, "reading": _kebab({"format": format})})


def _attributes(features):
    """What makes the attributes of tokens: a ready-made set, or the templates in a file."""
    if features is None:
        return {}
    if features in ("auto", *_rosenblatt.feature_sets()):
        return {"features": features}
    try:
        with open(features, encoding="utf-8") as file:
            return {"template": file.read()}
    except (OSError, TypeError) as error:
        sets = ", ".join(_rosenblatt.feature_sets())
        raise ValueError(f"features should be auto, {sets} or a file of templates, but is {features!r}") from error


def compare(
    data: Any,
    algorithms: str | Sequence[str],
    *,
    folds: int = 5,
    label: str | int | None = None,
    learning: Mapping[str, Any] | None = None,
    **reading: Any,
) -> list[dict[str, Any]]:
    """Several algorithms on the same folds: `compare("mail.csv", ["perceptron", "pa1(C=0.1)", "arow"])`."""
    words = algorithms if isinstance(algorithms, str) else ",".join(algorithms)
    given, name = _inputs.source(data)
    read = _keywords.reading("compare", {"label": label, **reading}, compare.__kwdefaults__ or ())
    asked = json.dumps(_keywords.learning("compare", learning)), json.dumps(read)
    return json.loads(_rosenblatt.compare(words, *asked, given, folds, name))


def trace(
    data: Any,
    *,
    label: str | int | None = None,
    first: int = 1,
    last: int = 100,
    learning: Mapping[str, Any] | None = None,
    **reading: Any,
) -> list[dict[str, Any]]:
    """Every round from `first` to `last`: the row, its score, whether it was a mistake, the step, the weights after it."""
    given, name = _inputs.source(data)
    asked = {"order": "given", "readout": "last", "validation": None, **(learning or {})}
    read = _keywords.reading("trace", {"label": label, "scale": "none", **reading}, trace.__kwdefaults__ or ())
    rounds = _rosenblatt.trace(json.dumps(_keywords.learning("trace", asked)), json.dumps(read), given, first, last, name)
    return json.loads(rounds)


def plot(
    data: Any,
    kind: str = "boundary",
    *,
    label: str | int | None = None,
    learning: Mapping[str, Any] | None = None,
    ax: Any = None,
    **settings: Any,
) -> Picture:
    """A picture of what is learned from data; notebooks show it by themselves, and axes of Matplotlib hold it as `ax`."""
    given, name = _inputs.source(data)
    asked = json.dumps(_keywords.learning("plot", learning)), json.dumps(_keywords.reading("plot", {"label": label}))
    return Picture.of(_rosenblatt.plot(kind, _settings(settings), *asked, given, name), ax)


def _settings(given):
    return [(key.replace("_", "-"), _worded(value)) for key, value in given.items()]


def _worded(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)
