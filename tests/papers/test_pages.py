"""How pages become files, whatever is on them."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import pytest

import fastfair as ff
import papers
from papers.figure_style import new_figure, style
from papers.page_files import write_page
from papers.page_parts import Figure, Page, Range, Table, Verdict, verdict_table

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
    return Page(
        name, "A <title>", [text, numbers, figure, verdict_table("claims", "Claims", [VERDICT])]
    )


@pytest.fixture
def written(tmp_path) -> tuple[Path, list[Path]]:
    with style():
        return tmp_path, write_page(made_up_page(), tmp_path)


def test_a_page_its_tables_and_figures_become_files(written):
    folder, files = written
    names = [path.relative_to(folder).as_posix() for path in files]
    assert names == [
        "made_up.md",
        "made_up.html",
        "tables/made_up_numbers.csv",
        "figures/made_up_curve.png",
        "figures/made_up_curve.svg",
        "tables/made_up_claims.csv",
    ]
    assert all(path.stat().st_size for path in files)
    assert sorted(files) == sorted(path for path in folder.rglob("*") if path.is_file())
    assert files[3].read_bytes().startswith(b"\x89PNG")
    assert "a curve" in files[4].read_text()  # text stays text


# --------------------------------------------------------------------------------------------------
# What the pages take of the library
# --------------------------------------------------------------------------------------------------

PUBLIC = {"fastfair": set(dir(ff))} | {
    f"fastfair.{name}": set(getattr(ff, name).__all__)
    for name in ("measures", "intervals", "datasets")
}
PUBLIC["fastfair._lib"] = {
    "plots"
}  # figures of pages look like those of the library; a look is no interface
for place in re.findall(
    r"^   ([\w.]+)\.(\w+)$",
    (Path(__file__).parents[2] / "docs" / "api.rst").read_text(),
    re.MULTILINE,
):
    PUBLIC.setdefault(f"fastfair.{place[0]}", set()).add(
        place[1]
    )  # classes of results stand in their folders
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


def test_pages_import_public_names_alone():
    files = list(Path(papers.__file__).parent.rglob("*.py"))
    assert len(files) > 40
    assert {str(path): found for path in files if (found := not_public(path.read_text()))} == {}
