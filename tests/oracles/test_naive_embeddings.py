"""The oracle of statistics over embeddings, on examples small enough to work by hand."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from helpers.each import each
from oracles import embeddings as slow
from oracles import naive

WEIGHTINGS = ("identity", "comparison")
SUBJECT = ["a", "a", "a", "b", "b", "c"]


def matrix(n, pairs, dtype=np.float64):
    """Upper triangle from {(i, j): score}; everything that no one should read is NaN."""
    similarity = np.full((n, n), np.nan, dtype)
    for (i, j), s in pairs.items():
        similarity[i, j] = s
    return similarity


# Three vectors of a, two of b, one of c; tied scores within both classes and across them.
PAIRS = {
    (0, 1): 0.9,
    (0, 2): 0.5,
    (1, 2): 0.5,
    (3, 4): 0.4,
    (0, 3): 0.6,
    (0, 4): 0.4,
    (1, 3): 0.3,
    (1, 4): 0.3,
    (2, 3): 0.2,
    (2, 4): 0.1,
    (0, 5): 0.6,
    (1, 5): 0.2,
    (2, 5): 0.1,
    (3, 5): 0.4,
    (4, 5): 0.0,
}
S = matrix(6, PAIRS)


def above(s):
    return math.nextafter(s, math.inf)


def test_similarities():
    vectors = [[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]]
    assert slow.similarities(vectors, "cosine") == pytest.approx(
        np.array([[1, 0.96, 0.8], [0.96, 1, 0.6], [0.8, 0.6, 1]])
    )
    assert slow.similarities(vectors, "inner product").tolist() == [
        [25, 24, 8],
        [24, 25, 6],
        [8, 6, 4],
    ]
    root = [
        [0, math.sqrt(2), math.sqrt(13)],
        [math.sqrt(2), 0, math.sqrt(17)],
        [math.sqrt(13), math.sqrt(17), 0],
    ]
    assert (-slow.similarities(vectors, "negative Euclidean")).tolist() == root
    with pytest.raises(ValueError, match="dot"):
        slow.similarities(vectors, "dot")


@each(
    ("t", "weighting", "fmr", "fnmr", "fnmr_v"),
    [
        # a-b: 1/6 a pair, a-c: 1/3, b-c: 1/2; then a third each.
        (0.4, "identity", Fraction(7, 18), 0, 0),
        (0.5, "identity", Fraction(1, 6), Fraction(1, 2), Fraction(1, 4)),
        (
            0.6,
            "identity",
            Fraction(1, 6),
            Fraction(5, 6),
            Fraction(17, 36),
        ),  # a: 2/3, V 4/9; b: 1, V 1/2
        (2.0, "identity", 0, 1, Fraction(7, 12)),  # a: V 6/9, b: V 1/2
        (0.4, "comparison", Fraction(4, 11), 0, 0),
        (0.5, "comparison", Fraction(2, 11), Fraction(1, 4), Fraction(1, 8)),
        (
            0.6,
            "comparison",
            Fraction(2, 11),
            Fraction(3, 4),
            Fraction(11, 24),
        ),  # V: (2/3 * 2 + 1/2 * 1) / 4
        (2.0, "comparison", 0, 1, Fraction(5, 8)),  # V: (2/3 * 3 + 1/2 * 1) / 4
        (0.0, "comparison", 1, 0, 0),
    ],
)
def test_rates(t, weighting, fmr, fnmr, fnmr_v):
    assert slow.fmr(S, SUBJECT, t, weighting) == fmr
    assert slow.fnmr(S, SUBJECT, t, weighting) == fnmr
    assert slow.fnmr_v(S, SUBJECT, t, weighting) == fnmr_v


@each(
    ("level", "weighting", "s0", "fnmr", "fnmr_v"),
    [
        (0.0, "identity", 0.6, Fraction(5, 6), Fraction(17, 36)),
        (0.1, "identity", 0.6, Fraction(5, 6), Fraction(17, 36)),
        (1 / 6, "identity", 0.4, Fraction(1, 2), Fraction(1, 4)),
        (0.4, "identity", 0.3, 0, 0),
        (0.5, "identity", 0.2, 0, 0),
        (1.0, "identity", 0.0, 0, 0),
        (1 / 6, "comparison", 0.6, Fraction(3, 4), Fraction(11, 24)),
        (2 / 11, "comparison", 0.4, Fraction(1, 4), Fraction(1, 8)),
        (0.4, "comparison", 0.3, 0, 0),
    ],
)
def test_threshold_and_curve(level, weighting, s0, fnmr, fnmr_v):
    assert slow.threshold_at_fmr(level, S, SUBJECT, weighting) == above(s0)
    assert slow.roc([level], S, SUBJECT, weighting) == [float(fnmr)]
    assert slow.v_roc([level], S, SUBJECT, weighting) == [float(fnmr_v)]


def random_data(seed):
    """Up to five subjects of one to four vectors, similarities from eleven values."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(5), rng.integers(1, 5, 5))
    n = len(subject)
    return rng, rng.integers(0, 11, (n, n)) / 10, rng.permutation(subject).tolist()


