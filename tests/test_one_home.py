"""A new idea has one home: a toy of it, registered in one place, appears everywhere by itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run
from helpers.refusals import refused
from helpers.toy_trials import as_trials
from matplotlib.axes import Axes

import fastfair as ff
from fastfair import intervals
from fastfair._lib.arguments import checked
from fastfair._lib.plots import Bar, draw_rows
from fastfair.cli.signatures import options_from
from fastfair.cli.terminal import print_result
from fastfair.data.comparisons import keys_of
from fastfair.error_rates.operating_points import RULES, OfSearches, Rule, read_point
from fastfair.identification.rates import RATES, false_positives, listed_at, rate_of_searches
from fastfair.io import formats, tables
from fastfair.measures import MEASURES
from fastfair.measures._registry import METRICS, Estimand
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
        return draw_rows(
            ax, [row.group for row in self.rows], bars, xlabel="How sweet toys are", per_cent=False
        )


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
    return ff.Comparisons(
        scores, mated, reference, probe, *sides, policies=ff.Policies(self_comparisons="keep")
    )


@pytest.fixture
def worst_gap() -> Iterator[object]:
    @ff.measures.measure(
        name="worst_gap",
        of=("fmr", "fnmr", "eer"),
        range=(0, 1),
        fair_value=0,
        title="worst gap",
        question=QUESTION,
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
    table = ff.measures.table(published, fnmr="FNMR.{group}").filter(
        pl.col("name") == "worst_gap(fnmr)"
    )
    assert table["value"].to_list() == pytest.approx([0.2])

    evaluation.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("worst gap") > 2
    assert QUESTION in page
    numbers = evaluation.to_json()
    assert "worst_gap(fnmr)" in [row["name"] for row in json.loads(numbers)["quantities"]]
    assert r"worst\_gap(fnmr)" in evaluation.to_latex()
    assert ("worst gap", QUESTION) in glossary(numbers)
    assert (
        "worst gap of FNMR"
        in ff.read_results(tmp_path / "page.html")[0].to_frame()["title"].to_list()
    )

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
    rows = [
        ToyRow(group=group, sweetness=2.5, estimate=0.2, low=0.1, high=0.3)
        for group in ("a_b", "c")
    ]
    toys = ToyTasting(tuple(rows))
    try:
        assert toys.to_frame()["sweetness"].to_list() == [2.5, 2.5]
        assert r"a\_b & 2.5 & 0.2 & 0.1 & 0.3 \\" in toys.to_latex()
        assert ToyTasting.schema()["$defs"]["ToyRow"]["required"][1] == "sweetness"
        (tmp_path / "toys.json").write_text(toys.to_json())
        toys.report(tmp_path / "page.html")
        assert (
            ff.read_results(tmp_path / "toys.json")
            == ff.read_results(tmp_path / "page.html")
            == [toys]
        )
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
        evaluation = ff.evaluate(
            c, AT, [nearness, "fdr"], settings=ff.EvaluationSettings(alpha=0.3), **FEW
        )
        mine, theirs = (evaluation.quantity(name) for name in ("nearness", "fdr"))
        assert (mine.estimate, mine.low, mine.high) == pytest.approx(
            (theirs.estimate, theirs.low, theirs.high)
        )
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
    refused(
        "there is no such quantity|by this name",
        ff.evaluate,
        comparisons(),
        AT,
        [above_average],
        n_resamples=0,
    )


@pytest.fixture
def no_false_match() -> Iterator[ff.OperatingPoint]:
    """Hold the threshold next above all non-mated scores of the data, in replicates, too."""

    class NoFalseMatch(Rule):
        kind, title, example = "no false match", "no false match", "nofm"
        holds, signs = ("fmr",), (0.0, 1.0)

        def key(self, comparisons, at, groups):
            highest = keys_of(comparisons).nonmated[-1]
            return highest + highest.dtype.type(1)

        def keys_in_block(self, block, places):
            return block.given(places)

    yield ff.OperatingPoint("no false match")
    del RULES["no false match"]


def test_an_operating_point_appears_everywhere(no_false_match, tmp_path):
    at, c, other = no_false_match, comparisons(), comparisons(1.2)
    assert read_point(str(at)) == read_point("nofm") == at
    assert ff.rates(c, at).fmr == 0
    assert ff.rates(c, at).threshold == ff.rates(c, ff.at_fmr(0)).threshold
    found, wanted = (ff.evaluate(c, one, [], metrics=[], **FEW) for one in (at, ff.at_fmr(0)))
    assert found.value("fnmr") == wanted.value("fnmr")
    given = ff.evaluate(c, ff.at_threshold(found.rates[0].threshold), [], metrics=[], **FEW)
    drawn = [one.replicates("fnmr") for one in (found, given, wanted)]
    assert drawn[0].tolist() == drawn[1].tolist() != drawn[2].tolist()
    assert ff.evaluate(c, "nofm", [], metrics=[], n_resamples=0).quantity("fnmr").has_interval
    contrast = ff.compare(c, other, at, [], metrics=[], **FEW).contrast("fnmr")
    assert contrast.low <= contrast.difference <= contrast.high
    assert ff.check(c, "fnmr @ nofm <= 0.99", **FEW).rows[0].at == at
    assert ff.thresholds.own_thresholds(c, at).keys() == {"old", "young"}
    refused("nofm", read_point, "fmr")
    ff.write_comparisons(c, tmp_path / "s.csv")
    done = run(
        "evaluate",
        tmp_path / "s.csv",
        "--self-comparisons",
        "keep",
        "--n-resamples",
        0,
        "--at",
        "nofm",
    )
    assert done.exit_code == 0, done.output
    assert "no false match" in done.output


def searches(lower: float = 0.0) -> ff.Searches:
    """Make searches of 40 enrolled people by 70, two of each, in two groups; mates of the old score
    lower."""
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(70), 2)
    mates = who[:, None] == np.arange(40)
    scores = rng.normal(size=(140, 40)) + (3.5 - lower - who[:, None] % 2) * mates
    return ff.Searches.from_matrix(
        scores, who, range(40), group=np.array(["young", "old"])[who % 2], n_threads=1
    )


@pytest.fixture
def no_false_positive() -> Iterator[ff.OperatingPoint]:
    """Hold the threshold next above the scores of all searches of people who are not enrolled."""

    class NoFalsePositive(OfSearches):
        kind, title, example, holds = "no false positive", "no false positive", "nofp", ("fpir",)

        def threshold_of_searches(self, searches, at):
            return searches.next_threshold_above(searches.scores_errors_first(RATES["fpir"])[0])

    yield ff.OperatingPoint("no false positive")
    del RULES["no false positive"]


def test_an_operating_point_of_searches_appears_everywhere(no_false_positive, tmp_path):
    at, s = no_false_positive, searches()
    assert read_point("nofp") == at
    found = ff.identify(s, [at, ff.at_rank(1)], ["std"])
    assert found.of("fpir", at=at).estimate == 0
    assert found.of("fpir", at=at).is_held
    given = ff.identify(s, ff.at_threshold(found.rows[0].threshold))
    row, plain = found.of("fnir", at=at), given.of("fnir")
    assert (row.estimate, row.high) == (
        plain.estimate,
        1,
    )  # nobody knows how much stricter the threshold may be
    assert plain.high < 1
    assert found.check("fnir <= 99.9 %").rows[0].at == at
    assert ff.compare_searches(s, searches(0.5), at).of("fnir").at == at
    refused("no false positive is an operating point of searches", ff.rates, comparisons(), at)
    found.to_json(tmp_path / "found.json")
    assert ff.read_results(tmp_path / "found.json")[0].rows == found.rows
    assert "FNIR at no false positive" in found.summary()


@pytest.fixture
def crowding() -> Iterator[str]:
    @rate_of_searches(
        Estimand(
            name="crowding",
            title="crowding",
            long_title="Crowding rate",
            question=QUESTION,
            kind="identification rate",
            sides=("non-mated",),
        )
    )
    def crowded(searches, look):
        found = false_positives(searches, look)
        of_others = listed_at(searches, np.flatnonzero(~searches.is_mated), look.threshold).sum(
            axis=1
        )
        return found.of_probes_alone((of_others > 1).astype(float))

    yield "crowding"
    del RATES["crowding"], METRICS["crowding"]


def test_a_rate_of_searches_appears_everywhere(crowding, tmp_path):
    s, points = searches(), [ff.at_threshold(1.5), ff.at_fnir(0.3)]
    found = ff.identify(s, points, ["std"], gallery="fixed")
    row = found.of(crowding, at=points[0])
    assert 0 < row.low < row.estimate < found.of("fpir", at=points[0]).estimate
    assert found.of(crowding, at=points[1]).low < found.of(crowding, at=points[1]).estimate
    rates = [found.of(crowding, group, points[0]).estimate for group in found.groups]
    assert found.of("std(crowding)", at=points[0]).estimate == pytest.approx(np.std(rates))
    assert [
        one.verdict for one in found.check(["crowding <= 99.9 %", "crowding <= 0.1 %"]).rows
    ] == ["met", "not met"]
    contrast = ff.compare_searches(s, searches(0.5), points[1], gallery="fixed").of(crowding)
    assert contrast.low <= contrast.estimate <= contrast.high
    assert "crowding at threshold=1.5 is" in found.summary()
    assert found.plot(name=crowding).get_xlabel() == "Crowding rate"
    found.report(tmp_path / "page.html")
    assert "crowding" in (tmp_path / "page.html").read_text("utf-8")
    assert ff.read_results(tmp_path / "page.html")[0].rows == found.rows
    assert crowding in found.to_frame()["name"].to_list()


def test_an_interval_method_appears_everywhere():
    def middle_half(replicates, estimate, tail, **_):
        return np.quantile(replicates, [0.25, 0.75], axis=-1)

    c, other = comparisons(), comparisons(1.2)
    intervals.METHODS_FOR_ANYTHING["middle half"] = middle_half
    try:
        settings = ff.EvaluationSettings("middle half")
        evaluation = ff.evaluate(c, AT, ["gini"], settings=settings, **FEW)
        for name in ("fnmr", "eer", "gini(fnmr)"):
            found, drawn = evaluation.quantity(name), evaluation.replicates(name)
            assert found.method == "middle half"
            assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.25, 0.75])))
        contrast = ff.compare(c, other, AT, [], metrics=["eer"], settings=settings, **FEW).contrast(
            "eer"
        )
        assert contrast.low < contrast.difference < contrast.high
        band = ff.roc_band(c, [0.05], settings=ff.BandSettings("middle half"), **FEW)
        assert (band.low[0], band.high[0]) == pytest.approx(evaluation.interval("fnmr"))
        e = ff.von_mises_fisher_embeddings(30, 4, 8, concentration=20, rng=0)
        of_vectors = ff.roc_band(e, [0.05], settings=ff.BandSettings("middle half"), **FEW)
        assert of_vectors.low[0] == pytest.approx(np.quantile(of_vectors.replicates[:, 0], 0.25))
        assert (
            ff.intervals.confidence_interval([1.0, 2.0, 3.0], 2.0, method="middle half")[0] == 1.5
        )
        for function in (ff.evaluate, ff.roc_band):
            assert "middle half" in options_from(function)["method"]["choices"]
    finally:
        del intervals.METHODS_FOR_ANYTHING["middle half"]
    refused("method must be one of 'auto', 'percentile'", ff.EvaluationSettings, "middle half")


def test_a_pair_source_appears_everywhere():
    """Trials have a side of their own (`helpers.toy_trials`), and say what they lack."""
    systems = [
        ff.von_mises_fisher_embeddings(40, 4, 8, concentration=(k, 30), rng=0) for k in (8, 12)
    ]
    systems = [ff.Embeddings(e.vectors, e.subject, group=e.subject % 2) for e in systems]
    wholes = [e.comparisons() for e in systems]
    toys = [as_trials(e.scanned(0.5).kept, whole) for e, whole in zip(systems, wholes, strict=True)]
    scans = list(map(ff.ScannedComparisons, toys))
    asked = {"metrics": ["eer"], **FEW}
    found, wanted = (ff.evaluate(one, AT, ["gini"], **asked) for one in (scans[0], wholes[0]))
    assert repr(found.quantities) == repr(wanted.quantities)
    refused("trials do not say which score is whose", ff.compare, *scans, AT, **FEW)
    bands = [ff.roc_band(one, [0.01, 0.05], group="0", **FEW) for one in (toys[0], wholes[0])]
    assert bands[0].to_json() == bands[1].to_json()
    bands = [ff.fairness_band(one, "gini", "fnmr", [0.05], **FEW) for one in (toys[0], wholes[0])]
    assert bands[0].to_json() == bands[1].to_json()
    assert ff.check(scans[0], "eer <= 0.9", AT, **FEW).verdict == "met"
    refused("trials have no scores", ff.evaluate, scans[0], AT, [], metrics=["cllr"], **FEW)


# Rows of six fields between blanks, and files with a suffix of their own that hold columns.
JUDGED = formats.Format(
    "judged", "label, judge, enrolment, test, place, score", "six fields", formats.read_rows,
    fields="label judge enrol test place score", subject_pattern="^[a-z]+",
)  # fmt: skip


def read_lines(file: formats.ScoreFile, how: formats.HowToRead) -> formats.ScoreTable:
    frame = pl.DataFrame([json.loads(line) for line in file.path.read_text().splitlines()])
    return formats.choose(tables.read_frame(frame, "path", str(file.path)), how, file.format)


LINES = formats.Format(
    "json-lines",
    "an object with named values",
    "`.jsonl`",
    read_lines,
    suffixes=(".jsonl",),
    is_text=False,
)


def test_a_file_format_appears_everywhere(monkeypatch, tmp_path):
    for kind in (JUDGED, LINES):
        monkeypatch.setitem(formats.FORMATS, kind.name, kind)
    text = "mated x ann1 ann2 b 0.9\nnonmated x ann1 bob1 b 0.2\nmated x bob1 bob2 c 0.8\n"
    path = tmp_path / "s.txt"
    path.write_text(text)
    for stated in ("auto", "judged"):
        c = ff.read_comparisons(path, layout=ff.Layout(format=stated))
        assert (c.mated.similarities.tolist(), c.nonmated.similarities.tolist()) == (
            [0.8, 0.9],
            [0.2],
        )
        assert (c.subjects.tolist(), c.samples.tolist()) == (
            ["ann", "bob"],
            ["ann1", "ann2", "bob1", "bob2"],
        )
    scan = ff.scan_comparisons(path)
    assert (scan.n_mated, scan.n_nonmated) == (2, 1)
    refused(
        r"one of 'auto', .*'judged', 'json-lines'",
        ff.read_comparisons,
        path,
        layout=ff.Layout(format="no"),
    )
    path.write_text(text.replace("x ann1 ann2 b ", ""))
    refused(
        r"line 1: expected 6 fields \(label judge enrol test place score\), found 'mated 0.9'",
        ff.read_comparisons,
        path,
        layout=ff.Layout(format="judged"),
    )
    path.write_text("what is this\n")
    refused("say which with .*format=.* .*judged", ff.read_comparisons, path)
    path.write_text(text)
    monkeypatch.setitem(formats.FORMATS, "other-judged", replace(JUDGED, name="other-judged"))
    refused(r"may be judged .* or other-judged", ff.read_comparisons, path)

    path = tmp_path / "s.jsonl"
    rows = [
        {"reference": "a", "probe": p, "score": s, "sex": "f"} for p, s in (("a", 0.9), ("b", 0.1))
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    c = ff.read_comparisons(path, groups="sex")
    assert (len(c.mated), len(c.nonmated), c.groups) == (1, 1, ("f",))
    choices = options_from(ff.read_comparisons)["format"]["choices"]
    assert choices[-3:] == ["judged", "json-lines", "other-judged"]
    # The table of the documentation, which the extra `test` does not install Sphinx for.
    format_tables = pytest.importorskip("format_tables", reason="needs Sphinx")
    assert [
        "`json-lines`",
        "an object with named values",
        "`.jsonl`",
    ] in format_tables.Formats.rows(None)
