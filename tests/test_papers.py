"""How pages become files, whatever is on them."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.command_line import COMMAND, run

import fastfair as ff
from fastfair import papers
from fastfair.errors import FastfairWarning, InputError
from fastfair.papers import write_papers
from fastfair.papers._drawing import COLORS, new_figure, style
from fastfair.papers._parts import Figure, Page, Range, Table, Verdict, verdict_table
from fastfair.papers._settings import Settings
from fastfair.papers._writing import write_html, write_page

VERDICT = Verdict("A claim", "Table 1", "A rule", "3 of 4", "in part")


def made_up_page(name: str = "made_up") -> Page:
    drawing, axes = new_figure(1, 2)
    axes[0, 0].plot([0.1, 0.2], [3, 4], label="a curve")
    axes[0, 0].legend()
    axes[0, 1].fill_between([0, 1], [0, 1], [1, 2], alpha=0.3)
    numbers = Table(
        "numbers",
        "Numbers | of *many* kinds",
        ("Name", "Rate", "Count", "Whole"),
        [
            ("a | b\nc", Range(0.5, 0.25, 0.75), 1234, 0.1),
            ("d", 0.125, None, math.nan),
            ("e", Range(1.0, math.nan, math.inf), 2, -math.inf),
            ("f", None, True, 1 / 3),
        ],
        {"Rate": ".2f"},
    )
    text = "## A section\n\nText with a link to [paper 2](paper2.md), and one to [a page](https://example.org/x.md5).\n"
    figure = Figure("curve", "A curve [of two points]. And more of it", drawing)
    return Page(name, "A <title>", [text, numbers, figure, verdict_table("claims", "Claims", [VERDICT])])


@pytest.fixture
def written(tmp_path) -> tuple[Path, list[Path]]:
    with style():
        return tmp_path, write_page(made_up_page(), tmp_path)


def test_a_page_its_tables_and_figures_become_files(written):
    folder, files = written
    names = [path.relative_to(folder).as_posix() for path in files]
    assert names == [
        "made_up.md", "made_up.html", "tables/made_up_numbers.csv", "figures/made_up_curve.png",
        "figures/made_up_curve.svg", "tables/made_up_claims.csv",
    ]  # fmt: skip
    assert all(path.stat().st_size for path in files)
    assert sorted(files) == sorted(path for path in folder.rglob("*") if path.is_file())
    assert files[3].read_bytes().startswith(b"\x89PNG")
    assert "a curve" in files[4].read_text()  # text stays text


def test_markdown_has_all_parts_in_their_order(written):
    lines = written[1][0].read_text().splitlines()
    assert lines[:3] == ["# A <title>", "", "## A section"]
    table = [line for line in lines if line.startswith("|")]
    assert table[:6] == [
        "| Name | Rate | Count | Whole |",
        "| --- | --- | --- | --- |",
        r"| a \| b c | 0.50 [0.25, 0.75] | 1,234 | 0.1 |",
        "| d | 0.12 |  | not computable |",
        "| e | 1.00 [not computable, infinite] | 2 | -infinite |",
        "| f |  | yes | 0.3333 |",
    ]
    assert table[-1] == "| A claim | Table 1 | A rule | 3 of 4 | holds in part |"
    assert "Numbers | of *many* kinds ([CSV](tables/made_up_numbers.csv))" in lines
    assert "![A curve (of two points)](figures/made_up_curve.png)" in lines
    assert "A curve [of two points]. And more of it ([SVG](figures/made_up_curve.svg))" in lines


def test_csv_has_numbers_as_they_are_and_ranges_in_three_columns(written):
    with written[1][2].open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["Name", "Rate", "Rate low", "Rate high", "Count", "Whole"]
    assert rows[1] == ["a | b\nc", "0.5", "0.25", "0.75", "1234", "0.1"]
    assert rows[2] == ["d", "0.125", "", "", "", "nan"]
    assert rows[3] == ["e", "1.0", "nan", "inf", "2", "-inf"]
    assert float(rows[4][5]) == 1 / 3


def test_html_renders_the_page_and_links_pages_as_html(written):
    html = written[1][1].read_text()
    assert html.startswith("<!doctype html>")
    assert "<title>A &lt;title&gt;</title>" in html
    assert html.count("<table>") == 2
    assert 'href="paper2.html"' in html
    assert 'href="https://example.org/x.md5"' in html
    assert '<img src="figures/made_up_curve.png" alt="A curve (of two points)"' in html
    assert 'href="figures/made_up_curve.svg"' in html


def test_links_to_other_sites_stay_as_they_are(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[here](paper2.md), [in it](paper2.md#part), [there](https://example.org/README.md)\n")
    html = write_html(page, "Page").read_text()
    for link in ("paper2.html", "paper2.html#part", "https://example.org/README.md"):
        assert f'href="{link}"' in html


def test_the_same_page_makes_the_same_bits(tmp_path):
    made = []
    for k in range(2):
        with style():
            files = write_page(made_up_page(), tmp_path / str(k))
        made.append([(path.relative_to(tmp_path / str(k)), path.read_bytes()) for path in files])
    assert made[0] == made[1]


def test_every_outcome_is_written_in_words():
    outcomes = ("holds", "in part", "fails", "open")
    table = verdict_table("v", "", [Verdict("c", "s", "r", "f", outcome) for outcome in outcomes])
    assert [row[-1] for row in table.rows] == ["holds", "holds in part", "does not hold", "cannot be told"]


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        Table("t", "", ("A", "B"), [(1,)]).written()


def test_tables_are_found_by_name():
    page = made_up_page()
    assert page.table("claims").rows[0][0] == "A claim"
    with pytest.raises(StopIteration):
        page.table("nothing")


def test_style_is_that_of_pages_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with style():
        assert mpl.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLORS)
    assert dict(mpl.rcParams) == before


# --------------------------------------------------------------------------------------------------
# All pages
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def made_up_pages(monkeypatch) -> list[Settings]:
    """Put made-up pages in the place of the papers', and keep the settings that they are made with."""
    seen: list[Settings] = []

    def module(name: str) -> SimpleNamespace:
        def page(settings: Settings) -> Page:
            seen.append(settings)
            settings.tell(f"{name}: a step")
            warnings.warn("few errors", FastfairWarning, stacklevel=1)
            return made_up_page(name)

        return SimpleNamespace(page=page)

    for name in papers.PAGES.values():
        monkeypatch.setitem(sys.modules, f"fastfair.papers.{name}", module(name))
    return seen


