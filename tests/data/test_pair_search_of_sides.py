"""References compared with probes: the pairs, their similarities and their rates, against loops
over every pair."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from helpers.two_sets import hold_rates_against_loops, matrix_of, random_sets
from hypothesis import given
from hypothesis import strategies as st
from oracles import resampling as slow_shrinkage
from oracles import two_sets as slow

import fastfair as ff
from fastfair.data import score_keys
from fastfair.data.pair_search import PairFinder
from fastfair.resampling.vector_replicates import Draws, PairResampler

UNITS = ("sample", "subject", "subject+sample")
SUBJECT = list("aabbccd")
ROLE = ["reference", "probe", "reference", "probe", "reference", "reference", "probe"]


@given(seed=st.integers(0, 10**6), n_subjects=st.integers(2, 9), most=st.integers(1, 5))
def test_every_reference_meets_every_probe_once(seed: int, n_subjects: int, most: int):
    e = random_sets(seed, n_subjects, most)
    is_probe, matrix = e.is_probe.tolist(), matrix_of(e)
    wanted = slow.pairs(matrix, e.subject.tolist(), is_probe, "comparison")
    assert (e.n_mated, e.n_nonmated) == tuple(map(len, wanted))
    for found, pairs, inverted in zip(
        PairFinder(e.vectors, e.similarity, e.pairing).find(1.0), wanted, (False, True), strict=True
    ):
        values = score_keys.decode(~found.keys if inverted else found.keys)
        rows = (e.pairing.order[at].tolist() for at in (found.first, found.second))
        assert sorted(zip(values.tolist(), *rows, strict=True)) == sorted(
            (s, i, j) for s, _, i, j in pairs
        )
    c = e.comparisons()
    assert (len(c.mated), len(c.nonmated)) == (e.n_mated, e.n_nonmated)
    assert not e.is_probe[c.nonmated.reference_sample].any()
    assert e.is_probe[c.mated.probe_sample].all()
    assert np.unique(c.nonmated.rows).size == e.n_nonmated


@given(
    seed=st.integers(0, 10**6),
    n_subjects=st.integers(2, 8),
    most=st.integers(1, 5),
    unit=st.sampled_from(UNITS),
    weighting=st.sampled_from(["identity", "comparison"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    parted=st.booleans(),
)
def test_rates_and_replicates_are_those_of_loops(
    seed, n_subjects, most, unit, weighting, dtype, parted
):
    e = random_sets(seed, n_subjects, most, dtype)
    who = e.subject.tolist(), e.is_probe.tolist()
    hold_rates_against_loops(e, matrix_of(e), who, seed, Draws(weighting, unit), dtype, parted)


@each("weighting", ["identity", "comparison"])
@each("seed", [0, 1, 2])
def test_shrinkage_is_that_of_double_sums(weighting: str, seed: int):
    e = random_sets(seed, 12, 4)
    levels = np.array([0.05, 0.1, 0.3])
    resampler = PairResampler(e, levels, Draws(weighting, "subject", "dyadic"), with_groups=True)
    thresholds = resampler.estimate()[0].threshold
    matrix, whose, is_probe = matrix_of(e), e.subject.tolist(), e.is_probe.tolist()
    strata = {k: int(e.subject_group[k]) for k in range(len(e.subjects))}
    sizes = {g: list(strata.values()).count(g) for g in set(strata.values())}
    for group in (None, 0, 1):
        inside = {k for k in strata if group in (None, strata[k])}
        found = resampler.shrinkage.nonmated[0 if group is None else 1 + group]
        _, nonmated = slow.pairs(matrix, whose, is_probe, weighting, inside)
        for level, threshold in enumerate(thresholds):
            dyads: list[tuple[Fraction, int, int]] = []
            for k, other in itertools.permutations(sorted(inside), 2):
                of_two = [s for s, _, i, j in nonmated if (whose[i], whose[j]) == (k, other)]
                wrong = [Fraction(int(s >= threshold)) for s in of_two]
                if weighting == "identity" and wrong:
                    dyads.append((sum(wrong, Fraction(0)) / len(wrong), k, other))
                elif wrong:
                    dyads += [(value, k, other) for value in wrong]
            assert found[level] == pytest.approx(
                slow_shrinkage.shrinkage(dyads, strata, sizes), abs=1e-9
            )


def test_failures_are_counted_for_tests_of_groups():
    e = random_sets(4, 20, 6)
    of_vectors, of_list = (
        ff.fnmr_test(data, ff.at_fmr(0.1), n_resamples=99, rng=0) for data in (e, e.comparisons())
    )
    assert of_vectors.groups == of_list.groups
    assert of_vectors.rate == of_list.rate
    assert of_vectors.statistic == pytest.approx(of_list.statistic)


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (
            ["gallery", *ROLE[1:]],
            'role must be "reference" or "probe", not \'gallery\' as in row 0',
        ),
        (["probe"] * 7, "role has no reference"),
        (["reference"] * 7, "role has no probe"),
        (["reference"] * 6 + ["probe"], "none of the 4 subjects has both a reference and a probe"),
        (ROLE[:3], "role"),
    ],
)
def test_bad_roles_are_refused(role: list[str], message: str):
    refused(message, ff.Embeddings, np.eye(7), SUBJECT, role=role)


def mean_of(vectors: list[np.ndarray], similarity: str) -> np.ndarray:
    """The mean of the vectors of a template, scaled to length 1 before where angles are
    compared."""
    scaled = [
        v / math.sqrt(math.fsum(v * v)) if similarity == "cosine" else v
        for v in np.array(vectors, float)
    ]
    return np.array([math.fsum(v[d] for v in scaled) / len(scaled) for d in range(len(scaled[0]))])


@given(
    seed=st.integers(0, 10**6),
    similarity=st.sampled_from(["cosine", "inner_product", "negative_euclidean"]),
    how=st.sampled_from(["subject", 1, 2, "labels"]),
)
def test_templates_are_means_of_references(seed: int, similarity: str, how: str | int):
    e = random_sets(seed, 6, 5, np.float64)
    rng = np.random.default_rng(seed)
    role = np.where(e.is_probe, "probe", "reference")
    vectors = rng.normal(size=e.vectors.shape)
    e = ff.Embeddings(vectors, e.subject, np.array(list("fm"))[e.subject % 2], similarity, role)
    part = rng.integers(0, 2, len(e))
    label = [f"{s}/{p}" for s, p in zip(e.subject, part, strict=True)]
    wanted: dict[object, list[int]] = {}
    seen: dict[int, int] = {}
    for i in range(len(e)):
        if not e.is_probe[i]:
            s = int(e.subject[i])
            number = seen.get(s, 0)
            seen[s] = number + 1
            key = {"subject": s, "labels": label[i]}.get(
                how, (s, number // how if isinstance(how, int) else 0)
            )
            wanted.setdefault(key, []).append(i)
    found = e.enrolled({"subject": None, "labels": label}.get(how, how))
    n = len(wanted)
    assert found.is_probe.tolist() == [False] * n + [True] * int(e.is_probe.sum())
    assert np.array_equal(found.vectors[n:], vectors[e.is_probe])
    for row, members in zip(found.vectors[:n], wanted.values(), strict=True):
        np.testing.assert_allclose(
            row, mean_of([vectors[i] for i in members], similarity), rtol=1e-12, atol=1e-12
        )
    whose = found.subjects[found.subject].tolist()
    assert (
        whose
        == [int(e.subject[members[0]]) for members in wanted.values()]
        + e.subject[e.is_probe].tolist()
    )
    assert [found.groups[g] for g in found.subject_group[found.subject]] == [
        "fm"[s % 2] for s in whose
    ]


def test_templates_that_cannot_be_made_are_refused():
    e = ff.Embeddings(np.eye(7), SUBJECT, role=ROLE)
    without = ff.Embeddings(np.eye(3), list("aab"))
    opposite = ff.Embeddings(
        [[1, 0], [-1, 0], [1, 1], [0, 1]], list("aaab"), role=["reference"] * 2 + ["probe"] * 2
    )
    for one, template, message in (
        (
            e,
            [1, 0, 1, 0, 2, 2, 0],
            "template 1 has references of two subjects, the second in row 2",
        ),
        (e, 0, "template must be"),
        (e, [1, 2], "template"),
        (without, None, "the vectors have no roles: give role"),
        (opposite, None, "with templates before probes"),
    ):
        refused(message, one.enrolled, template)


def test_templates_keep_attributes_and_what_was_left_out():
    labels = {"sex": list("ffmmffm"), "eyes": list("xxyyxxy")}
    e = ff.Embeddings(np.eye(7) + 1, SUBJECT, labels, role=ROLE)._changed(
        ("eyes",), left_out=("two rows",)
    )
    found = e.enrolled()
    assert (found.groups, found.grouping, found.left_out) == (("x", "y"), ("eyes",), ("two rows",))
    assert found.by("sex").groups == ("f", "m")
