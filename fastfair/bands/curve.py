"""Curves over FMR, of rates or of measures computed from rates, with pointwise intervals and simultaneous bands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.plots import USUAL, new_axes, rate_ticks
from fastfair._lib.text import cell, interval_of_rate, number_with_interval, per_cent, rate_with_interval
from fastfair.errors import visible
from fastfair.intervals import Method
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.resampling.engine import Replicates
from fastfair.results.result import Printed, Result, printed
from fastfair.results.written import UNWRITTEN, nothing
from fastfair.uncertainty.few_errors import OF_FEW_SUBJECTS, hangs_on_threshold, is_held_by_few_subjects
from fastfair.uncertainty.interval_maker import IntervalMaker, level_of_curve
from fastfair.uncertainty.quantities import NARROW, Quantity, noted

from .rates_at_levels import RatesOverLevels

Floats = NDArray[np.float64]
Range = tuple[Floats, Floats]  # the lower and the upper end
_ABOUT_V_STATISTIC = ("recentered", "gaussian")  # methods that evaluations do not have
_MOST_SHOWN = 8  # FMRs in a notebook's table
_MOST_ON_PAGES = 12  # FMRs in a page's table
_ENDS = ("low", "high", "band_low", "band_high")
_LEGEND_LINE = 0.18  # inches
_SIZE = 4.9, 3.6  # inches of a plot that a phone shows in its own size


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve(Result):
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

    @abstractmethod
    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        """Return the name of the quantity, its values and, where there is one for each group, the groups."""

    def _sentences(self) -> list[str]:
        return [
            f"{self._values()[0]} at {self.fmr.size} FMRs from {self.fmr.min():.3g} to {self.fmr.max():.3g}, with "
            f"{100 * self.confidence_level:g} % intervals and a band that holds for all",
            *([self.note] if self.note else []),
        ]

    def _tables(self) -> list[Printed]:
        name, values, groups = self._values()
        places = self._places(_MOST_SHOWN)
        columns = {"fmr": self.fmr[places].tolist(), "threshold": self.threshold[places].tolist()}
        if values.ndim > 1:
            columns |= {group: values[places, k].tolist() for k, group in enumerate(groups)}
            return [printed(columns, columns)]
        columns |= {name: values[places].tolist(), "low": self.low[places].tolist(), "high": self.high[places].tolist()}
        return [printed(columns, ("fmr", "threshold", name), of=name)]

    def _question(self) -> str:
        """Name the quantity for readers."""
        return self._values()[0]

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


@dataclass(frozen=True)
class BandQuantity(Quantity):
    """A quantity at one FMR, with its simultaneous band.

    Attributes
    ----------
    uncertainty : float
        Standard deviation of the replicates divided by the estimate.
    v_statistic : float
        The value around which the replicates vary.
    band_low, band_high : float
        Simultaneous band, which holds the quantity at all FMRs of the call together.
    """

    uncertainty: float = float("nan")
    v_statistic: float = float("nan")
    band_low: float = float("nan")
    band_high: float = float("nan")


# The quantity at each level, and of each group if it has one value for each; its values; and the fields of a `Curve`.
Banded = tuple[list[BandQuantity], Floats, dict[str, Any]]


def rate_curve(found: RatesOverLevels, name: str, row: int = 0, group: str | None = None) -> Banded:
    """Compute an error rate at every level, with its intervals, as `evaluate` does, and its simultaneous band.

    The band is made of the intervals of a higher confidence level, that at which replicates of the whole curve stay
    within so many standard errors [1]_. An FNMR cannot rise with the FMR that is held, so
    the upper end of the band is at least that of all higher FMRs, and the lower end at most that of all lower ones. A
    group's FMR cannot fall: its band is widened the other way round.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    name : {"fmr", "fnmr"}
        The rate.
    row, group : int, str or None
        The place of the group whose rate it is in `found`, and its name; 0 and None for all comparisons.

    Returns
    -------
    Banded

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).
    """

    def rate(rates: Replicates) -> Floats:
        return np.asarray(getattr(rates, name)[:, row])

    settings, jackknife = found.settings, found.jackknife
    level, method = settings.confidence_level, settings.method
    value, expected, drawn = map(rate, (found.estimate, found.expected, found.replicates))
    centred = recentered(drawn, value, expected)
    n, subjects = int(found.comparisons[name][row]), found.subjects[name]
    quantities = [
        Quantity(
            name, group, point, x, n_comparisons=n, n_errors=n_errors,
            n_subjects=None if subjects is None else int(subjects[row]), note="" if n else "no comparisons",
        )
        for point, x, n_errors in zip(found.points, value.tolist(), found.errors[name][:, row].tolist(), strict=True)
    ]  # fmt: skip
    narrow = few_subjects_hold(found, hangs_on_threshold(centred, found.replicates.threshold))
    maker = partial(
        IntervalMaker, tuple(noted_narrow(quantities, narrow)), sizes=found.sizes(name, row),
        jackknife=None if jackknife is None else lambda: rate(jackknife()), n_threads=settings.workers.n_threads,
    )  # fmt: skip
    about_estimate = maker(centred)
    of_curve = level_of_curve(centred, value, level)
    band = _one_way(found.levels, *ends_of(about_estimate.with_intervals(of_curve, "auto")), rising=name == "fmr")
    if method in ("auto", *_ABOUT_V_STATISTIC):
        pointwise = about_estimate.with_intervals(level, "auto")
    else:
        pointwise = maker(drawn).with_intervals(level, method)
    low, high = ends_of(pointwise)
    if method in _ABOUT_V_STATISTIC:
        inside = (value > 0) & (value < 1)
        ends = np.clip(interval(drawn, value, expected, level, method), 0, 1)
        low, high = np.where(inside, ends, (low, high))
        pointwise = tuple(replace(q, method=method) if at else q for q, at in zip(pointwise, inside, strict=True))
    return banded(found, pointwise, (value, expected, drawn), (low, high), band)


def curve_by_quantiles(
    found: RatesOverLevels,
    quantities: Sequence[Quantity],
    quantity: Callable[[Replicates], Floats],
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Banded:
    """Compute thresholds, or a measure from rates, at every level, with intervals by any method that has no test.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    quantities : sequence of Quantity
        The quantity at each level, and of each group if it has one value for each, without intervals.
    quantity : callable
        Computes (levels, ...) values from rates, with replicates on the last axis where the rates have them.
    bounds : tuple of float
        Least and largest possible value.

    Returns
    -------
    Banded
    """
    value, expected, drawn = map(quantity, (found.estimate, found.expected, found.replicates))
    level, method, jackknife = found.settings.confidence_level, found.settings.method, found.jackknife
    method = "percentile" if method == "auto" else method
    left_out = quantity(jackknife()) if jackknife and method == "bca" else None
    pointwise = interval(drawn, value, expected, level, method, left_out)
    curves = recentered(drawn, value, expected) if method in _ABOUT_V_STATISTIC else drawn
    low, high = simultaneous_band(curves, level)
    ends = [np.clip(end, *bounds) for end in (*pointwise, low, high)]
    return banded(found, quantities, (value, expected, drawn), (ends[0], ends[1]), (ends[2], ends[3]))


def whole_curves(replicates: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return which values are computable in most replicates, and these in the replicates in which all of them are."""
    known = ~np.isnan(replicates)
    often = known.mean(axis=-1) > 0.5
    return often, replicates[often][:, known[often].all(axis=0)]


