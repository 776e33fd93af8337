"""How pages become files, whatever is on them."""

from __future__ import annotations

import ast
import csv
import math
import os
import re
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import fastfair as ff
import papers
from fastfair.errors import FastfairWarning
from papers.all_pages import NAMES, write_pages
from papers.command import make_pages
from papers.figure_style import COLORS, new_figure, style
from papers.page_files import write_html, write_page
from papers.page_parts import Figure, Page, Range, Table, Verdict, verdict_table
from papers.quantities import WHY_WITHHELD, WITHHELD, fairer, measure_of
from papers.sed.printed import TABLES
from papers.settings import Settings

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
            ("=f", None, True, 1 / 3),
        ],
        {"Rate": ".2f"},
    )
    text = "## A section\n\nText with a link to [paper 2](garbe.md), and one to [a page](https://example.org/x.md5).\n"
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
        "| =f |  | yes | 0.3333 |",
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
    assert rows[4][0] == "'=f"  # which no spreadsheet computes
    assert float(rows[4][5]) == 1 / 3


def test_html_renders_the_page_and_links_pages_as_html(written):
    html = written[1][1].read_text()
    assert html.startswith("<!doctype html>")
    assert "<title>A &lt;title&gt;</title>" in html
    assert html.count("<table>") == 2
    assert 'href="garbe.html"' in html
    assert 'href="https://example.org/x.md5"' in html
    assert '<img src="figures/made_up_curve.png" alt="A curve (of two points)"' in html
    assert 'href="figures/made_up_curve.svg"' in html


def test_links_to_other_sites_stay_as_they_are(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[here](garbe.md), [in it](garbe.md#part), [there](https://example.org/README.md)\n")
    html = write_html(page, "Page").read_text()
    for link in ("garbe.html", "garbe.html#part", "https://example.org/README.md"):
        assert f'href="{link}"' in html


def long_page() -> Page:
    table = Table("t", "Numbers", ("A", "B"), [(1, 2)])
    parts = [
        "About it.\n\n### Not a section", "## First (section 3.2)\n\nText.", table,
        "More.\n\n## The FMR, α & more\n\n### A part\n\nText with ## in it.\n\n#### A part of it", "## Third",
    ]  # fmt: skip
    return Page("long", "Long", parts, "---\n\n*The end*")


def test_sections_of_a_long_page_are_pages(tmp_path):
    files = write_page(long_page(), tmp_path)
    names = ["long", "long_first", "long_the-fmr-more", "long_third"]
    assert [path.name for path in files] == [
        *(f"{name}.{kind}" for name in names for kind in ("md", "html")), "long_t.csv"
    ]  # fmt: skip
    text = {name: (tmp_path / f"{name}.md").read_text().split("\n") for name in names}
    assert text["long"] == [
        "# Long", "", "About it.", "", "### Not a section", "", "Sections:", "",
        "- [First (section 3.2)](long_first.md)", "- [The FMR, α & more](long_the-fmr-more.md)",
        "- [Third](long_third.md)", "", "---", "", "*The end*", "",
    ]  # fmt: skip
    first, second, third = (text[name] for name in names[1:])
    assert first[:3] == [
        "# First (section 3.2)", "",
        "Section 1 of 3 of [Long](long.md); next: [The FMR, α & more](long_the-fmr-more.md).",
    ]  # fmt: skip
    assert first[-6:] == ["More.", "", "---", "", "*The end*", ""]
    assert "| 1 | 2 |" in first
    assert [line for line in second if line.startswith("#")] == ["# The FMR, α & more", "## A part", "### A part of it"]
    assert "Text with ## in it." in second
    assert third[:5] == ["# Third", "", "Section 3 of 3 of [Long](long.md).", "", "---"]
    html = (tmp_path / "long_the-fmr-more.html").read_text()
    assert '<h2 id="a-part">' in html
    assert 'href="long_third.html"' in html


def test_sections_are_listed_below_their_page(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(papers.__file__).parents[1]))
    from paper_sections import add_sections

    write_page(long_page(), tmp_path)
    source = [(tmp_path / "long.md").read_text()]
    add_sections(None, "generated/papers/long", source)
    listed = source[0].partition("```{toctree}")[2].split()
    assert listed == [":hidden:", "long_first", "long_the-fmr-more", "long_third", "```"]
    for name, text in (("generated/papers/long_third", "- [A](long.md)\n"), ("guide", "- [A](guide_a.md)\n")):
        source = [text]
        add_sections(None, name, source)
        assert source == [text]


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

    for name in NAMES:
        monkeypatch.setitem(sys.modules, f"papers.{name}", module(name))
    return seen


@pytest.mark.usefixtures("made_up_pages")
def test_all_pages_are_written_with_an_index(tmp_path):
    told: list[str] = []
    files = write_pages(tmp_path, NAMES, Settings.of(quick=False, tell=told.append))
    assert told == [f"{name}: a step" for name in NAMES]
    assert len(files) == 2 + 6 * len(NAMES)
    assert sorted(files) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    index = files[0].read_text()
    assert re.findall(r"\(([a-z_]+)\.md\)", index) == list(NAMES)
    assert "2,000 bootstrap replicates, 100 sets of synthetic systems and 1,000 simulated data sets, seed 0." in index
    assert "complete run" not in index
    assert 'href="sed.html"' in files[1].read_text()


@pytest.mark.usefixtures("made_up_pages")
def test_quick_pages_say_that_they_are(tmp_path):
    write_pages(tmp_path, ["garbe"], Settings.of(quick=True, seed=7))
    for page in (tmp_path / "index.md", tmp_path / "garbe.md"):
        assert "200 bootstrap replicates" in page.read_text()
        assert "seed 7. A complete run (without `--quick`) has more of each." in page.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_named_like_their_modules_and_link_pages_that_there_are(name):
    folder = Path(papers.__file__).parent / name
    source = "".join(path.read_text() for path in folder.glob("*.py"))
    assert set(re.findall(r"\(([a-z0-9_]+)\.md\)", source)) <= set(NAMES)


# --------------------------------------------------------------------------------------------------
# The command
# --------------------------------------------------------------------------------------------------

COMMAND = [sys.executable, str(Path(papers.__file__).parent)]


def run(*arguments: object):
    return CliRunner().invoke(make_pages, [str(argument) for argument in arguments])


def test_the_command_writes_the_pages_asked_for(made_up_pages, tmp_path):
    folder = tmp_path / "new" / "folder"
    done = run("pitfalls", "choosing", "--quick", "--seed", 5, "--output", folder, "--progress")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in folder.glob("*.md")) == ["choosing.md", "index.md", "pitfalls.md"]
    assert f"Written: {folder / 'index.md'} and 13 more files in {folder}" in done.stderr
    assert " s  pitfalls: a step" in done.stderr
    assert [(s.quick, s.seed, s.n_resamples, s.embeddings) for s in made_up_pages] == [(True, 5, 200, None)] * 2


