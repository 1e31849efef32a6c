"""Writes, from the engine's catalogue, `rosenblatt/_settings.py`, the settings as estimators take them, and
`rosenblatt/_named.py`, the named estimators. The program of the environment variable ROSENBLATT lists the catalogue.

    ROSENBLATT=target/debug/rosenblatt python -P generate.py [--check] [--catalogue FILE] [FOLDER]

`--catalogue` takes a catalogue from a file instead, and FOLDER says where to write.
"""

import argparse
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

FOLDER = Path(__file__).parent / "rosenblatt"

# What estimators take besides the settings of learning: type, default, where it stands before, and what it means.
OWN = {
    "early_stopping": (
        "bool", True, "validation_fraction",
        "Keep a validation set apart where there are 1,000 rows or more, stop after `n_iter_no_change` epochs without progress "
        "on it, and keep the hypothesis that did best there",
    ),
    "calibrate": ("str | None", None, None, 'Fit probabilities, by "platt" or "isotonic", on folds that were not learned from'),
    "merge_rows": (
        "bool", False, None,
        "Learn from equal rows of a class as one with the sum of their weights, in an order that does not depend on theirs: a "
        "row of weight 2 is then exactly two rows",
    ),
    "warm_start": ("bool", False, None, "Start from the weights of the last fit"),
    "callback": (
        "Callable[[dict[str, int]], object] | None", None, None,
        "Called after each epoch with a dictionary of its number, rounds, mistakes, updates and errors; what returns true ends "
        "the fit. scikit-learn's callbacks are taken by `set_callbacks`",
    ),
}
# Types of settings that Python takes in forms of its own.
TYPES = {
    "rate": "str | float | None",
    "class_weight": "Mapping[Any, float] | str | None",
    "costs": "Mapping[Any, float] | float | str | None",
    "kernel_params": "Mapping[str, Any] | None",
    "random_state": "Any",
}

# The names that the literature gives to members of the family: class, rule, read-out and what is fixed besides.
NAMED = [
    ("Perceptron", "perceptron", "last", {}),
    ("AveragedPerceptron", "perceptron", "averaged", {}),
    ("VotedPerceptron", "perceptron", "voted", {}),
    ("PocketPerceptron", "perceptron", "pocket", {}),
    ("KernelPerceptron", "perceptron", None, {"kernel": "polynomial"}),
    ("MarginPerceptron", "fixed-margin", None, {}),
    ("DynamicMarginPerceptron", "dynamic-margin", None, {}),
    ("UnevenMarginPerceptron", "paum", None, {}),
    ("ALMA", "alma", None, {}),
    ("ROMMA", "romma", None, {}),
    ("AggressiveROMMA", "aggressive-romma", None, {}),
    ("PassiveAggressive", "pa1", None, {}),
    ("PassiveAggressive2", "pa2", None, {}),
    ("AROW", "arow", None, {}),
    ("BatchPerceptron", "batch", None, {}),
    ("MinOver", "minover", None, {"multiclass": "direct-max"}),
    ("LogisticSGD", "logistic", None, {}),
    ("HingeSGD", "hinge", None, {}),
    ("Pegasos", "pegasos", None, {}),
    ("LinearSVM", "svm-dual", None, {}),
    ("LogisticRegression", "logistic-dual", None, {}),
    ("SparseLogisticRegression", "logistic-l1", None, {}),
]

HEAD = '''"""The named members of the family. Written by `generate.py` from the engine's catalogue: do not edit."""

from collections.abc import Callable, Mapping
from typing import Any

from ._estimators import PerceptronClassifier

__all__ = [
'''

CLASS = '''

class {name}(PerceptronClassifier):
    """{summary}.

{details}

    Parameters
    ----------
{own}    **others
        Those of `PerceptronClassifier`.
    """

    _fixed = {fixed!r}
    _rule_params = {params!r}
{typed}
    def __init__(
        self,
        *,
{signature},
    ) -> None:
        super().__init__(
{passed},
        )
{assigned}'''

SETTINGS = '''"""The settings of learning as estimators take them. Written by `generate.py` from the engine's catalogue: do not edit."""

from collections.abc import Callable, Mapping
from typing import Any

#: Where the engine keeps each: the group, and its name there.
SETTINGS = {{
{places}
}}


class Settings:
    """
{doc}
    """

    def __init__(
        self,
        {first},
        *,
{signature},
    ) -> None:
{assigned}
'''


def words():
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--catalogue", type=Path)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    return parser.parse_args()


def catalogue(file=None):
    """That of a file, or the engine's, as its program lists it."""
    if file is not None:
        return json.loads(file.read_text())
    return json.loads(subprocess.run([os.environ["ROSENBLATT"], "catalogue", "--json"], check=True, capture_output=True).stdout)


def typed(option):
    """The type of a setting and its default, as Python has them."""
    takes, default = option["takes"], option["default"]
    kind = next(iter(takes)) if isinstance(takes, dict) else takes
    known = {"switch": "bool", "at-least": "int", "between": "float", "positive": "float", "numbers": "Mapping[str, float]"}
    if kind in ("numbers", "other") or option["of-group"] and option["name"] == "name":
        default = None
    name = TYPES.get(option["python"], known.get(kind, "str") + (" | None" if default is None else ""))
    return name, default


