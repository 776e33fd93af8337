"""Replicates against data sets resampled for real, and what must not change them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.data_sets import population
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive
from oracles import resampling as slow
from oracles.degrees_of_freedom import degrees_of_freedom
from oracles.strategies import TIED

import fastfair as ff
from fastfair._lib import memory, seeds
from fastfair._lib.workers import Workers
from fastfair.error_rates import score_metrics
from fastfair.error_rates.operating_points import threshold_key
from fastfair.errors import InputError
from fastfair.resampling.engine import METRICS, NO_METRICS, Metrics, Replicates, Resampler
from fastfair.resampling.units import BLOCK

KEY = seeds.stream(7)[0]
POINTS = (ff.at_fmr(0.2), ff.at_fnmr(0.25), ff.at_threshold(0.5), ff.at_eer())
UNITS = ("comparison", "subject", "sample", "subject+sample")


@st.composite
def sampled(draw: st.DrawFn) -> list[slow.Row]:
    """Comparisons of a few subjects with a few samples each, in up to three groups, both classes
    present."""
    group_of = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=6))
    n_samples = draw(st.lists(st.integers(1, 3), min_size=len(group_of), max_size=len(group_of)))
    subject = st.integers(0, len(group_of) - 1)

    def row(mated: bool) -> slow.Row:
        pair = draw(subject), draw(subject)
        reference, probe = (
            (pair[0], pair[0]) if mated else (pair[0], pair[1] + (pair[0] == pair[1]))
        )
        probe %= len(group_of)
        samples = [f"{s}/{draw(st.integers(0, n_samples[s] - 1))}" for s in (reference, probe)]
        return slow.Row(
            draw(TIED), mated, reference, probe, group_of[reference], group_of[probe], *samples
        )

    sizes = draw(st.tuples(st.integers(1, 14), st.integers(1, 14)))
    rows = [
        row(mated) for mated, size in zip((True, False), sizes, strict=True) for _ in range(size)
    ]
    return draw(st.permutations(rows))


def comparisons_of(rows: list[slow.Row], dtype: type = np.float64) -> ff.Comparisons:
    scores, *columns, reference_sample, probe_sample = zip(*rows, strict=True)
    return ff.Comparisons(
        np.array(scores, dtype),
        *columns,
        reference_sample=reference_sample,
        probe_sample=probe_sample,
        policies=ff.Policies(self_comparisons="keep"),
    )


def drawn_weights(
    c: ff.Comparisons, resampler: Resampler, unit: str
) -> tuple[list[dict], list[dict]]:
    """The weights of every subject and sample (or of every row) in 64 replicates, straight from the
    draws."""
    found = []
    for draw in resampler.units._draws:
        weights = np.empty((draw.size, BLOCK), np.uint8)
        draw.fill(0, KEY, weights)
        found.append(weights[draw.row].T.astype(int).tolist())
    nothing = [{}] * BLOCK
    if unit == "comparison":
        return [dict(enumerate(w)) for w in found[0]], nothing
    subjects = (
        [dict(zip(c.subjects.tolist(), w, strict=True)) for w in found[0]]
        if "subject" in unit
        else nothing
    )
    samples = (
        [dict(zip(c.samples.tolist(), w, strict=True)) for w in found[-1]]
        if "sample" in unit
        else nothing
    )
    return subjects, samples


def row_weights(rows, c, resampler, unit):
    subjects, samples = drawn_weights(c, resampler, unit)
    if unit != "comparison":
        return [
            [slow.comparison_weight(row, unit, subject, sample) for row in rows]
            for subject, sample in zip(subjects, samples, strict=True)
        ]
    # Mated rows first, each class in the order given.
    order = sorted(range(len(rows)), key=lambda k: not rows[k].mated)
    return [[weights[order.index(k)] for k in range(len(rows))] for weights in subjects]


def same(found: float, expected: float, tolerance: float = 1e-12) -> bool:
    return (math.isnan(found) and math.isnan(expected)) or abs(found - expected) <= tolerance


@pytest.mark.parametrize("scheme", ["product", "dyadic"])
@pytest.mark.parametrize("unit", UNITS)
@given(
    rows=sampled(),
    dtype=st.sampled_from([np.float32, np.float64]),
    method=st.sampled_from(["nearest", "interpolated"]),
)
def test_replicates_are_those_of_the_data_resampled(unit, scheme, rows, dtype, method):
    c = comparisons_of(rows, dtype)
    costs = score_metrics.Costs(0.3, 2, 1)
    resampler = Resampler(
        c, POINTS, unit=unit, scheme=scheme, metrics=Metrics(METRICS, method, costs)
    )
    found = resampler.replicate(BLOCK, KEY)
    hull = Resampler(c, [], unit=unit, scheme=scheme, metrics=Metrics(("eer",), "convex-hull"))
    hull_eers = hull.replicate(BLOCK, KEY).metrics["eer"]
    mated_shrink, nonmated_shrink = resampler.shrinkage.mated, resampler.shrinkage.nonmated
    above = (
        (lambda s: float(np.nextafter(dtype(s), dtype(np.inf))))
        if dtype is np.float32
        else naive._next_float
    )
    for r, weights in list(enumerate(row_weights(rows, c, resampler, unit)))[::7]:
        y, x = resampler.shrinkage.metrics["eer"]
        nearest = slow.shrunk_eer(rows, weights, y[0], x[0], "nearest", above)
        thresholds = [
            slow.shrunk_threshold_at_fmr(rows, weights, nonmated_shrink[0, 0], 0.2, above),
            slow.shrunk_threshold_at_fnmr(rows, weights, mated_shrink[0, 1], 0.25),
            0.5,
            nearest[1],
        ]
        for point, expected in enumerate(thresholds):
            t = float(found.threshold[point, r])
            assert same(t, expected, 0) or (
                point == 3 and any(t == threshold for _, threshold in nearest[2])
            )
            if math.isnan(t):
                assert np.isnan(found.fmr[point, :, r]).all()
                assert np.isnan(found.fnmr[point, :, r]).all()
                continue
            assert same(
                found.fmr[point, 0, r], slow.shrunk_fmr(rows, weights, nonmated_shrink[0, point], t)
            )
            assert same(
                found.fnmr[point, 0, r], slow.shrunk_fnmr(rows, weights, mated_shrink[0, point], t)
            )
            cells = [(k, k) for k in range(len(c.groups))] + list(found.cells)
            for k, (i, j) in enumerate(cells):
                kept = [
                    q
                    for q, row in enumerate(rows)
                    if (row.reference_group, row.probe_group) == (c.groups[i], c.groups[j])
                ]
                part, part_weights = [rows[q] for q in kept], [weights[q] for q in kept]
                expected = slow.shrunk_fmr(part, part_weights, nonmated_shrink[1 + k, point], t)
                assert same(found.fmr[point, 1 + k, r], expected)
                if i == j:
                    expected = slow.shrunk_fnmr(part, part_weights, mated_shrink[1 + k, point], t)
                    assert same(found.fnmr[point, 1 + k, r], expected)
        for k, group in enumerate((None, *c.groups)):
            kept = [
                q
                for q, row in enumerate(rows)
                if group is None or row.reference_group == row.probe_group == group
            ]
            part, part_weights = [rows[q] for q in kept], [weights[q] for q in kept]
            value, _, candidates = slow.shrunk_eer(part, part_weights, y[k], x[k], method, above)
            eer = found.metrics["eer"][k, r]
            assert same(eer, value) or any(same(eer, other) for other, _ in candidates)
            cost_y, cost_x = resampler.shrinkage.metrics["min_dcf"]
            value = slow.shrunk_min_dcf(
                part, part_weights, cost_y[k], cost_x[k], costs.miss, costs.false_match
            )
            assert same(found.metrics["min_dcf"][k, r], value)
            hull_y, hull_x = resampler.shrinkage.metrics["min_cllr"]
            value = slow.shrunk_min_cllr(part, part_weights, hull_y[k], hull_x[k])
            assert same(found.metrics["min_cllr"][k, r], value)
            for name, oracle in (("auc", slow.shrunk_auc), ("d_prime", slow.shrunk_d_prime)):
                of_y, of_x = (of[k] for of in resampler.shrinkage.metrics[name])
                value = oracle(part, part_weights, of_y, of_x)
                # Of equal scores the oracle says nothing.
                assert math.isnan(value) or same(found.metrics[name][k, r], value, 1e-9)
            assert same(hull_eers[k, r], slow.shrunk_hull_eer(part, part_weights, y[k], x[k]))


@given(rows=sampled(), unit=st.sampled_from(UNITS))
def test_whole_numbers_of_weight_are_the_rates_of_the_explicit_data_set(rows, unit):
    """With plain product weights a replicate is a data set with every comparison written down that
    often."""
    c = comparisons_of(rows)
    resampler = Resampler(c, POINTS, unit=unit, scheme="product")
    found = resampler.replicate(BLOCK, KEY)
    for r, weights in list(enumerate(row_weights(rows, c, resampler, unit)))[::9]:
        data = slow.resampled(rows, weights)
        mated = [row.score for row in data if row.mated]
        nonmated = [row.score for row in data if not row.mated]
        nearest = [naive.eer(mated, nonmated, "nearest")]
        nearest += slow.shrunk_eer(rows, weights, 1, 1, "nearest")[2]  # as near but for rounding
        assert any(same(found.metrics["eer"][0, r], value) for value, _ in nearest)
        assert any(same(found.threshold[3, r], threshold, 0) for _, threshold in nearest)
        assert same(found.threshold[0, r], naive.threshold_at_fmr(nonmated, 0.2), 0)
        assert same(found.threshold[1, r], naive.threshold_at_fnmr(mated, 0.25), 0)
        for point in range(4):
            t = found.threshold[point, r]
            if not math.isnan(t):
                assert same(found.fmr[point, 0, r], naive.fmr(nonmated, t))
                assert same(found.fnmr[point, 0, r], naive.fnmr(mated, t))
        assert same(found.metrics["cllr"][0, r], naive.cllr(mated, nonmated))
        assert same(found.metrics["min_cllr"][0, r], naive.min_cllr(mated, nonmated))
        assert same(found.metrics["auc"][0, r], naive.auc(mated, nonmated))


@given(rows=sampled())
def test_shrinkage_is_that_of_the_double_sums(rows):
    c = comparisons_of(rows)
    resampler = Resampler(c, POINTS)
    strata = {row.reference: row.reference_group for row in rows} | {
        row.probe: row.probe_group for row in rows
    }
    sizes: dict = {}
    for stratum in strata.values():
        sizes[stratum] = sizes.get(stratum, 0) + 1
    for point in range(len(POINTS)):
        threshold = c.to_threshold(threshold_key(c, POINTS[point]))
        for mated, shrinkage in (
            (True, resampler.shrinkage.mated),
            (False, resampler.shrinkage.nonmated),
        ):
            for k, group in enumerate((None, *c.groups)):
                dyads = []
                for row in rows:
                    inside = group is None or row.reference_group == row.probe_group == group
                    if row.mated == mated and inside:
                        error = int(row.score < threshold if mated else row.score >= threshold)
                        a, b = row.reference, row.probe
                        dyads.append((error, a, None if a == b else b))
                if dyads:
                    assert shrinkage[k, point] == pytest.approx(
                        slow.shrinkage(dyads, strata, sizes), abs=1e-9
                    )
                    if not mated:
                        found = resampler.freedom(point, None if k == 0 else (k - 1, k - 1))
                        assert found == pytest.approx(
                            degrees_of_freedom(dyads, strata, sizes), rel=1e-6
                        )
                    v, vp = (
                        slow.dyadic_variance(dyads, strata, sizes),
                        slow.product_variance(dyads, strata, sizes),
                    )
                    assert (shrinkage[k, point] < 1) == (v < vp * (1 - 1e-12) and vp > 0)


@given(rows=sampled())
def test_min_cllr_is_shrunk_as_the_mean_of_calibrated_costs(rows):
    c = comparisons_of(rows)
    found = Resampler(c, [], metrics=Metrics(("min_cllr",))).shrinkage.metrics["min_cllr"]
    strata = {row.reference: row.reference_group for row in rows} | {
        row.probe: row.probe_group for row in rows
    }
    sizes: dict = {}
    for stratum in strata.values():
        sizes[stratum] = sizes.get(stratum, 0) + 1
    for k, group in enumerate((None, *c.groups)):
        part = [
            row for row in rows if group is None or row.reference_group == row.probe_group == group
        ]
        sides = [[row for row in part if row.mated == mated] for mated in (True, False)]
        if all(sides):
            for side, costs, shrinkage in zip(
                sides, slow.calibrated_costs(part), found, strict=True
            ):
                dyads = [
                    (cost, row.reference, None if row.reference == row.probe else row.probe)
                    for row, cost in zip(side, costs, strict=True)
                ]
                assert shrinkage[k] == pytest.approx(slow.shrinkage(dyads, strata, sizes), abs=1e-6)


@given(rows=sampled())
def test_areas_are_shrunk_as_the_mean_share_on_the_wrong_side(rows):
    c = comparisons_of(rows)
    found = Resampler(c, [], metrics=Metrics(("auc",))).shrinkage.metrics["auc"]
    strata = {row.reference: row.reference_group for row in rows} | {
        row.probe: row.probe_group for row in rows
    }
    sizes: dict = {}
    for stratum in strata.values():
        sizes[stratum] = sizes.get(stratum, 0) + 1
    for k, group in enumerate((None, *c.groups)):
        part = [
            row for row in rows if group is None or row.reference_group == row.probe_group == group
        ]
        sides = [[row for row in part if row.mated == mated] for mated in (True, False)]
        if not all(sides):
            continue
        for side, others, sign, shrinkage in zip(sides, sides[::-1], (1, -1), found, strict=True):
            dyads = []
            for row in side:
                lost = [
                    1.0
                    if sign * (other.score - row.score) > 0
                    else 0.5 * (other.score == row.score)
                    for other in others
                ]
                b = None if row.reference == row.probe else row.probe
                dyads.append((sum(lost) / len(lost), row.reference, b))
            assert shrinkage[k] == pytest.approx(slow.shrinkage(dyads, strata, sizes), abs=1e-6)


def bits(replicates: Replicates, chosen: slice = slice(None)) -> list[bytes]:
    arrays = [replicates.threshold, replicates.fmr, replicates.fnmr, *replicates.metrics.values()]
    return [np.ascontiguousarray(array[..., chosen]).tobytes() for array in arrays]


@pytest.mark.jit
@pytest.mark.parametrize("unit", UNITS)
def test_threads_batches_and_other_work_change_no_bit(unit):
    c = population()
    points = [ff.at_fmr(0.05), ff.at_mean_group_eer()]
    resampler = Resampler(c, points, unit=unit, measured=range(3))
    whole = resampler.replicate(300, KEY, Workers(2))
    assert bits(resampler.replicate(300, KEY, Workers(1))) == bits(whole)
    # Replicates 37 to 127, from blocks that begin at an odd number.
    part = Resampler(c, points, unit=unit, measured=range(3)).replicate(
        91, KEY, Workers(2), first=37
    )
    assert bits(part) == bits(whole, slice(37, 128))
    fewer = Resampler(c, points[:1], unit=unit, metrics=NO_METRICS).replicate(300, KEY)
    assert fewer.fnmr[0].tobytes() == np.ascontiguousarray(whole.fnmr[0]).tobytes()


def test_the_jackknife_leaves_out_one_subject_at_a_time():
    c = population(12, 400)
    resampler = Resampler(c, [ff.at_threshold(1.0)], scheme="product")
    found = resampler.jackknife()
    assert found.fnmr.shape == (1, 4, 12)
    order = np.argsort(resampler.units._draws[0].row)
    for unit, subject in enumerate(order):
        kept = c.mated.reference != subject
        assert found.fnmr[0, 0, unit] == pytest.approx((c.mated.similarities[kept] < 1.0).mean())
        kept = (c.nonmated.reference != subject) & (c.nonmated.probe != subject)
        assert found.fmr[0, 0, unit] == pytest.approx((c.nonmated.similarities[kept] >= 1.0).mean())


@pytest.mark.parametrize("n_subjects", [2, 3, 200])
def test_each_row_of_weights_lies_in_one_cache_line(n_subjects):
    subject = np.arange(n_subjects)
    reference, probe = np.append(subject, subject), np.append(subject, (subject + 1) % n_subjects)
    c = ff.Comparisons(np.arange(2.0 * n_subjects), reference == probe, reference, probe)
    weights = [Resampler(c, ()).units.new_weights() for _ in range(8)]
    assert {w.shape for w in weights} == {(n_subjects + 1, BLOCK)}
    assert all(
        w.ctypes.data % BLOCK == 0 and w.flags.c_contiguous and (w == 1).all() for w in weights
    )


@pytest.mark.jit
@pytest.mark.parametrize(
    ("metrics", "grouped", "said"),
    [
        (["eer"], True, "use fewer comparisons or no groups, which take up to half of it"),
        (["cllr"], False, "use fewer comparisons, or leave out cllr"),
    ],
)
def test_more_comparisons_than_memory_holds_are_refused(monkeypatch, metrics, grouped, said):
    n = 1_500_000
    reference = np.arange(n) % 1000
    mated = reference % 7 == 0
    groups = {"reference_group": reference % 2} if grouped else {}
    c = ff.Comparisons(
        np.arange(n, dtype=np.float32), mated, reference, (reference + 2 * ~mated) % 1000, **groups
    )
    monkeypatch.setattr(memory, "available", lambda: 2**24)
    with pytest.raises(
        InputError, match=rf"comparisons prepared for resampling would take .* are free: {said}"
    ):
        ff.evaluate(c, metrics=metrics, measures=[], n_resamples=64)
