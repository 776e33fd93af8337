"""Thresholds of each group: decisions are those at the group's own threshold, counted in loops."""

from __future__ import annotations

import numpy as np
from helpers.quiet import quietly
from helpers.random_comparisons import drawn
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff

KINDS = ("similarity", "distance", "log-likelihood-ratio")


@given(
    seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), side=st.sampled_from(["probe", "reference"]),
    digits=st.integers(0, 3), single=st.booleans(),
)  # fmt: skip
def test_decisions_are_those_at_the_own_threshold(seed, kind, side, digits, single):
    rng = np.random.default_rng(seed)
    n = 80
    reference = rng.integers(0, 10, n)
    mated = np.arange(n) % 2 == 0
    probe = np.where(mated, reference, (reference + rng.integers(1, 10, n)) % 10)
    scores = rng.normal(size=n).round(digits).astype(np.float32 if single else np.float64)
    groups = {"reference": reference % 3, "probe": probe % 3}
    c = ff.Comparisons(scores, mated, reference, probe, groups["reference"], groups["probe"], kind)
    thresholds = {str(g): float(rng.choice(scores)) if g else 0.1 for g in range(3)}
    found = quietly()(ff.rates)(
        ff.thresholds.with_own_thresholds(c, thresholds, side=side), ff.at_threshold(0)
    )
    accepted = []
    for k in range(n):
        own = scores.dtype.type(
            thresholds[str(groups[side][k])]
        )  # a threshold is rounded to the type of the scores
        accepted.append(scores[k] <= own if kind == "distance" else scores[k] >= own)
    accepted = np.array(accepted)
    assert found.counts.false_matches == np.count_nonzero(accepted & ~mated)
    assert found.counts.false_nonmatches == np.count_nonzero(~accepted & mated)
    for g in range(3):
        inside = (groups["reference"] == g) & (groups["probe"] == g)
        assert found.counts.group_false_matches[g] == np.count_nonzero(accepted & ~mated & inside)
        assert found.counts.group_false_nonmatches[g] == np.count_nonzero(
            ~accepted & mated & inside
        )


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS[:2]))
def test_each_group_holds_its_rate(seed, kind):
    c = drawn(seed, kind=kind)
    for at, name in ((ff.at_fmr(0.1), "group_fmr"), (ff.at_fnmr(0.1), "group_fnmr")):
        thresholds = ff.thresholds.own_thresholds(c, at)
        assert list(thresholds) == ["0", "1"]
        for group in c.groups:
            assert thresholds[group] == ff.rates(c.within_group(group), at).threshold
        held = getattr(
            ff.rates(ff.thresholds.with_own_thresholds(c, thresholds), ff.at_threshold(0)), name
        )
        assert (held <= 0.1).all()
        assert (held > 0.05).all()


def test_one_threshold_for_all_changes_no_number():
    c = drawn(1)
    both = (
        (c, ff.at_threshold(0.7)),
        (ff.thresholds.with_own_thresholds(c, {"0": 0.7, "1": 0.7}), ff.at_threshold(0)),
    )
    found = [quietly()(ff.evaluate)(*data, n_resamples=50, metrics=[], rng=0) for data in both]
    for one, other in zip(*(ev.quantities for ev in found), strict=True):
        if one.name != "threshold":
            assert (one.name, one.low, one.high) == (other.name, other.low, other.high) or np.isnan(
                one.low
            )


def test_what_goes_with_comparisons_stays():
    c = ff.Comparisons(
        [0.9, np.nan, 0.2, 0.4, 0.8, 0.1],
        [1, 1, 0, 0, 1, 0],
        list("aabcba"),
        list("aacabb"),
        list("ffmffm"),
        list("fffmff"),
        "log-likelihood-ratio",
        policies=ff.Policies(failures="non-match", label_conflicts="keep"),
    )
    c.quality = np.arange(6.0)
    own = ff.thresholds.with_own_thresholds(c, {"f": 0.85, "m": 0.0})
    assert own.score_kind == "similarity"
    assert own.failed.n == 1
    assert own.quality is c.quality
    assert quietly()(ff.rates)(own, ff.at_threshold(-50)).counts.false_nonmatches == 1
    assert own.nonmated.rows[np.argsort(own.nonmated.rows)].tolist() == sorted(
        c.nonmated.rows.tolist()
    )


def test_bad_input_is_refused():
    refused("has none for '1'", ff.thresholds.with_own_thresholds, drawn(0), {"0": 0.5})
    refused(
        "a group of thresholds",
        ff.thresholds.with_own_thresholds,
        drawn(0),
        {"0": 0.5, "1": 0.5, "2": 1},
    )
    refused("a dict", ff.thresholds.with_own_thresholds, drawn(0), 0.5)
    refused("no rate that each group", ff.thresholds.own_thresholds, drawn(0), ff.at_threshold(0.5))
    refused(
        "no groups",
        ff.thresholds.own_thresholds,
        ff.Comparisons([0.9, 0.1], [1, 0]),
        ff.at_fmr(0.1),
    )
    refused("side", ff.thresholds.with_own_thresholds, drawn(0), {"0": 0.5, "1": 0.5}, side="both")
