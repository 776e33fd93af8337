"""The README's examples do what it shows, its times are those of the record, and pages are short."""

import doctest
import json
import re
from pathlib import Path

import pytest

import fastfair as ff

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.jit
def test_the_examples_of_the_readme_print_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert tried >= 7
    assert not failed


def test_the_figures_of_the_readme_are_those_of_the_record_and_of_the_study() -> None:
    rows = {row["name"]: row for row in json.loads((ROOT / "docs" / "performance.json").read_text("utf-8"))["rows"]}
    scipy, bob, pyeer = rows["bootstrap-scipy"], rows["bob"], rows["pyeer"]
    assert f"rows drawn: {1e3 * scipy['theirs']:.0f} ms | people drawn: {1e3 * scipy['ours']:.3f} ms" in README
    assert f"bob.measure {1e3 * bob['theirs']:.0f} ms, pyeer {1e3 * pyeer['theirs']:.0f} ms" in README
    assert f"| {1e3 * bob['ours']:.0f} ms |" in README
    assert round(rows["first-call-cold"]["ours"]) == 5
    assert f"{len(ff.measures.MEASURES)} fairness measures" in README
    study = (ROOT / "docs" / "coverage.md").read_text("utf-8")
    assert "| FMR of a group at a threshold, 0.01 | 94 to 96 | 96 to 100 | 49 to 94 |" in study
    assert "rows drawn: 49 to 94 % | people drawn: 94 to 96 %" in README


def test_pages_are_short() -> None:
    assert len(README.split()) < 700
    pages = {page.stem: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
    assert sum(len(text.split()) for text in pages.values()) < 35_000
    tasks = re.findall(r"^(\w+)$", pages["how_to"].split(":maxdepth: 1")[1], re.M)
    assert len(tasks) > 10
    for name in tasks:
        assert len(re.sub(r"```.*?```", "", pages[name], flags=re.S).split()) < 600, name
