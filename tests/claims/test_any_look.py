"""Looks of any number: who is judged, in which order, at which threshold, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.claims import MET, UNDECIDED
from fastfair.uncertainty.sequences import sequence_limits

FEW = {"n_resamples": 20, "rng": 0}


def comparisons(n: int, of: int = 60, seed: int = 0) -> ff.Comparisons:
    """Make the data of the first people, of whom each is compared with those before; labels do not
    tell the order."""
    rng = np.random.default_rng(seed)
    name = rng.permutation(of)
    sex = np.array(["f", "m"])[rng.integers(0, 2, of)]
    rows = []
    for person in range(of):
        for _ in range(1 + person % 3):
            rows.append((person, person, rng.normal(2.0)))
        rows += [(other, person, rng.normal()) for other in range(person)]
    kept = [row for row in rows if row[1] < n]
    reference, probe, scores = (np.array(column) for column in zip(*kept, strict=True))
    sides = [{"sex": sex[side]} for side in (reference, probe)]
    return ff.Comparisons(scores, None, name[reference], name[probe], *sides)


def judged_by_loops(
    n: int, rate: str, threshold: float, sex: str | None, start: int = 0, of: int = 60
):
    """Go through the people, and pairs, as the data have them; return errors and comparisons."""
    rng = np.random.default_rng(0)
    rng.permutation(of)
    labels = np.array(["f", "m"])[rng.integers(0, 2, of)]
    own, pairs, used = [], [], set()
    for person in range(of):
        mated = [rng.normal(2.0) for _ in range(1 + person % 3)]
        if person < n and person >= start and sex in (None, labels[person]):
            own.append((sum(score < threshold for score in mated), len(mated)))
        for other in range(person):
            score = rng.normal()
            inside = person < n and other >= start and sex in (None, labels[person])
            inside = inside and sex in (None, labels[other])
            if inside and not {person, other} & used:
                used |= {person, other}
                pairs.append((int(score >= threshold), 1))
    return np.array(own if rate == "fnmr" else pairs).T


@given(
    st.sampled_from(["fnmr", "fmr"]), st.sampled_from([0.0, 0.8, 1.6]), st.sampled_from([None, "f", "m"]),
    st.integers(20, 60),
)  # fmt: skip
def test_limits_are_those_of_people_and_pairs_gone_through_one_by_one(rate, threshold, sex, n):
    text = f"{rate}{f'[{sex}]' if sex else ''}@threshold={threshold} <= 50 %"
    result = ff.check(comparisons(n), text, looks="any", **FEW)
    errors, attempts = judged_by_loops(n, rate, threshold, sex)
    (row,), (state,) = result.rows, result.look.judged
    limits = sequence_limits(errors, attempts, int(attempts.max()), 0.05)
    assert row.limit == pytest.approx(limits[1])
    assert row.opposite_limit == pytest.approx(limits[0])
    assert (state.n, state.most) == (errors.size, attempts.max())
    assert row.room == 1
    assert row.estimate == ff.evaluate(comparisons(n), ff.at_threshold(threshold), [], n_resamples=0).value(
        rate, sex
    )  # fmt: skip


def test_a_threshold_of_the_first_look_judges_those_who_come_later(tmp_path):
    texts = ["fnmr@fmr=0.1 <= 70 %", "fnmr[*]@fmr=0.1 <= 80 %"]
    place = tmp_path / "first.json"
    first = ff.check(comparisons(30), texts, looks="any", **FEW)
    first.to_json(place)
    threshold = ff.evaluate(comparisons(30), ff.at_fmr(0.1), n_resamples=0).rates[0].threshold
    for row, state in zip(first.rows, first.look.judged, strict=True):
        assert row.verdict == UNDECIDED
        assert math.isnan(row.limit)
        assert "it judges people of later looks" in row.reason
        assert (state.threshold, state.n_before, state.n) == (threshold, 30, 0)
    assert "first look" not in first.summary()
    later = ff.check(comparisons(60), texts, looks="any", previous=place, **FEW)
    says = f"the threshold of the first look, {threshold:.7g} for FMR=0.1, estimates at that of all"
    assert says in later.summary()
    for row, state, sex in zip(later.rows, later.look.judged, (None, "f", "m"), strict=True):
        errors, attempts = judged_by_loops(60, "fnmr", threshold, sex, start=30)
        error = 1 - row.limit_level
        assert row.limit == pytest.approx(sequence_limits(errors, attempts, 3, error)[1])
        assert (state.threshold, state.n_before) == (threshold, 30)
    later.to_json(place)
    third = ff.check(comparisons(60), texts, looks="any", previous=place, **FEW)
    assert third.look.number == 3
    assert third.rows == tuple(
        row if row.reason == other.reason else other
        for row, other in zip(later.rows, third.rows, strict=True)
    )
    (read,) = ff.read_results(place)
    assert read.look == later.look


def test_looks_add_people_to_the_end(tmp_path):
    place = tmp_path / "first.json"
    text = "fnmr@threshold=1 <= 60 %"
    ff.check(comparisons(30), text, looks="any", **FEW).to_json(place)
    given = {"requirements": text, "looks": "any", "previous": place, **FEW}
    assert ff.check(comparisons(40), **given).look.number == 2
    for other in (comparisons(40, seed=1), comparisons(20)):
        refused("the first 30 people are not those of previous", ff.check, other, **given)
    whole = comparisons(60)
    side = whole.mated
    names = [whole.subjects[who] for who in side.compared()]
    turned = ff.Comparisons(side.similarities, np.ones(len(side), bool), *names)
    refused("are not those of previous", ff.check, turned, **given)
    refused("another number of planned looks, any and not 12", ff.check, comparisons(40), text, looks=(2, 12),
            previous=place, **FEW)  # fmt: skip


def test_more_comparisons_than_limits_allow_for_are_refused(tmp_path):
    place = tmp_path / "first.json"
    ff.check(
        ff.FailureCounts([0] * 40, [3] * 40, ["a"] * 40), "fnmr <= 20 %", looks="any", **FEW
    ).to_json(place)
    more = ff.FailureCounts([0] * 50, [3] * 40 + [4] * 10, ["a"] * 50)
    given = {"looks": "any", "previous": place, **FEW}
    message = "somebody has 4 comparisons, and looks before had 3"
    refused(message, ff.check, more, "fnmr <= 20 %", **given)


def test_counts_are_judged_in_their_order_under_the_name_of_their_rate(tmp_path):
    rng = np.random.default_rng(0)
    attempts = rng.integers(1, 6, 600)
    failures = rng.binomial(attempts, 0.03)
    group = np.array(list("ab"))[np.arange(600) % 2]
    looks = [
        ff.FailureCounts(failures[:n], attempts[:n], group[:n], rate="fta") for n in (300, 600)
    ]
    texts = ["fta[*] <= 9 %", "fta <= 7 %"]
    place = tmp_path / "first.json"
    ff.check(looks[0], texts, looks="any", **FEW).to_json(place)
    found = ff.check(looks[1], texts, looks="any", previous=place, **FEW)
    for row, mine in zip(found.rows, (group == "a", group == "b", group > ""), strict=True):
        at = 1 - row.limit_level
        assert row.limit == pytest.approx(sequence_limits(failures[mine], attempts[mine], 5, at)[1])
        assert row.name == "fta"
    assert found.verdict == MET


def test_what_has_no_sequence_is_refused(tmp_path):
    data = comparisons(30)
    for text in ("eer <= 30 %", "max_geomean_ratio(fnmr) <= 3", "min_dcf <= 0.5"):
        refused("on an FNMR, an FMR or a rate of counts", ff.check, data, text, looks="any", **FEW)
    alone = ff.Comparisons([0.1, 0.9, 0.5, 0.4], [0, 1, 1, 0])
    refused("no subjects", ff.check, alone, "fnmr <= 90 %", ff.at_threshold(0.5), looks="any", unit="comparison",
            **FEW)  # fmt: skip
    ff.write_comparisons(data, tmp_path / "scores.parquet")
    scan = ff.scan_comparisons(tmp_path / "scores.parquet")
    refused("in memory", ff.check, scan, "fnmr <= 90 %", ff.at_threshold(0.5), looks="any", **FEW)


def test_pairs_share_nobody():
    from fastfair.claims.any_look import _disjoint

    rng = np.random.default_rng(0)
    codes = np.array([a * 30 + b for a, b in itertools.combinations(range(30), 2)])
    chosen = np.divmod(codes[_disjoint(codes, rng.permutation(codes.size), 30)], 30)
    people = np.concatenate(chosen)
    assert np.unique(people).size == people.size == 30
