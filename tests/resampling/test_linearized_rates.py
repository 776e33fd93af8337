"""Standard errors and correlations in closed form against the plain oracle, and against
replicates."""

from __future__ import annotations

import pytest
from hypothesis import given
from oracles import linearized as slow
from oracles.strategies import comparisons_of_system, two_systems

import fastfair as ff
from fastfair.data import derived
from fastfair.error_rates.operating_points import threshold_key
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.linearized_rates import LinearizedRates

POINTS = (ff.at_threshold(3.0), ff.at_fmr(0.3), ff.at_fnmr(0.2), ff.at_eer())


def linearized(comparisons: ff.Comparisons) -> LinearizedRates:
    return LinearizedRates(Resampler(comparisons, POINTS, metrics=NO_METRICS))


@pytest.mark.slow
@given(found=two_systems())
def test_standard_errors_and_correlations_are_those_of_the_plain_formulas(found):
    first = comparisons_of_system(found, 0)
    systems = first, derived.match(first, comparisons_of_system(found, 1), one_by_one=False)
    both = [linearized(comparisons) for comparisons in systems]
    thresholds = [[c.to_threshold(threshold_key(c, point)) for point in POINTS] for c in systems]
    position = {group: k for k, group in enumerate(first.groups)}
    names = [None, *((a, b) for a in position for b in position)]
    for k, point in enumerate(POINTS):
        for name in ("fnmr", "fmr"):
            for cell in names:
                if not [
                    trial for trial in found if trial in slow.paired.of_rate([trial], name, cell)
                ]:
                    continue
                if name == "fnmr" and cell is not None and cell[0] != cell[1]:
                    continue
                where = None if cell is None else (position[cell[0]], position[cell[1]])
                expected = [
                    slow.of_rate(found, name, cell, point.kind, system, thresholds[system][k])
                    for system in (0, 1)
                ]
                for rates, (_, error) in zip(both, expected, strict=True):
                    assert rates.standard_error(name == "fnmr", k, where) == pytest.approx(
                        error, rel=1e-6, abs=1e-7
                    )
                together = slow.correlation(expected[0][0], expected[1][0], found)
                assert both[0].correlation(both[1], name == "fnmr", k, where) == pytest.approx(
                    together, abs=1e-6
                )
