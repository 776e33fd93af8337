"""Errors of units and of their pairs at several thresholds, against loops over the errors."""

from __future__ import annotations

import numpy as np
from fastfair.kernels import unit_errors
from fastfair.kernels.partners import Runs
from hypothesis import given
from hypothesis import strategies as st

UNITS = 6
PAIR = st.tuples(st.integers(0, UNITS - 1), st.integers(0, UNITS - 1)).filter(
    lambda pair: pair[0] != pair[1]
)


@given(
    steps=st.lists(
        st.tuples(st.lists(PAIR, max_size=12), st.lists(PAIR, max_size=12)), min_size=1, max_size=4
    ),
    beyond=st.lists(PAIR, max_size=5),
    seed=st.integers(0, 99),
    wide=st.booleans(),
)
def test_sums_are_those_of_loops(steps, beyond, seed, wide):
    """steps: the errors that each threshold adds, those listed and those of a range."""
    rng = np.random.default_rng(seed)
    references, probes = rng.integers(0, 5, (2, UNITS)).astype(float)
    varies, group = (
        rng.integers(0, 2, UNITS).astype(float),
        rng.integers(-1, 2, UNITS, dtype=np.int32),
    )
    listed = [pair for some, _ in steps for pair in some]
    stops = np.cumsum([len(some) for some, _ in steps])
    a, b = np.array([*listed, *beyond], np.int32).reshape(-1, 2).T.copy()
    arranged = np.empty(UNITS + 1, np.int64), np.empty(a.size, np.int32), np.empty(a.size, np.int64)
    unit_errors.group_by_smaller(a, b, *arranged)
    found = np.zeros((len(steps), 2, 3, UNITS))
    runs, point_of_list = runs_of([some for _, some in steps], group, wide)
    unit_errors.add_errors(
        arranged, stops, runs, point_of_list, (references, probes, varies), group, found
    )

    wanted, errors = np.zeros((len(steps), 2, 3, UNITS)), []
    for point, both in enumerate(steps):
        errors += [tuple(sorted(pair)) for some in both for pair in some]
        for i, j in errors:
            inside = int(group[i] >= 0 and group[i] == group[j])
            wanted[point, inside, 0, [i, j]] += 1
            wanted[point, inside, 2, [i, j]] += (
                varies[i] * varies[j] * (references[i] * probes[j] + references[j] * probes[i])
            )
        for i, j in set(errors):
            inside = int(group[i] >= 0 and group[i] == group[j])
            wanted[point, inside, 1, [i, j]] += varies[i] * varies[j] * errors.count((i, j)) ** 2
    assert np.array_equal(np.cumsum(found, axis=0), wanted)


def runs_of(ranges, group, wide) -> tuple[Runs, np.ndarray]:
    """Runs of the pairs of each range, lists across groups apart from those inside; and the range
    of each list."""
    places: dict[tuple[int, int], list[int]] = {}
    for k, pairs in enumerate(ranges):
        for i, j in pairs:
            inside = int(group[i] >= 0 and group[i] == group[j])
            places.setdefault((min(i, j), 1 + 2 * k + inside), []).append(max(i, j))
    order = sorted(places)
    partner = [other for place in order for other in places[place]]
    unit, of_list = np.array(order, np.int32).reshape(-1, 2).T.copy()
    stop = np.cumsum([len(places[place]) for place in order], dtype=np.int64)
    runs = Runs(
        unit,
        of_list,
        stop,
        np.array(partner, np.int32 if wide else np.uint16),
        np.empty(0, np.int32),
    )
    return runs, np.append(0, np.repeat(np.arange(len(ranges)), 2))
