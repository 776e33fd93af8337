"""Curves over FMR, of rates or of measures computed from rates, with their intervals and bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.resampling.blocks import Replicates

from .rates_at_levels import BandSettings, RatesOverLevels, limits

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve:
    """What all curves over FMR have in common; the quantity itself has another name in each kind of curve.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates held, ascending.
    threshold : (levels,) ndarray
        On the scale of the scores.
    low, high, band_low, band_high : (levels, ...) ndarray
        Pointwise interval and simultaneous band.
    uncertainty : (levels, ...) ndarray
        Standard deviation of the replicates divided by the value.
    v_statistic : (levels, ...) ndarray
        The value around which the replicates vary.
    replicates : (r, levels, ...) ndarray
        The quantity in every replicate.
    confidence_level : float
        Confidence level of the interval and the band.
    note : str
        Warnings for the reader; may be empty.
    """

    fmr: Floats
    threshold: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats
    uncertainty: Floats
    v_statistic: Floats
    replicates: Floats = field(repr=False)
    confidence_level: float = 0.95
    note: str = ""


def curve_of(
    quantity: Callable[[Replicates], Floats],
    found: RatesOverLevels,
    settings: BandSettings,
    bounds: tuple[float, float] = (0.0, 1.0),
    banded: NDArray[np.bool_] | None = None,
) -> tuple[Floats, dict[str, Any]]:
    """Compute a quantity from rates at every level, with intervals and band.

    Parameters
    ----------
    quantity : callable
        Computes (levels, ...) values from rates, with replicates on the last axis where the rates have them.
    found : RatesOverLevels
        The rates.
    settings : BandSettings
        The settings, which hold the method and the confidence level.
    bounds : tuple of float
        Least and largest possible value.
    banded : (levels,) ndarray of bool, optional
        As in `limits`.

    Returns
    -------
    value : (levels, ...) ndarray
        The quantity in the data.
    curve : dict
        The fields of a `Curve`, except its note.
    """
    value, expected, replicates = map(quantity, (found.estimate, found.expected, found.replicates))
    pointwise, band = limits(replicates, value, expected, settings, lambda: quantity(found.jackknife()), banded)
    low, high, band_low, band_high = (np.clip(limit, *bounds) for limit in (*pointwise, *band))
    with np.errstate(invalid="ignore", divide="ignore"):
        uncertainty = intervals.standard_error(replicates) / value
    return value, {
        "fmr": found.levels,
        "threshold": found.estimate.threshold,
        "low": low,
        "high": high,
        "band_low": band_low,
        "band_high": band_high,
        "uncertainty": uncertainty,
        "v_statistic": expected,
        "replicates": np.moveaxis(replicates, -1, 0),
        "confidence_level": settings.confidence_level,
    }