def random_draw(rng, subject, unit):
    labels = list(dict.fromkeys(subject))
    subjects = dict(
        zip(labels, rng.multinomial(len(labels), [1 / len(labels)] * len(labels)), strict=True)
    )
    vectors = [0] * len(subject)
    for k in labels:
        own = [i for i, label in enumerate(subject) if label == k]
        for i in rng.choice(own, len(own)):
            vectors[i] += 1
    return slow.Draw(subjects if "subject" in unit else None, vectors if "sample" in unit else None)


@each("seed", range(8))
@each("unit", [None, "sample", "subject", "subject+sample"])
def test_threshold_is_the_lowest_that_meets_the_level(seed, unit):
    rng, similarity, subject = random_data(seed)
    draw = random_draw(rng, subject, unit) if unit else None
    scores = sorted(
        {s for s, _ in slow.nonmated(similarity, slow.dataset(subject, draw), "comparison")}
    )
    for weighting, level in itertools.product(WEIGHTINGS, [0.0, 0.05, 0.25, 0.5, 1.0]):
        t = slow.threshold_at_fmr(level, similarity, subject, weighting, draw)
        meets = [
            s
            for s in scores
            if slow.fmr(similarity, subject, above(s), weighting, draw=draw) <= level
        ]
        assert t == above(min(meets))


@each(
    ("draw", "weighting", "t", "fmr", "fnmr"),
    [
        # a has the vectors 0, 0, 1: mated inf, 0.9, 0.9; a-b 0.6 0.6 0.4 0.4 0.3 0.3; a-c 0.6 0.6
        # 0.2.
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "identity", 0.6, Fraction(1, 3), Fraction(1, 2)),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "identity", 0.4, Fraction(11, 18), 0),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "identity", 2.0, 0, Fraction(5, 6)),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "comparison", 0.6, Fraction(4, 11), Fraction(1, 4)),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "comparison", 0.4, Fraction(7, 11), 0),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "comparison", 2.0, 0, Fraction(3, 4)),
        (
            slow.Draw(None, [3, 0, 0, 0, 2, 1]),
            "comparison",
            2.0,
            0,
            0,
        ),  # every mated pair is a self-pair
        # a twice, b once: a-b twice, and no pair of the two copies of a.
        (slow.Draw({"a": 2, "b": 1, "c": 0}, None), "identity", 0.4, Fraction(1, 3), 0),
        (
            slow.Draw({"a": 2, "b": 1, "c": 0}, None),
            "identity",
            0.6,
            Fraction(1, 6),
            Fraction(7, 9),
        ),
        (
            slow.Draw({"a": 2, "b": 1, "c": 0}, None),
            "comparison",
            0.6,
            Fraction(2, 12),
            Fraction(5, 7),
        ),
        # c twice: a-c twice (1/3 each), b none; a alone is mated.
        (
            slow.Draw({"a": 1, "b": 0, "c": 2}, None),
            "identity",
            0.6,
            Fraction(1, 3),
            Fraction(2, 3),
        ),
        # a twice with the vectors 0, 0, 1 and c once: 0.6, 0.6, 0.2 twice.
        (
            slow.Draw({"a": 2, "b": 0, "c": 1}, [2, 1, 0, 1, 1, 1]),
            "identity",
            0.4,
            Fraction(2, 3),
            0,
        ),
        (
            slow.Draw({"a": 2, "b": 0, "c": 1}, [2, 1, 0, 1, 1, 1]),
            "comparison",
            2.0,
            0,
            Fraction(2, 3),
        ),
    ],
)
def test_replicates(draw, weighting, t, fmr, fnmr):
    assert slow.fmr(S, SUBJECT, t, weighting, draw=draw) == fmr
    assert slow.fnmr(S, SUBJECT, t, weighting, draw=draw) == fnmr


