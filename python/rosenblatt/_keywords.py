"""Options of reading and learning by keyword, as the engine keeps them. A keyword that is none, or a value that does not
fit, is refused in Python's words."""

import difflib
import functools
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from . import _checks, _rosenblatt

#: What the program sets for itself, or for a model to start from: it means nothing here.
_ITS_OWN = ("keep-texts", "grow-classes")


@functools.cache
def _catalogue() -> dict[str, Any]:
    return json.loads(_rosenblatt.catalogue())


@functools.cache
def _groups() -> dict[str, dict[str, Any]]:
    """Options by group and name."""
    return {group["name"]: {one["name"]: one for one in group["options"]} for group in _catalogue()["options"]}


def _pythonic(name):
    return name.replace("-", "_")


@functools.cache
def _places() -> dict[str, tuple[str, dict[str, Any]]]:
    """The group and the option of each keyword of reading: an option's name, or the flag that errors advise."""
    groups, places = _groups(), {}
    # `text` lists columns, so what becomes of their words stands beside it; names come before flags.
    for group in ("text", "reading"):
        places.update({_pythonic(name): (group, option) for name, option in groups[group].items()})
    for group in ("limits", "pictures", "text", "reading"):
        flags = [option for option in groups[group].values() if option["flag"]]
        places.update({_pythonic(option["flag"]): (group, option) for option in flags})
    return {name: place for name, place in places.items() if place[1]["name"] not in _ITS_OWN}


def refuse(owner: str, name: str, known: Iterable[str]) -> NoReturn:
    """Raises Python's error for an unknown keyword, with the keyword that was probably meant."""
    raise TypeError(f"{owner}() got an unexpected keyword argument {name!r}{meant(name, known)}")


def meant(name: str, known: Iterable[str]) -> str:
    """The cure for a name that there is not."""
    name, known = _pythonic(name), sorted(known)
    for group, options in _groups().items():
        for option in options.values():
            names = [_pythonic(one) for one in (option["name"], option["python"], option["spark"], option["flag"]) if one]
            if name not in names:
                continue
            if here := [one for one in names if one in known]:
                return f"; did you mean {here[0]!r}?"
            if group in ("learning", "tagging") and "learning" in known:
                return f"; pass learning={{{_pythonic(option['name'])!r}: ...}}"
            return f"; on the command line it is `--{option['flag']}`" if option["flag"] else ""
    if close := difflib.get_close_matches(name, known, 1, 0.7):
        return f"; did you mean {close[0]!r}?"
    return f"; known are {', '.join(known)}"


def _check(owner, checked):
    """Refuses the first value that its option does not take."""
    _checks.check(owner, checked)
    for called, group, name, value in checked:
        takes = _groups()[group][name]["takes"]
        least = takes.get("at-least") if isinstance(takes, dict) else None
        if least is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            _checks.refuse(owner, called, f"a whole number, {least} or more", value)


def _kind(option):
    takes = option["takes"]
    return next(iter(takes)) if isinstance(takes, dict) else takes


def reading(owner: str, given: Mapping[str, Any], known: Iterable[str] = ()) -> dict[str, Any]:
    """The engine's description of how data is read; `known` are the other keywords of the function."""
    placed: dict[str, Any] = {}
    checked: list[tuple[str, str, str, Any]] = []
    for called, value in given.items():
        if called not in _places():
            refuse(owner, called, {*known, *_places()})
        if value is None:
            continue
        group, option = _places()[called]
        if _kind(option) == "group":
            inner = _settings(owner, called, option["name"], value)
            placed[option["name"]] = {**placed.get(option["name"], {}), **inner}
            continue
        values = _read(owner, called, option, value)
        if twice := [one for one in checked if one[1] == group and one[2] in values]:
            raise ValueError(f"{twice[0][0]!r} and {called!r} of {owner} set the same: leave one of them out")
        checked += [(called, group, name, one) for name, one in values.items()]
        (placed if group == "reading" else placed.setdefault(group, {})).update(values)
    _check(owner, checked)
    return placed


