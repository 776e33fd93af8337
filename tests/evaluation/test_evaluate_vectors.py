"""Vectors given to `evaluate`, `claim` and `compare`, against comparisons of all their pairs, to
the last bit."""

import numpy as np
import pytest
from helpers.each import each
from helpers.small_embeddings import two_systems
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.data import pair_search
from fastfair.error_rates import scans_of_vectors
from fastfair.errors import InputError

pytestmark = pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
POINTS = [
    ff.at_fmr(0.02),
    ff.at_fnmr(0.1),
    ff.at_threshold(0.6),
    ff.at_eer(),
    ff.at_mean_group_eer(),
]
METRICS = ["eer", "min_dcf"]


@pytest.fixture
def few_kept(monkeypatch):
    """Keep few pairs at first, of small data too; limits may be wider only where all pairs would be
    needed."""
    monkeypatch.setattr(pair_search, "_FEW", 0)
    monkeypatch.setattr(scans_of_vectors, "_SPARE", 0.2)
    monkeypatch.setattr(scans_of_vectors, "_SPARE_OF_OTHERS", 0.2)
    monkeypatch.setattr(scans_of_vectors, "_PAIRS", 2)
    monkeypatch.setattr(scans_of_vectors, "_MOST_FOR_GROUPS", 1.0)


def bits(evaluation):
    return repr(evaluation.quantities), evaluation.uncertainty.replicates.tobytes()


@pytest.mark.jit
@pytest.mark.parametrize("roles", [False, True])
@pytest.mark.parametrize("groups", [0, 3])
def test_everything_has_the_bits_of_all_pairs(roles, groups, few_kept):
    e = two_systems(1, roles=roles, groups=groups)[0]
    points = POINTS if groups else POINTS[:-1]
    wanted = ff.evaluate(e.comparisons(), points, metrics=METRICS, n_resamples=70, rng=1)
    for n_threads in (1, 3):
        found = ff.evaluate(e, points, n_resamples=70, rng=1, n_threads=n_threads)
        assert bits(found) == bits(wanted)
    assert found.comparisons is None


@pytest.mark.jit
def test_more_pairs_are_kept_until_they_suffice(few_kept, monkeypatch):
    e, shares = two_systems(2)[0], []
    scan = ff.Embeddings._scanned

    def told(self, share, workers):
        shares.append(share)
        return scan(self, share, workers)

    monkeypatch.setattr(ff.Embeddings, "_scanned", told)
    found = ff.evaluate(
        e, ff.at_fmr(0.02), [], metrics=[], n_resamples=70, rng=np.random.default_rng(3)
    )
    assert len(shares) > 1
    assert shares == [shares[0] * 3**k for k in range(len(shares))]
    wanted = ff.evaluate(
        e.comparisons(),
        ff.at_fmr(0.02),
        [],
        metrics=[],
        n_resamples=70,
        rng=np.random.default_rng(3),
    )
    assert repr(found.quantities) == repr(
        wanted.quantities
    )  # of the same seed, however often more were kept


@pytest.mark.jit
@each(
    "asked",
    [
        {"metrics": ["cllr"]}, {"metrics": "min_cllr"}, {"n_resamples": 0}, {"unit": "sample"},
        {"settings": ff.EvaluationSettings(eer_method="convex-hull")},
    ],
)  # fmt: skip
def test_what_scans_lack_is_computed_from_all_pairs(asked):
    e = two_systems(7)[0]
    asked = {"measures": [], "metrics": ["eer"], "n_resamples": 20, "rng": 1} | asked
    wanted = ff.evaluate(e.comparisons(), ff.at_fmr(0.02), **asked)
    found = ff.evaluate(e, ff.at_fmr(0.02), **asked)
    assert repr(found.quantities) == repr(wanted.quantities)
    assert found.comparisons is not None


@pytest.mark.jit
def test_subjects_are_left_out_without_a_list_of_all_pairs():
    asked = {
        "at": ff.at_fmr(0.02),
        "metrics": "all",
        "n_resamples": 20,
        "rng": 1,
        "settings": ff.EvaluationSettings(method="bca"),
    }
    e = two_systems(7)[0]
    wanted, found = (
        set(map(repr, ff.evaluate(one, **asked).quantities)) for one in (e.comparisons(), e)
    )
    assert found < wanted  # which have min Cllr, too


def test_rates_by_sample_say_that_they_are_of_these_people():
    e = two_systems(7)[0]
    for unit in ("sample", "subject"):
        found = ff.evaluate(e, ff.at_fmr(0.1), [], unit=unit, metrics=[], n_resamples=20, rng=1)
        for name in ("fmr", "fnmr"):
            assert ("these very people" in found.quantity(name).note) == (unit == "sample")


def test_wrong_words_are_refused_before_any_work(monkeypatch):
    one, other = two_systems(8)
    monkeypatch.setattr(pair_search.PairFinder, "find", None)
    refused = [
        ({"metrics": ["err"]}, r"metrics\[0\] must be one of"),
        ({"measures": ["ginny"]}, "ginny"),
        ({"at": []}, "at is empty"),
        ({"n_resamples": 1}, "one replicate has no spread"),
        ({"unit": "person"}, "unit must be"),
    ]
    for asked, said in refused:
        asked = {"metrics": [], **asked}
        with pytest.raises(InputError, match=said):
            ff.evaluate(one, rng=0, **asked)
        with pytest.raises(InputError, match=said):
            ff.compare(one, other, rng=0, **asked)
    swapped = ff.Embeddings(other.vectors[::-1], other.subject[::-1], np.zeros(len(other), int))
    with pytest.raises(InputError, match="the groups differ"):
        ff.compare(one, swapped, rng=0)


def test_how_many_pairs_are_guessed(monkeypatch):
    e = two_systems(9, groups=2)[0]
    guess = scans_of_vectors._share_to_keep
    assert guess(e, [ff.at_fmr(0.3)], False, 1) >= 0.48
    assert guess(e, [ff.at_threshold(-1)], False, 2) >= 1
    monkeypatch.setattr(scans_of_vectors, "_PAIRS", 2)
    lenient, strict = (guess(e, [ff.at_threshold(t)], False, 1) for t in (0.3, 0.9))
    assert lenient > strict
    # Without a mated pair among those looked at, as much as for groups.
    alone = ff.Embeddings(np.eye(5)[[0, 0, 1, 2, 3, 4]], [0, 0, 1, 2, 3, 4])
    monkeypatch.setattr(scans_of_vectors, "_OF_A_SUBJECT", 1)
    assert guess(alone, [], True, 1) >= scans_of_vectors._MOST_FOR_GROUPS


@pytest.mark.jit
@given(
    st.integers(0, 2**16),
    st.booleans(),
    st.integers(0, 4),
    st.sampled_from([3, 99]),
    st.sampled_from(POINTS[:4]),
)
def test_rates_have_the_bits_of_all_pairs(seed, roles, groups, steps, at):
    e = two_systems(seed, roles=roles, groups=groups, steps=steps)[0]
    asked = {
        "metrics": [],
        "measures": [],
        "n_resamples": 2,
        "rng": 1,
        "settings": ff.EvaluationSettings(incomplete_groups="nan"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_search, "_FEW", 0)
        patch.setattr(scans_of_vectors, "_MOST_FOR_GROUPS", 1.0)
        found = ff.evaluate(e, at, **asked)
    assert bits(found) == bits(ff.evaluate(e.comparisons(), at, **asked))
