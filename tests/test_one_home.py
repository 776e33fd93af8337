"""A new idea has one home: a toy of it, registered in one place, appears everywhere by itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run
from helpers.refusals import refused
from matplotlib.axes import Axes

import fastfair as ff
from fastfair._lib.arguments import checked
from fastfair._lib.plots import Bar, draw_rows
from fastfair.cli.terminal import print_result
from fastfair.measures import MEASURES
from fastfair.pages.report import glossary
from fastfair.results.result import Result

AT = ff.at_fmr(0.05)


@dataclass(frozen=True, kw_only=True)
class ToyRow:
    group: str
    sweetness: float
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ToyTasting(Result):
    """A result with a column and a chart that no other has."""

    rows: tuple[ToyRow, ...]

    _title = "How sweet are toys?"

    def _sentences(self) -> list[str]:
        return [f"{len(self.rows)} toys were tasted."]

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the sweetness of toys."""
        bars = [Bar(k, row.sweetness) for k, row in enumerate(self.rows)]
        return draw_rows(ax, [row.group for row in self.rows], bars, xlabel="How sweet toys are", per_cent=False)


FEW = {"n_resamples": 200, "rng": 0, "n_threads": 1}
QUESTION = "How far apart are the best and the worst group?"


@cache
def comparisons(noise: float = 1.0) -> ff.Comparisons:
    """Make comparisons of 60 subjects of two groups, the second of which has more errors."""
    rng = np.random.default_rng(5)
    reference, probe = rng.integers(0, 60, (2, 4000))
    probe = np.where(rng.random(4000) < 0.4, reference, probe)
    mated, group = reference == probe, np.array(["old", "young"])
    scores = 2 * mated + noise * (1 + 0.3 * (reference % 2)) * rng.normal(size=4000)
    sides = group[reference % 2], group[probe % 2]
    return ff.Comparisons(scores, mated, reference, probe, *sides, policies=ff.Policies(self_comparisons="keep"))


@pytest.fixture
def worst_gap() -> Iterator[object]:
    @ff.measures.measure(
        name="worst_gap", of=("fmr", "fnmr", "eer"), range=(0, 1), fair_value=0, title="worst gap", question=QUESTION
    )
    def gap(x):
        return x.max(axis=-1) - x.min(axis=-1)

    yield gap
    del MEASURES["worst_gap"]


def test_a_measure_appears_everywhere(worst_gap, tmp_path):
    c, other = comparisons(), comparisons(1.2)
    evaluation = ff.evaluate(c, AT, [worst_gap, "fdr"], **FEW)
    found = evaluation.quantity("worst gap of FNMR")
    rates = [evaluation.value("fnmr", group=group) for group in evaluation.groups]
    assert found.estimate == max(rates) - min(rates) > 0
    assert found.method == "inversion"
    assert 0 <= found.low <= found.estimate <= found.high < 1
    assert np.isfinite(evaluation.replicates("worst_gap(fnmr)")).all()
    assert math.isfinite(evaluation.quantity("worst_gap(eer)").high)
    assert "worst_gap(fmr)" in ff.evaluate(c, AT, n_resamples=0).to_frame()["name"].to_list()

    contrast = ff.compare(c, other, AT, [worst_gap], **FEW).contrast("worst_gap(fnmr)")
    assert contrast.low < contrast.difference < contrast.high
    assert 0 < contrast.pvalue <= 1
    checked = ff.check(c, ["worst_gap(fnmr) <= 0.9", "Worst-gap (FNMR) <= 0.0001"], AT, **FEW)
    assert [row.verdict for row in checked.rows] == ["met", "undecided"]
    assert checked.rows[0].estimate == found.estimate
    refused("bound must lie between 0 and 1", ff.check, c, "worst_gap(fnmr) <= 2", AT, **FEW)
    band = ff.fairness_band(c, worst_gap, "fnmr", [0.05, 0.1], **FEW)
    assert (band.value[0], band.low[0], band.high[0]) == (found.estimate, found.low, found.high)
    assert "worst gap of FNMR" in band.plot().get_ylabel()

    published = pl.DataFrame({"FNMR.f": [0.3], "FNMR.m": [0.1]})
    table = ff.measures.table(published, fnmr="FNMR.{group}").filter(pl.col("name") == "worst_gap(fnmr)")
    assert table["value"].to_list() == pytest.approx([0.2])

    evaluation.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("worst gap") > 2
    assert QUESTION in page
    numbers = evaluation.to_json()
    assert "worst_gap(fnmr)" in [row["name"] for row in json.loads(numbers)["quantities"]]
    assert r"worst\_gap(fnmr)" in evaluation.to_latex()
    assert ("worst gap", QUESTION) in glossary(numbers)
    assert "worst gap of FNMR" in ff.read_results(tmp_path / "page.html")[0].to_frame()["title"].to_list()

    ff.write_comparisons(c, tmp_path / "s.csv")
    words = [
        "evaluate",
        tmp_path / "s.csv",
        "--group",
        "group",
        "--self-comparisons",
        "keep",
        "--n-resamples",
        0,
        "--at",
        "fmr=0.05",
    ]
    done = run(*words, "--measure", "worst gap")
    assert done.exit_code == 0, done.output
    assert "worst gap of FNMR" in done.output


