"""`roc_band`, `fairness_band`, and all of them in one pass: rates and measures over FMR with their
uncertainty.

Rates come from `rates_over_levels`; here they get pointwise intervals and simultaneous bands.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import plots, seeds, text, validation
from fastfair._lib.arguments import ManyResamples, checked
from fastfair._lib.arrays import Flags, Floats, Indices
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Checkpoint, Executor, Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate
from fastfair.error_rates.scans_of_vectors import in_memory
from fastfair.errors import FairValueOutsideWarning, InputError, visible
from fastfair.measures import MEASURES
from fastfair.measures._fairness import KINDS
from fastfair.measures._registry import (
    METRICS,
    Measure,
    at_any_threshold,
    measure_name,
    printed_name,
    range_of,
)
from fastfair.resampling.dependence import CountModel
from fastfair.resampling.engine import Replicates
from fastfair.resampling.units import Unit
from fastfair.results.result import Printed, Result, printed
from fastfair.results.written import UNWRITTEN, empty_floats
from fastfair.uncertainty.few_errors import hangs_on_threshold, is_held_by_few_subjects
from fastfair.uncertainty.interval_maker import IntervalMaker, level_of_curve
from fastfair.uncertainty.inversion import (
    INVERSION,
    AlikeGroups,
    CountedSystems,
    MeasureInversion,
    MovedSystems,
)
from fastfair.uncertainty.notes import FEWEST_SESSIONS, Code, Note, Noted, has_code
from fastfair.uncertainty.quantities import (
    Entry,
    EntryKey,
    Quantity,
    Selection,
    entries,
    noted,
    numbers,
)

from .rates_over_levels import (
    ABOUT_V_STATISTIC,
    BandRequest,
    BandSettings,
    RatesOverLevels,
    compute_over_levels,
    points_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Range = tuple[Floats, Floats]  # the lower and the upper end
ENDS = ("low", "high", "band_low", "band_high")


_MOST_SHOWN = 8  # FMRs in a table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curve(Result, Noted):
    """What all curves over FMR have in common; the quantity itself has another name in each kind of
    curve.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates held, in the order asked.
    threshold : (levels,) ndarray
        On the scale of the scores.
    low, high, band_low, band_high : (levels, ...) ndarray
        Pointwise interval and simultaneous band.
    uncertainty : (levels, ...) ndarray
        Standard deviation of the replicates divided by the value; NaN in too few sessions.
    v_statistic : (levels, ...) ndarray
        The value around which the replicates vary.
    replicates : (r, levels, ...) ndarray
        The quantity in every replicate; none in what was read from a page.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    notes : tuple of Note
        Warnings for the reader; `note` is their text, which may be empty.
    asked : tuple of float
        The FMRs that tables show; empty for some of all.
    """

    fmr: Floats
    threshold: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats
    uncertainty: Floats
    v_statistic: Floats
    replicates: Floats = field(default_factory=empty_floats, repr=False, metadata=UNWRITTEN)
    n_resamples: int
    confidence_level: float = 0.95
    notes: tuple[Note, ...] = ()
    asked: tuple[float, ...] = ()

    @abstractmethod
    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        """Return the name of the quantity, its values and, where there is one for each group, the
        groups.
        """

    def _sentences(self) -> list[str]:
        name, values, _ = self._values()
        write = text.rate_with_interval if name == "fnmr" else text.number_with_interval
        level = f"{100 * self.confidence_level:g} %"
        said = (
            f"{self._called()} at {self.fmr.size} FMRs from {self.fmr.min():.3g} to"
            f" {self.fmr.max():.3g}, with {level} intervals and a band that holds for all"
        )
        if self.fmr.size == 1:
            said = f"{self._called()}, with its {level} interval"
        each = [
            f"{write(float(values[k]), float(self.low[k]), float(self.high[k]))} at FMR"
            f" {text.per_cent(self.fmr[k])}"
            for k in (self._places(2) if values.ndim == 1 else ())
        ]
        return [
            f"{said}: {', '.join(each)}." if each else f"{said}.",
            *([self.note] if self.note else []),
        ]

    def _places(self, most: int) -> Indices:
        """Choose the FMRs asked, or some from the whole range."""
        if self.asked:
            return np.flatnonzero(np.isin(self.fmr, self.asked))
        return np.unique(
            np.linspace(0, self.fmr.size - 1, min(most, self.fmr.size)).round().astype(np.intp)
        )

    def _tables(self) -> list[Printed]:
        name, values, groups = self._values()
        places = self._places(_MOST_SHOWN)
        columns = {"fmr": self.fmr[places].tolist(), "threshold": self.threshold[places].tolist()}
        if values.ndim > 1:
            columns |= {group: values[places, k].tolist() for k, group in enumerate(groups)}
            return [printed(columns, columns)]
        columns |= {
            name: values[places].tolist(),
            "low": self.low[places].tolist(),
            "high": self.high[places].tolist(),
        }
        return [printed(columns, ("fmr", "threshold", name), of=name)]

    def _called(self) -> str:
        """Name the quantity for readers."""
        return printed_name(self._values()[0])

    def _question(self) -> str:
        return f"{self._called()} over FMR"

    def _columns(self) -> dict[str, list[Any]]:
        name, values, groups = self._values()
        columns = {"fmr": self.fmr.tolist(), "threshold": self.threshold.tolist()}
        for label, array in ((name, values), *((end, getattr(self, end)) for end in ENDS)):
            of_each = (
                {label: array}
                if array.ndim == 1
                else {f"{label} of {group}": array[:, k] for k, group in enumerate(groups)}
            )
            columns |= {column: part.tolist() for column, part in of_each.items()}
        return columns


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RocBand(Curve):
    """FNMR over FMR, with its uncertainty.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates that the thresholds hold, in the order asked.
    fnmr : (levels,) ndarray
        False non-match rate at each FMR.
    low, high : (levels,) ndarray
        Pointwise interval, which holds for each FMR on its own, as that of `evaluate`. NaN where
        `note` says why.
    band_low, band_high : (levels,) ndarray
        Simultaneous band, which holds for the whole curve.
    uncertainty : (levels,) ndarray
        Standard deviation of the replicates divided by the FNMR.
    v_statistic : (levels,) ndarray
        The value around which the replicates vary; it is below `fnmr` where a replicate can pair a
        vector with itself.
    threshold : (levels,) ndarray
        On the scale of the scores.
    replicates : (r, levels) ndarray
        The FNMR in every replicate; none in what `read_results` read.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    notes : tuple of Note
        What to know about the intervals at which FMRs, such as that no errors are left there;
        `note` is their text.
    """

    fnmr: Floats

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return "fnmr", self.fnmr, ()

    @checked
    def plot(self, ax: Axes | None = None, *, det: bool = False, **kwargs: Any) -> Axes:
        """Draw the curve with its pointwise interval (darker) and its simultaneous band (lighter).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        det : bool, default False
            Whether to use probit axes, as in a DET plot.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax = plots.axes_or_new(ax)
        scaled = _probit_places if det else np.asarray
        (line,) = ax.plot(scaled(self.fmr), scaled(self.fnmr), **kwargs)
        limits = [scaled(end) for end in (self.low, self.high, self.band_low, self.band_high)]
        plots.draw_ranges(ax, scaled(self.fmr), limits, line.get_color())
        return plots.probit_axes(ax) if det else plots.roc_axes(ax)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FairnessBand(Curve):
    """A fairness measure at many FMRs, with its uncertainty.

    Attributes
    ----------
    measure : str
        Name in `measures.MEASURES`.
    rate : str or None
        The rate that it compares, "fmr" or "fnmr"; None for measures of both.
    fmr : (levels,) ndarray
        False match rates of all comparisons that the thresholds hold, in the order asked.
    value : (levels,) ndarray, or (levels, groups) for measures with a value for each group
        The measure at each FMR.
    low, high : as `value`
        Pointwise interval; NaN where `note` says why.
    band_low, band_high : as `value`
        Simultaneous band; NaN where there is no interval.
    uncertainty : as `value`
        Standard deviation of the replicates divided by the value.
    v_statistic : as `value`
        The value around which the replicates vary.
    threshold : (levels,) ndarray
        On the scale of the scores.
    groups : tuple of str
        The groups whose rates are compared.
    replicates : (r, levels) or (r, levels, groups) ndarray
        The measure in every replicate; none in what `read_results` read.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    notes : tuple of Note
        What to know about the intervals at which FMRs, such as that no group has errors there;
        `note` is their text.
    """

    measure: str
    rate: str | None
    value: Floats
    groups: tuple[str, ...]

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return self.measure, self.value, self.groups

    def _called(self) -> str:
        return printed_name(f"{self.measure}({self.rate})" if self.rate else self.measure)

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the measure over FMR with its pointwise interval (darker) and its simultaneous band
        (lighter).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        parts = self.value, self.low, self.high, self.band_low, self.band_high
        labels = METRICS["fmr"].long_title, self._called()
        if self.value.ndim > 1:
            curves = {
                visible(group): [part[:, k] for part in parts]
                for k, group in enumerate(self.groups)
            }
            ax = plots.draw_lines(self.fmr, curves, ax, labels, **kwargs)
        else:
            style = {"label": None, "color": None} | kwargs
            ax = plots.draw_lines(self.fmr, {"": parts}, plots.axes_or_new(ax), labels, **style)
        if np.isfinite(self.value).any():
            ax.set_xscale("log")
            plots.rate_ticks(ax.xaxis)
        else:
            ax.text(
                0.5,
                0.5,
                "not computable: a group has no errors",
                transform=ax.transAxes,
                ha="center",
            )
        if has_code(self, Code.FAIR_OUTSIDE):
            ax.set_title("No test of fairness: fair systems lie outside, too", fontsize="small")
        return ax