def test_all_pages_are_written_with_an_index(made_up_pages, tmp_path):
    told: list[str] = []
    files = write_papers(tmp_path / "new" / "folder", tell=told.append)
    names = list(papers.PAGES.values())
    assert told == [f"{name}: a step" for name in names]
    assert len(files) == 2 + 6 * len(names)
    assert all(path.is_file() for path in files)
    index = files[0].read_text()
    assert re.findall(r"\(([a-z0-9]+)\.md\)", index) == names
    assert "2,000 bootstrap replicates, 100 sets of synthetic systems and 1,000 simulated data sets, seed 0." in index
    assert "complete run" not in index
    assert 'href="paper1.html"' in files[1].read_text()


def test_quick_pages_say_that_they_are(made_up_pages, tmp_path):
    e = ff.Embeddings([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    files = write_papers(tmp_path, [2, "choosing"], quick=True, seed=7, embeddings=e)
    assert {path.stem for path in files if path.suffix == ".md"} == {"index", "paper2", "choosing"}
    assert all(s.quick and s.seed == 7 and s.n_resamples == 200 and s.embeddings is e for s in made_up_pages)
    for page in (tmp_path / "index.md", tmp_path / "paper2.md"):
        assert "200 bootstrap replicates" in page.read_text()
        assert "seed 7. A complete run (`fastfair papers`) has more of each." in page.read_text()


def test_a_page_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"pages.*6"):
        write_papers(tmp_path / "none", [6])
    assert not (tmp_path / "none").exists()


# --------------------------------------------------------------------------------------------------
# The command
# --------------------------------------------------------------------------------------------------


def test_the_command_writes_the_pages_asked_for(made_up_pages, tmp_path):
    done = run("papers", 3, "choosing", "--quick", "--seed", 5, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.glob("*.md")) == ["choosing.md", "index.md", "paper3.md"]
    assert f"Written: {tmp_path / 'index.md'} and 13 more files in {tmp_path}" in done.output
    assert [(s.quick, s.seed, s.embeddings) for s in made_up_pages] == [(True, 5, None)] * 2


def test_the_command_reads_embeddings_with_their_groups(made_up_pages, tmp_path):
    sex = np.array(["f", "f", "m", "m"])
    np.savez(tmp_path / "faces.npz", vectors=np.eye(4) + 0.1, subject=[0, 0, 1, 1], sex=sex)
    done = run("papers", 5, "--embeddings", tmp_path / "faces.npz", "--group", "sex", "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    (settings,) = made_up_pages
    assert settings.embeddings is not None
    assert settings.embeddings.groups == ("f", "m")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["7"], "'7' is not"),
        (["--seed", "-1"], "-1"),
        (["5", "--group", "sex"], "--embeddings"),
        (["5", "--embeddings", "none.npz"], "none.npz"),
    ],
)
def test_the_command_tells_errors_in_a_line(arguments: list[str], expected: str, tmp_path):
    done = subprocess.run([COMMAND, "papers", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_installed_command_says_what_it_does():
    done = subprocess.run([COMMAND, "papers", "--help"], capture_output=True, text=True, check=True)
    assert "[1-5 | choosing]..." in done.stdout
    assert "--quick" in done.stdout