def test_a_column_and_a_chart_appear_everywhere(tmp_path, capsys):
    rows = [ToyRow(group=group, sweetness=2.5, estimate=0.2, low=0.1, high=0.3) for group in ("a_b", "c")]
    toys = ToyTasting(tuple(rows))
    try:
        assert toys.to_frame()["sweetness"].to_list() == [2.5, 2.5]
        assert r"a\_b & 2.5 & 0.2 & 0.1 & 0.3 \\" in toys.to_latex()
        assert ToyTasting.schema()["$defs"]["ToyRow"]["required"][1] == "sweetness"
        (tmp_path / "toys.json").write_text(toys.to_json())
        toys.report(tmp_path / "page.html")
        assert ff.read_results(tmp_path / "toys.json") == ff.read_results(tmp_path / "page.html") == [toys]
        page = (tmp_path / "page.html").read_text("utf-8")
        print_result(toys)
        for shown in (page, capsys.readouterr().out, toys._repr_html_()):
            assert "sweetness" in shown
            assert "20 % [10, 30]" in shown.replace("\N{NO-BREAK SPACE}", " ")
        assert "How sweet toys are" in page
        assert [*toys._figures()] == [""]
    finally:
        del Result.kinds["ToyTasting"]


def test_a_measure_of_both_rates_appears_as_well():
    @ff.measures.measure(of="both rates", range=(0, 1), fair_value=1, title="nearness")
    def nearness(fmr, fnmr, alpha):
        return 1 - alpha * np.ptp(fmr, axis=-1) - (1 - alpha) * np.ptp(fnmr, axis=-1)

    try:
        c = comparisons()
        evaluation = ff.evaluate(c, AT, [nearness, "fdr"], settings=ff.EvaluationSettings(alpha=0.3), **FEW)
        mine, theirs = (evaluation.quantity(name) for name in ("nearness", "fdr"))
        assert (mine.estimate, mine.low, mine.high) == pytest.approx((theirs.estimate, theirs.low, theirs.high))
        band = ff.fairness_band(c, nearness, fmr=[0.05], settings=ff.BandSettings(alpha=0.3), **FEW)
        assert band.low[0] == pytest.approx(mine.low)
    finally:
        del MEASURES["nearness"]


def test_a_measure_with_a_value_for_each_group_appears_as_well():
    @ff.measures.measure(of=("fnmr",), range=(-1, 1), fair_value=0)
    def above_average(fnmr, average):
        return fnmr - average[..., None]

    try:
        c = comparisons()
        found = ff.evaluate(c, AT, [above_average], **FEW)
        for group in found.groups:
            one = found.quantity("above_average(fnmr)", group=group)
            assert one.estimate == found.value("fnmr", group=group) - found.value("fnmr")
            assert one.low < one.estimate < one.high
        assert ff.check(c, "above_average(fnmr)[*] <= 0.9", AT, **FEW).verdict == "met"
    finally:
        del MEASURES["above_average"]
    refused("there is no such quantity|by this name", ff.evaluate, comparisons(), AT, [above_average], n_resamples=0)
