"""`discard_curve`: what becomes of an error rate when comparisons of low quality are discarded.

The area under the error rate over the share discarded: after discarding the comparisons of less
than the j-th level of quality, a share s_j, the rate is r_j; it is the rate at all shares from s_j
to s_(j+1) exclusive. The area up to a share F is sum_j r_j d_j, with d_j the part of [0, F] between
these. It is a smooth function of the numbers of comparisons and of errors of each level, so its
standard error follows from what each comparison adds, summed over subjects and pairs of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair._lib.plots import draw_lines, tick_per_cent
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair._lib.warnings import warn
from fastfair.data import checks
from fastfair.data.comparisons import Comparisons
from fastfair.data.derived import subset, with_ratios
from fastfair.data.exclusions import gathering, leave_out
from fastfair.data.sessions import refuse_sessions
from fastfair.data.sorted_scores import pair_codes
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold, threshold_key
from fastfair.error_rates.rates import ErrorRate
from fastfair.errors import EmptyGroupWarning, InputError
from fastfair.evaluation.evaluate import evaluate_at_thresholds
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import METRICS
from fastfair.resampling.pair_source import SortedComparisons
from fastfair.resampling.units import Units
from fastfair.results.result import Result
from fastfair.uncertainty.notes import Code, Note, joined
from fastfair.uncertainty.quantities import (
    Estimate,
    Quantity,
    ends_of,
    in_words,
    of_group,
    warn_of_narrow,
)
from fastfair.uncertainty.rate_limits import RateEvidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def quality_of(
    comparisons: Comparisons, given: ArrayLike | Sequence[ArrayLike] | None
) -> tuple[Comparisons, list[Floats]]:
    """Check the (n,) quality of comparisons, or of references and of probes, in the order in which
    they were given.

    By default it is that which was read with them. Returned are the comparisons that have a
    quality, too.
    """
    if comparisons.subjects is None:
        raise InputError(
            "the comparisons have no subjects, and intervals need subject ids: give reference and"
            " probe"
        )
    refuse_sessions(comparisons.sessions, "a curve over discarded shares")
    columns: Any = comparisons.quality if given is None else given
    if columns is None:
        raise InputError(
            "there is no quality: give ⟦quality=⟧, or read it with read_comparisons(quality=...)"
        )
    sides = columns if isinstance(columns, tuple) else (columns,)
    if len(sides) > 2:
        raise InputError(
            f"quality must be one column, or a pair for references and probes, not {len(sides)}"
        )
    sides_of = comparisons.mated, comparisons.nonmated
    used = np.concatenate([side.rows for side in sides_of if side.rows is not None])
    failed = comparisons.failed
    excludes = failed is not None and failed.policy == "exclude"
    n = used.size + (failed.n if failed is not None and excludes else 0)
    qualities = []
    for name, values in zip(("reference", "probe"), sides, strict=False):
        called = "quality" if len(sides) == 1 else f"quality of the {name}"
        array = validation.numbers_of(called, checks.with_nan(values))
        if given is not None and array.shape != (n,):
            raise InputError(
                f"{called} must have one value for each of the {n:,} comparisons, not {array.shape}"
            )
        values_used = array[used]
        is_wrong = np.isinf(values_used) if excludes else ~np.isfinite(values_used)
        wrong = np.sort(used[is_wrong])
        if wrong.size:
            way = ': ⟦failures="exclude"⟧ leaves comparisons without a quality out'
            raise InputError(
                f"{called} is {array[wrong[0]]:g} in row {wrong[0]} (counted from 0), of"
                f" {wrong.size} that are missing or not"
                f" finite{way if np.isnan(array[wrong]).all() and failed is None else ''}"
            )
        qualities.append(array)
    return (_with_quality(comparisons, qualities) if excludes else comparisons), qualities


def _with_quality(comparisons: Comparisons, quality: list[Floats]) -> Comparisons:
    """Leave out the comparisons of which a sample has no quality."""
    sides = comparisons.mated, comparisons.nonmated
    keep = [~np.isnan([of_side[side.rows] for of_side in quality]).any(axis=0) for side in sides]
    with gathering() as left_out:
        leave_out(
            np.concatenate(keep),
            "comparisons",
            "failed",
            "as they have no quality",
            'failures="exclude"',
            mated=np.repeat([True, False], [flags.size for flags in keep]),
        )
    if not left_out:
        return comparisons
    if not all(flags.any() for flags in keep):
        raise InputError("no mated or no non-mated comparison has a quality")
    some = subset(comparisons, *map(np.flatnonzero, keep))
    return some._with_parts(left_out=(*comparisons.left_out, *left_out))


def cuts_of(quality: Floats, fractions: Floats) -> Floats:
    """Return for each of (f,) shares the largest quality that at most so large a share of the (n,)
    values is below.
    """
    ordered = np.sort(quality)
    levels = np.unique(ordered)
    # the share below each level, ascending from 0
    below = np.searchsorted(ordered, levels) / ordered.size
    return np.asarray(levels[np.searchsorted(below, fractions, side="right") - 1])


def area_of(
    quality: Floats, wrong: Flags, inside: Flags, limit: float
) -> tuple[float, Floats, float]:
    """Compute an area up to the share `limit`, what each comparison adds to it, and what one more
    error adds at most.

    Given are the (n,) qualities of mated, or non-mated, comparisons, which of them are errors, and
    which are inside the group that the area is of. The area is NaN where nothing of the group is
    left at some share; what comparisons add sums to 0.
    """
    levels, level = np.unique(quality, return_inverse=True)
    n, size = quality.size, levels.size
    share = np.concatenate(([0], np.cumsum(np.bincount(level, minlength=size)))) / n
    width = np.diff(np.minimum(share, limit))
    last = int(np.flatnonzero(width > 0)[-1])
    width = width[: last + 1]

    def count_above(which: Flags) -> Integers:
        """Count comparisons of each level or a higher one."""
        counts = np.bincount(level[which], minlength=size)
        return np.cumsum(counts[::-1])[::-1][: last + 1]

    kept, errors = count_above(inside), count_above(inside & wrong)
    if not (kept[width > 0] > 0).all():
        return math.nan, np.zeros(n), math.nan
    rate = np.where(width > 0, errors / np.maximum(kept, 1), 0.0)
    each = width / np.maximum(kept, 1)
    to_errors = np.cumsum(each)
    to_all = np.cumsum(each * rate)
    reached = np.minimum(level, last)
    added = np.where(inside, wrong * to_errors[reached] - to_all[reached], 0.0)
    # The share that is discarded below a level varies with the data, too.
    moved = np.where(level < last, rate[reached] - rate[last], 0.0)
    mean_moved = rate[:last] @ width[:last] - rate[last] * share[last]
    added += (moved - mean_moved) / n
    return float(rate @ width), added, float(to_errors[last])


def interval_of_few(
    area: float, error: float, most: float, confidence_level: float
) -> tuple[float, float]:
    """Compute the interval of a sum of errors that weigh differently, of which there may be few.

    An area may come from a single error of a sample that is discarded early, and be as good as 0.
    Its upper limit allows for one error more that weighs as much as any (`most`).

    Fay and Feuer, "Confidence intervals for directly standardized rates: a method based on the
    gamma distribution", Statistics in Medicine 16 (1997).
    """
    tail = (1 - confidence_level) / 2
    low = (
        float(gammaincinv((area / error) ** 2, tail)) * error**2 / area
        if area > 0 and error > 0
        else 0.0
    )
    mean = area + most
    variance = error**2 + most**2
    return low, float(gammaincinv(mean**2 / variance, 1 - tail)) * variance / mean


def standard_error(kept: SortedComparisons, added: Floats) -> float:
    """Compute the standard error of a sum over (n,) comparisons that share subjects, of what each
    adds minus its mean.

    By sums over subjects for mated comparisons, and dyadic-robust for others, as replicates have
    it: `kernels.dyadic`.
    """
    from fastfair.kernels import dyadic as kernels

    (a, b) = kept.listed.rows(slice(None))
    units = kept.units
    codes = pair_codes(a, b, units.n_rows)
    pairs, where, repeats = np.unique(codes, return_inverse=True, return_counts=True)
    first, second = (part.astype(np.int32) for part in np.divmod(pairs, units.n_rows))
    sums = np.bincount(where, weights=added, minlength=pairs.size).astype(np.float64)
    variances = np.empty((1, 3))
    end = np.array([pairs.size])
    kernels.variances(
        first,
        second,
        repeats.astype(np.int32),
        end,
        sums,
        units.stratum,
        units.stratum_size,
        variances,
    )
    return math.sqrt(
        max(0.0, float(min(variances[0, kernels.ROBUST], variances[0, kernels.PRODUCT])))
    )


_Shown = Literal["rate", "discarded"]


@dataclass(frozen=True, kw_only=True)
class DiscardedRate(Estimate):
    """An error rate of the comparisons left after low quality is discarded: an `Estimate`, and what
    is discarded.

    Attributes
    ----------
    fraction : float
        The share that was to be discarded.
    cut : float
        The quality below which comparisons are discarded, in all groups alike.
    discarded, discarded_low, discarded_high : float
        The share of the group's own comparisons that is discarded, with its interval. That of all
        is at most `fraction`.
    """

    fraction: float
    cut: float
    discarded: float
    discarded_low: float
    discarded_high: float


@dataclass(frozen=True, kw_only=True)
class DiscardArea(Estimate):
    """The partial area under an error rate over the share discarded: an `Estimate`, and its
    standard error.

    Attributes
    ----------
    estimate : float
        The area under the rate from no comparisons discarded to the largest share. Divided by this
        share it is the mean rate.
    standard_error : float
        Its standard error; 0 without errors.
    """

    standard_error: float

    _unused = ("n_comparisons", "n_errors", "n_subjects")


@dataclass(frozen=True, eq=False, repr=False)
class DiscardCurve(Result):
    """The result of `discard_curve`.

    Attributes
    ----------
    rate : {"fnmr", "fmr"}
        The error rate.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, found before anything is discarded and the same for all shares.
    fractions : (f,) ndarray
        The shares that were to be discarded.
    groups : tuple of str
        The groups; empty without.
    rates : tuple of DiscardedRate
        A row for each share, of all comparisons first, then those of each group.
    areas : tuple of DiscardArea
        Of all comparisons and of each group.
    confidence_level : float
        The level of the intervals.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    fractions: Floats
    groups: tuple[str, ...]
    rates: tuple[DiscardedRate, ...]
    areas: tuple[DiscardArea, ...]
    confidence_level: float

    _title = "Errors after discarding comparisons of low quality"
    _rows = "rates"
    _printed = "group fraction cut discarded n_comparisons n_errors estimate"

    @checked
    def of(self, group: str | None = None) -> tuple[DiscardedRate, ...]:
        """Return the rows of a group, or of all comparisons, one for each share.

        Parameters
        ----------
        group : str, optional
            One of `groups`.

        Returns
        -------
        tuple of DiscardedRate
        """
        return tuple(of_group(self.rates, group, self.groups))

    @checked
    def area(self, group: str | None = None) -> DiscardArea:
        """Return the partial area under the curve of a group, or of all comparisons.

        Parameters
        ----------
        group : str, optional
            One of `groups`.

        Returns
        -------
        DiscardArea
        """
        return of_group(self.areas, group, self.groups)[0]

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        rate = self.rate.upper()
        rows = self.of()
        of_all = self.area()
        first = rows[0]
        last = rows[-1]
        text = [
            (
                f"{rate} at {self.at}: the threshold, {typed(self.threshold)}, stays the same while"
                " comparisons of low quality are discarded."
            ),
            (
                f"With {per_cent(first.discarded)} of the comparisons discarded it is"
                f" {_written(first)}; with {per_cent(last.discarded)} discarded (quality below"
                f" {last.cut:g}) it is {_written(last)}."
            ),
            f"The partial area under the curve, up to {per_cent(last.fraction)}, is"
            f" {of_all.estimate:.3g}"
            + (
                f" [{of_all.low:.3g}, {of_all.high:.3g}]."
                if of_all.has_interval
                else f": {of_all.note}."
            ),
        ]
        ends = [self.of(group)[-1] for group in self.groups]
        by_share = sorted(
            (row for row in ends if not math.isnan(row.discarded)), key=lambda row: row.discarded
        )
        if len(by_share) > 1:
            text.append(
                f"The cut at {last.cut:g} discards "
                + " and ".join(
                    f"{rate_with_interval(row.discarded, row.discarded_low, row.discarded_high)} of"
                    f" the comparisons of {row.group}"
                    for row in (by_share[-1], by_share[0])
                )
                + (", the most and the least." if len(by_share) > 2 else ".")
            )
        return text

    def _figures(self) -> Mapping[str, Axes | Figure]:
        return {f"discard_{show}": self.plot(show=show) for show in get_args(_Shown)}

    @checked
    def plot(self, ax: Axes | None = None, *, show: _Shown = "rate") -> Axes:
        """Draw the rate, or the share of each group's own comparisons discarded, over the share
        discarded of all.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        show : {"rate", "discarded"}
            What to draw, of each group where there are groups.

        Returns
        -------
        matplotlib Axes
        """
        names = (
            ("estimate", "low", "high")
            if show == "rate"
            else ("discarded", "discarded_low", "discarded_high")
        )
        curves = {
            group or "all": [
                np.array([getattr(row, name) for row in self.of(group)]) for name in names
            ]
            for group in self.groups or (None,)
        }
        kind = "mated comparisons" if self.rate == "fnmr" else "non-mated comparisons"
        called = METRICS[self.rate].long_title if show == "rate" else "Share of the group discarded"
        guide = ("as many as of all", self.fractions) if show == "discarded" else None
        ax = draw_lines(self.fractions, curves, ax, (f"Share of {kind} discarded", called), guide)
        ax.set_ylim(bottom=0)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(tick_per_cent)
        return ax


