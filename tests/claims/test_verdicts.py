"""One rule of verdicts: what is shown of a limit and a bound is what decided, in checks, claims,
pages and searches."""

from __future__ import annotations

import math
import operator
from dataclasses import fields
from html.parser import HTMLParser

import numpy as np
import pytest
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.claims import (
    MET,
    NOT_MET,
    UNDECIDED,
    Attributes,
    Check,
    CheckedQuantity,
    Requirement,
    check_evaluations,
    requirements_of,
)
from fastfair.claims.verdicts import JudgedEstimate, by_holm
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import measure_of

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
OTHERWISE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}
FEW = {"n_resamples": 60, "rng": 0}
SHARED = [one.name for one in fields(JudgedEstimate) if one.name not in ("verdict", "notes")]


def require_shown_verdicts(rows: tuple[CheckedQuantity, ...], level: float = 0.95) -> None:
    """Require that each verdict follows from what its row shows, and nothing else."""
    levels = [level, *(1 - (1 - level) / n for n in range(2, len(rows) + 1))]
    for row in rows:
        allows, breaks = HOLDS[row.relation], HOLDS[OTHERWISE[row.relation]]
        is_kept, is_beyond = allows(row.compared, row.bound), breaks(row.opposite_limit, row.bound)
        assert (row.verdict == MET) == (is_kept and not row.doubt), row
        assert row.verdict != NOT_MET or is_beyond, row
        assert (
            row.verdict == NOT_MET
            or not is_beyond
            or (row.doubt and measure_of(row.name) is not None)
        ), row
        assert str(row.decided_by) == str(
            row.opposite_limit if row.verdict == NOT_MET else row.compared
        )
        assert (row.verdict == MET) == (allows(row.decided_by, row.bound) and not row.doubt), row
        assert row.limit_level in levels
        assert row.opposite_limit != row.opposite_limit or row.opposite_level in levels
        if row.room == 1:
            assert row.compared == row.limit or math.isnan(row.limit)
        if row.verdict == UNDECIDED and not math.isnan(row.limit):
            sign = row.relation if is_kept else OTHERWISE[row.relation]
            assert f" {sign} " in row.reason
            assert ("Holm over" in row.reason) == (row.limit_level != level)
            assert is_kept == (f"in doubt: {row.doubt}" in row.reason)


def judged_by(ev: Evaluation, wanted: list[Requirement]) -> Check:
    """Judge requirements by an evaluation of all its groups."""
    about = Attributes(ev.comparisons)
    return check_evaluations([ev], wanted, [about.family(rule) for rule in wanted])


