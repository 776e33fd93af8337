"""What many tests share: data, and how hypothesis runs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import hypothesis
import pytest

import fastfair as ff

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("default")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the shared real data sets are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def published() -> Path:
    folder = SHARED / "published"
    if not folder.is_dir():
        pytest.skip("the papers' printed tables are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def voxceleb() -> ff.Comparisons:
    if importlib.util.find_spec("bt4vt") is None:
        pytest.skip("bt4vt, which carries the VoxCeleb1-H scores, is not installed")
    return ff.datasets.voxceleb1_h("resnetse34v2")
