"""Pairs of vectors near the errors: numbers of pairs against loops, and evaluations against those
of all pairs."""

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.data.vector_pairs import PairsOfVectors


def listed(subject, is_probe, mated):
    """List the subjects of all pairs, the reference first."""
    n, found = len(subject), []
    for i in range(n):
        for j in range(n):
            compared = i < j if is_probe is None else not is_probe[i] and is_probe[j]
            if compared and (subject[i] == subject[j]) == mated:
                found.append((int(subject[i]), int(subject[j])))
    return found


def numbers_of(listed_pairs, n_subjects):
    """Count listed pairs by the subjects of reference and probe."""
    found = np.zeros((n_subjects, n_subjects), np.int64)
    for reference, probe in listed_pairs:
        found[reference, probe] += 1
    return found


@st.composite
def some_vectors(draw):
    subject = draw(st.lists(st.integers(0, 5), min_size=2, max_size=15))
    roles = draw(st.none() | st.lists(st.booleans(), min_size=len(subject), max_size=len(subject)))
    of_vectors = np.unique(subject, return_inverse=True)[1].astype(np.int32)
    return of_vectors, None if roles is None else np.array(roles)


@given(some_vectors(), st.lists(st.integers(0, 2), min_size=6, max_size=6), st.booleans())
def test_pairs_of_subjects_are_counted_as_in_a_list(vectors, groups, mated):
    subject, is_probe = vectors
    pairs, k = PairsOfVectors(subject, is_probe, mated), int(subject.max()) + 1
    numbers, group = (
        numbers_of(listed(subject, is_probe, mated), k),
        np.array(groups[:k], np.uint16),
    )
    of_two = numbers if mated else numbers + numbers.T
    first, second = (axis.ravel() for axis in np.indices((k, k)))
    apart = first == second if mated else first != second
    assert (
        pairs.of_two(first[apart], second[apart]).tolist()
        == of_two[first[apart], second[apart]].tolist()
    )
    for inside in (None, group == 0):
        chosen = np.ones(k, bool) if inside is None else inside
        kept = of_two * np.outer(chosen, chosen)
        assert pairs.of_subjects(inside).tolist() == kept.sum(axis=1).tolist()
        assert pairs.squares(inside).tolist() == (kept**2).sum(axis=1).tolist()
        if not mated:
            assert (
                pairs.squares(inside, group < 2).tolist()
                == (kept**2)[:, group < 2].sum(axis=1).tolist()
            )
    cells, subjects, n_subjects = pairs.count(group, 3)
    for g in range(3):
        for h in range(3):
            of_cell = numbers * np.outer(group == g, group == h)
            assert cells[g, h] == of_cell.sum()
            assert subjects[g, h] == np.count_nonzero((of_cell + of_cell.T).sum(axis=1))
    assert n_subjects == np.count_nonzero((numbers + numbers.T).sum(axis=1))


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_what_needs_pairs_that_are_not_kept_is_refused():
    e = ff.von_mises_fisher_embeddings(200, 4, 12, concentration=(20, 60), rng=0)
    few = ff.Embeddings(e.vectors, e.subject).scanned(0.001)
    assert few.kept.nonmated.not_kept is not None
    refused(r"needs more scores than .* kept", ff.evaluate, few, ff.at_fmr(0.05), metrics=[], rng=0)
    refused(
        "Cllr needs the scores of all comparisons",
        ff.evaluate,
        few,
        ff.at_fmr(0.0005),
        metrics=["cllr"],
        rng=0,
    )
    for share, says in (
        (1.5, "fmr must be a fraction"),
        (0, "fmr must be a fraction in .0, 1., not 0"),
    ):
        refused(says, ff.Embeddings(e.vectors, e.subject).scanned, share)
