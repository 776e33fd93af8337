"""`compare`: matching, paired replicates, verdicts."""

from __future__ import annotations

import json

import naive_resampling as slow
import numpy as np
import pytest

import fastfair as ff
from fastfair.errors import InputError

pytestmark = pytest.mark.jit  # thousands of passes
POINTS = [ff.at_fmr(0.05), ff.at_threshold(1.0)]


def columns(seed: int = 0, n_subjects: int = 60, n: int = 5000) -> dict:
    rng = np.random.default_rng(seed)
    mated = rng.random(n) < 0.4
    reference = rng.integers(0, n_subjects, n)
    probe = np.where(mated, reference, (reference + rng.integers(1, n_subjects, n)) % n_subjects)
    groups = np.array(["f", "m", "x"])[np.arange(n_subjects) % 3]
    return {
        "scores": rng.normal(0, 1, n) + 2 * mated,
        "mated": mated,
        "reference": reference,
        "probe": probe,
        "reference_group": groups[reference],
        "probe_group": groups[probe],
    }


@pytest.fixture(scope="module")
def systems():
    one = columns()
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.5, one["scores"].size)
    other = one | {"scores": one["scores"] + noise - 0.8 * (one["mated"] & (one["reference_group"] == "f"))}
    return ff.Comparisons(**one), ff.Comparisons(**other)


@pytest.fixture(scope="module")
def paired(systems):
    return ff.compare(*systems, POINTS, n_resamples=300, rng=5)


def test_a_contrast_is_the_difference_of_two_evaluations_with_one_seed(systems, paired):
    one, other = (ff.evaluate(c, POINTS, n_resamples=300, rng=5) for c in systems)
    for name, group, at in [
        ("eer", None, None),
        ("fnmr", "f", POINTS[0]),
        ("garbe", None, POINTS[1]),
        ("fmr", "m", POINTS[1]),
    ]:
        found = paired.contrast(name, group, at)
        a, b = one.replicates(name, group, at), other.replicates(name, group, at)
        assert (found.first, found.second) == (one.value(name, group, at), other.value(name, group, at))
        assert found.difference == found.first - found.second
        assert found.ratio == found.first / found.second
        assert (found.low, found.high) == pytest.approx(slow.percentile((a - b).tolist(), 0.95))
        assert (found.ratio_low, found.ratio_high) == pytest.approx(slow.percentile((a / b).tolist(), 0.95))
        assert found.pvalue == pytest.approx(slow.bootstrap_pvalue((a - b).tolist()))


def test_groups_are_adjusted_together(paired):
    family = [paired.contrast("fnmr", group, POINTS[0]) for group in "fmx"]
    assert [c.pvalue_adjusted for c in family] == pytest.approx(slow.holm([c.pvalue for c in family]))
    overall = paired.contrast("fnmr", None, POINTS[0])
    assert overall.pvalue == overall.pvalue_adjusted


def test_verdicts_follow_intervals_and_the_measure_s_direction(paired):
    assert paired.contrast("fnmr", "f", POINTS[1]).verdict == "first"
    assert paired.contrast("gini(fnmr)", None, POINTS[1]).verdict == "first"
    fdr = paired.contrast("fdr", None, POINTS[1])  # higher is fairer
    assert fdr.difference > 0
    assert fdr.verdict == "first"
    for contrast in paired.contrasts:
        assert contrast.name != "threshold"
        assert (contrast.name, contrast.group, contrast.operating_point) != ("fmr", None, "FMR=0.05"), "held for both"
        if contrast.low <= 0 <= contrast.high and "ratio(" not in contrast.name:
            assert contrast.verdict in ("undecided", "")


def test_a_system_does_not_differ_from_itself(systems):
    same = ff.compare(systems[0], systems[0], POINTS, n_resamples=100, rng=1)
    for contrast in same.contrasts:
        if np.isfinite(contrast.difference):
            assert (contrast.difference, contrast.low, contrast.high, contrast.pvalue) == (0, 0, 0, 1)
            assert contrast.verdict in ("undecided", "")


@pytest.mark.parametrize("unit", ["subject", "comparison"])
def test_the_order_of_rows_does_not_matter(unit):
    given = columns(2, 100, 3000)
    pairs, first = np.unique(given["reference"] * 1000 + given["probe"], return_index=True)
    given = {name: values[first] for name, values in given.items()}  # each pair once, so that rows can be told apart
    order = np.random.default_rng(0).permutation(pairs.size)
    noisy = given | {"scores": given["scores"] + np.random.default_rng(3).normal(0, 0.3, pairs.size)}
    shuffled = {name: values[order] for name, values in noisy.items()}
    one = ff.Comparisons(**given)
    straight, mixed = (
        ff.compare(one, ff.Comparisons(**other), POINTS[:1], unit=unit, n_resamples=64, rng=2)
        for other in (noisy, shuffled)
    )
    for a, b in zip(straight.contrasts, mixed.contrasts, strict=True):
        found, again = ([c.difference, c.low, c.high, c.pvalue, c.ratio_low] for c in (a, b))
        assert np.allclose(found, again, rtol=1e-9, equal_nan=True)  # sums of Cllr run in another order


def test_pairing_narrows_the_interval(systems):
    one, other = systems
    paired = ff.compare(one, other, POINTS[:1], n_resamples=500, rng=0).contrast("eer")
    alone = [ff.evaluate(c, POINTS[:1], n_resamples=500, rng=k).replicates("eer") for k, c in enumerate(systems)]
    low, high = slow.percentile((alone[0] - alone[1]).tolist(), 0.95)
    assert paired.high - paired.low < 0.8 * (high - low)


def test_what_is_not_the_same_is_named(systems):
    given = columns()
    one = systems[0]
    fewer = {name: values[1:] for name, values in given.items()}
    with pytest.raises(InputError, match=r"comparisons differ: first has .* such as"):
        ff.compare(one, ff.Comparisons(**fewer))
    with pytest.raises(InputError, match="only in second"):
        ff.compare(one, ff.Comparisons(**columns(0, 61)))
    moved = given | {"reference_group": np.roll(given["reference_group"], 1)}
    with pytest.raises(InputError, match=r"groups of .* comparisons differ, such as"):
        ff.compare(one, ff.Comparisons(**moved))
    with pytest.raises(InputError, match="the groups differ"):
        ff.compare(one, ff.Comparisons(**{k: given[k] for k in ("scores", "mated", "reference", "probe")}))
    with pytest.raises(InputError, match="second has no subjects"):
        ff.compare(one, ff.Comparisons([0.9, 0.1], [1, 0]))
    with pytest.raises(InputError, match="second must be Comparisons"):
        ff.compare(one, [0.1])
    with pytest.raises(InputError, match="told from the others"):
        ff.compare(one, one, unit="comparison")
    with pytest.raises(InputError, match="needs replicates"):
        ff.compare(one, one, n_resamples=0)
    with pytest.raises(InputError, match="method must be"):
        ff.compare(one, one, method="dyadic")


def test_export_and_other_intervals(paired, tmp_path):
    frame = paired.to_frame("polars")
    assert frame.height == len(paired.contrasts)
    content = json.loads(paired.to_json(tmp_path / "p.json"))
    assert len(content["contrasts"]) == len(paired.contrasts)
    assert content["settings"]["rng"] == 5
    narrow = paired.with_intervals(0.5).contrast("eer")
    wide = paired.contrast("eer")
    assert wide.low < narrow.low < narrow.high < wide.high
    assert "against" in repr(paired)
    for method in ("basic", "normal", "bca"):
        other = paired.with_intervals(method=method).contrast("eer")
        assert other.low < other.difference < other.high
