"""Cllr of replicates: exact sums of costs, their shrinkage, and what must not change a bit of
them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.data_sets import population
from hypothesis import given
from hypothesis import strategies as st
from oracles import exact_costs
from oracles import resampling as slow

import fastfair as ff
from fastfair._lib import seeds
from fastfair.data.comparisons import keys_of
from fastfair.error_rates import score_metrics
from fastfair.resampling.engine import Metrics, Resampler
from fastfair.resampling.units import BLOCK

KEY = seeds.stream(7)[0]
CLLR = Metrics(("cllr",))


def columns_of(seed, n, n_subjects, repeated=False, largest=1.0):
    """Scores, flags, subjects and groups of comparisons of both classes in any order."""
    rng = np.random.default_rng(seed)
    reference, probe = rng.integers(0, n_subjects, (2, n))
    if repeated:
        reference, probe = (
            np.repeat(column[: -(-n // 10)], 10)[:n] for column in (reference, probe)
        )
    mated = reference == probe
    reference, probe = np.append(reference, (0, 0)), np.append(probe, (0, 1))
    scores = rng.normal(0, 3, n + 2)
    scores[0] *= largest
    return (
        scores.astype(np.float32),
        np.append(mated, (True, False)),
        reference,
        probe,
        reference % 2,
        probe % 2,
    )


def cllr_of(columns, order=slice(None), kind="similarity", **kwargs):
    scores, mated, reference, probe, *groups = (column[order] for column in columns)
    c = ff.Comparisons(
        -scores if kind == "distance" else scores, mated, reference, probe, *groups, score_kind=kind
    )
    resampler = Resampler(c, [], metrics=CLLR, **kwargs)
    found = resampler.replicate(BLOCK, KEY).metrics["cllr"]
    estimates = [score_metrics.log_likelihood_ratio_cost(keys_of(c))]
    return (
        c,
        resampler,
        np.append(found.ravel(), [*estimates, *np.ravel(resampler.shrinkage.metrics["cllr"])]),
    )


@given(
    st.integers(0, 10**6), st.integers(0, 60), st.integers(2, 7), st.booleans(),
    st.sampled_from([1.0, 1e3, 1e6, 1e30]), st.sampled_from(["similarity", "distance"]),
)  # fmt: skip
def test_order_changes_no_bit(seed, n, n_subjects, repeated, largest, kind):
    columns = columns_of(seed, n, n_subjects, repeated, largest)
    order = np.random.default_rng(seed).permutation(n + 2)
    one, other = (cllr_of(columns, chosen, kind)[-1] for chosen in (slice(None), order))
    assert one.tobytes() == other.tobytes()


@given(
    st.integers(0, 10**6),
    st.integers(0, 40),
    st.integers(2, 7),
    st.booleans(),
    st.sampled_from([1.0, 1e6]),
)
def test_replicates_are_means_of_costs_shrunk(seed, n, n_subjects, repeated, largest):
    columns = columns_of(seed, n, n_subjects, repeated, largest)
    c, resampler, _ = cllr_of(columns)
    found = resampler.replicate(BLOCK, KEY).metrics["cllr"]
    shrinkage = resampler.shrinkage.metrics["cllr"]
    weights = np.empty((resampler.units._draws[0].size, BLOCK), np.uint8)
    resampler.units._draws[0].fill(0, KEY, weights)
    weights = weights[resampler.units._draws[0].row].astype(int)
    rows = list(zip(*(column.tolist() for column in columns[:4]), strict=True))
    of_subject = {subject: subject % 2 for subject in c.subjects.tolist()}
    sizes = {group: list(of_subject.values()).count(group) for group in of_subject.values()}
    number = {subject: k for k, subject in enumerate(c.subjects.tolist())}
    for k in range(found.shape[0]):
        group = None if k == 0 else int(c.groups[k - 1])
        means = np.zeros(BLOCK)
        for mated, c_of_class in zip((True, False), shrinkage, strict=True):
            own = [
                row
                for row in rows
                if row[1] == mated and (k == 0 or row[2] % 2 == row[3] % 2 == group)
            ]
            if not own:
                means[:] = np.nan
                continue
            scores = [row[0] for row in own]
            dyads = [
                (exact_costs.cost(score, mated), a, None if a == b else b)
                for score, (_, _, a, b) in zip(scores, own, strict=True)
            ]
            assert c_of_class[k] == pytest.approx(
                slow.shrinkage(dyads, of_subject, sizes), rel=1e-9
            )
            plain = exact_costs.mean_cost(scores, mated, [1] * len(own))
            for r in range(0, BLOCK, 9):
                both = [
                    (weights[number[a], r], 1 if a == b else weights[number[b], r])
                    for _, _, a, b in own
                ]
                products = [int(w * v) for w, v in both]
                mean = exact_costs.mean_cost(scores, mated, products) if sum(products) else math.nan
                means[r] += (1 - c_of_class[k]) * plain + c_of_class[k] * mean
        for r in range(0, BLOCK, 9):
            assert found[k, r] == pytest.approx(
                means[r] / (2 * math.log(2)), rel=1e-13, nan_ok=True
            )


@pytest.mark.parametrize("unit", ["comparison", "sample", "subject+sample"])
def test_estimates_are_means_whatever_is_drawn(unit):
    c = population()
    means = Resampler(c, [], unit=unit, metrics=CLLR).mean_costs
    estimate = ff.evaluate(c, [], metrics="cllr", measures=[], n_resamples=0)
    for k, group in enumerate((None, *c.groups)):
        assert (means[0] + means[1])[k] / (2 * math.log(2)) == estimate.value("cllr", group)


@pytest.mark.jit
def test_comparisons_are_not_all_copied_for_cllr():
    c = population(300, 40_000)
    resampler = Resampler(c, [ff.at_fmr(0.01)], metrics=CLLR)
    assert not resampler.error_lists.nonmated.complete
