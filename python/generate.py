"""Writes `rosenblatt/_named.py`, the named estimators, from the engine's catalogue.

    python -P generate.py [--check]
"""

import inspect
import sys
import textwrap
from pathlib import Path

import rosenblatt

PATH = Path(__file__).parent / "rosenblatt" / "_named.py"

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

# What every named class takes besides the parameters of its rule, with the defaults of `PerceptronClassifier`.
SHARED = """rate readout multiclass bias order zero mistake max_iter max_updates stop_when_clean early_stopping
validation_fraction n_iter_no_change class_weight kernel kernel_params support_budget feature_map map_size calibrate
merge_rows warm_start callback random_state""".split()


def wrapped(parts, indent):
    """Parts with commas between them, as many to a line as fit."""
    lines = [" " * indent]
    for part in parts:
        if len(lines[-1]) + len(part) > 114 and lines[-1].strip():
            lines.append(" " * indent)
        lines[-1] += f"{part}, "
    return "\n".join(line.rstrip() for line in lines).rstrip(",")


def spelled(parameter):
    return inspect.formatannotation(parameter.annotation).replace("collections.abc.", "").replace("typing.", "")


def written():
    from rosenblatt._estimators import _ENGINE_NAMES, PerceptronClassifier

    rules = {rule["name"]: rule for rule in rosenblatt.catalogue()["algorithms"]}
    usual = inspect.signature(PerceptronClassifier.__init__).parameters
    parts = [HEAD, *(f'    "{name}",\n' for name, *_ in NAMED), "]\n"]
    for name, rule, readout, more in NAMED:
        rule = rules[rule]
        words = {theirs: ours for ours, theirs in _ENGINE_NAMES.items()}
        params = [{**one, "name": words.get(one["name"], one["name"])} for one in rule["params"]]
        defaults = {one: usual[one].default for one in SHARED}
        defaults.update(more)
        fixed = {"algorithm": rule["name"]}
        if readout is not None:
            fixed["readout"] = readout
            defaults.pop("readout")
        signature = [f'{one["name"]}: float = {one["default"]!r}' for one in params]
        signature += [f"{one}: {spelled(usual[one])} = {value!r}" for one, value in defaults.items()]
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
    if "--check" in sys.argv:
        sys.exit(0 if PATH.read_text() == written() else "rosenblatt/_named.py is not what the catalogue says: run generate.py")
    PATH.write_text(written())
