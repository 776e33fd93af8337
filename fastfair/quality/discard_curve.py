"""`discard_curve`: what becomes of an error rate when comparisons of low quality are discarded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import held, warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold, threshold_key
from fastfair.errors import EmptyGroupWarning, InputError, NarrowIntervalsWarning
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation, maker_of
from fastfair.resampling.units import ComparisonUnits
from fastfair.uncertainty.quantities import Quantity

from .area import area_of, interval_of_few, standard_error
from .discarding import Quality, as_scores, cuts_of, kept_above, quality_of
from .results import DiscardArea, DiscardCurve, DiscardedRate

Floats = NDArray[np.float64]
RATES = ("fnmr", "fmr")
SHARES = ("comparisons", "samples")
NARROW = "likely too narrow"  # in notes of intervals
_FRACTIONS = tuple(k / 20 for k in range(11))  # to a half
_Shares = tuple[float, float, float]  # with its interval


@checked(quality=argument_kinds.optional(argument_kinds.one_or_two_arrays))
def discard_curve(
    comparisons: Comparisons,
    at: OperatingPoint,
    quality: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    *,
    rate: str = "fnmr",
    fractions: ArrayLike = _FRACTIONS,
    share_of: str = "comparisons",
    confidence_level: float = 0.95,
) -> DiscardCurve:
    """Compute an error rate after discarding growing shares of the comparisons, those of the lowest quality.

    This is the error-versus-discard characteristic of ISO/IEC 29794-1: the better a measure of quality, the faster the
    FNMR falls. It also tells whether the same cut on quality discards more comparisons of some groups than of others.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects; with or without groups.
    at : OperatingPoint
        The operating point. Its threshold is found from all comparisons, before any is discarded, and stays.
    quality : (n,) array_like or pair of (n,) array_like, optional
        The quality of each comparison, high where samples are good; or, in a tuple, that of the references and of the
        probes, of which the lower one counts. In the order in which the comparisons were given. By default that which
        `read_comparisons` read with them.
    rate : {"fnmr", "fmr"}
        The error rate.
    fractions : (f,) array_like, default 0, 0.05, ..., 0.5
        Shares to discard, ascending, in [0, 1).
    share_of : {"comparisons", "samples"}
        What these are shares of: of the mated comparisons (for the FMR: the non-mated ones), or of all samples. A
        sample that is discarded takes all its comparisons with it.
    confidence_level : float, default 0.95
        In (0, 1).

    Returns
    -------
    DiscardCurve

    Raises
    ------
    InputError
        For comparisons without subjects, quality that is missing, not finite or of another length, shares outside
        [0, 1) or not ascending, and shares of samples where samples are not known.

    Warns
    -----
    EmptyGroupWarning
        Names groups of which nothing is left at some share.
    NarrowIntervalsWarning
        Where intervals are likely too narrow, as few subjects cause most errors.

    Notes
    -----
    Comparisons of the same quality are kept or discarded together, so the curve does not depend on their order, and no
    more than the share asked for is discarded; `DiscardedRate.discarded` is the share that is. Intervals are those of
    `evaluate` without replicates, for the threshold and the cuts as they are: the error rate of all comparisons of such
    people that are of at least so good a quality. Shares of groups are rates of the event that quality is below the
    cut, with the same kind of interval. The partial area is that of the step curve through all levels of quality, not
    only `fractions`. Its standard error comes from what each comparison adds to it, summed over subjects; where errors
    are few its interval is that of Fay and Feuer for sums of errors that weigh differently.

    References
    ----------
    ISO/IEC 29794-1, "Biometric sample quality: Framework". Grother and Tabassi, "Performance of biometric quality
    measures", IEEE Transactions on Pattern Analysis and Machine Intelligence 29 (2007).

    Examples
    --------
    >>> import fastfair as ff
    >>> people = list("aabbccdd")
    >>> c = ff.Comparisons([0.9, 0.2, 0.8, 0.3, 0.7, 0.1, 0.4, 0.9], [1, 0] * 4, people, list("abbccdda"))
    >>> curve = ff.discard_curve(c, ff.at_threshold(0.5), [80, 70, 90, 60, 85, 50, 20, 75], fractions=[0, 0.25])
    >>> [(row.discarded, row.n_comparisons, row.estimate) for row in curve.rates]
    [(0.0, 4, 0.25), (0.25, 3, 0.0)]
    """
    validation.choice("rate", rate, RATES)
    validation.choice("share_of", share_of, SHARES)
    shares = _shares_of(fractions)
    level = intervals.level(confidence_level)
    measured = quality_of(comparisons, quality)
    work = _Discarding(measured, at, rate, share_of, level)
    rates, areas = work.curve(shares)
    _warn(rates)
    return DiscardCurve(
        rate, at, work.threshold, share_of, shares, comparisons.groups, tuple(rates), tuple(areas), level
    )


def _shares_of(fractions: ArrayLike) -> Floats:
    shares = np.atleast_1d(validation.numbers_of("fractions", fractions))
    wrong = shares[~((shares >= 0) & (shares < 1))]
    if wrong.size:
        raise InputError(f"fractions must be shares in [0, 1), not {wrong[0]:g}")
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
    if any(NARROW in row.note for row in rates):
        warn("some intervals are likely too narrow: the notes of the rates say why", NarrowIntervalsWarning)


class _Discarding:
    """The comparisons of the class that a rate is of, with their quality."""

    def __init__(self, quality: Quality, at: OperatingPoint, rate: str, share_of: str, level: float) -> None:
        comparisons = quality.comparisons
        self.comparisons, self.rate, self.level = comparisons, rate, level
        self.mated = rate == "fnmr"
        self.side = comparisons.mated if self.mated else comparisons.nonmated
        self.key = threshold_key(comparisons, at)
        self.threshold = comparisons.to_threshold(self.key)
        self.measured, self.quality = quality, quality.of(self.side)
        self.of_samples = quality.of_samples() if share_of == "samples" else None

    def curve(self, shares: Floats) -> tuple[list[DiscardedRate], list[DiscardArea]]:
        """Compute the rates at each share, and the areas up to the last."""
        cuts = cuts_of(self.quality if self.of_samples is None else self.of_samples, shares)
        evaluations = [self._evaluated(float(cut)) for cut in cuts]
        discarded = self._discarded(cuts)
        rates, areas = [], []
        for group in (None, *self.comparisons.groups):
            found = [self._quantity(one, group) for one in evaluations]
            for k, quantity in enumerate(found):
                rates.append(_row(group, float(shares[k]), float(cuts[k]), quantity, discarded[k][group]))
            areas.append(self._area(group, float(shares[-1]), found, evaluations))
        return rates, areas

    def _evaluated(self, cut: float) -> Evaluation | None:
        left = kept_above(self.comparisons, self.quality, cut, mated=self.mated)
        if left is None:
            return None
        with held():  # `_warn` tells what matters
            return evaluate(
                left, at_threshold(self.threshold), [], metrics=[], n_resamples=0, confidence_level=self.level,
                incomplete_groups="nan",
            )  # fmt: skip

    def _quantity(self, evaluation: Evaluation | None, group: str | None) -> Quantity | None:
        if evaluation is None or (group is not None and group not in evaluation.groups):
            return None
        return evaluation.quantity(self.rate, group)

    def _discarded(self, cuts: Floats) -> list[dict[str | None, _Shares]]:
        """Return, at each cut, the share of each group's comparisons that is below it, with its interval."""
        distinct = np.unique(cuts)
        with held():
            found = evaluate(
                as_scores(self.comparisons, self.measured), [at_threshold(float(cut)) for cut in distinct], [],
                metrics=[], n_resamples=0, confidence_level=self.level, incomplete_groups="nan",
            )  # fmt: skip
        return [self._below(found, float(cut)) for cut in cuts]

    def _below(self, found: Evaluation, cut: float) -> dict[str | None, _Shares]:
        shares: dict[str | None, _Shares] = {}
        of_all = float(np.mean(self.quality < cut))
        shares[None] = of_all, of_all, of_all
        for group in self.comparisons.groups:
            one = found.quantity(self.rate, group, at_threshold(cut))
            low, high = (math.nan if end is None else end for end in (one.low, one.high))
            share: Any = (one.estimate, low, high) if self.mated else (1 - one.estimate, 1 - high, 1 - low)
            shares[group] = (0.0, 0.0, 0.0) if of_all == 0 else share
        return shares

    def _area(
        self, group: str | None, limit: float, found: Sequence[Quantity | None], of: Sequence[Evaluation | None]
    ) -> DiscardArea:
        accepted = self.side.keys >= self.key
        inside = np.ones(self.quality.size, np.bool_)
        if group is not None:
            by_group = self.comparisons.mated_by_group if self.mated else self.comparisons.nonmated_by_group
            code = self.comparisons.groups.index(group)
            inside = (by_group.reference_group == code) & (by_group.probe_group == code)
        wrong = ~accepted if self.mated else accepted
        area, added, most = area_of(self.quality, wrong, inside, limit, self.of_samples)
        last = found[-1]
        if math.isnan(area) or last is None:
            return DiscardArea(group, math.nan, math.nan, math.nan, math.nan, "no comparisons are left at some share")
        mean = area / limit
        if mean in (0, 1):
            # The rate is 0 at all shares, so it is at most what it may be where fewest comparisons are left.
            low, high = (math.nan if end is None else end * limit for end in (last.low, last.high))
            return DiscardArea(group, area, low, high, 0.0, last.note)
        error = standard_error(ComparisonUnits(self.comparisons, "subject"), added, mated=self.mated)
        notes = dict.fromkeys(q.note for q in found if q is not None and NARROW in q.note)
        if not error > 0:
            return DiscardArea(group, area, math.nan, math.nan, 0.0, "no interval: the area does not vary")
        freedom = min(_freedom(*pair) for pair in zip(of, found, strict=True))
        ends = intervals.logit_interval(mean, error / limit, freedom, self.level)
        of_few = interval_of_few(area, error, most, self.level)
        low, high = min(float(ends[0]) * limit, of_few[0]), min(max(float(ends[1]) * limit, of_few[1]), limit)
        return DiscardArea(group, area, low, high, error, "; ".join(notes))


def _freedom(evaluation: Evaluation | None, quantity: Quantity | None) -> float:
    if evaluation is None or quantity is None:
        return math.inf
    return float(maker_of(evaluation).sizes.degrees_of_freedom[evaluation.quantities.index(quantity)])


def _row(group: str | None, fraction: float, cut: float, found: Quantity | None, share: _Shares) -> DiscardedRate:
    if found is None or not found.n_comparisons:
        return DiscardedRate(group, fraction, cut, math.nan, math.nan, math.nan, 0, 0, 0, *share, "none is left")
    low, high = (math.nan if end is None else end for end in (found.low, found.high))
    return DiscardedRate(
        group, fraction, cut, found.estimate, low, high, found.n_comparisons, found.n_errors or 0,
        found.n_subjects or 0, *share, found.note,
    )  # fmt: skip