def drawn(
    seed: int, n_groups: int, goats: float, digits: int, n_attempts: int = 4
) -> ff.Comparisons:
    """Draw comparisons of groups of 3 to 30 people, of whom a share fails most attempts; rounded
    scores have ties."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), rng.integers(3, 31, n_groups))
    n = group.size
    mated = np.repeat(np.arange(n), rng.integers(1, n_attempts + 1, n))
    first, second = np.triu_indices(n, 1)
    kept = rng.random(first.size) < 0.3
    reference, probe = np.append(mated, first[kept]), np.append(mated, second[kept])
    is_mated = np.arange(reference.size) < mated.size
    bad = rng.random(n) < goats
    scores = rng.normal(size=reference.size) + np.where(is_mated, 2.5 - 2.5 * bad[reference], 0)
    labels = np.array(list("abcdef"))[group]
    return ff.Comparisons(
        scores.round(digits), is_mated, reference, probe, labels[reference], labels[probe]
    )


data = st.builds(
    drawn,
    st.integers(0, 2**31),
    n_groups=st.integers(1, 4),
    goats=st.sampled_from([0.0, 0.1, 0.3]),
    digits=st.sampled_from([0, 1, 4]),
)
points = st.sampled_from(
    [ff.at_threshold(1.0), ff.at_threshold(4.0), ff.at_fmr(0.05), ff.at_fnmr(0.1)]
)
relations = st.sampled_from(["<=", "<", ">=", ">"])
bounds = st.floats(0.002, 0.9).map(lambda bound: float(f"{bound:.3g}"))


@given(pvalues=st.lists(st.floats(0, 1), min_size=1, max_size=8), level=st.floats(0.6, 0.99))
def test_steps_by_levels_are_holms_by_pvalues(pvalues, level):
    judged = by_holm(pvalues, lambda p, at: p <= 1 - at, level)
    assert [shown for shown, _ in judged] == [
        bool(p <= 1 - level) for p in ff.intervals.holm(pvalues)
    ] or any(abs(k * p - (1 - level)) < 1e-9 for p in pvalues for k in range(1, len(pvalues) + 1))
    for p, (shown, at) in zip(pvalues, judged, strict=True):
        assert shown == (p <= 1 - at)
    together = by_holm(pvalues, lambda p, at: p <= 1 - at, level, together=True)
    assert together == ([(True, level)] * len(pvalues) if max(pvalues) <= 1 - level else judged)


@given(
    c=data, at=points, relation=relations, bound=bounds, level=st.sampled_from([0.8, 0.95, 0.99])
)
def test_verdicts_of_check_are_those_of_the_limits_shown(c, at, relation, bound, level):
    texts = [f"{name}[*] {relation} {bound}" for name in ("fnmr", "fmr")] + [
        f"eer {relation} {bound}"
    ]
    texts += ["max_geomean_ratio(fnmr) <= 2", "gini(fmr) <= 0.3"] if len(c.groups) > 1 else []
    found = ff.check(c, texts, at, confidence_level=level, **FEW)
    require_shown_verdicts(found.rows, level)
    ev = ff.evaluate(
        c,
        at,
        ["max_geomean_ratio", "gini"],
        metrics=["eer"],
        confidence_level=level,
        **FEW,
        settings=ff.EvaluationSettings(incomplete_groups="nan"),
    )
    for row in found.rows:
        if row.has_interval:
            assert (row.low, row.high) == ev.interval(row.name, row.group, row.at)
        limits = ev.with_intervals(
            row.limit_level, alternative="less" if row.is_upper else "greater"
        )
        if not math.isnan(row.limit):
            assert row.limit == limits.interval(row.name, row.group, row.at)[row.is_upper]


@given(c=data, at=points, rate=st.sampled_from(["fnmr", "fmr"]), bound=bounds)
def test_a_claim_is_the_check_of_two_requirements_with_p_values_that_agree(c, at, rate, bound):
    if at.rate == rate:
        at = ff.at_threshold(1.0)
    found = ff.claim(c, f"{rate} <= {bound}", at, **FEW)
    checked = ff.check(c, [f"{rate} <= {bound}", f"{rate}[*] <= {bound}"], at, **FEW)
    require_shown_verdicts(checked.rows)
    ev = ff.evaluate(
        c, at, [], metrics=[], settings=ff.EvaluationSettings(incomplete_groups="nan"), **FEW
    )
    words = {"supported": MET, "contradicted": NOT_MET, UNDECIDED: UNDECIDED}
    for one, row in zip(found.rows, checked.rows, strict=True):
        assert str([getattr(one, name) for name in SHARED]) == str(
            [getattr(row, name) for name in SHARED]
        )
        assert words[one.verdict] == row.verdict
        if math.isnan(one.pvalue):
            assert one.verdict == UNDECIDED
            continue
        if not any(
            abs(math.log(max(p, 1e-9) / 0.05)) < 0.01 for p in (one.pvalue, one.pvalue_adjusted)
        ):
            assert (one.pvalue_adjusted <= 0.05 and not one.doubt) == (one.verdict == "supported")
        text = f"{rate}{f'[{one.group}]' if one.group else ''} <= {bound}"
        (alone,) = judged_by(ev, requirements_of(text, at)).rows
        assert alone.limit_level == 0.95
        if abs(math.log(max(one.pvalue, 1e-9) / 0.05)) > 0.01:
            assert (one.pvalue <= 0.05) == (alone.compared <= bound)
        if abs(math.log(max(one.pvalue_above, 1e-9) / 0.05)) > 0.01:
            assert (one.pvalue_above <= 0.05) == (alone.opposite_limit >= bound)


@given(
    seed=st.integers(0, 2**31), bound=bounds, relation=relations, gallery=st.sampled_from(["fixed", "drawn"]),
    level=st.sampled_from([0.8, 0.95]),
)  # fmt: skip
def test_verdicts_on_searches_are_those_of_the_limits_shown(seed, bound, relation, gallery, level):
    rng = np.random.default_rng(seed)
    n, enrolled = int(rng.integers(12, 40)), 8
    who = rng.integers(0, n, 2 * n)
    scores = (rng.normal(size=(2 * n, enrolled)) + 3 * (who[:, None] == np.arange(enrolled))).round(
        int(seed % 3)
    )
    searches = ff.Searches.from_matrix(
        scores, who, np.arange(enrolled), group=np.array(list("abc"))[who % 3]
    )
    found = ff.identify(searches, ff.at_threshold(3.0), gallery=gallery)
    texts = [
        f"fnir[*] {relation} {bound}",
        f"fpir[*] {relation} {bound}",
        f"tpir@rank=1 {relation} {bound}",
        "std(fnir) <= 0.3",
    ]
    rows = found.check(texts, confidence_level=level).rows
    require_shown_verdicts(rows, level)
    shown = ff.identify(searches, ff.at_threshold(3.0), gallery=gallery, confidence_level=level)
    for row in rows[:6]:
        assert (row.low, row.high) == pytest.approx(
            (shown.of(row.name, row.group).low, shown.of(row.name, row.group).high), nan_ok=True
        )


@each(("seed", "n_groups", "goats"), [(1, 6, 0.1), (2, 5, 0.3), (3, 4, 0.05), (4, 6, 0.2)])
def test_groups_with_goats_have_the_verdicts_that_are_shown(seed, n_groups, goats):
    c = drawn(seed, n_groups, goats, 4, 12)
    at, settings = ff.at_threshold(1.0), ff.EvaluationSettings(incomplete_groups="nan")
    ev = ff.evaluate(c, at, [], metrics=[], settings=settings, **FEW)
    checked = ff.check(c, "fnmr[*] <= 0.99", at, **FEW).rows
    assert str(judged_by(ev, requirements_of("fnmr[*] <= 0.99", at)).rows) == str(checked)
    limits = [row.limit for row in checked]
    seen = set()
    near = [share * limit for limit in limits for share in (0.999, 1.001)]
    for bound in (0.3 * min(limits), *near, 0.2):
        rows = judged_by(ev, requirements_of(f"fnmr[*] <= {min(bound, 0.99)!r}", at)).rows
        require_shown_verdicts(rows)
        seen |= {(row.verdict, row.limit_level != 0.95) for row in rows}
    assert {(MET, False), (MET, True), (UNDECIDED, True)} <= seen


def test_the_demo_has_the_verdicts_that_are_shown():
    c = ff.datasets.voxceleb1_h()
    found = ff.check(c, "fnmr[*] <= 20 %", n_resamples=200, rng=0)
    require_shown_verdicts(found.rows)
    assert {row.verdict for row in found.rows} == {MET, UNDECIDED}


class Cells(HTMLParser):
    """The cells of all tables of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.is_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.is_cell = self.is_cell or tag in ("td", "th")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.is_cell = self.is_cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self.is_cell:
            self.rows[-1][-1] += data.replace("\N{NO-BREAK SPACE}", " ")