def _written(row: DiscardedRate) -> str:
    return "not known, as none is left" if math.isnan(row.estimate) else in_words(row)


_FRACTIONS = tuple(k / 20 for k in range(11))  # to a half


@checked
def discard_curve(
    comparisons: Comparisons,
    at: OperatingPoint,
    quality: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    *,
    rate: ErrorRate = "fnmr",
    fractions: ArrayLike = _FRACTIONS,
    confidence_level: float = 0.95,
) -> DiscardCurve:
    """Compute an error rate after discarding growing shares of the comparisons, those of the lowest
    quality.

    This is the error-versus-discard characteristic of ISO/IEC 29794-1: the better a measure of
    quality, the faster the FNMR falls. It also tells whether the same cut on quality discards more
    comparisons of some groups than of others.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects; with or without groups.
    at : OperatingPoint
        The operating point. Its threshold is found from all comparisons, before any is discarded,
        and stays.
    quality : (n,) array_like or pair of (n,) array_like, optional
        The quality of each comparison, high where samples are good; or, in a tuple, that of the
        references and of the probes, of which the lower one counts. In the order in which the
        comparisons were given. By default that which `read_comparisons` read with them. Where
        failed comparisons are left out (``Policies(failures="exclude")``), so are those of samples
        without a quality, which are NaN.
    rate : {"fnmr", "fmr"}
        The error rate.
    fractions : (f,) array_like, default 0, 0.05, ..., 0.5
        Shares of the mated comparisons (for the FMR: the non-mated ones) to discard, ascending, in
        [0, 1).
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DiscardCurve

    Raises
    ------
    InputError
        For comparisons without subjects, quality that is missing where this is refused, infinite or
        of another length, and shares outside [0, 1) or not ascending.

    Warns
    -----
    EmptyGroupWarning
        Names groups of which nothing is left at some share.
    NarrowIntervalsWarning
        Where intervals are likely too narrow, as few subjects cause most errors.

    Notes
    -----
    Comparisons of the same quality are kept or discarded together, so the curve does not depend on
    their order, and no more than the share asked for is discarded; `DiscardedRate.discarded` is the
    share that is. Intervals are those of `evaluate` without replicates, for the threshold and the
    cuts as they are: the error rate of all comparisons of such people that are of at least so good
    a quality. Shares of groups are rates of the event that quality is below the cut, with the same
    kind of interval. The partial area is that of the step curve through all levels of quality, not
    only `fractions`. Its standard error comes from what each comparison adds to it, summed over
    subjects; where errors are few its interval is that of Fay and Feuer for sums of errors that
    weigh differently.

    References
    ----------
    ISO/IEC 29794-1, "Biometric sample quality: Framework". Grother and Tabassi, "Performance of
    biometric quality measures", IEEE Transactions on Pattern Analysis and Machine Intelligence 29
    (2007).

    Examples
    --------
    >>> import fastfair as ff
    >>> people = list("aabbccdd")
    >>> c = ff.Comparisons([0.9, 0.2, 0.8, 0.3, 0.7, 0.1, 0.4, 0.9], [1, 0] * 4, people, list("abbccdda"))
    >>> curve = ff.discard_curve(c, ff.at_threshold(0.5), [80, 70, 90, 60, 85, 50, 20, 75], fractions=[0, 0.25])
    >>> [(row.discarded, row.n_comparisons, row.estimate) for row in curve.rates]
    [(0.0, 4, 0.25), (0.25, 3, 0.0)]
    """
    shares, level = _shares_of(fractions), intervals.level(confidence_level)
    comparisons, of_sides = quality_of(comparisons, quality)
    key = threshold_key(comparisons, at)
    mated = rate == "fnmr"
    threshold = comparisons.to_threshold(key)
    side = comparisons.mated if mated else comparisons.nonmated
    # Of the two samples the lower quality counts.
    of_both = [
        np.minimum.reduce([q[pairs.rows] for q in of_sides])
        for pairs in (comparisons.mated, comparisons.nonmated)
    ]
    measured = of_both[0 if mated else 1]
    cuts = cuts_of(measured, shares)
    evaluations = []
    for cut in cuts:
        kept = np.flatnonzero(measured >= cut)
        left = subset(comparisons, *((kept, None) if mated else (None, kept)))
        evaluations.append(evaluate_at_thresholds(left, [threshold], level) if kept.size else None)
    # With its quality as score, a comparison below the cut is rejected.
    below = evaluate_at_thresholds(
        with_ratios(comparisons, *of_both), np.unique(cuts).tolist(), level
    )
    wrong = (side.keys < key) if mated else (side.keys >= key)
    limit = float(shares[-1])
    kept_side = SortedComparisons(
        comparisons, mated, Units.of_comparisons(comparisons, "subject"), None
    )
    rates, areas = [], []
    for code, group in enumerate((None, *comparisons.groups), -1):
        quantities = [
            None
            if evaluation is None or group not in (None, *evaluation.groups)
            else evaluation.quantity(rate, group)
            for evaluation in evaluations
        ]
        for fraction, cut, quantity in zip(shares.tolist(), cuts.tolist(), quantities, strict=True):
            share = float(np.mean(measured < cut))
            discarded = (share, share, share)
            if group is not None and share:
                rejected = below.quantity(rate, group, at_threshold(cut))
                low, high = ends_of(rejected)
                discarded = rejected.estimate, low, high
                if not mated:  # what is accepted is not discarded
                    discarded = 1 - rejected.estimate, 1 - high, 1 - low
            rates.append(_row(group, fraction, cut, quantity, discarded))
        inside = np.ones(measured.size, np.bool_)
        if group is not None:
            inside = comparisons._grouped(mated).inside(code)
        area, added, most = area_of(measured, wrong, inside, limit)
        estimate = area, standard_error(kept_side, added), most
        areas.append(_area(group, limit, estimate, quantities, evaluations, level))
    _warn(rates)
    return DiscardCurve(
        rate,
        at,
        threshold,
        shares,
        comparisons.groups,
        tuple(rates),
        tuple(areas),
        level,
        left_out=comparisons.left_out,
    )