def test_the_command_writes_all_pages_by_default(made_up_pages, tmp_path):
    done = run("--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert {path.stem for path in tmp_path.glob("*.md")} == {"index", *NAMES}
    assert not made_up_pages[0].quick
    assert "a step" not in done.stderr  # nobody is watching


def test_the_command_reads_embeddings_with_their_groups(made_up_pages, tmp_path):
    sex = np.array(["f", "f", "m", "m"])
    np.savez(tmp_path / "faces.npz", vectors=np.eye(4) + 0.1, subject=[0, 0, 1, 1], sex=sex)
    done = run("uncertainty", "--embeddings", tmp_path / "faces.npz", "--group", "sex", "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    (settings,) = made_up_pages
    assert settings.embeddings is not None
    assert settings.embeddings.groups == ("f", "m")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["paper6", "--output", "out"], "'paper6' is not one of 'sed', 'garbe'"),
        (["--seed", "-1", "--output", "out"], "-1"),
        (["sed"], "--output"),
        (["uncertainty", "--group", "sex", "--output", "out"], "--embeddings"),
        (["uncertainty", "--embeddings", "none.npz", "--output", "out"], "none.npz"),
        (["sed", "--output", "/dev/null/out"], "/dev/null/out"),
    ],
)
def test_the_command_tells_errors_in_a_line(arguments: list[str], expected: str, tmp_path):
    done = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert expected in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_package_that_is_missing_is_named(tmp_path):
    hidden = (
        f"import runpy, sys; sys.modules['markdown_it'] = None; sys.argv = ['papers']; sys.path[0] = {COMMAND[1]!r}"
    )
    code = f"{hidden}; runpy.run_path({COMMAND[1]!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == 'The papers need markdown_it, which is not installed: pip install -e ".[demo]"\n'