def simultaneous_band(replicates: Floats, level: float) -> Range:
    """Compute the simultaneous band of the values that are computable in most replicates."""
    often, curves = whole_curves(replicates)
    low, high = np.full((2, *often.shape), np.nan)
    if curves.size and curves.shape[1] > 1:
        low[often], high[often] = intervals.simultaneous_band(curves, level)
    return low, high


def banded(
    found: RatesOverLevels,
    quantities: Sequence[Quantity],
    values: tuple[Floats, Floats, Floats],
    pointwise: Range,
    band: Range,
) -> Banded:
    """Put together what was computed of a quantity: `values` in the data, the V-statistics and the replicates."""
    value, expected, drawn = values
    error = intervals.standard_error(drawn)
    with np.errstate(invalid="ignore", divide="ignore"):
        uncertainty = error / value
    numbers = dict(zip(_ENDS, (*pointwise, *band), strict=True))
    numbers |= {"uncertainty": uncertainty, "v_statistic": expected}
    of_rows = {**numbers, "standard_error": error, "not_computable": 1 - np.isfinite(drawn).mean(axis=-1)}
    rows = [
        BandQuantity(**{**vars(quantity), **dict(zip(of_rows, row, strict=True))})
        for quantity, *row in zip(quantities, *(array.ravel().tolist() for array in of_rows.values()), strict=True)
    ]
    return rows, value, {
        "fmr": found.levels,
        "threshold": found.estimate.threshold,
        **numbers,
        "replicates": np.moveaxis(drawn, -1, 0),
        "n_resamples": drawn.shape[-1],
        "confidence_level": found.settings.confidence_level,
        "note": _note_of(quantities),
    }  # fmt: skip


def _note_of(quantities: Sequence[Quantity]) -> str:
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


def few_subjects_hold(found: RatesOverLevels, asked: NDArray[np.bool_]) -> list[bool]:
    """Return at which of the levels asked few subjects cause most of the false matches that hold the threshold."""
    if found.concentration is None:
        return [False] * found.levels.size
    sizes, concentration = found.sizes("fmr", 0), found.concentration
    return [
        bool(level)
        and not (sizes.few_held and sizes.few_held.holds(k))
        and is_held_by_few_subjects(sizes.degrees_of_freedom[k], concentration(k))
        for k, level in enumerate(asked)
    ]


def noted_narrow(quantities: Sequence[Quantity], narrow: Sequence[bool]) -> list[Quantity]:
    """Note which of the quantities have a threshold that few subjects hold."""
    return [noted(q, OF_FEW_SUBJECTS, NARROW) if at else q for q, at in zip(quantities, narrow, strict=True)]


def ends_of(quantities: Sequence[Quantity]) -> Range:
    """Return the lower and the upper ends of intervals."""
    low, high = np.array([(q.low, q.high) for q in quantities], np.float64).T
    return low, high


def _one_way(levels: Floats, low: Floats, high: Floats, *, rising: bool) -> Range:
    """Widen a band so that neither end rises with the levels, or so that neither falls."""
    order = np.argsort(-levels if rising else levels)
    known = ~np.isnan(low)
    low[order] = np.fmin.accumulate(low[order])
    high[order[::-1]] = np.fmax.accumulate(high[order[::-1]])
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def interval(
    replicates: Floats, estimate: Floats, expected: Floats, level: float, method: str, jackknife: Floats | None = None
) -> Range:
    """Compute pointwise intervals only, by any of the methods of a band."""
    if method != "gaussian":
        return intervals.confidence_interval(
            replicates, estimate, level, cast("Method", method), v_statistic=expected, jackknife=jackknife
        )
    shifted = recentered(replicates, estimate, expected)
    return intervals.confidence_interval(shifted, intervals.finite_mean(shifted), level, "normal")


def recentered(replicates: Floats, estimate: Floats, expected: Floats) -> Floats:
    """Move replicates, which vary around one value, so that they vary around the estimate."""
    with np.errstate(invalid="ignore"):  # ratios to groups without errors are infinite
        return replicates + (estimate - expected)[..., None]
