"""The README's lines of Python, run as they stand."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_readme_runs():
    pytest.importorskip("sklearn")
    text = (ROOT / "README.md").read_text()
    blocks = text.split("```python\n")[1:]
    assert blocks
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        for block in blocks:
            exec(block.split("```")[0], {})
    finally:
        os.chdir(before)


def test_the_table_of_failing_checks_is_true():
    pytest.importorskip("sklearn")
    import rosenblatt
    from rosenblatt import _named

    def named(text):
        return set(text.split("`")[1::2])

    classes = [getattr(rosenblatt, name) for name in _named.__all__]
    classes += [rosenblatt.PerceptronClassifier, rosenblatt.MLPClassifier, rosenblatt.AutoClassifier, rosenblatt.Regressor]
    failed = {kind.__name__: set(rosenblatt.expected_failed_checks(kind())) for kind in classes}
    text = (ROOT / "docs/guide/cookbook.md").read_text()
    passing = text[text.index("scikit-learn's own checks") :].split("Others fail")[0]
    assert named(passing) - {"check_estimator(C())"} == {name for name, checks in failed.items() if not checks}
    table = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith(("| `check_", "| | `"))]
    (weights, who, _), (_, why_all, _), (_, also, _) = table
    assert "all other classes" in who
    dense = "check_sample_weight_equivalence_on_dense_data"
    sparse = "check_sample_weight_equivalence_on_sparse_data"
    assert named(weights) == {dense, "..._on_sparse_data"}
    assert all({dense, sparse} <= checks for checks in failed.values() if checks)
    left = {name: checks - {dense, sparse} for name, checks in failed.items()}
    assert named(why_all) | named(also) == {name for name, checks in left.items() if checks}
    assert set().union(*left.values()) == named(table[1][0])
    assert "docs/guide/cookbook.md#scikit-learn" in (ROOT / "README.md").read_text()