@pytest.mark.skipif(os.name != "posix", reason="sends an interrupt as terminals of POSIX do")
def test_an_interrupt_ends_the_command_and_leaves_no_half_of_a_file(tmp_path):
    arguments = ["fnmr_groups", "--output", str(tmp_path), "--progress"]
    with subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "paper 4" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest.splitlines()[-1] == "Interrupted"
    assert "Traceback" not in rest
    assert not list(tmp_path.rglob(".*"))


def test_a_file_is_whole_or_not_there(tmp_path):
    page = made_up_page()
    (tmp_path / "made_up.md").write_text("as it was")
    broken = replace(page, parts=["\ud800"])  # which no encoding writes
    with pytest.raises(UnicodeEncodeError):
        write_page(broken, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["made_up.md"]
    assert (tmp_path / "made_up.md").read_text() == "as it was"


def test_the_command_says_what_it_does():
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: python docs/papers [OPTIONS] [sed | garbe |" in done.stdout
    assert "--quick" in done.stdout


# --------------------------------------------------------------------------------------------------
# What the pages take of the library
# --------------------------------------------------------------------------------------------------

PUBLIC = {"fastfair": set(dir(ff))} | {
    f"fastfair.{name}": set(getattr(ff, name).__all__) for name in ("measures", "intervals", "datasets")
}
PUBLIC["fastfair._lib"] = {"plot_style"}  # figures of pages look like those of the library; a look is no interface
PUBLIC["fastfair.errors"] = {name for name in vars(ff.errors) if not name.startswith("_")}


def not_public(source: str) -> list[str]:
    """Name what code imports or reads of fastfair that is not public."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fastfair":
            known = PUBLIC.get(node.module or "", set())
            found += [f"{node.module}.{one.name}" for one in node.names if one.name not in known]
        elif isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name.startswith("fastfair")]
    return found


@pytest.mark.parametrize(
    "line",
    [
        "from fastfair._lib import axes",
        "from fastfair.bands.roc import roc_band",
        "from fastfair import bands",
        "from fastfair.measures import _compute",
        "import fastfair.bands.roc",
    ],
)
def test_what_is_not_public_is_found(line):
    assert not_public(line)


def test_pages_import_public_names_alone():
    files = list(Path(papers.__file__).parent.rglob("*.py"))
    assert len(files) > 40
    assert {str(path): found for path in files if (found := not_public(path.read_text()))} == {}


@pytest.mark.jit
def test_words_of_the_library_are_as_the_library_says_them():
    e = ff.von_mises_fisher_embeddings(20, 3, 8, concentration=8, rng=0)
    c = ff.Embeddings(e.vectors, e.subject, group=e.subject % 2).comparisons()
    at = ff.at_fmr(0.1)
    pair = ff.compare(c, c, at, ["group_to_average_ratio"], metrics=(), n_resamples=20, rng=0)
    contrast = pair.contrast("group_to_average_ratio(fnmr)", "0", at)
    assert contrast.verdict == WITHHELD
    assert WHY_WITHHELD in contrast.note.split("; ")
    pair = ff.compare(c, c, at, ["gini"], metrics=(), n_resamples=20, rng=0)
    assert fairer(pair.contrast("gini(fnmr)", at=at).verdict, "one", "other") == "not told apart"
    measured = {quantity.name for quantity in ff.evaluate(c, at, n_resamples=20, rng=0).quantities}
    assert {name: one.name for name in measured if (one := measure_of(name))}.items() >= {
        "garbe": "garbe", "nrb(eer)": "nrb", "sed": "sed", "sed_mean": "sed", "sed_std": "sed", "std(eer)": "std",
    }.items()  # fmt: skip
    assert {name for name in measured if measure_of(name) is None} == {
        "threshold", "fmr", "fnmr", "fmr_matrix", "eer", "min_dcf", "cllr", "min_cllr",
    }  # fmt: skip


@pytest.mark.jit
def test_printed_systems_are_those_that_the_library_makes():
    found = [(system.table, system.kind, system.ratios) for system in ff.scenario_family(rng=0).systems]
    assert found == [(table, kind, ratios) for table, (kind, systems) in TABLES.items() for ratios in systems]
