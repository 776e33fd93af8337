"""The oracle of hill climbing, on examples small enough to work by hand."""

import numpy as np
import pytest
from oracles import climb as slow

HELD, FREE = np.array([0.1, 0.4, 0.2, 0.3]), np.array([0.6, 0.5, 0.7, 0.9])


def test_the_threshold_accepts_at_least_the_share():
    assert [slow.rank(20, share) for share in (0.9, 0.95, 0.951, 1)] == [18, 19, 20, 20]
    assert slow.rank(3000, 0.95) == 2850
    assert slow.rank(100, 0.29) == 29  # 100 * 0.29 is 28.999999999999996
    assert slow.rank(50, 0.28) == 14  # 50 * 0.28 is 14.000000000000002
    assert slow.threshold(HELD, 0.75) == 0.3
    assert slow.threshold(HELD, 0.76) == 0.4


def test_rate_and_fitness():
    near = np.array([0.3, 0.31, 0.2, 0.9])
    assert slow.rate(HELD, near, 0.75) == 0.5  # a tie with the threshold is an error
    assert slow.fitness(HELD, near, 0.1, 0.75) == 0.4
    assert slow.fitness(HELD, near, 0.1, 0.7) == pytest.approx(0.45)


def test_fnmr_is_the_mirror_image_of_fmr():
    held, free = slow.to_classes(HELD, FREE, "fnmr")
    assert (held.max(), free.min()) == (0.5, 0.6)
    for kind in ("fmr", "fnmr"):
        back = slow.to_distances(*slow.to_classes(HELD, FREE, kind), kind)
        assert np.allclose(back, (HELD, FREE))
    # The distance 0.625 rejects 3 of 4 non-mated comparisons above it, and 1 of 4 mated ones.
    mated, nonmated = np.array([0.125, 0.25, 0.5, 0.75]), np.array([0.5, 0.625, 0.75, 0.875])
    assert slow.rate(*slow.to_classes(mated, nonmated, "fnmr"), 0.75) == 0.25


def test_distances_are_reflected_at_their_ends():
    held, free = slow.propose([0.1, 0.5], [0.9, 1.0], [-0.8, 0.2, 0.6, -1], 0.25)
    assert held == pytest.approx([0.1, 0.55])
    assert free == pytest.approx([0.95, 0.75])


def test_what_is_accepted():
    assert slow.is_accepted(0.1, 0.2, "improving")
    assert not slow.is_accepted(0.2 - 1e-13, 0.2, "improving")
    assert slow.is_accepted(0.2 + 1e-13, 0.2, "plateau")
    assert not slow.is_accepted(0.21, 0.2, "plateau")


def test_one_step():
    options = {"target": 0.25, "share": 0.75}
    toward = np.array([0, 0, 0, 1, 0, -1, 0, 0])
    held, free, accepted = slow.step_once(HELD, FREE, toward, 0.12, **options)
    assert accepted
    assert held == pytest.approx([0.1, 0.4, 0.2, 0.42])  # the third smallest is now 0.4, where no free value is
    assert free == pytest.approx([0.6, 0.38, 0.7, 0.9])
    held, free, accepted = slow.step_once(HELD, FREE, toward, 0.05, **options)
    assert not accepted
    assert np.array_equal(held, HELD)
    assert np.array_equal(free, FREE)
    assert slow.step_once(HELD, FREE, toward, 0.05, **options, rule="plateau")[2]


@pytest.mark.parametrize("rule", ["improving", "plateau"])
def test_a_climb_never_loses_and_arrives(rule):
    rng = np.random.default_rng(0)
    held, free = rng.uniform(0, 0.5, 60), rng.uniform(0.5, 1, 60)
    changes = rng.uniform(-1, 1, (80, 120))
    climbed = slow.climb(held, free, changes, target=0.05, step=0.1, rule=rule)
    assert np.diff(climbed.history).max() <= 1e-12
    assert climbed.history[-1] == pytest.approx(0)
    assert slow.rate(climbed.held, climbed.free, 0.95) == pytest.approx(0.05)
    assert (len(climbed.history), len(climbed.accepted)) == (81, 80)
    assert 0 < sum(climbed.accepted) <= 80