def number(text: str) -> float:
    return float(text.split()[0].replace(",", "")) if text[:1].isdigit() else math.nan


@each("seed", range(3))
def test_a_page_shows_one_interval_and_the_limit_that_decided(seed, tmp_path):
    c = drawn(seed, 4, 0.2, 4, 12)
    at = ff.at_threshold(1.0)
    ev = ff.evaluate(c, at, n_resamples=60, rng=0)
    found = ff.check(c, ["fnmr[*] <= 20 %", "fnmr <= 12 %"], at, **FEW)
    ff.report([ev, found], tmp_path / "page.html")
    rows = Cells((tmp_path / "page.html").read_text("utf-8")).rows
    heading = next(k for k, row in enumerate(rows) if row[:1] == ["Quantity"])
    assert rows[heading][2:5] == ["Estimate [95 % interval]", "Judged limit", "Its level"]
    for row, cells in zip(found.rows, rows[heading + 1 :], strict=False):
        of_rates = next(one for one in rows if one[0] == (row.group or "all") and "of" in one[4])
        assert of_rates[3][: of_rates[3].index("]") + 1].replace(" ", "") == cells[2].replace(
            " %", ""
        ).replace(" ", "")
        assert (cells[5].split()[-1].lower() == "met" and "Not" not in cells[5]) == (
            row.verdict == MET
        )
        is_kept = number(cells[3]) <= number(cells[1].removeprefix("<= "))
        assert is_kept == (row.verdict == MET) or row.doubt
        assert row.reason.split() == cells[6].split()


def test_a_page_names_intervals_that_are_others(tmp_path):
    c, at = drawn(0, 3, 0.2, 4, 12), ff.at_threshold(1.0)
    ev = ff.evaluate(c, at, **FEW).with_intervals(simultaneous=True)
    found = judged_by(ev, requirements_of("fnmr[*] <= 20 %", at))
    require_shown_verdicts(found.rows)
    ff.report([ev, found], tmp_path / "page.html")
    headings = [
        row
        for row in Cells((tmp_path / "page.html").read_text("utf-8")).rows
        if row[0] in ("Group", "Quantity")
    ]
    assert headings[1][3] == "FNMR, % [95 % interval, for all groups together]"
    assert headings[-1][2] == "Estimate [95 % interval, for all groups together]"
