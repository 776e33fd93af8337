"""Curves over FMR, of rates or of measures computed from rates, with their intervals and bands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.plots import USUAL, new_axes, rate_ticks
from fastfair._lib.text import cell, interval_of_rate, number_with_interval, per_cent, rate_with_interval
from fastfair.errors import visible
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.resampling.engine import Replicates
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN, nothing
from fastfair.uncertainty.quantities import Quantity

from . import limits
from .rates_at_levels import BandSettings, RatesOverLevels

if TYPE_CHECKING:
    pass

Floats = NDArray[np.float64]
_MOST_SHOWN = 8  # FMRs in a notebook's table
_MOST_ON_PAGES = 12  # FMRs in a page's table
_ENDS = ("low", "high", "band_low", "band_high")
_LEGEND_LINE = 0.18  # inches
_SIZE = 4.9, 3.6  # inches of a plot that a phone shows in its own size


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve:
    """What all curves over FMR have in common; the quantity itself has another name in each kind of curve.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates held, in the order asked.
    threshold : (levels,) ndarray
        On the scale of the scores.
    low, high, band_low, band_high : (levels, ...) ndarray
        Pointwise interval and simultaneous band.
    uncertainty : (levels, ...) ndarray
        Standard deviation of the replicates divided by the value.
    v_statistic : (levels, ...) ndarray
        The value around which the replicates vary.
    replicates : (r, levels, ...) ndarray
        The quantity in every replicate; none in what was read from a page.
    n_resamples : int
        Number of replicates behind the intervals.
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
    replicates: Floats = field(default_factory=nothing, repr=False, metadata=UNWRITTEN)
    n_resamples: int
    confidence_level: float = 0.95
    note: str = ""


class ShownCurve(Result, Curve):
    """A curve that shows itself in notebooks and on pages."""

    @abstractmethod
    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        """Return the name of the quantity, its values and, where there is one for each group, the groups."""

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        name, values, groups = self._values()
        places = self._places(_MOST_SHOWN)
        sentences = [
            f"{name} at {self.fmr.size} FMRs from {self.fmr.min():.3g} to {self.fmr.max():.3g}, with "
            f"{100 * self.confidence_level:g} % intervals and a band that holds for all"
        ]
        columns = {"fmr": self.fmr[places].tolist(), "threshold": self.threshold[places].tolist()}
        if values.ndim > 1:
            columns |= {group: values[places, k].tolist() for k, group in enumerate(groups)}
        else:
            shown = {name: values, "low": self.low, "high": self.high}
            columns |= {label: array[places].tolist() for label, array in shown.items()}
        return [*sentences, *([self.note] if self.note else [])], columns

    def _question(self) -> str:
        """Name the quantity for readers."""
        return self._values()[0]

    def summary(self) -> str:
        """Describe the curve in sentences.

        Returns
        -------
        str
        """
        return "\n".join(self._shown()[0])

    def _columns(self) -> dict[str, list[Any]]:
        name, values, groups = self._values()
        columns = {"fmr": self.fmr.tolist(), "threshold": self.threshold.tolist()}
        for label, array in ((name.lower(), values), *((end, getattr(self, end)) for end in _ENDS)):
            of_each = {label: array} if array.ndim == 1 else {f"{label} of {group}": array[:, k] for k, group in
                                                             enumerate(groups)}  # fmt: skip
            columns |= {one: part.tolist() for one, part in of_each.items()}
        return columns

    def _places(self, most: int) -> NDArray[np.intp]:
        """Choose FMRs from the whole range."""
        return np.unique(np.linspace(0, self.fmr.size - 1, min(most, self.fmr.size)).round().astype(np.intp))

    @drawing()
    def _chapter(self) -> Chapter:
        settings = {"confidence_level": self.confidence_level, "replicates": self.n_resamples}
        title = f"{self._question()} over FMR"
        return Chapter(title, self._shown()[0], [self._section(None)], settings, self.to_json())

    def _section(self, levels: Sequence[float] | None) -> Section:
        """Write the part of a page about this curve, with a table of the levels given or of some of all."""
        name, values, groups = self._values()
        title = self._question()
        size = _SIZE if values.ndim == 1 else (_SIZE[0], _SIZE[1] + _LEGEND_LINE * min(len(groups), _MOST_SHOWN))
        ax = self.plot(new_axes(size), **({"color": USUAL} if values.ndim == 1 else {}))
        for axis in (ax.xaxis, ax.yaxis) if name == "FNMR" else (ax.xaxis,):
            rate_ticks(axis)
        alt = f"{title} over FMR, with intervals and a band. The table below has the numbers."
        caption = "Darker: the interval at each FMR on its own; lighter: the band that holds the whole curve."
        picture = Picture(svg_of(ax.figure), alt, caption)
        places = self._places(_MOST_ON_PAGES) if levels is None else np.flatnonzero(np.isin(self.fmr, levels))
        heads = [title, "Band of the whole curve"] if values.ndim == 1 else list(map(visible, groups))
        rows = [[per_cent(self.fmr[k]), cell(float(self.threshold[k])), *self._cells(name, k)] for k in places]
        caption = f"{title} at FMRs, with {100 * self.confidence_level:g} % intervals in brackets"
        table = Table(caption, ["FMR", "Threshold", *heads], rows)
        return Section(title, [visible(self.note)] if self.note else [], [picture], [table])

    def _cells(self, name: str, k: int) -> list[str]:
        """Write the value at a level with its interval, and the band; or the value of each group."""
        values = self._values()[1]
        if values.ndim > 1:
            each = zip(values[k].tolist(), self.low[k].tolist(), self.high[k].tolist(), strict=True)
            return [number_with_interval(*one) for one in each]
        value, low, high, *band = (
            float(array[k]) for array in (values, self.low, self.high, self.band_low, self.band_high)
        )
        if name == "FNMR":
            return [rate_with_interval(value, low, high), interval_of_rate(*band)]
        return [number_with_interval(value, low, high), number_with_interval(value, *band).partition(" ")[2] or "–"]