def settings(catalogue):
    """Every setting that estimators take, by its name there: the option, and its type and default."""
    groups = {group["name"]: group["options"] for group in catalogue["options"]}
    found = {}
    for option in groups["learning"]:
        takes = option["takes"]
        inner = takes["group"] if isinstance(takes, dict) and "group" in takes else None
        for one in groups[inner] if inner else [option]:
            # Of a group, those that have a name of their own; networks are another estimator's.
            if inner and (one["python"] == one["name"].replace("-", "_") or inner == "network"):
                continue
            one = {**one, "of-group": inner}
            for own, (_, _, before, _) in OWN.items():
                if before == one["python"]:
                    found[own] = None
            found[one["python"]] = one
    found.update({own: None for own in OWN if own not in found})
    found["random_state"] = found.pop("random_state")
    return {name: (option, *(OWN[name][:2] if option is None else typed(option))) for name, option in found.items()}


def described(name, option, kind, default):
    """An entry of a docstring."""
    if option is None:
        text = OWN[name][3]
    else:
        text = ". ".join(part for part in (option["meaning"], option["details"]) if part)
        text += f"; {option['unset']} if None" if option["unset"] and default is None else ""
    head = f"    {name} : {kind.replace(' | None', '')}, default={default!r}\n"
    return head + textwrap.fill(text + ".", 118, initial_indent=" " * 8, subsequent_indent=" " * 8)


def all_settings(catalogue):
    """The file of the settings."""
    known = settings(catalogue)
    parts = {name: f"{name}: {kind} = {default!r}" for name, (_, kind, default) in known.items()}
    first = parts.pop("algorithm")
    places = "\n".join(
        f'    "{name}": ("{option["of-group"] or "learning"}", "{option["name"]}"),'
        for name, (option, *_) in known.items() if option is not None
    )
    return SETTINGS.format(
        places=places,
        doc="    Parameters\n    ----------\n" + "\n".join(described(name, *rest) for name, rest in known.items()),
        first=first,
        signature=wrapped(parts.values(), 8),
        assigned="\n".join(f"        self.{name} = {name}" for name in known),
    )


def wrapped(parts, indent):
    """Parts with commas between them, as many to a line as fit."""
    lines = [" " * indent]
    for part in parts:
        if len(lines[-1]) + len(part) > 114 and lines[-1].strip():
            lines.append(" " * indent)
        lines[-1] += f"{part}, "
    return "\n".join(line.rstrip() for line in lines).rstrip(",")


#: Parameters whose names are words of Python, or that scikit-learn has a word for.
WORDS = {"lambda": "lam", "tolerance": "tol"}
#: What is solved to a tolerance learns from all rows until it is there.
SOLVED = {"max_iter": 10_000, "early_stopping": False}


def all_named(catalogue):
    """The file of the named estimators."""
    known = {name: rest[1:] for name, rest in settings(catalogue).items() if name not in ("algorithm", "params")}
    rules = {rule["name"]: rule for rule in catalogue["algorithms"]}
    parts = [HEAD, *(f'    "{name}",\n' for name, *_ in NAMED), "]\n"]
    for name, rule, readout, more in NAMED:
        rule = rules[rule]
        params = [{**one, "name": WORDS.get(one["name"], one["name"])} for one in rule["params"]]
        defaults = {one: default for one, (_, default) in known.items()}
        if any(one["name"] == "tol" for one in params):
            defaults.update(SOLVED)
        defaults.update(more)
        fixed = {"algorithm": rule["name"]}
        if readout is not None:
            fixed["readout"] = readout
            defaults.pop("readout")
        signature = [f'{one["name"]}: float = {one["default"]!r}' for one in params]
        signature += [f"{one}: {known[one][0]} = {value!r}" for one, value in defaults.items()]
        own = "".join(
            f'    {one["name"]} : float, default={one["default"]!r}\n        {one["meaning"]}; {one["range"]}\n' for one in params
        )
        details = f'Update: `{rule["update"]}`. Prefer it {rule["prefer"]}. {rule["source"]}.'
        passed = [f'"{rule["name"]}"', *(f"{one}={one}" for one in defaults)]
        text = CLASS.format(
            name=name,
            summary=(rule["summary"][0].upper() + rule["summary"][1:]) + (f", read out {readout}" if readout else ""),
            details=textwrap.fill(details, 110, initial_indent="    ", subsequent_indent="    "),
            own=own,
            fixed=fixed,
            params=tuple(one["name"] for one in params),
            typed="".join(f'    {one["name"]}: float\n' for one in params),
            signature=wrapped(signature, 8),
            passed=wrapped(passed, 12),
            assigned="".join(f'        self.{one["name"]} = {one["name"]}\n' for one in params),
        )
        parts.append(text.rstrip() + "\n")
    return "".join(parts)


if __name__ == "__main__":
    asked = words()
    listed = catalogue(asked.catalogue)
    for name, write in (("_settings.py", all_settings), ("_named.py", all_named)):
        file, written = asked.folder / name, write(listed)
        if not asked.check:
            file.write_text(written)
        elif not file.exists() or file.read_text() != written:
            sys.exit(f"{file.name} is not what the catalogue says: run generate.py")
