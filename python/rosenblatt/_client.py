"""A client of ``rosenblatt serve``, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
import selectors
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Client", "ServerError"]

_AGAIN = (http.client.HTTPException, OSError)


class ServerError(RuntimeError):
    """An error response of the server: ``status``, ``code``, and the whole ``problem``."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        help_ = f"; {problem['help']}" if "help" in problem else ""
        super().__init__(f"{problem.get('detail', 'the server gave no reason')}{help_}")
        self.status = status
        self.code = problem.get("code", "unknown")
        self.problem = dict(problem)


class Client:
    """Speaks to a server over one persistent connection.

    A row is a mapping by names of columns, a sequence of numbers, or a text; a mapping or a text alone is one row. Each `learn` request carries an
    idempotency key, so the server learns once from a request that is sent again.
    """

    def __init__(self, url: str = "http://localhost:8080", token: str | None = None, timeout: float = 30.0) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url should be http://HOST:PORT or https://HOST:PORT, but is {url!r}")
        self._make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._timeout = parts.hostname, parts.port, timeout
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def models(self) -> list[dict[str, Any]]:
        """All models."""
        found: list[dict[str, Any]] = self._json("GET", "/v1/models")["models"]
        return found

    def describe(self, model: str) -> dict[str, Any]:
        """What a model is."""
        return self._json("GET", _path(model))

    def predict(
        self, model: str, rows: Iterable[Any], *, probabilities: bool = False, scores: bool = False
    ) -> list[dict[str, Any]]:
        """A mapping with ``class`` for every row, and with probabilities and scores if they are wanted."""
        query = urllib.parse.urlencode({"probabilities": _word(probabilities), "scores": _word(scores)})
        found: list[dict[str, Any]] = self._json("POST", f"{_path(model)}/predict?{query}", _rows(rows))["predictions"]
        return found

    def explain(self, model: str, rows: Iterable[Any], *, top: int = 5) -> list[dict[str, Any]]:
        """The features with the largest contributions for and against the class of each row."""
        found: list[dict[str, Any]] = self._json("POST", f"{_path(model)}/explain?top={top}", _rows(rows))["predictions"]
        return found

    def learn(
        self,
        model: str,
        rows: Iterable[Any],
        labels: Iterable[Any],
        *,
        key: str | None = None,
        tries: int = 5,
        grow_classes: bool | None = None,
    ) -> dict[str, Any]:
        """Sends labelled rows, and returns once the server has acknowledged them.

        The server refuses a label that is new to the model, unless you pass ``grow_classes`` or the server allows new classes.
        """
        query = "" if grow_classes is None else f"?grow-classes={_word(grow_classes)}"
        body = _rows(rows, [labels] if isinstance(labels, str) else list(labels))
        headers = {"idempotency-key": key or uuid.uuid4().hex}
        for turn in range(tries):
            try:
                return self._json("POST", f"{_path(model)}/learn{query}", body, headers)
            except ServerError as error:
                if error.code not in ("busy", "stopping") or turn + 1 == tries:
                    raise
            except _AGAIN:
                if turn + 1 == tries:
                    raise
            time.sleep(0.1 * 2**turn)
        raise ValueError("tries should be at least 1")

    def evaluate(self, model: str) -> dict[str, Any]:
        """The progressive error: each row is predicted before the model learns from it."""
        return self._json("GET", f"{_path(model)}/evaluate")

    def versions(self, model: str) -> dict[str, Any]:
        """All versions that are kept."""
        return self._json("GET", f"{_path(model)}/versions")

    def keep(self, model: str) -> int:
        """Saves what the model has learned so far as a new version; returns its number."""
        return int(self._json("POST", f"{_path(model)}/versions", b"{}")["version"])

    def roll_back(self, model: str, version: int) -> int:
        """Rolls back to a version, without what the model learned since; returns the new version number."""
        body = json.dumps({"of": version}).encode()
        return int(self._json("POST", f"{_path(model)}/versions", body)["version"])

    def download(self, model: str) -> bytes:
        """The model file, with everything learned so far."""
        return self._ask("GET", f"{_path(model)}/file")

    def upload(self, model: str, file: bytes) -> int:
        """Uploads a model file, as a new model or a new version; returns the version."""
        return int(json.loads(self._ask("PUT", _path(model), file))["version"])

    def _json(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self._ask(method, path, body, {"content-type": "application/json", **(headers or {})})
        )
        return found

    def _ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        if self._connection is not None and _is_over(self._connection):
            self.close()
        # A connection that was kept may be closed at this moment, which shows only when it is used.
        for is_last in (self._connection is None, True):
            if self._connection is None:
                self._connection = self._make(self._host, self._port, timeout=self._timeout)
            try:
                self._connection.request(method, path, body, {**self._headers, **(headers or {})})
                answer = self._connection.getresponse()
                content = answer.read()
                break
            except _AGAIN:
                self.close()
                if is_last or method not in ("GET", "POST") or (method == "POST" and not _repeatable(path, headers)):
                    raise
        if answer.status >= 300:
            # What is refused before its body is read may end the connection, which no header announces.
            self.close()
            try:
                problem = json.loads(content)
            except ValueError:
                problem = {}
            raise ServerError(answer.status, problem)
        return content


def _is_over(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has closed a connection that was kept: there is something to read, though nothing was asked."""
    if connection.sock is None:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _repeatable(path: str, headers: Mapping[str, str] | None) -> bool:
    return "/predict" in path or "/explain" in path or "idempotency-key" in (headers or {})


def _path(model: str) -> str:
    return f"/v1/models/{urllib.parse.quote(model, safe='')}"


def _word(wanted: bool) -> str:
    return "true" if wanted else "false"


def _rows(rows: Iterable[Any], labels: list[Any] | None = None) -> bytes:
    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        if isinstance(value, Mapping):
            return {str(name): plain(item) for name, item in value.items()}
        return value

    # A text is a row, and so is a mapping: neither is a list of its letters or names.
    if isinstance(rows, (str, Mapping)):
        rows = [rows]
    document: dict[str, Any] = {"rows": [plain(row) for row in rows]}
    if labels is not None:
        document["labels"] = [plain(label) for label in labels]
    return json.dumps(document, allow_nan=False).encode()