_EDGE = 1e-6  # rates this near to 0 or 1 are drawn at the edge, as deviates would be infinite


def _probit_places(rates: Floats) -> Floats:
    """Return the places of rates on probit axes; 0 and 1, at infinity, go to the edge of what can
    be told apart.
    """
    from scipy.special import ndtri

    return ndtri(np.clip(rates, _EDGE, 1 - _EDGE))


class CurveMaker:
    """Makes curves of rates and measures over the levels: pointwise intervals as `evaluate` has
    them, and bands.

    Parameters
    ----------
    rates : RatesOverLevels
        The rates.
    measures : sequence of str
        The measures that curves are made of.
    kinds : set of str
        The rates that measures are of: "fmr", "fnmr" and "both rates".
    """

    def __init__(
        self, rates: RatesOverLevels, measures: Sequence[str] = (), kinds: frozenset[str] = KINDS
    ) -> None:
        self.rates = rates
        settings = rates.settings
        groups = rates.groups
        selection = Selection(
            groups,
            tuple(range(len(groups))),
            rates.comparisons["fnmr"][1:],
            rates.comparisons["fmr"][1:],
            rates.levels.size,
            measures=tuple(measures),
            alpha=settings.alpha,
            zero_policy=settings.zero_policy,
            kinds=kinds,
        )
        listed = list(entries(rates.estimate, selection))
        # Replicates of embeddings may lack the FMR of all pairs.
        held = ("threshold", None), ("fmr", None)
        self._chosen = [
            k for k, entry in enumerate(listed) if (entry.name, entry.group) not in held
        ]
        self.entries = [listed[k] for k in self._chosen]
        self._points = points_of(rates.levels)
        self._names = ERROR_RATES if "both rates" in kinds else tuple(kinds)

        def values(replicates: Replicates) -> Floats:
            n_threads = settings.workers.n_threads
            return numbers(replicates, selection, n_threads)[self._chosen]

        def left_out() -> Floats:
            assert rates.resampler is not None
            return rates.resampler.influences(
                values(rates.resampler.jackknife(settings.workers.n_threads))
            )

        centred = rates.centred()
        self.values = np.array([entry.value for entry in self.entries])
        self._drawn = values(rates.replicates)
        self._expected = self.values if rates.expected is rates.estimate else values(rates.expected)
        self._centred = self._drawn if centred is rates.replicates else values(centred)
        self.sizes = rates.sizes(self.entries)
        self._narrow: dict[int, bool] = {}
        self._quantities = tuple(
            self._quantity_of(k, entry) for k, entry in enumerate(self.entries)
        )
        make = partial(
            IntervalMaker,
            self._quantities,
            sizes=self.sizes,
            jackknife=left_out,
            inversion=self._inversion(selection, centred) if measures else None,
            n_threads=settings.workers.n_threads,
        )
        self._about_estimate = make(self._centred)
        self._as_drawn = self._about_estimate if self._drawn is self._centred else make(self._drawn)

    def _inversion(self, selection: Selection, centred: Replicates) -> MeasureInversion:
        """Return what inverts tests of measures, about replicates that vary around the estimate."""
        rates = self.rates
        settings = self.rates.settings
        n_threads = self.rates.settings.workers.n_threads

        def count_models(names: Sequence[str] = self._names) -> list[dict[str, CountModel]]:
            return [] if rates.resampler is None else rates.resampler.count_models(names)

        def least_pvalues() -> dict[EntryKey, float]:
            models = partial(count_models, [name for name in self._names if name == "fnmr"])
            return AlikeGroups(rates.estimate, centred, selection, models, n_threads).pvalues()

        return MeasureInversion(
            {entry.key: k for k, entry in enumerate(self.entries)},
            partial(MovedSystems, rates.estimate, centred, selection, n_threads),
            partial(
                CountedSystems.where_needed,
                rates.estimate,
                selection,
                count_models,
                ["fmr"] * rates.levels.size,
                settings.n_resamples,
                settings.key,
                n_threads,
            ),
            least_pvalues,
        )

    def fnmr(self, group: str | None = None) -> RocBand:
        """Compute the FNMR at every level, with its intervals and its simultaneous band.

        The band is made of the intervals of a higher confidence level, that at which replicates of
        the whole curve stay within so many standard errors [1]_. An FNMR cannot rise with the FMR
        that is held, so the upper end of the band is at least that of all higher FMRs, and the
        lower end at most that of all lower ones.

        References
        ----------
        .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
           application to SVARs", Journal of Applied Econometrics 34 (2019).
        """
        rows = [
            k
            for k, entry in enumerate(self.entries)
            if (entry.name, entry.group) == ("fnmr", group)
        ]
        of_curve = level_of_curve(
            self._centred[rows], self.values[rows], self.rates.settings.confidence_level
        )
        ends = end_arrays(self._about_estimate.quantities_at(rows, of_curve, "auto"))
        value, curve = self._fields_of_curve(
            rows, self._pointwise(rows), _widen_to_fall(self.rates.levels, *ends)
        )
        return RocBand(fnmr=value, **curve)

    def measure(self, measure: str, rate: str) -> FairnessBand:
        """Compute a measure at every level, with its intervals, and its band.

        The band is made of the intervals of a higher confidence level, that at which percentile
        intervals hold the whole curves of as many replicates as asked. There is none where a group
        has no errors and numbers of errors cannot be drawn.
        """
        facts = MEASURES[measure]
        settings = self.rates.settings
        name = f"{measure}({rate})" if facts.of else measure
        rows = [k for k, entry in enumerate(self.entries) if entry.name == name]
        pointwise = self._pointwise(rows)
        if settings.method != "auto":
            if facts.fairer != "nearer":
                pointwise = [noted(quantity, Note(Code.FAIR_OUTSIDE)) for quantity in pointwise]
            band = self._band_of_quantiles(rows)
        else:
            inverted = np.array([quantity.method in (INVERSION, "log") for quantity in pointwise])
            of_curve = level_by_depth(self._centred[rows][inverted], settings.confidence_level)
            wider = end_arrays(self._about_estimate.quantities_at(rows, of_curve, "auto"))
            pointwise = [
                q if kept else _withhold(q) for q, kept in zip(pointwise, inverted, strict=True)
            ]
            low, high = (np.where(inverted, end, np.nan) for end in wider)
            band = low, high
        value, curve = self._fields_of_curve(rows, pointwise, band, facts.per_group)
        of = rate if facts.of else None
        return FairnessBand(
            measure=measure, rate=of, value=value, groups=self.rates.groups, **curve
        )

    def _quantity_of(self, k: int, entry: Entry) -> Quantity:
        """Make a quantity of an entry, with the numbers behind it and its notes."""
        rates = self.rates
        value = float(entry.value)
        point = entry.point or 0
        quantity = Quantity(entry.name, entry.group, self._points[point], value)
        if entry.name in ERROR_RATES:
            row = 1 + entry.cell[0] if entry.cell else 0
            subjects = rates.subjects[entry.name]
            n = int(rates.comparisons[entry.name][row])
            n_errors = _errors_behind(value, n)
            few = [] if n_errors >= ENOUGH_ERRORS else [Note(Code.FEW_ERRORS)]
            quantity = replace(
                quantity,
                n_comparisons=n,
                n_errors=n_errors,
                n_subjects=None if subjects is None else int(subjects[row]),
                notes=tuple(few if n else [Note(Code.NO_COMPARISONS)]),
            )
            hangs = hangs_on_threshold(self._centred[[k]], rates.replicates.threshold[[point]])[0]
        else:
            is_of_both = not entry.name.endswith(")")
            hangs = entry.name.endswith("(fmr)") or (is_of_both and "fmr" in self._names)
        is_held_by_few = hangs and self._is_narrow(point)
        return noted(quantity, Note(Code.HELD_BY_FEW_SUBJECTS)) if is_held_by_few else quantity

    def _is_narrow(self, point: int) -> bool:
        """Return whether few subjects cause most of the false matches that hold the threshold of a
        level.
        """
        rates, sizes = self.rates, self.sizes
        if rates.concentration is None or (sizes.few_held and sizes.few_held.holds(point)):
            return False
        if point not in self._narrow:
            share = rates.concentration(point)
            self._narrow[point] = is_held_by_few_subjects(float(rates.freedom[point]), share)
        return self._narrow[point]

    def _pointwise(self, rows: list[int]) -> list[Quantity]:
        """Return some quantities, all of one name, with pointwise intervals."""
        method, level = self.rates.settings.method, self.rates.settings.confidence_level
        name = self.entries[rows[0]].name
        if method not in ABOUT_V_STATISTIC:
            return (self._about_estimate if method == "auto" else self._as_drawn).quantities_at(
                rows, level, method
            )
        value = self.values[rows]
        quantities = [self._quantities[k] for k in rows]
        inside = np.ones(value.size, np.bool_)
        if name in ERROR_RATES:  # those without errors vary by no method
            quantities = self._about_estimate.quantities_at(rows, level, "auto")
            inside = (value > 0) & (value < 1)
        ends = pointwise_interval(self._drawn[rows], value, self._expected[rows], level, method)
        low, high = (np.clip(end, *range_of(name)).tolist() for end in ends)
        return [
            replace(q, low=low[k], high=high[k], method=method) if inside[k] else q
            for k, q in enumerate(quantities)
        ]

    def _band_of_quantiles(self, rows: list[int]) -> Range:
        """Compute the simultaneous band of the values that are computable in most replicates."""
        settings = self.rates.settings
        least, most = range_of(self.entries[rows[0]].name)
        drawn = self._drawn[rows]
        if settings.method in ABOUT_V_STATISTIC:
            drawn = recenter(drawn, self.values[rows], self._expected[rows])
        often, curves = _whole_curves(drawn)
        low, high = np.full((2, len(rows)), np.nan)
        if curves.size and curves.shape[1] > 1:
            low[often], high[often] = intervals.simultaneous_band(curves, settings.confidence_level)
        too_few = self._in_few_sessions(rows)
        low[too_few] = high[too_few] = np.nan
        return np.clip(low, least, most), np.clip(high, least, most)

    def _in_few_sessions(self, rows: list[int]) -> Flags:
        """Return which of some quantities rest on too few sessions for intervals."""
        return np.broadcast_to(self.sizes.sessions, len(self.entries))[rows] < FEWEST_SESSIONS

    def _fields_of_curve(
        self, rows: list[int], pointwise: Sequence[Quantity], band: Range, per_group: bool = False
    ) -> tuple[Floats, dict[str, Any]]:
        """Return the values of some quantities, and the fields of their curve."""
        rates = self.rates
        drawn = self._drawn[rows]
        value = self.values[rows]
        numbers = dict(zip(ENDS, (*end_arrays(pointwise), *band), strict=True)) | {
            "v_statistic": self._expected[rows]
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            uncertainty = intervals.standard_error(drawn) / value
        numbers["uncertainty"] = np.where(self._in_few_sessions(rows), np.nan, uncertainty)
        shape = (rates.levels.size, -1) if per_group else (rates.levels.size,)
        return value.reshape(shape), {
            "fmr": rates.levels,
            "threshold": rates.estimate.threshold,
            **{name: array.reshape(shape) for name, array in numbers.items()},
            "replicates": drawn.T.reshape(-1, *value.reshape(shape).shape),
            "n_resamples": drawn.shape[-1],
            "confidence_level": rates.settings.confidence_level,
            "notes": _notes_of(pointwise),
            "left_out": rates.left_out,
        }


def _withhold(quantity: Quantity) -> Quantity:
    """Return a measure without an interval, and say why it has none."""
    is_finite = np.isfinite(quantity.estimate)
    reasons = Code.NO_SUCH_ERRORS, Code.FEW_GROUP_ERRORS, Code.TOO_FEW_SESSIONS
    if is_finite and has_code(quantity, *reasons):
        return quantity
    reason = Note(Code.NO_ERRORS_TO_DRAW if is_finite else Code.NO_ERRORS_TO_MOVE)
    missing = [note for note in quantity.notes if note.code is Code.BELOW_RESOLUTION]
    return replace(quantity, low=np.nan, high=np.nan, notes=(reason, *missing))


def level_by_depth(replicates: Floats, confidence_level: float) -> float:
    """Find the confidence level at which percentile intervals hold whole curves of replicates at
    another.

    Parameters
    ----------
    replicates : (points, r) ndarray
        A curve in each of r replicates. Those with NaN in them are left out.
    confidence_level : float
        The share of curves to hold whole.

    Returns
    -------
    float
    """
    _, curves = _whole_curves(replicates)
    if curves.size == 0:
        return confidence_level
    least = intervals.least_depth(intervals.depths(curves), confidence_level)
    return max(confidence_level, float(1 - 2 * (least - 0.5) / curves.shape[1]))


def _whole_curves(replicates: Floats) -> tuple[Flags, Floats]:
    """Return which values are computable in most replicates, and these in the replicates in which
    all of them are.
    """
    computable = ~np.isnan(replicates)
    often = computable.mean(axis=-1) > 0.5
    return often, replicates[often][:, computable[often].all(axis=0)]


def _errors_behind(rate: float, n: int) -> int:
    """Return as many errors of n comparisons as would make a rate; at least one, and not all, of
    one inside (0, 1).
    """
    errors = 0 if math.isnan(rate) else round(rate * n)
    return min(max(errors, 1), max(n - 1, 1)) if 0 < rate < 1 else errors


def _notes_of(quantities: Sequence[Quantity]) -> tuple[Note, ...]:
    """Put together what the quantities' notes say, and at which levels if not at all."""
    levels_of: dict[Note, set[float]] = {}
    levels = {quantity.at.value for quantity in quantities if quantity.at is not None}
    for quantity in quantities:
        for note in quantity.notes:
            levels_of.setdefault(note, set()).add(quantity.at.value if quantity.at else 0.0)

    def where(at: set[float]) -> str:
        if at == levels:
            return ""
        return f"FMR {min(at):.3g}" + (f" to {max(at):.3g}" if len(at) > 1 else "")

    return tuple(replace(note, about=where(at)) for note, at in levels_of.items())


def end_arrays(quantities: Sequence[Quantity]) -> Range:
    """Return the lower and the upper ends of intervals as arrays."""
    low, high = np.array([(q.low, q.high) for q in quantities], np.float64).T
    return low, high


def _widen_to_fall(levels: Floats, low: Floats, high: Floats) -> Range:
    """Widen a band so that neither end rises with the levels."""
    order = np.argsort(levels)
    has_interval = ~np.isnan(low)
    low[order] = np.fmin.accumulate(low[order])
    high[order[::-1]] = np.fmax.accumulate(high[order[::-1]])
    return np.where(has_interval, low, np.nan), np.where(has_interval, high, np.nan)


def pointwise_interval(
    replicates: Floats,
    estimate: Floats,
    expected: Floats,
    level: float,
    method: str,
    jackknife: Floats | None = None,
) -> Range:
    """Compute pointwise intervals only, by any of the methods of a band."""
    if method != "gaussian":
        return intervals.confidence_interval(
            replicates, estimate, level, method, v_statistic=expected, jackknife=jackknife
        )
    shifted = recenter(replicates, estimate, expected)
    return intervals.confidence_interval(shifted, intervals.finite_mean(shifted), level, "normal")


def recenter(replicates: Floats, estimate: Floats, expected: Floats) -> Floats:
    """Move replicates, which vary around one value, so that they vary around the estimate."""
    with np.errstate(invalid="ignore"):  # ratios to groups without errors are infinite
        return replicates + (estimate - expected)[..., None]


@checked
def roc_band(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None = None,
    *,
    group: str | None = None,
    unit: Unit = "subject",
    n_resamples: ManyResamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> RocBand:
    """Compute FNMR at many FMRs with pointwise intervals and a simultaneous band.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons, which need subjects unless `unit="comparison"`, or vectors whose pairs are the
        comparisons. Where there are groups, subjects are drawn within their group.
    fmr : (levels,) array_like, optional
        False match rates to hold, each in [0, 1), and above 0 for embeddings. By default 50 rates,
        from that of 30 false matches up to 0.5, for embeddings up to 0.1.
    group : str, optional
        The group whose FNMR to compute, at the thresholds that hold the FMR of all comparisons.
    unit : {"subject", "comparison", "sample", "subject+sample"}, optional
        What is drawn with replacement: "subject": what would other people give? "sample" draws the
        samples of each subject: what would other images of these very people give? The others are
        those of `evaluate`; embeddings have no "comparison".
    n_resamples : int, optional
        Number of replicates; by default 1000 for embeddings and 2000 for comparisons.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    settings : BandSettings
        How intervals are made, and what counts alike.
    rng, n_threads, progress, executor
        As in `evaluate`. Similarities of vectors are computed by tasks of the executor, too.

    Returns
    -------
    RocBand

    Raises
    ------
    InputError
        For FMRs outside [0, 1), for embeddings also below the FMR of one false match, and as
        `evaluate` does.

    Notes
    -----
    The threshold of each FMR is found again in every replicate, so the intervals include its
    uncertainty. Where the standard error is more than half of the FNMR, it may depend on the
    threshold more than on chance: intervals then reach at least as far as the quantiles of the
    replicates. Where no false non-match is left the interval is Clopper and Pearson's, unless those
    of replicates reach farther. `note` says where few subjects cause most of the false matches that
    hold the threshold, so that intervals are likely too narrow.

    The band consists of logit intervals of a higher confidence level: that of normal intervals that
    reach as many standard errors as `confidence_level` of the replicates' curves stay within [1]_,
    at all FMRs with errors. As FNMR cannot rise with FMR, its upper end is made at least that of
    all higher FMRs, its lower end at most that of all lower ones.

    A replicate of samples may draw a vector twice and so compare it with itself, a mated pair that
    never fails. The FNMR of replicates therefore lies below the curve; the V-statistic is the value
    that they vary around. "auto" and "recentered" move the replicates back by the difference.

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> c = ff.Comparisons([9, 8, 2, 9, 8, 1, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    >>> band = ff.roc_band(c, [0.1, 0.5], rng=0)
    >>> band.fnmr
    array([0.33333333, 0.33333333])
    >>> e = ff.von_mises_fisher_embeddings(50, 4, 16, concentration=(20, 60), rng=0)
    >>> band = ff.roc_band(e, [0.001, 0.01], rng=0)
    >>> bool(((band.low < band.fnmr) & (band.fnmr < band.high)).all())
    True
    >>> of_these_people = ff.roc_band(e, [0.001, 0.01], unit="sample", rng=0)
    >>> bool((of_these_people.v_statistic < band.fnmr).all())
    True
    """
    data = in_memory(data, n_threads, progress)
    request = BandRequest.checked(
        data,
        settings,
        Workers(n_threads, progress, executor),
        unit=unit,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    if group is not None:
        validation.choice("group", group, data.groups)

    return compute_over_levels(
        data,
        fmr,
        request,
        lambda rates: CurveMaker(rates).fnmr(group),
        with_groups=group is not None,
    )


@checked
def fairness_band(
    data: Comparisons | Embeddings,
    measure: Measure = "max_geomean_ratio",
    rate: ErrorRate = "fnmr",
    fmr: ArrayLike | None = None,
    *,
    unit: Unit = "subject",
    n_resamples: ManyResamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> FairnessBand:
    """Compute a fairness measure at thresholds that hold many FMRs, with intervals and a
    simultaneous band.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons, or vectors whose pairs are the comparisons, with at least two groups.
    measure : str or function, default "max_geomean_ratio"
        Name in `measures.MEASURES`, its title or its function, except "sed", which defines its own
        threshold.
    rate : {"fnmr", "fmr"}
        The rate of the groups that the measure compares; ignored for measures of both.
    fmr : (levels,) array_like, optional
        False match rates of all comparisons to hold; each threshold is the same for all groups.
    unit, n_resamples, confidence_level
        As in `roc_band`.
    settings : BandSettings
        How intervals are made, what counts alike, and how measures are defined.
    rng, n_threads, progress, executor
        As in `roc_band`.

    Returns
    -------
    FairnessBand

    Raises
    ------
    InputError
        For fewer than two groups, and as `roc_band` does.

    Warns
    -----
    FairValueOutsideWarning
        For all methods but "auto", except for group-to-average ratios.

    Notes
    -----
    Error rates of groups differ by chance, and differ more in replicates than in the data, so no
    replicate looks as fair as a fair system. Test inversion asks instead which fairer or less fair
    systems would yield such an estimate: the interval holds the fair value where a fair system
    would. The band consists of such intervals of a higher confidence level, that at which
    percentile intervals of the replicates hold whole curves. Where a group has no errors, numbers
    of errors are drawn for the inversion, as in `evaluate`; there is neither interval nor band
    where no group has any, over embeddings, and where samples are the units.

    By other methods, intervals and bands show how much a measure varies, but they exclude the value
    of a fair system even where the groups' true rates are equal.

    A group's FMR and FNMR are those of comparisons within the group. Before inversion, FNMRs of
    replicates in which a sample may meet itself are raised by what that lowers them on average.
    "recentered" subtracts the measure of the groups' V-statistics from the replicates, as paper
    [1]_ does.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", section 4.

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(60, 4, 16, concentration=(20, 60), rng=0)
    >>> e = ff.Embeddings(e.vectors, e.subject, group=e.subject % 2)
    >>> band = ff.fairness_band(e, "max_geomean_ratio", "fnmr", [0.001, 0.01], rng=0)
    >>> bool(((band.low == 1) & (band.value < band.high)).all())  # the groups may well be equal
    True
    """
    measure = measure_name(measure, at_any_threshold())
    needs_average = check_measure(measure, rate)
    data = in_memory(data, n_threads, progress)
    request = BandRequest.checked(
        data,
        settings,
        Workers(n_threads, progress, executor),
        unit=unit,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    if len(data.groups) < 2:
        raise InputError(
            f"a fairness measure compares groups, but the data have {len(data.groups)}: give at"
            " least 2"
        )
    kinds = frozenset([rate] if MEASURES[measure].of else ["both rates"])
    band = compute_over_levels(
        data,
        fmr,
        request,
        lambda rates: CurveMaker(rates, [measure], kinds).measure(measure, rate),
        with_groups=True,
        with_overall_fmr=needs_average,
    )
    if has_code(band, Code.FAIR_OUTSIDE):
        warn(f"{measure}: {Note(Code.FAIR_OUTSIDE)}", FairValueOutsideWarning)
    return band


def check_measure(measure: str, rate: str) -> bool:
    """Check that a measure can be computed from a rate, and return whether it needs the FMR of all
    comparisons.
    """
    facts = MEASURES[measure]
    if facts.of and rate not in facts.of:
        raise InputError(
            f"measure {measure!r} cannot be computed from ⟦rate={rate!r}⟧; it takes"
            f" {', '.join(facts.of)}"
        )
    return bool(facts.of) and facts.global_reference and rate == "fmr"


DEFAULT_MEASURES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")


def bands_of(
    embeddings: Embeddings,
    fmr: ArrayLike,
    measures: Sequence[str] = (),
    *,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
    **options: Any,
) -> dict[str, Curve]:
    """Compute `roc_band` of all pairs and `fairness_band` of several measures, in one pass.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    fmr : (levels,) array_like
        False match rates to hold.
    measures : sequence of str
        Fairness measures; those of one rate are computed for FMR and for FNMR. By default
        `DEFAULT_MEASURES` if there are groups to compare.
    settings, n_threads, progress, executor, **options
        As in `roc_band`.

    Returns
    -------
    dict of str to RocBand or FairnessBand
        By names of files: "roc", and such as "fairness_gini_fnmr".

    Warns
    -----
    FairValueOutsideWarning
        As `fairness_band` does, once.
    """
    groups = embeddings.groups
    if measures and len(groups) < 2:
        raise InputError(
            f"fairness measures compare groups, but the embeddings have {len(groups)}: give"
            " ⟦groups=⟧"
        )
    named = measures or (DEFAULT_MEASURES if len(groups) > 1 else ())
    names = [measure_name(name, at_any_threshold()) for name in named]
    asked = [(name, rate) for name in names for rate in _rates_of(name)]
    needs_average = [check_measure(name, rate) for name, rate in asked]
    data: Comparisons | Embeddings = in_memory(embeddings, n_threads, progress)
    request = BandRequest.checked(data, settings, Workers(n_threads, progress, executor), **options)

    def make_bands(rates: RatesOverLevels) -> dict[str, Curve]:
        curves = CurveMaker(rates, names)
        bands: dict[str, Curve] = {"roc": curves.fnmr()}
        for name, rate in asked:
            band = curves.measure(name, rate)
            bands["_".join(filter(None, ("fairness", name, band.rate)))] = band
        return bands

    bands = compute_over_levels(
        data,
        fmr,
        request,
        make_bands,
        with_groups=bool(names),
        with_overall_fmr=any(needs_average),
    )
    if any(has_code(band, Code.FAIR_OUTSIDE) for band in bands.values()):
        warn(f"fairness measures: {Note(Code.FAIR_OUTSIDE)}", FairValueOutsideWarning)
    return bands


def _rates_of(measure: str) -> tuple[str, ...]:
    """Return the rates that a measure of one rate is computed for; a single entry for a measure of
    both.
    """
    facts = MEASURES[measure]
    return tuple(rate for rate in ERROR_RATES if rate in facts.of) or ERROR_RATES[:1]
