"""Curves over FMR, of rates or of what is made of them, with their intervals and bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.resampling.blocks import Replicates

from .rates_at_levels import BandSettings, RatesOverLevels, limits

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity over FMR with its uncertainty.

    Attributes
    ----------
    value, v_statistic : (levels, ...) ndarray
        The quantity, and the value about which its replicates vary.
    low, high, band_low, band_high : (levels, ...) ndarray
        Pointwise interval and simultaneous band.
    uncertainty : (levels, ...) ndarray
        Standard deviation of the replicates divided by the value.
    replicates : (r, levels, ...) ndarray
        The quantity in every replicate.
    """

    value: Floats
    v_statistic: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats
    uncertainty: Floats
    replicates: Floats

    def of_group(self, k: int) -> Curve:
        """Return the curve of one group, of a quantity with groups on the last axis."""
        return Curve(*(values[..., k] for values in vars(self).values()))


def curve_of(
    quantity: Callable[[Replicates], Floats],
    found: RatesOverLevels,
    settings: BandSettings,
    bounds: tuple[float, float] = (0.0, 1.0),
    banded: NDArray[np.bool_] | None = None,
) -> Curve:
    """Compute a quantity made of rates at every level, with intervals and band.

    Parameters
    ----------
    quantity : callable
        Gives (levels, ...) values of rates, with replicates on the last axis where the rates have them.
    found : RatesOverLevels
        The rates.
    settings : BandSettings
        With method and level.
    bounds : tuple of float
        Least and largest value.
    banded : (levels,) ndarray of bool, optional
        As in `limits`.

    Returns
    -------
    Curve
    """
    value, expected, replicates = map(quantity, (found.estimate, found.expected, found.replicates))
    pointwise, band = limits(replicates, value, expected, settings, lambda: quantity(found.jackknife()), banded)
    low, high, band_low, band_high = (np.clip(limit, *bounds) for limit in (*pointwise, *band))
    with np.errstate(invalid="ignore", divide="ignore"):
        uncertainty = intervals.standard_error(replicates) / value
    return Curve(value, expected, low, high, band_low, band_high, uncertainty, np.moveaxis(replicates, -1, 0))