def _read(owner, called, option, value):
    """What a keyword of reading sets, by the engine's names."""
    name = option["name"]
    if called == "ngrams":
        ends = value.split("-") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
        try:
            return {"shortest": int(ends[0]), "longest": int(ends[-1])}
        except (TypeError, ValueError, IndexError):
            _checks.refuse(owner, called, "a whole number, or the first and the last of several such as (1, 3)", value)
    if isinstance(value, bool) and _kind(option) == "choice" and called == _pythonic(option["flag"] or ""):
        # A flag without a value stands for the one choice beside the default.
        others = [one for one in _choices(option["takes"]["choice"]) if one != option["default"]]
        return {name: others[0] if value else option["default"]} if len(others) == 1 else {name: value}
    if name == "label":
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            _checks.refuse(owner, called, "the name or the number of a column", value)
        return {name: {"named": str(value)}}
    if name == "delimiter" and isinstance(value, str):
        if value != "tab" and not (len(value) == 1 and value.isascii()):
            _checks.refuse(owner, called, "a single character, or 'tab'", value)
        return {name: 9 if value == "tab" else ord(value)}
    if name == "size":
        sides = value.split("x") if isinstance(value, str) else value
        if not isinstance(sides, (list, tuple)) or len(sides) != 2 or not all(str(side).isdigit() for side in sides):
            _checks.refuse(owner, called, "a width and a height such as (28, 28)", value)
        return {name: [int(side) for side in sides]}
    if name == "labels-file":
        return {name: os.fspath(value) if isinstance(value, os.PathLike) else value}
    if name == "crosses":
        pairs = [value.split(",")] if isinstance(value, str) else value
        pairs = [pairs] if isinstance(pairs, (list, tuple)) and pairs and isinstance(pairs[0], str) else pairs
        if not isinstance(pairs, (list, tuple)) or not all(isinstance(one, (list, tuple)) and len(one) == 2 for one in pairs):
            _checks.refuse(owner, called, "a list of pairs of names", value)
        return {name: [[str(part) for part in pair] for pair in pairs]}
    if _kind(option) == "texts":
        texts = [value] if isinstance(value, (str, int)) and not isinstance(value, bool) else value
        if not isinstance(texts, (list, tuple)) or not all(isinstance(one, (str, int)) for one in texts):
            _checks.refuse(owner, called, "a name, or a list of names", value)
        return {name: [str(one) for one in texts]}
    if name == "weight" and isinstance(value, int) and not isinstance(value, bool):
        return {name: str(value)}
    return {name: value}


def _choices(what):
    return [one["name"] for group in _catalogue()["choices"] if group["name"] == what for one in group["choices"]]


def learning(owner: str, given: Mapping[str, Any] | None, group: str = "learning", **own: Any) -> dict[str, Any]:
    """The engine's description of what is learned; `own` has keywords that set options without it."""
    own = {name: value for name, value in own.items() if value is not None}
    if twice := own.keys() & (given if isinstance(given, Mapping) else {}):
        raise ValueError(f"{sorted(twice)[0]!r} of {owner} is set twice, by a keyword and in learning: leave one of them out")
    return {**_settings(owner, "", group, own), **_settings(owner, "learning", group, {} if given is None else given)}