def curve_of(
    quantity: Callable[[Replicates], Floats],
    found: RatesOverLevels,
    settings: BandSettings,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[Floats, dict[str, Any]]:
    """Compute thresholds, or a measure from rates, at every level, with intervals and band.

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

    Returns
    -------
    value : (levels, ...) ndarray
        The quantity in the data.
    curve : dict
        The fields of a `Curve`, except its note.
    """
    value, expected, replicates = map(quantity, (found.estimate, found.expected, found.replicates))
    pointwise, band = limits.of_quantity(replicates, value, expected, settings, found.jackknife_of(quantity))
    ends = [np.clip(limit, *bounds) for limit in (*pointwise, *band)]
    return value, fields(found, settings, value, expected, replicates, ends)


def rate_curve(
    name: str, group: str | None, row: int, found: RatesOverLevels, settings: BandSettings
) -> tuple[tuple[Quantity, ...], Floats, dict[str, Any]]:
    """Compute an error rate at every level, with intervals and band.

    Parameters
    ----------
    name, group, row, found, settings
        As in `limits.of_rate`.

    Returns
    -------
    quantities : tuple of Quantity
        The rate at each level with its interval.
    value : (levels,) ndarray
        The rate in the data.
    curve : dict
        The fields of a `Curve`.
    """
    value, expected, replicates = (
        getattr(rates, name)[:, row] for rates in (found.estimate, found.expected, found.replicates)
    )
    quantities, band = limits.of_rate(name, group, row, found, settings)
    curve = fields(found, settings, value, expected, replicates, [*limits.ends_of(quantities), *band])
    return quantities, value, curve | {"note": note_of(quantities)}


def note_of(quantities: Sequence[Quantity]) -> str:
    """Put together what the quantities' notes say, and at which levels if not at all."""
    said: dict[str, set[float]] = {}
    levels = {quantity.at.value for quantity in quantities if quantity.at is not None}
    for quantity in quantities:
        if quantity.note and quantity.at is not None:
            said.setdefault(quantity.note, set()).add(quantity.at.value)

    def where(at: set[float]) -> str:
        if at == levels:
            return ""
        return f"FMR {min(at):.3g}" + (f" to {max(at):.3g}" if len(at) > 1 else "") + ": "

    return "; ".join(where(at) + note for note, at in said.items())


def fields(
    found: RatesOverLevels,
    settings: BandSettings,
    value: Floats,
    expected: Floats,
    replicates: Floats,
    ends: Sequence[Floats],
) -> dict[str, Any]:
    """Return the fields of a `Curve`, except its note, from what was computed of it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        uncertainty = intervals.standard_error(replicates) / value
    return {
        "fmr": found.levels,
        "threshold": found.estimate.threshold,
        **dict(zip(_ENDS, ends, strict=True)),
        "uncertainty": uncertainty,
        "v_statistic": expected,
        "replicates": np.moveaxis(replicates, -1, 0),
        "n_resamples": replicates.shape[-1],
        "confidence_level": settings.confidence_level,
    }
