"""What many tests share: data, how hypothesis runs, and which slow tests are looked at."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

import fastfair as ff

for profile, max_examples in {"quick": 10, "nightly": 200}.items():
    hypothesis.settings.register_profile(
        profile, deadline=None, derandomize=True, max_examples=max_examples
    )
hypothesis.settings.load_profile("quick")

# Shells have what they run in the background ignore interrupts, and its children with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-data-sets",
        action="store_true",
        help="statistical studies look at all data sets, and not at a twentieth",
    )
    parser.addoption(
        "--one-in", type=int, default=1, help="run one test in so many, chosen by --draw"
    )
    parser.addoption(
        "--draw", default="", help="a word, such as a commit, that chooses the tests of --one-in"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one test in so many: another word keeps others, so that many draws meet all tests."""
    one_in, draw = config.getoption("--one-in"), config.getoption("--draw")
    if one_in == 1:
        return
    chosen, left_out = [], []
    for item in items:
        number = int.from_bytes(
            hashlib.sha256(f"{draw} {item.nodeid}".encode()).digest()[:8], "big"
        )
        (left_out if number % one_in else chosen).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=left_out)


def pytest_report_header() -> str:
    return f"load before: {os.getloadavg()[0]:.1f}, processors: {os.cpu_count()}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"load after: {os.getloadavg()[0]:.1f}")


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what a test has drawn: pyplot keeps figures, and warns from twenty on."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Give a function that writes a file of text or bytes and returns its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture(scope="session")
def data_sets(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Tell how many of a study's data sets to look at: of few, twenty."""
    all_of_them = request.config.getoption("--all-data-sets")
    return lambda documented: (
        documented if all_of_them else max(documented // 20, min(documented, 20))
    )


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