def text(owner: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """How text becomes features, by the engine's names."""
    return _settings(owner, "text", "text", given)


def recipe(owner: str, **given: Any) -> dict[str, Any]:
    """What is set of the engine's description of a training, beside reading and learning."""
    given = {called: _checks.plain(value) for called, value in given.items() if value is not None}
    places = {"memory": ("memory", "bytes"), "calibrate": ("recipe", "calibration")}
    for called in ("time", "group"):
        # A column's number is a name, too.
        if isinstance(given.get(called), int) and not isinstance(given[called], bool):
            given[called] = str(given[called])
    _check(owner, [(called, *places.get(called, ("recipe", called)), value) for called, value in given.items()])
    if "memory" in given:
        given["memory"] = {"bytes": given["memory"]}
    return {"calibration" if called == "calibrate" else called: value for called, value in given.items()}


def estimate(owner: str, folds: Any, holdout: Any) -> dict[str, Any] | None:
    """How the error is estimated; None if that is left to the engine."""
    if folds is not None and holdout is not None:
        raise ValueError(f"folds and holdout of {owner} both say how the error is estimated: leave one of them out")
    folds, holdout = _checks.plain(folds), _checks.plain(holdout)
    if folds is not None and (isinstance(folds, bool) or not isinstance(folds, int) or folds < 2):
        _checks.refuse(owner, "folds", "a whole number, 2 or more", folds)
    if holdout is not None and not (_checks.is_number(holdout) and 0 <= holdout < 1):
        _checks.refuse(owner, "holdout", "a number from 0 to less than 1", holdout)
    return {"folds": folds} if folds is not None else None if holdout is None else {"hold-out": float(holdout)}


def _settings(owner, what, group, given):
    """Options of a group, and of the groups within, by the engine's names."""
    if not isinstance(given, Mapping):
        _checks.refuse(owner, what, "a dictionary of options", given)
    options, placed, checked = _groups()[group], {}, []
    for called, value in given.items():
        option = options.get(str(called).replace("_", "-"))
        if option is None:
            names = {_pythonic(name) for name in options}
            raise ValueError(f"{what!r} of {owner} has no option {called!r}{meant(str(called), names)}")
        name = option["name"]
        called = f"{what}.{called}" if what else called
        if _kind(option) == "group" and value is not None:
            placed[name] = _settings(owner, called, option["takes"]["group"], value)
            continue
        if name == "rate" and _checks.is_number(value):
            value = str(_checks.plain(value))
        if name in ("class-weights", "costs") and value is not None:
            value = _by_class(owner, called, name, value)
        placed[name] = _checks.plain(value)
        if value is not None:
            checked.append((called, group, name, value))
    _check(owner, checked)
    return placed


def _by_class(owner, called, name, value):
    """Weights or costs of classes in the engine's form."""
    if isinstance(value, str) and value in ("even", "balanced"):
        return value
    if name == "costs" and _checks.is_number(value):
        return {"threshold": float(value)}
    forms = ("given", "threshold") if name == "costs" else ("given",)
    is_whole = isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in forms
    numbers = value["given"] if is_whole and "given" in value else value
    if not isinstance(numbers, Mapping) or not all(map(_checks.is_number, numbers.values())):
        _checks.refuse(owner, called, '"even", "balanced" or a number for each class', value)
    return value if is_whole else {"given": numbers}


#: Options of learning that a stream decides.
_OF_EPOCHS = ("epochs", "order", "validation", "max-updates")


def check_online(owner: str, options: Mapping[str, Any], **given: Any) -> None:
    """Refuses what means nothing where every row comes once, in its order, and is predicted before it is learned from."""
    set_ = [name for name, value in given.items() if value is not None] + [_pythonic(name) for name in _OF_EPOCHS if name in options]
    if set_:
        raise ValueError(
            f"{set_[0]!r} of {owner} means nothing with online=True, which learns from every row once, in its order, and "
            "estimates the error on the way: leave one of the two out"
        )


#: What ranges of parameters are called, and which numbers are in them.
_RANGES: dict[str, Callable[[float], bool]] = {
    "zero or positive": lambda value: value >= 0,
    "positive": lambda value: value > 0,
    "above 0 and at most 1": lambda value: 0 < value <= 1,
    "at least 0 and below 1": lambda value: 0 <= value < 1,
    "between 0 and 1": lambda value: 0 < value < 1,
    "0 or 1": lambda value: value in (0, 1),
    "a whole number, 0 or more": lambda value: value >= 0 and value == int(value),
}


def check_params(owner: str, algorithm: str, given: Mapping[str, tuple[str, Any]]) -> None:
    """Refuses the first value that a rule's parameter does not take: the engine's name and the value by Python's name."""
    rules = (rule["params"] for rule in _catalogue()["algorithms"] if rule["name"] == algorithm)
    ranges = {param["name"]: param["range"] for param in next(rules, [])}
    for called, (name, value) in given.items():
        if not _checks.is_number(value):
            _checks.refuse(owner, called, "a number", value)
        # The engine knows ranges that are not listed here.
        range_ = ranges.get(name, "")
        if not _RANGES.get(range_, lambda _: True)(value):
            _checks.refuse(owner, called, range_, value)
