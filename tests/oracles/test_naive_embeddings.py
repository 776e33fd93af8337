"""The oracle of statistics over embeddings, on examples small enough to work by hand."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
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
    assert slow.similarities(vectors, "inner product").tolist() == [[25, 24, 8], [24, 25, 6], [8, 6, 4]]
    root = [[0, math.sqrt(2), math.sqrt(13)], [math.sqrt(2), 0, math.sqrt(17)], [math.sqrt(13), math.sqrt(17), 0]]
    assert (-slow.similarities(vectors, "negative Euclidean")).tolist() == root
    with pytest.raises(ValueError, match="dot"):
        slow.similarities(vectors, "dot")


@pytest.mark.parametrize(
    ("t", "weighting", "fmr", "fnmr", "fnmr_v"),
    [
        # a-b: 1/6 a pair, a-c: 1/3, b-c: 1/2; then a third each.
        (0.4, "identity", Fraction(7, 18), 0, 0),
        (0.5, "identity", Fraction(1, 6), Fraction(1, 2), Fraction(1, 4)),
        (0.6, "identity", Fraction(1, 6), Fraction(5, 6), Fraction(17, 36)),  # a: 2/3, V 4/9; b: 1, V 1/2
        (2.0, "identity", 0, 1, Fraction(7, 12)),  # a: V 6/9, b: V 1/2
        (0.4, "comparison", Fraction(4, 11), 0, 0),
        (0.5, "comparison", Fraction(2, 11), Fraction(1, 4), Fraction(1, 8)),
        (0.6, "comparison", Fraction(2, 11), Fraction(3, 4), Fraction(11, 24)),  # V: (2/3 * 2 + 1/2 * 1) / 4
        (2.0, "comparison", 0, 1, Fraction(5, 8)),  # V: (2/3 * 3 + 1/2 * 1) / 4
        (0.0, "comparison", 1, 0, 0),
    ],
)
def test_rates(t, weighting, fmr, fnmr, fnmr_v):
    assert slow.fmr(S, SUBJECT, t, weighting) == fmr
    assert slow.fnmr(S, SUBJECT, t, weighting) == fnmr
    assert slow.fnmr_v(S, SUBJECT, t, weighting) == fnmr_v


def test_direction():
    """s >= the float above s0 is the paper's s > s0; s < it is s <= s0."""
    assert slow.fmr(S, SUBJECT, above(0.4), "comparison") == Fraction(sum(s > 0.4 for s in [0.6, 0.4, 0.6, 0.4]), 11)
    assert slow.fnmr(S, SUBJECT, above(0.5), "comparison") == Fraction(sum(s <= 0.5 for s in [0.9, 0.5, 0.5, 0.4]), 4)


def test_order_of_the_vectors_does_not_matter():
    """Subjects may lie anywhere: vectors shuffled, the same rates."""
    order = [5, 3, 0, 4, 2, 1]
    shuffled = matrix(6, {(x, y): S[min(i, j), max(i, j)] for x, i in enumerate(order) for y, j in enumerate(order)})
    subject = [SUBJECT[i] for i in order]
    for weighting, t in itertools.product(WEIGHTINGS, [0.2, 0.4, 0.5, 0.6]):
        assert slow.fmr(shuffled, subject, t, weighting) == slow.fmr(S, SUBJECT, t, weighting)
        assert slow.fnmr(shuffled, subject, t, weighting) == slow.fnmr(S, SUBJECT, t, weighting)
        assert slow.fnmr_v(shuffled, subject, t, weighting) == slow.fnmr_v(S, SUBJECT, t, weighting)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_nothing_behind_a_rate(weighting):
    groups = {"a": "x", "b": "x", "c": "y"}
    assert slow.fmr(S, SUBJECT, 0.4, weighting, "x", groups) == Fraction(1, 3)  # a-b alone
    assert slow.fnmr(S, SUBJECT, 0.6, weighting, "x", groups) == slow.fnmr(S, SUBJECT, 0.6, weighting)
    for rate in (slow.fmr, slow.fnmr, slow.fnmr_v):
        assert math.isnan(rate(S, SUBJECT, 0.4, weighting, "y", groups))
        assert math.isnan(rate(S, SUBJECT, math.nan, weighting))
    assert math.isnan(slow.threshold_at_fmr(0.1, S[:3, :3], SUBJECT[:3], weighting))
    assert math.isnan(slow.roc([0.1], S[:3, :3], SUBJECT[:3], weighting)[0])
    assert math.isnan(slow.v_roc([0.1], S[:3, :3], SUBJECT[:3], weighting)[0])


