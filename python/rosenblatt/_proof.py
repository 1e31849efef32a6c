"""Whether a hyperplane separates the classes, with a proof that you can check in exact arithmetic."""

import json
import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _inputs, _keywords, _rosenblatt
from ._product import Picture, _worded


def certify(
    X: Any,
    y: Any = None,
    *,
    positive: Any = None,
    against: Any = None,
    bias: bool = True,
    degree: int | None = None,
    offset: float = 1.0,
    gap: float = 1e-6,
    seconds: float = 60.0,
    label: str | int | None = None,
    **reading: Any,
) -> Any:
    """Decides whether a hyperplane separates the rows, and proves it.

    `X` and `y` are arrays; without `y`, `X` is a file or a table whose column `label` holds the classes. With more than
    two classes, the question is `positive` against all others, or against the class `against`; without `positive` you get a
    dictionary of all questions. `degree` asks in the space of the polynomial kernel `(offset + x.y)^degree`. The bounds of
    the largest margin agree to `gap` of it, unless `seconds` are up first.

    >>> proof = certify([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"])
    >>> proof.separable, proof.rows
    (False, [1, 2, 3, 4])
    >>> tuple(round(bound, 9) for bound in certify([[0.0], [1.0], [3.0]], [0, 0, 1]).margin)
    (1.0, 1.0)
    """
    kernel = None if degree is None else {"degree": degree, "offset": float(offset)}
    asked = {
        "positive": None if positive is None else _inputs.class_name(positive),
        "against": None if against is None else _inputs.class_name(against),
        "bias": bool(bias),
        "gap": float(gap),
        "seconds": float(seconds),
        "kernel": kernel,
    }
    answers = _rosenblatt.certify(json.dumps(asked), _rows(X, y, label, reading))
    proofs = [Certificate(certificate, json.loads(findings)) for findings, certificate in answers]
    return proofs[0] if len(proofs) == 1 else {one.positive: one for one in proofs}


class Certificate:
    """A claim about rows, and a proof of it.

    Attributes
    ----------
    separable : bool or None
        Whether a hyperplane separates the rows; None if that is still open.
    margin : tuple of two floats or None
        A lower and an upper bound of the largest margin, if the rows are separable.
    coef_, intercept_ : ndarray, float
        The hyperplane, if there is one.
    rows : list of int
        The numbers, from 1, of the rows that prove it: those nearest to the hyperplane, or those that contradict each
        other.
    findings : dict
        Everything else that the search found; empty if the certificate was loaded.
    """

    def __init__(self, text: str | None, findings: dict[str, Any] | None = None) -> None:
        self._text = text
        self.findings = findings or {}
        self._claim = {} if text is None else json.loads(text)

    @property
    def separable(self) -> bool | None:
        """Whether a hyperplane separates the rows; None if that is still open."""
        return None if self._text is None else self._claim["claim"]["verdict"] == "separable"

    @property
    def positive(self) -> str | None:
        """The class on the positive side."""
        return self._claim["data"]["positive"] if self._claim else self.findings.get("positive")

    @property
    def negative(self) -> str | None:
        """The class on the other side; None for all others."""
        return self._claim["data"].get("negative") if self._claim else self.findings.get("negative")

    @property
    def margin(self) -> tuple[float, float] | None:
        """A lower and an upper bound of the largest margin; None if the rows are not separable."""
        margin = self._claim.get("claim", {}).get("margin")
        return None if margin is None else (margin["at-least"], margin["at-most"])

    @property
    def coef_(self) -> NDArray[np.float64] | None:
        """The weights of the hyperplane; None if there is none."""
        weights = self._claim.get("claim", {}).get("weights")
        return None if weights is None else np.array([float(weight) for weight in weights])

    @property
    def intercept_(self) -> float | None:
        """The intercept of the hyperplane; None if there is none."""
        intercept = self._claim.get("claim", {}).get("intercept")
        return None if intercept is None else float(intercept)

    @property
    def rows(self) -> list[int]:
        """The numbers, from 1, of the rows that prove it."""
        claim = self._claim.get("claim", {})
        shares = claim.get("contradiction") or (claim.get("margin") or {}).get("nearest") or []
        return [share["row"] for share in shares]

    def check(self, X: Any, y: Any = None, *, label: str | int | None = None, **reading: Any) -> Self:
        """Checks it against the rows it is about, exactly; returns itself.

        Raises a ValueError with the reason if it is not true. The check shares no code with the search.
        """
        _rosenblatt.check_certificate(self.to_json(), _rows(X, y, label, reading))
        return self

    def plot(
        self, X: Any, y: Any = None, *, label: str | int | None = None, ax: Any = None, columns: Any = None, **reading: Any
    ) -> Picture:
        """The hyperplane and the rows, those that prove it framed; notebooks show it by themselves."""
        settings = [] if columns is None else [("columns", _worded(columns))]
        drawing = _rosenblatt.plot_certificate(self.to_json(), _rows(X, y, label, reading), settings)
        return Picture.of(drawing, ax)

    def to_json(self) -> str:
        """The text of its file, which `rosenblatt certify --check` reads, too."""
        if self._text is None:
            raise ValueError("the question is still open, so there is no certificate; give it more seconds")
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        _inputs.write(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Loads a certificate from a file. Call `check` before you trust it."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            claim = json.loads(text)
            if claim["format"] != "rosenblatt-certificate":
                raise KeyError("format")
            claim["claim"]["verdict"], claim["data"]["positive"]
        except (KeyError, TypeError, json.JSONDecodeError):
            raise ValueError(f"{path} is not a certificate") from None
        return cls(text)

    def __repr__(self):
        found = {True: "separable", False: "not separable", None: "undecided"}[self.separable]
        margin = "" if self.margin is None else f", margin {self.margin[0]:.6g}"
        return f"<{self.positive} against {self.negative or 'the rest'}: {found}{margin}>"


def _rows(X, y, label, reading):
    if y is None:
        given, name = _inputs.source(X)
        return given, json.dumps(_keywords.reading("certify", {"label": label, "scale": "none", **reading})), name
    if label is not None or reading:
        wrong = "label" if label is not None else next(iter(reading))
        raise ValueError(f"{wrong!r} is for files and tables, but these are arrays with their classes as y: leave it out")
    rows, features = _inputs.lend(_inputs.rows(X)), _inputs.feature_names(X)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return rows, codes.ravel().astype(np.uint32), [_inputs.class_name(one) for one in classes.tolist()], features
