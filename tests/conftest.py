"""What many tests share: data, and how hypothesis runs."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

import fastfair as ff

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("default"), max_examples=25)
hypothesis.settings.load_profile("default")

# Shells have what they run in the background ignore interrupts, and its children with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-data-sets", action="store_true", help="statistical studies look at all data sets, and not at a twentieth"
    )


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what a test has drawn: pyplot keeps figures, and warns from twenty on."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def data_sets(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Tell how many of a study's data sets to look at: of few, twenty."""
    all_of_them = request.config.getoption("--all-data-sets")
    return lambda documented: documented if all_of_them else max(documented // 20, min(documented, 20))


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
