"""Tables to hand on: what a page shows, in each format, whatever the labels are."""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import refused

import fastfair as ff
from fastfair.results.display import KINDS, DisplayTable, write_tables

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
AT = ff.at_threshold(0.3)
FEW = {"n_resamples": 100, "rng": 0, "n_threads": 1}
BAD = "=1+1 & <b>|_%\n"


@cache
def comparisons() -> ff.Comparisons:
    rng = np.random.default_rng(0)
    n = 60
    labels = {
        "sex": np.array(["f", BAD])[np.arange(n) % 2],
        "age": np.array(["a", "b"])[np.arange(n) // 30],
    }
    mated, (first, second) = np.repeat(np.arange(n), 4), rng.integers(0, n, (2, 3000))
    sides = [np.append(mated, side[first != second]) for side in (first, second)]
    is_mated = np.arange(sides[0].size) < mated.size
    scores = rng.normal(0, 0.4, is_mated.size) + is_mated
    groups = [{name: one[side] for name, one in labels.items()} for side in sides]
    return ff.Comparisons(scores, is_mated, *sides, *groups)


@cache
def results() -> tuple[ff.results.result.Result, ...]:
    c = comparisons()
    return (
        ff.evaluate_attributes(c, at=[AT, ff.at_fmr(0.05)], **FEW),
        ff.check(c, ["fnmr[*] <= 20 %"], AT, **FEW),
        ff.fnmr_test(c.by("age"), AT, n_resamples=199, rng=0),
    )


def test_results_have_the_tables_of_their_pages():
    several, check, test = results()
    one = several.by("age")
    rates = one.table("rates")
    assert rates.title == "Error rates at threshold=0.3"
    assert rates.columns[0] == "Group"
    assert next(row[0] for row in rates.rows) == "all"
    estimate = 100 * one.value("fnmr", "a", AT)
    (cells,) = [row for row in rates.rows if row[0] == "a"]
    assert float(cells[2].split()[0]) == pytest.approx(estimate, rel=0.05)
    assert one.table("rates", ff.at_fmr(0.05)).title.endswith("FMR=0.05")
    assert one.table().title == rates.title
    assert "GARBE" in [row[0] for row in one.table("measures").rows]
    assert one.table("metrics").columns[1] == "EER, %"
    stacked = several.table("rates")
    assert [row for row in stacked.rows if len(row) == 1] == [("by sex",), ("by age",)]
    assert sum(row[0] == "all" for row in stacked.rows) == 1
    assert "requirements" in check._display()
    assert len(check.table("requirements").rows) == len(check.rows)
    assert test.table("tests").columns[0] == "group"
    refused("name must be", one.table, "tests")
    refused("there is no table 'rates' at FMR=0.5", one.table, "rates", ff.at_fmr(0.5))


def test_every_text_has_every_cell():
    table = results()[0].table("rates")
    read = list(csv.reader(io.StringIO(table.to_csv())))
    assert tuple(read[0]) == table.columns
    assert [len(row) for row in read] == [len(table.columns)] * len(read)
    assert read[1:][1][0] == "by sex"
    assert any(row[0].startswith("'=1+1") for row in read)
    markdown = table.to_markdown().splitlines()
    lines = [line for line in markdown if line.startswith("|")]
    assert len(lines) == 2 + len(table.rows)
    unescaped = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    assert set(unescaped) == {1 + len(table.columns)}
    html = table.to_html()
    assert "<b>" not in html
    assert html.count("<tr>") == 1 + len(table.rows)
    latex = table.to_latex()
    assert r"=1+1 \& <b>|\_\%" in latex
    body = latex[latex.index(r"\midrule") : latex.index(r"\bottomrule")].splitlines()[1:]
    assert len(body) == len(table.rows)
    of_cells = [line.replace(r"\&", "").count("&") for line in body if "multicolumn" not in line]
    assert set(of_cells) == {len(table.columns) - 1}
    assert str(table).startswith(table.title)


def test_a_workbook_has_numbers_as_they_are_shown(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    table = results()[0].table("rates")
    table.to_xlsx(tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0][0] == table.title
    assert rows[2] == table.columns
    assert rows[3][1] == 60
    assert sheet.cell(4, 2).number_format == "0"
    formula = next(cell for cell in sheet["A"] if str(cell.value).startswith("=1+1"))
    assert formula.data_type == "s"


def test_a_document_has_the_tables_one_below_the_other(tmp_path):
    docx = pytest.importorskip("docx")
    several = results()[0]
    several.write_tables(tmp_path / "t.docx")
    document = docx.Document(tmp_path / "t.docx")
    assert len(document.tables) == sum(map(len, several._display().values()))
    first, shown = document.tables[0], several.table("rates")
    assert [cell.text for cell in first.rows[0].cells] == list(shown.columns)
    assert next(row.cells[0].text for row in first.rows[1:]) == "all"


@pytest.mark.parametrize("kind", KINDS)
def test_all_tables_go_into_one_file(kind, tmp_path):
    if kind in ("xlsx", "docx"):
        pytest.importorskip({"xlsx": "openpyxl", "docx": "docx"}[kind])
    path = tmp_path / f"tables.{kind}"
    results()[1].write_tables(path)
    assert path.stat().st_size > 100
    alone = tmp_path / f"alone.{kind}"
    getattr(results()[1].table(), f"to_{ {'tex': 'latex', 'md': 'markdown'}.get(kind, kind) }")(
        alone
    )
    assert alone.exists()


def test_other_suffixes_are_refused(tmp_path: Path):
    table = DisplayTable("", ("a",), (("1",),), (False,))
    refused("xlsx, docx, tex, html, md or csv", write_tables, [table], tmp_path / "t.pdf")
    assert table.to_latex().splitlines()[0] == r"\begin{tabular}{r}"