def _shares_of(fractions: ArrayLike) -> Floats:
    shares = np.atleast_1d(validation.fractions("⟦fractions⟧", fractions, "[0, 1)"))
    if shares.ndim != 1 or (np.diff(shares) <= 0).any():
        raise InputError("fractions must ascend, each named once")
    if not shares[-1]:
        raise InputError("fractions must have a share above 0: without one nothing is discarded")
    return shares


def _warn(rates: Sequence[DiscardedRate]) -> None:
    empty: dict[str, float] = {}
    for row in rates:
        if not row.n_comparisons:
            empty.setdefault("all" if row.group is None else row.group, row.fraction)
    if empty:
        named = ", ".join(f"{group!r} from {fraction:g} on" for group, fraction in empty.items())
        warn(f"no comparisons are left of {named}: the rate is NaN there", EmptyGroupWarning)
    warn_of_narrow(rates)


def _area(
    group: str | None,
    limit: float,
    estimate: tuple[float, float, float],
    quantities: Sequence[Quantity | None],
    evaluations: Sequence[Evaluation | None],
    level: float,
) -> DiscardArea:
    """Return the row of an area, given with its standard error and what one more error adds to it
    at most.
    """
    (area, error, most) = estimate
    last = quantities[-1]
    if math.isnan(area) or last is None:
        nothing = Note(Code.NONE_LEFT_AT_SHARE)
        return DiscardArea(
            group=group, estimate=math.nan, standard_error=math.nan, notes=(nothing,)
        )
    mean = area / limit
    if mean in (0, 1):
        # The rate is 0 at all shares, so it is at most what it may be where fewest comparisons are
        # left.
        low, high = (end * limit for end in ends_of(last))
        return DiscardArea(
            group=group, estimate=area, low=low, high=high, standard_error=0.0, notes=last.notes
        )
    if not error > 0:
        return DiscardArea(
            group=group, estimate=area, standard_error=0.0, notes=(Note(Code.CONSTANT_AREA),)
        )
    both = [
        (evaluation, q)
        for evaluation, q in zip(evaluations, quantities, strict=True)
        if evaluation is not None and q is not None
    ]
    notes = joined(*(q.notes for _, q in both if any(note.warns for note in q.notes)))
    freedom = min(
        float(evaluation.maker.sizes.degrees_of_freedom[evaluation.quantities.index(q)])
        for evaluation, q in both
    )
    ends = RateEvidence(mean, error / limit, freedom).interval(level)
    of_few = interval_of_few(area, error, most, level)
    low = min(float(ends[0]) * limit, of_few[0])
    high = min(max(float(ends[1]) * limit, of_few[1]), limit)
    return DiscardArea(
        group=group, estimate=area, low=low, high=high, standard_error=error, notes=notes
    )


def _row(
    group: str | None,
    fraction: float,
    cut: float,
    quantity: Quantity | None,
    share: tuple[float, ...],
) -> DiscardedRate:
    names = ("discarded", "discarded_low", "discarded_high")
    more: dict[str, Any] = {
        "fraction": fraction,
        "cut": cut,
        **dict(zip(names, share, strict=True)),
    }
    if quantity is None or not quantity.n_comparisons:
        none: dict[str, Any] = dict.fromkeys(("n_comparisons", "n_errors", "n_subjects"), 0)
        return DiscardedRate(
            group=group, estimate=math.nan, notes=(Note(Code.NONE_LEFT),), **none, **more
        )
    return DiscardedRate._of(quantity, **more)
