"""The README's examples do what it shows, its times are those of the record, and pages are
short."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fastfair.kernels._sources import cache_folder

import fastfair as ff

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.jit
def test_the_examples_of_the_readme_print_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, encoding="utf-8"
    )
    assert tried >= 7
    assert not failed


# Blocks of commands, commands in the text that install, and blocks of Python.
PIECES = re.compile(
    r"^```sh\n(?P<shell>.*?)^```|`(?P<installs>pip install [^`]*)`|^```python\n(?P<python>.*?)^```",
    re.M | re.S,
)


def run_readme(python: Path, folder: Path, installs: bool) -> int:
    """Run the pieces of the README in their order, all tests alone only on paper; return how many
    there are."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "PATH": os.pathsep.join((str(python.parent), os.environ["PATH"])),
        "FASTFAIR_CACHE_DIR": str(Path(cache_folder()).parent),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }

    def succeed(*command: str) -> None:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"

    pieces, blocks = list(PIECES.finditer(README)), ""
    for piece in pieces:
        commands = piece["shell"] or piece["installs"]
        if piece["python"]:
            blocks += piece["python"] + "\n"  # of which the later ones need the earlier ones
            (folder / "blocks.md").write_text(blocks, "utf-8")
            succeed(str(python), "-m", "doctest", "blocks.md")
        elif installs or not commands.startswith(("make ", "pip ")):
            succeed(
                "bash", "-euc", re.sub("^make test", "make --dry-run test", commands, flags=re.M)
            )
    return len(pieces)


@pytest.mark.slow
@pytest.mark.nightly
def test_every_block_of_the_readme_runs_in_a_clean_clone_and_elsewhere(tmp_path: Path) -> None:
    clone, elsewhere, environment = (
        tmp_path / name for name in ("a clone", "elsewhere", "environment")
    )
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    assert run_readme(python, clone, installs=True) == 6
    elsewhere.mkdir()
    (elsewhere / "docs").symlink_to(clone / "docs")
    run_readme(python, elsewhere, installs=False)


def test_the_figures_of_the_readme_are_those_of_the_record_and_of_the_study() -> None:
    rows = {
        row["name"]: row
        for row in json.loads((ROOT / "docs" / "performance.json").read_text("utf-8"))["rows"]
    }
    scipy, bob, pyeer = rows["bootstrap-scipy"], rows["bob"], rows["pyeer"]
    assert (
        f"rows drawn: {1e3 * scipy['theirs']:.0f} ms | people drawn: {1e3 * scipy['ours']:.3f} ms"
        in README
    )
    assert (
        f"bob.measure {1e3 * bob['theirs']:.0f} ms, pyeer {1e3 * pyeer['theirs']:.0f} ms" in README
    )
    assert f"| {1e3 * bob['ours']:.0f} ms |" in README
    assert f"compiles for about {rows['first-call-cold']['ours']:.0f} s" in README
    assert f"{len(ff.measures.MEASURES)} fairness measures" in README
    study = (ROOT / "docs" / "coverage.md").read_text("utf-8")
    assert "| FMR of a group at a threshold, 0.01 | 94 to 96 | 96 to 100 | 49 to 94 |" in study
    assert "rows drawn: 49 to 94 % | people drawn: 94 to 96 %" in README


EVIDENCE = "coverage", "group_tests_study", "identification_intervals", "embeddings_coverage"


def test_pages_are_short() -> None:
    assert len(README.split()) < 700
    pages = {page.stem: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
    words = {name: len(text.split()) for name, text in pages.items()}
    evidence = sum(words.pop(name) for name in EVIDENCE)  # whose tables grow with what is studied
    assert evidence < 9_000
    assert sum(words.values()) < 34_700
    tasks = re.findall(r"^(\w+)$", pages["how_to"].split(":maxdepth: 1")[1], re.M)
    assert len(tasks) > 10
    for name in tasks:
        assert len(re.sub(r"```.*?```", "", pages[name], flags=re.S).split()) < 600, name
