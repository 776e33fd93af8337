"""Tests of groups on pairs of vectors near the errors, against those of lists of all pairs, to the
last bit."""

import numpy as np
import pytest
from helpers.refusals import refused
from helpers.small_embeddings import scanned, two_systems
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib import seeds
from fastfair.data import pair_search
from fastfair.group_tests import frailty

pytestmark = pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
KEY = seeds.stream(0)[0]
ALL_POINTS = [
    ff.at_fmr(0.02),
    ff.at_fnmr(0.1),
    ff.at_threshold(0.6),
    ff.at_eer(),
    ff.at_mean_group_eer(),
]
some_vectors = {
    "seed": st.integers(0, 2**16),
    "roles": st.booleans(),
    "groups": st.integers(2, 4),
    "steps": st.sampled_from([3, 99]),
}


def numbers(result):
    """All numbers of a result, to the last bit."""
    found = {
        name: value for name, value in vars(result).items() if name not in ("counts", "settings")
    }
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in found.items()
    }


def same(one, other):
    return repr(numbers(one)) == repr(numbers(other))  # NaN is NaN


@pytest.mark.jit
@given(**some_vectors, threshold=st.floats(0.2, 0.95), kept=st.sampled_from([[0, 1], [1, 0], [1]]))
def test_counts_and_draws_are_those_of_a_list(seed, roles, groups, steps, threshold, kept):
    e = two_systems(seed, roles=roles, groups=groups, steps=steps)[0]
    found = [
        frailty.count_false_matches(data, threshold, np.array(kept))
        for data in (e.comparisons(), e.scanned().kept)
    ]
    (listed, errors), (counted, others) = found
    assert errors.tolist() == others.tolist()
    for name in ("size", "sharing", "repeated", "by_chance"):
        assert (
            np.asarray(getattr(listed, name)).tobytes()
            == np.asarray(getattr(counted, name)).tobytes()
        ), name
    assert listed.partners.end.tolist() == counted.partners.end.tolist()
    assert listed.partners.group.tolist() == counted.partners.group.tolist()
    null = frailty.Frailty(
        np.array(0.05), np.full(len(kept), 0.7), np.array(0.3), np.ones(len(kept))
    )
    one, other = (frailty.replicate(design, null, 40, KEY) for design in (listed, counted))
    assert one.tobytes() == other.tobytes()


@pytest.mark.jit
@given(**some_vectors, at=st.sampled_from(ALL_POINTS))
def test_of_false_non_matches_has_the_bits_of_all_pairs(seed, roles, groups, steps, at):
    e = two_systems(seed, roles=roles, groups=groups, steps=steps)[0]
    (scan,) = scanned([e], 0.6)
    for test in (ff.fnmr_test, ff.margin_of_error):
        wanted, found, of_vectors = (
            test(one, at, n_resamples=30, rng=1) for one in (e.comparisons(), scan, e)
        )
        assert same(found, wanted)
        assert same(of_vectors, wanted)
        for name in ("failures", "attempts", "subject_group", "groups"):
            assert np.array_equal(getattr(found.counts, name), getattr(wanted.counts, name))


@pytest.mark.jit
def test_pairs_are_kept_as_they_are_needed(monkeypatch):
    e = two_systems(5, groups=2)[0]
    wanted = ff.fmr_test(e.comparisons(), ff.at_fmr(0.05), n_resamples=40, rng=1)
    monkeypatch.setattr(pair_search, "_FEW", 0)  # of which all would be kept
    refused(
        "needs more scores than the scan has kept",
        ff.fmr_test,
        e.scanned(0.01),
        ff.at_fmr(0.05),
        rng=1,
    )
    assert same(ff.fmr_test(e, ff.at_fmr(0.05), n_resamples=40, rng=1), wanted)


@pytest.mark.jit
def test_a_scan_of_score_files_has_failures_but_no_partners(tmp_path):
    e = two_systems(6, groups=3)[0]
    c = e.comparisons()
    ff.write_comparisons(c, tmp_path / "scores.parquet")
    scan = ff.scan_comparisons(tmp_path / "scores.parquet")
    for test in (ff.fnmr_test, ff.margin_of_error):
        assert same(*(test(data, ff.at_fmr(0.02), n_resamples=30, rng=1) for data in (scan, c)))
    refused(
        "scan of score files, which does not list who was compared",
        ff.fmr_test,
        scan,
        ff.at_fmr(0.02),
        rng=1,
    )


def test_a_scan_with_mated_comparisons_of_two_subjects_has_no_attempts(tmp_path):
    who = list("aabbccddabcd"), list("aabbccddbadc")
    groups = [["fm"[subject in "cd"] for subject in side] for side in who]
    c = ff.Comparisons(
        range(12), [1] * 9 + [0] * 3, *who, *groups, policies=ff.Policies(label_conflicts="keep")
    )
    ff.write_comparisons(c, tmp_path / "scores.csv")
    scan = ff.scan_comparisons(
        tmp_path / "scores.csv", policies=ff.Policies(label_conflicts="keep")
    )
    refused(
        "mated comparisons are of two subjects", ff.fnmr_test, scan, ff.at_threshold(6.5), rng=1
    )


def test_vectors_without_groups_are_refused():
    e = ff.Embeddings(np.eye(4), [0, 0, 1, 1])
    for data in (e, e.scanned()):
        refused("no groups", ff.fmr_test, data, ff.at_fmr(0.1), rng=0)