def test_a_vector_that_meets_itself_never_fails_but_duplicates_may():
    similarity = slow.similarities([[1.0, 0.0], [1.0, 0.0]], "cosine")
    assert similarity.tolist() == [[1, 1], [1, 1]]
    subject = ["a", "a"]
    assert slow.fnmr(similarity, subject, 1.0, "identity") == 0
    assert slow.fnmr(similarity, subject, above(1.0), "identity") == 1
    assert slow.fnmr_v(similarity, subject, above(1.0), "identity") == Fraction(1, 2)
    assert slow.fnmr(similarity, subject, above(1.0), "identity", draw=slow.Draw(None, [2, 0])) == 0


def test_unknown_weighting():
    for rate in (slow.fmr, slow.fnmr, slow.fnmr_v):
        with pytest.raises(ValueError, match="subject"):
            rate(S, SUBJECT, 0.4, "subject")


@pytest.mark.parametrize(
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


def test_threshold_of_float32():
    single = matrix(6, PAIRS, np.float32)
    expected = np.nextafter(np.float32(0.4), np.float32(1))
    assert slow.threshold_at_fmr(1 / 6, single, SUBJECT, "identity") == float(expected)
    assert slow.roc([1 / 6], single, SUBJECT, "identity") == [0.5]


def test_level_met_within_a_billionth():
    """3 of 10 meets 0.3, which as a float is below 3/10, and not 0.3 (1 - 1e-8)."""
    pairs = dict.fromkeys(itertools.combinations(range(7), 2), 0.0)
    pairs.update({(0, 2): 0.9, (1, 3): 0.8, (1, 6): 0.7})
    similarity = matrix(7, pairs)
    subject = ["a"] * 2 + ["b"] * 5
    assert Fraction(0.3) < Fraction(3, 10)
    for weighting in WEIGHTINGS:
        assert slow.threshold_at_fmr(0.3, similarity, subject, weighting) == above(0.0)
        assert slow.threshold_at_fmr(0.3 * (1 - 1e-8), similarity, subject, weighting) == above(0.7)


def random_data(seed):
    """Up to five subjects of one to four vectors, similarities from eleven values."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(5), rng.integers(1, 5, 5))
    n = len(subject)
    return rng, rng.integers(0, 11, (n, n)) / 10, rng.permutation(subject).tolist()


def random_draw(rng, subject, unit):
    labels = list(dict.fromkeys(subject))
    subjects = dict(zip(labels, rng.multinomial(len(labels), [1 / len(labels)] * len(labels)), strict=True))
    vectors = [0] * len(subject)
    for k in labels:
        own = [i for i, label in enumerate(subject) if label == k]
        for i in rng.choice(own, len(own)):
            vectors[i] += 1
    return slow.Draw(subjects if "subject" in unit else None, vectors if "sample" in unit else None)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("unit", [None, "sample", "subject", "subject+sample"])
def test_threshold_is_the_lowest_that_meets_the_level(seed, unit):
    rng, similarity, subject = random_data(seed)
    draw = random_draw(rng, subject, unit) if unit else None
    scores = sorted({s for s, _ in slow.nonmated(similarity, slow.dataset(subject, draw), "comparison")})
    for weighting, level in itertools.product(WEIGHTINGS, [0.0, 0.05, 0.25, 0.5, 1.0]):
        t = slow.threshold_at_fmr(level, similarity, subject, weighting, draw)
        meets = [s for s in scores if slow.fmr(similarity, subject, above(s), weighting, draw=draw) <= level]
        assert t == above(min(meets))


@pytest.mark.parametrize("seed", range(5))
def test_comparisons_of_the_same_weight_are_a_score_file(seed):
    _, similarity, subject = random_data(seed)
    mated, nonmated = [], []
    for i, j in itertools.combinations(range(len(subject)), 2):
        (mated if subject[i] == subject[j] else nonmated).append(float(similarity[i, j]))
    for level in (0.0, 0.07, 0.33, 1.0):
        t = slow.threshold_at_fmr(level, similarity, subject, "comparison")
        assert t == naive.threshold_at_fmr(nonmated, level)
        assert float(slow.fmr(similarity, subject, t, "comparison")) == naive.fmr(nonmated, t)
        assert float(slow.fnmr(similarity, subject, t, "comparison")) == naive.fnmr(mated, t)


@pytest.mark.parametrize(
    ("draw", "weighting", "t", "fmr", "fnmr"),
    [
        # a has the vectors 0, 0, 1: mated inf, 0.9, 0.9; a-b 0.6 0.6 0.4 0.4 0.3 0.3; a-c 0.6 0.6 0.2.
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "identity", 0.6, Fraction(1, 3), Fraction(1, 2)),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "identity", 0.4, Fraction(11, 18), 0),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "identity", 2.0, 0, Fraction(5, 6)),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "comparison", 0.6, Fraction(4, 11), Fraction(1, 4)),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "comparison", 0.4, Fraction(7, 11), 0),
        (slow.Draw(None, [2, 1, 0, 1, 1, 1]), "comparison", 2.0, 0, Fraction(3, 4)),
        (slow.Draw(None, [3, 0, 0, 0, 2, 1]), "comparison", 2.0, 0, 0),  # every mated pair is a self-pair
        # a twice, b once: a-b twice, and no pair of the two copies of a.
        (slow.Draw({"a": 2, "b": 1, "c": 0}, None), "identity", 0.4, Fraction(1, 3), 0),
        (slow.Draw({"a": 2, "b": 1, "c": 0}, None), "identity", 0.6, Fraction(1, 6), Fraction(7, 9)),
        (slow.Draw({"a": 2, "b": 1, "c": 0}, None), "comparison", 0.6, Fraction(2, 12), Fraction(5, 7)),
        # c twice: a-c twice (1/3 each), b none; a alone is mated.
        (slow.Draw({"a": 1, "b": 0, "c": 2}, None), "identity", 0.6, Fraction(1, 3), Fraction(2, 3)),
        # a twice with the vectors 0, 0, 1 and c once: 0.6, 0.6, 0.2 twice.
        (slow.Draw({"a": 2, "b": 0, "c": 1}, [2, 1, 0, 1, 1, 1]), "identity", 0.4, Fraction(2, 3), 0),
        (slow.Draw({"a": 2, "b": 0, "c": 1}, [2, 1, 0, 1, 1, 1]), "comparison", 2.0, 0, Fraction(2, 3)),
    ],
)
def test_replicates(draw, weighting, t, fmr, fnmr):
    assert slow.fmr(S, SUBJECT, t, weighting, draw=draw) == fmr
    assert slow.fnmr(S, SUBJECT, t, weighting, draw=draw) == fnmr


def test_replicate_curves():
    draws = [
        slow.Draw(None, [1, 1, 1, 1, 1, 1]),
        slow.Draw(None, [2, 1, 0, 1, 1, 1]),  # FMR 1/3 from 0.6 up: 0.1 rejects it, 0.4 and 0.5 find it
        slow.Draw({"a": 3, "b": 0, "c": 0}, None),  # one subject: no FMR
        slow.Draw({"a": 0, "b": 0, "c": 3}, None),
    ]
    levels = [0.1, 0.4]
    curves = slow.replicate_roc(levels, S, SUBJECT, "identity", draws)
    assert curves[0] == slow.roc(levels, S, SUBJECT, "identity") == [float(Fraction(5, 6)), 0]
    assert curves[1] == [0.5, 0.5]
    assert np.isnan(curves[2:]).all()


def test_a_draw_keeps_the_number_of_vectors():
    with pytest.raises(ValueError, match="'a' has 3 vectors, 4 were drawn"):
        slow.dataset(SUBJECT, slow.Draw(None, [2, 1, 1, 1, 1, 1]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", ["sample", "subject", "subject+sample"])
def test_replicates_are_products_of_weights(seed, unit):
    rng, similarity, subject = random_data(seed)
    n = len(subject)
    similarity = np.arange(float(n * n)).reshape(n, n)  # every pair is known by its score
    draw = random_draw(rng, subject, unit)
    W = draw.subjects or dict.fromkeys(subject, 1)
    w = draw.vectors or [1] * n
    of_mated, of_nonmated, self_pairs = Counter(), Counter(), 0
    for i in range(n):
        self_pairs += W[subject[i]] * w[i] * (w[i] - 1) // 2
        for j in range(i + 1, n):
            if subject[i] == subject[j]:
                of_mated[similarity[i, j]] += W[subject[i]] * w[i] * w[j]
            else:
                of_nonmated[similarity[i, j]] += W[subject[i]] * W[subject[j]] * w[i] * w[j]
    of_mated[math.inf] = self_pairs
    data = slow.dataset(subject, draw)
    assert Counter(s for s, _ in slow.mated(similarity, data, "comparison")) == of_mated
    assert Counter(s for s, _ in slow.nonmated(similarity, data, "comparison")) == of_nonmated


def all_sample_draws(subject):
    """Every way to draw n_k vectors inside each subject, all equally likely."""
    ways = []
    for k in dict.fromkeys(subject):
        own = [i for i, label in enumerate(subject) if label == k]
        ways.append(list(itertools.product(own, repeat=len(own))))
    for chosen in itertools.product(*ways):
        times = Counter(itertools.chain(*chosen))
        yield slow.Draw(None, [times[i] for i in range(len(subject))])


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("t", [0.4, 0.5, 0.6, 2.0])
def test_expectation_over_all_draws_of_vectors(weighting, t):
    draws = list(all_sample_draws(SUBJECT))
    assert len(draws) == 27 * 4
    fnmr = sum(slow.fnmr(S, SUBJECT, t, weighting, draw=draw) for draw in draws) / len(draws)
    assert fnmr == slow.fnmr_v(S, SUBJECT, t, weighting)
    fmr = sum(slow.fmr(S, SUBJECT, t, weighting, draw=draw) for draw in draws) / len(draws)
    assert fmr == slow.fmr(S, SUBJECT, t, weighting)


def test_expectation_over_all_draws_of_subjects():
    """No vector meets itself: replicates by subject are centred on FNMR where every subject has two vectors or more."""
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
    assert slow.fairness(naive.max_min_ratio, "FMR", *given) == pytest.approx([math.nan, 1, 2], nan_ok=True)
    # q's first vector twice: it meets itself, and 0.6 is there twice (3 of 24 pairs above 0.4).
    draw = slow.Draw(None, [1, 1, 2, 0, 1, 1, 1, 1])
    assert slow.fairness(list, "FNMR", *given, draw) == [[0.0, 1.0], [0.0, 1.0], [0.0, 0.5]]
    assert slow.fairness(list, "FMR", *given, draw) == [[0.0, 0.0], [0.0, 0.0], [0.5, 0.25]]
    # s twice, r never: m has no pair of different subjects; p-q 0.6 is 1 of 20 pairs, 0.1 the second, the rest are 0.
    draw = slow.Draw({"p": 1, "q": 1, "r": 0, "s": 2}, None)
    assert slow.fairness(list, "FNMR", *given, draw) == [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    found = slow.fairness(list, "FMR", *given, draw)
    assert found == [pytest.approx([x, math.nan], nan_ok=True) for x in (0.25, 0.5, 0.5)]


def test_bands():
    replicates = [[0.3, 0.0], [0.35, 1.0], [0.4, 2.0], [0.45, 3.0], [0.5, math.nan]]
    estimate, v = [0.5, 1.0], [0.4, 1.0]

    def first(method, level):
        band = slow.band(method, estimate, v, replicates, level)
        assert all(math.isnan(end) for end in band[1])
        return band[0]

    assert first("percentile", 0.5) == pytest.approx((0.35, 0.45))
    assert first("percentile", 0.9) == pytest.approx((0.31, 0.49))
    assert first("recentered", 0.5) == pytest.approx((0.45, 0.55))
    assert first("recentered", 0.9) == pytest.approx((0.41, 0.59))
    # sd = sqrt(0.025 / 4), z = 0.6744898
    assert first("gaussian", 0.5) == pytest.approx((0.5 - 0.0533231, 0.5 + 0.0533231), abs=1e-7)
    with pytest.raises(ValueError, match="basic"):
        slow.band("basic", estimate, v, replicates, 0.5)


def test_gaussian_is_centred_on_the_mean_of_the_recentered_replicates():
    low, high = slow.gaussian([0.2, 0.4], estimate=0.5, v_statistic=0.2, level=0.95)
    assert (low + high) / 2 == pytest.approx(0.6)
    assert high - low == pytest.approx(2 * 1.959964 * math.sqrt(0.02), abs=1e-6)


def test_normalised_uncertainty():
    assert slow.normalised_uncertainty([0.3, 0.35, 0.4, 0.45, 0.5], 0.5, 0.4) == pytest.approx(0.1581139, abs=1e-7)
    assert slow.normalised_uncertainty([0.0, 0.1], 0.0, 0.0) == math.inf
    assert math.isnan(slow.normalised_uncertainty([0.0, 0.0], 0.0, 0.0))
    assert math.isnan(slow.normalised_uncertainty([0.1], 0.1, 0.1))
