"""Templates that score as the best of their vectors do: against loops, and against the list of all
their pairs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refused
from helpers.small_embeddings import two_systems
from helpers.two_sets import hold_rates_against_loops, matrix_of, random_sets
from hypothesis import given
from hypothesis import strategies as st
from oracles import two_sets as slow

import fastfair as ff
from fastfair.data import pair_search, temporary_files
from fastfair.resampling.vector_replicates import Draws

UNITS = ("sample", "subject", "subject+sample")


def templates_of(e: ff.Embeddings, how: object) -> tuple[list[int], list[int]]:
    """The template or probe that each vector is part of, and the first vector of each."""
    keys: list[object] = []
    for i, s in enumerate(e.subject.tolist()):
        before = sum(e.subject[k] == s and not e.is_probe[k] for k in range(i))
        keys.append((s, before // how if isinstance(how, int) else 0 if how is None else how[i]))
    is_probe = e.is_probe.tolist()
    seen: list[object] = []
    for key, probe in zip(keys, is_probe, strict=True):
        if not probe and key not in seen:
            seen.append(key)
    probes = [i for i, probe in enumerate(is_probe) if probe]
    template = [
        len(seen) + probes.index(i) if is_probe[i] else seen.index(keys[i])
        for i in range(len(keys))
    ]
    return template, [template.index(k) for k in range(len(seen) + len(probes))]


@pytest.mark.jit
@given(
    seed=st.integers(0, 10**6),
    n_subjects=st.integers(2, 8),
    most=st.integers(1, 6),
    how=st.sampled_from([None, 1, 2, "labels"]),
    unit=st.sampled_from(UNITS),
    weighting=st.sampled_from(["identity", "comparison"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    parted=st.booleans(),
)
def test_rates_and_replicates_are_those_of_loops(
    seed, n_subjects, most, how, unit, weighting, dtype, parted
):
    e = random_sets(seed, n_subjects, most, dtype)
    labels = [
        f"{s}/{k}"
        for s, k in zip(e.subject, np.random.default_rng(seed).integers(0, 2, len(e)), strict=True)
    ]
    how = labels if how == "labels" else how
    template, first = templates_of(e, how)
    matrix = slow.of_templates(matrix_of(e), template)
    made = e.enrolled(how, score="max")
    assert made.template.tolist() == template
    subject, is_probe = e.subject[first].tolist(), e.is_probe[first].tolist()
    assert (made.subject.tolist(), made.is_probe.tolist()) == (subject, is_probe)
    wanted = slow.pairs(matrix, subject, is_probe, weighting)
    assert (made.n_mated, made.n_nonmated) == tuple(map(len, wanted))
    c = made.comparisons()
    for side, pairs in ((c.mated, wanted[0]), (c.nonmated, wanted[1])):
        samples = (side.reference_sample.tolist(), side.probe_sample.tolist())
        found = zip(side.similarities.tolist(), *samples, strict=True)
        assert sorted(found) == sorted((s, i, j) for s, _, i, j in pairs)
    hold_rates_against_loops(
        made, matrix, (subject, is_probe), seed, Draws(weighting, unit), dtype, parted
    )


def many() -> ff.Embeddings:
    """Templates of 1 to 9 vectors."""
    rng = np.random.default_rng(2)
    subject, role = (
        rng.integers(0, 200, 1900),
        np.where(rng.random(1900) < 0.4, "probe", "reference"),
    )
    vectors = rng.normal(size=(200, 6))[subject] + rng.normal(size=(1900, 6))
    return ff.Embeddings(vectors.astype(np.float32), subject, subject % 3, role=role).enrolled(
        score="max"
    )


@pytest.mark.jit
def test_bands_have_the_same_bits_by_threads_workers_checkpoints_and_in_files(
    monkeypatch, tmp_path
):
    e = many()

    def bits(e: ff.Embeddings, **how: Any) -> tuple[bytes, ...]:
        band = ff.fairness_band(e, "gini", "fmr", [0.01, 0.1], n_resamples=128, rng=0, **how)
        return band.replicates.tobytes(), band.threshold.tobytes(), band.low.tobytes()

    wanted = bits(e, n_threads=1)
    np.save(tmp_path / "v.npy", e.vectors)
    role = np.where(e.is_probe[e.template], "probe", "reference")
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    given = ff.Embeddings(
        mapped, e.subject[e.template], e.subject[e.template] % 3, role=role
    ).enrolled(score="max")
    assert np.shares_memory(given.vectors, mapped)
    assert bits(e, n_threads=2) == wanted
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):  # the second goes on from the first's checkpoint
            assert bits(given, executor=ff.Checkpoint(tmp_path / "kept", pool)) == wanted
    monkeypatch.setattr(temporary_files, "_ALWAYS_IN_MEMORY", 0)
    monkeypatch.setattr(temporary_files, "_SHARE_OF_MEMORY", 2**62)
    assert bits(given) == wanted


@pytest.mark.jit
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("few_kept", [False, True])
def test_evaluations_have_the_bits_of_the_list(few_kept, monkeypatch):
    if few_kept:
        monkeypatch.setattr(pair_search, "_FEW", 0)
    systems = [e.enrolled(2, score="max") for e in two_systems(1, roles=True, groups=3)]
    listed = [e.comparisons() for e in systems]
    points = [ff.at_fmr(0.02), ff.at_fnmr(0.1), ff.at_threshold(0.6), ff.at_eer()]
    asked = {"metrics": ["eer", "min_dcf"], "n_resamples": 70, "rng": 1}
    wanted, found = (ff.evaluate(one, points, **asked) for one in (listed[0], systems[0]))
    assert repr(found.quantities) == repr(wanted.quantities)
    wanted, found = (ff.compare(*both, points, **asked) for both in (listed, systems))
    assert repr(found.contrasts) == repr(wanted.contrasts)
    wanted, found = (
        ff.claim(one, "fnmr <= 20 %", points[0], n_resamples=50, rng=0)
        for one in (listed[0], systems[0])
    )
    assert repr(found) == repr(wanted)
    for test in (ff.fnmr_test, ff.fmr_test):
        wanted, found = (
            test(one, points[0], n_resamples=99, rng=0) for one in (listed[0], systems[0])
        )
        assert (found.statistic, found.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_groups_and_what_was_left_out_stay():
    labels = {"sex": list("ffmm"), "eyes": list("xxyy")}
    e = ff.Embeddings(np.eye(4) + 1, list("aabb"), labels, role=["reference", "probe"] * 2).by(
        "eyes"
    )
    found = e._changed(e.grouping, left_out=("two rows",)).enrolled(score="max")
    assert (found.groups, found.grouping, found.left_out) == (("x", "y"), ("eyes",), ("two rows",))
    assert found.by("sex").groups == ("f", "m")
    assert "2 templates, 2 probes" in repr(found)


def test_what_cannot_be_enrolled_is_refused():
    e = ff.Embeddings(np.eye(4), list("aabb"), role=["reference", "probe"] * 2)
    refused("score", e.enrolled, score="best")
    refused("enrolled as templates already", e.enrolled(score="max").enrolled)
