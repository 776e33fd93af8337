"""Imports point one way: what `make lint` says of the library, and of one that breaks a rule."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINT = Path(sys.executable).with_name("lint-imports")


@pytest.mark.parametrize(
    ("file", "line", "kept"),
    [
        ("data/matching.py", "", True),
        ("data/matching.py", "from fastfair.bands import roc", False),
        ("data/matching.py", "def f():\n    from fastfair.cli import main", False),
        ("_lib/seeds.py", "if TYPE_CHECKING:\n    from fastfair.data import matching", False),
        ("data/score_keys.py", "from . import comparisons", False),
        ("evaluation/result.py", "from fastfair.group_tests import results", False),
        ("new_module.py", "", False),
    ],
    ids=["as it is", "upwards", "upwards when called", "upwards for types", "a circle", "sideways", "without a place"],
)
def test_imports_point_one_way(file, line, kept, tmp_path):
    shutil.copytree(ROOT / "fastfair", tmp_path / "fastfair", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "kernels", tmp_path / "fastfair" / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "fastfair" / file).open("a") as module:
        module.write(f"\n{line}\n")
    done = subprocess.run(
        [LINT, "--config", ROOT / "pyproject.toml", "--no-cache"], cwd=tmp_path, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) == kept, done.stdout + done.stderr
    assert "Contracts: " in done.stdout