def all_sample_draws(subject):
    """Every way to draw n_k vectors inside each subject, all equally likely."""
    ways = []
    for k in dict.fromkeys(subject):
        own = [i for i, label in enumerate(subject) if label == k]
        ways.append(list(itertools.product(own, repeat=len(own))))
    for chosen in itertools.product(*ways):
        times = Counter(itertools.chain(*chosen))
        yield slow.Draw(None, [times[i] for i in range(len(subject))])


@each("weighting", WEIGHTINGS)
@each("t", [0.4, 0.5, 0.6, 2.0])
def test_expectation_over_all_draws_of_vectors(weighting, t):
    draws = list(all_sample_draws(SUBJECT))
    assert len(draws) == 27 * 4
    fnmr = sum(slow.fnmr(S, SUBJECT, t, weighting, draw=draw) for draw in draws) / len(draws)
    assert fnmr == slow.fnmr_v(S, SUBJECT, t, weighting)
    fmr = sum(slow.fmr(S, SUBJECT, t, weighting, draw=draw) for draw in draws) / len(draws)
    assert fmr == slow.fmr(S, SUBJECT, t, weighting)


def test_expectation_over_all_draws_of_subjects():
    """No vector meets itself: replicates by subject are centred on FNMR where every subject has two
    vectors or more."""
    subject = ["a", "a", "a", "b", "b", "c", "c"]
    pairs = dict.fromkeys(itertools.combinations(range(7), 2), 0.0) | PAIRS | {(5, 6): 0.5}
    similarity = matrix(7, pairs)
    rates = []
    for chosen in itertools.product("abc", repeat=3):
        draw = slow.Draw({k: chosen.count(k) for k in "abc"}, None)
        rates.append(slow.fnmr(similarity, subject, 0.6, "identity", draw=draw))
    assert sum(rates) / 27 == slow.fnmr(similarity, subject, 0.6, "identity") == Fraction(8, 9)


# Subjects p and q are in group f, r and s in m; two vectors each, so both weightings are the same.
FAIR_SUBJECT = list("ppqqrrss")
FAIR_GROUPS = {"p": "f", "q": "f", "r": "m", "s": "m"}
FAIR = matrix(
    8,
    dict.fromkeys(itertools.combinations(range(8), 2), 0.0)
    | {(0, 1): 0.9, (2, 3): 0.3, (4, 5): 0.3, (6, 7): 0.5}
    | {(0, 2): 0.6, (0, 3): 0.1, (4, 6): 0.6, (4, 7): 0.4, (1, 5): 0.4},
)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_fairness(weighting):
    # Levels: above 0.6 (nothing accepted), above 0.4 (2 of 24 pairs), above 0.1 (4 of 24).
    given = ([0.05, 0.1, 1 / 6], FAIR, FAIR_SUBJECT, FAIR_GROUPS, weighting)
    fnmr = [[0.5, 1.0], [0.5, 0.5], [0.0, 0.0]]
    fmr = [[0.0, 0.0], [0.25, 0.25], [0.25, 0.5]]
    assert slow.fairness(list, "FNMR", *given) == fnmr
    assert slow.v_fairness(list, "FNMR", *given) == [[0.25, 0.5], [0.25, 0.25], [0.0, 0.0]]
    assert slow.fairness(list, "FMR", *given) == slow.v_fairness(list, "FMR", *given) == fmr
    assert slow.fairness(naive.std, "FNMR", *given) == [0.25, 0.0, 0.0]
    assert slow.v_fairness(naive.std, "FNMR", *given) == [0.125, 0.0, 0.0]
    assert slow.fairness(naive.max_min_ratio, "FMR", *given) == pytest.approx(
        [math.nan, 1, 2], nan_ok=True
    )
    # q's first vector twice: it meets itself, and 0.6 is there twice (3 of 24 pairs above 0.4).
    draw = slow.Draw(None, [1, 1, 2, 0, 1, 1, 1, 1])
    assert slow.fairness(list, "FNMR", *given, draw) == [[0.0, 1.0], [0.0, 1.0], [0.0, 0.5]]
    assert slow.fairness(list, "FMR", *given, draw) == [[0.0, 0.0], [0.0, 0.0], [0.5, 0.25]]
    # s twice, r never: m has no pair of different subjects; p-q 0.6 is 1 of 20 pairs, 0.1 the
    # second, the rest are 0.
    draw = slow.Draw({"p": 1, "q": 1, "r": 0, "s": 2}, None)
    assert slow.fairness(list, "FNMR", *given, draw) == [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    found = slow.fairness(list, "FMR", *given, draw)
    assert found == [pytest.approx([x, math.nan], nan_ok=True) for x in (0.25, 0.5, 0.5)]
