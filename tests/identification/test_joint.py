"""Intervals that hold together: the largest FPIR of all groups, bands of curves; and thresholds of
groups' own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.refusals import refused
from scipy.stats import multivariate_normal, norm

import fastfair as ff
from fastfair.identification.joint import joint_level
from fastfair.results.result import read


def searches(seed: int = 0, n: int = 900, group: bool = True) -> ff.Searches:
    rng = np.random.default_rng(seed)
    probe = rng.integers(0, 240, n)
    scores = np.round(rng.normal(size=(n, 60)) + 3 * (probe[:, None] == np.arange(60)), 2)
    labels = np.array(list("abcd"))[probe % 4]
    scores += 0.3 * (labels == "c")[:, None]
    return ff.Searches.from_matrix(
        scores, probe, np.arange(60), group=labels if group else None, candidates=60
    )


def test_the_joint_level_is_that_of_the_normal_law():
    for m in (1, 2, 6):
        independent = np.eye(m, 40)
        assert joint_level(independent, 0.95) == pytest.approx(0.95 ** (1 / m), abs=0.002)
        assert joint_level(np.ones((m, 5)), 0.95) == pytest.approx(0.95, abs=0.004)
    rng = np.random.default_rng(0)
    influences = rng.normal(size=(3, 50)) + rng.normal(size=50)
    level = joint_level(influences, 0.9)
    correlation = influences @ influences.T
    length = np.sqrt(np.diag(correlation))
    law = multivariate_normal(cov=correlation / np.outer(length, length))
    z = norm.ppf((1 + level) / 2)
    assert law.cdf([z] * 3, lower_limit=[-z] * 3) == pytest.approx(0.9, abs=0.005)
    none = np.vstack([np.zeros(50), influences])
    assert joint_level(none, 0.9) >= level


@pytest.mark.parametrize("at", [ff.at_threshold(2.6), ff.at_fpir(0.1)])
def test_the_largest_fpir_has_the_limits_of_all_groups_at_the_joint_level(at):
    s = searches()
    found = ff.identify(s, [at, ff.at_rank(1)], gallery="fixed")
    (row,) = found.largest
    rows = [found.of("fpir", name, at) for name in s.groups]
    assert (row.group, row.estimate) == ("c", max(one.estimate for one in rows))
    assert row.high > max(one.high for one in rows)
    assert row.low < max(one.low for one in rows)
    strict = ff.identify(s, at, gallery="fixed", confidence_level=1 - 0.05 / 4)  # Bonferroni
    assert row.high <= max(strict.of("fpir", name).high for name in s.groups) + 1e-9
    assert f"The largest FPIR of 4 groups at {at} is " in found.summary()
    assert read(json.loads(found.to_json())).largest[0].high == row.high
    assert ff.identify(searches(group=False), at).largest == ()


@pytest.mark.parametrize(
    ("points", "name"),
    [
        ([ff.at_rank(k) for k in (1, 2, 5, 10)], "tpir"),
        ([ff.at_fpir(x) for x in (0.05, 0.1, 0.2)], "fnir"),
        ([ff.at_threshold(t) for t in (2.0, 2.4, 2.8)], "fpir"),
    ],
)
def test_simultaneous_intervals_hold_those_of_points(points, name):
    s = searches(1)
    alone, together = (
        ff.identify(s, points, simultaneous=one, confidence_level=0.9) for one in (False, True)
    )
    assert [row.estimate for row in alone.rows if row.name == name] == [
        row.estimate for row in together.rows if row.name == name
    ]
    for at in points:
        one, other = alone.of(name, at=at), together.of(name, at=at)
        assert other.low < one.low
        assert other.high > one.high
    assert "hold together for all points of a curve" in together.summary()
    single = ff.identify(s, points[0], simultaneous=True).of(name)
    assert single.low == ff.identify(s, points[0]).of(name).low


def test_own_thresholds_are_those_of_each_group_alone():
    s = searches(2)
    points = [ff.at_fpir(0.1), ff.at_threshold(2.0), ff.at_fnir(0.2)]
    own = ff.identify(s, points, gallery="fixed").own_thresholds()
    assert {row.at for row in own.rows} == {points[0], points[2]}
    for code, name in enumerate(s.groups):
        alone = ff.identify(s._of_group(code), points[0], gallery="fixed")
        scores = s.best[(s.group == code) & ~s.is_mated, 0]
        row = next(r for r in own.rows if (r.name, r.group, r.at) == ("fpir", name, points[0]))
        assert row.n_errors == (scores >= row.threshold).sum() <= 0.1 * scores.size
        assert row.threshold == alone.of("fpir").threshold
    assert "FPIR=0.1 is held at the threshold " in own.summary()
    assert "typed_threshold" in own.to_frame("polars").columns
    refused("hold a rate, .* not at threshold=2", ff.identify(s, ff.at_threshold(2)).own_thresholds)


def test_pages_draw_false_positives_over_gallery_sizes_and_mates_over_ranks(tmp_path):
    found = ff.identify(searches(3), ff.at_threshold(2.6))
    assert list(found._figures()) == ["", "false_positives_over_gallery_sizes", "mates_over_ranks"]
    lines = found._figures()["false_positives_over_gallery_sizes"].get_lines()
    sizes, rates = lines[0].get_data()
    assert sizes.max() == 60
    assert rates[-1] == found.of("fpir", "a").estimate
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "False positives over gallery sizes" in page
    assert list(read(json.loads(found.to_json()))._figures()) == [""]
