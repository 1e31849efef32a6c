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
