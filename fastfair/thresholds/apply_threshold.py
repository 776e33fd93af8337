"""`apply_threshold`: a threshold found on development data, and the error rates that it has on evaluation data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fastfair import intervals
from fastfair._lib import argument_kinds
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import held, warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold
from fastfair.error_rates.rates import rates_at_key
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.evaluation.evaluate import evaluate
from fastfair.uncertainty.quantities import Quantity

from .held_interval import FoundThreshold, found_threshold
from .results import AppliedRate, AppliedThreshold
from .shared_subjects import Added, added, correlation, numbered

NARROW = "likely too narrow"  # in notes of intervals
_INFINITE = 700.0  # log odds of rates that floats tell from neither 0 nor 1
NO_END = "the development data have too few errors to bound the threshold"


@checked(development=argument_kinds.one_of("Comparisons"))
def apply_threshold(
    comparisons: Comparisons,
    at: OperatingPoint,
    development: Comparisons,
    *,
    confidence_level: float = 0.95,
) -> AppliedThreshold:
    """Find the threshold of an operating point on development data, and compute error rates at it on other data.

    A threshold is chosen before a system is used, on data that are at hand then. What errors it makes elsewhere is
    asked in two ways. Of *this very threshold*: then only the evaluation data are uncertain. And of the *procedure*,
    "hold this rate on such development data": then the threshold is uncertain, too, as other development data would
    have given another one. Each rate has both intervals.

    Parameters
    ----------
    comparisons : Comparisons
        The evaluation data, with subjects; with or without groups.
    at : OperatingPoint
        What the development data hold: `at_fmr`, `at_fnmr` or `at_eer`.
    development : Comparisons
        The development data, with subjects. Those with an id that is in the evaluation data, too, are the same people.
    confidence_level : float, default 0.95
        In (0, 1).

    Returns
    -------
    AppliedThreshold

    Raises
    ------
    InputError
        For comparisons without subjects, scores of two kinds, and operating points that find no threshold in this way.

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow.

    Notes
    -----
    The interval of the threshold holds those thresholds at which the development data have a rate that chance may give
    where the true one is what is held. Those of rates on evaluation data join the interval of `evaluate` for a given
    threshold with the rates at both ends of the threshold's interval by MOVER [1]_. Where subjects are in both sets,
    what they add to both rates gives the correlation of the two parts; otherwise it is 0.

    References
    ----------
    .. [1] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> def drawn(first):
    ...     k = np.arange(first, first + 300)
    ...     reference, probe = np.tile(k, 9), np.r_[k, *(np.roll(k, shift) for shift in range(1, 9))]
    ...     mated = reference == probe
    ...     return ff.Comparisons(rng.normal(size=2700) + 3 * mated, mated, reference, probe)
    >>> found = ff.apply_threshold(drawn(300), ff.at_fmr(0.01), drawn(0))
    >>> fmr = found.rate("fmr")
    >>> round(fmr.estimate, 4), [round(end, 4) for end in (fmr.low, fmr.high, fmr.given_low, fmr.given_high)]
    (0.0071, [0.0022, 0.0132, 0.0043, 0.0116])
    """
    level = intervals.level(confidence_level)
    for name, one in (("comparisons", comparisons), ("development", development)):
        if one.subjects is None:
            raise InputError(f"{name} have no subjects, whom intervals need: give reference and probe")
    if comparisons.score_kind != development.score_kind:
        raise InputError(
            f"the scores of development are of the kind {development.score_kind!r}, those of the comparisons "
            f"{comparisons.score_kind!r}"
        )
    with held():  # notes tell what matters
        found = found_threshold(development, at, level)
        evaluation = evaluate(
            comparisons, at_threshold(found.threshold), [], metrics=[], n_resamples=0, confidence_level=level,
            incomplete_groups="nan",
        )  # fmt: skip
    both = _Both(comparisons, development, at, found)
    groups = (None, *comparisons.groups)
    rows = tuple(both.row(evaluation.quantity(name, group)) for group in groups for name in ERROR_RATES)
    if any(NARROW in row.note for row in rows):
        warn("some intervals are likely too narrow: the notes of the rates say why", NarrowIntervalsWarning)
    return AppliedThreshold(
        at, found.threshold, found.laxest, found.strictest, both.held, comparisons.groups, rows, both.n_shared, level
    )


def _joined(rate: float, given: list[float], ends: list[float], correlation: float) -> tuple[float, float]:
    """Join the interval of a rate at a given threshold with the rates at the ends of the threshold's interval.

    Rates grow in proportion, so they are joined as log odds; where there are none, as they are.
    """
    from scipy.special import expit, logit

    has_odds = 0 < rate < 1
    values = np.array([rate, *given, min(*ends, rate), max(*ends, rate)])
    if has_odds:
        with np.errstate(divide="ignore"):
            values = np.clip(logit(values), -_INFINITE, _INFINITE)
    center, low, high, least, most = values
    other = np.array([0.0, center - most, center - least])  # what the threshold adds, with the sign turned
    found = intervals.difference_interval(np.array([center, low, high]), other, np.asarray(correlation))
    both = expit(np.array(found)) if has_odds else np.clip(found, 0.0, 1.0)
    return float(both[0]), float(both[1])


@dataclass
class _End:
    """The rates of all evaluation comparisons and of groups at one end of the threshold's interval."""

    fmr: dict[str | None, float]
    fnmr: dict[str | None, float]


class _Both:
    """Evaluation and development data, with the threshold that the latter give."""

    def __init__(
        self, comparisons: Comparisons, development: Comparisons, at: OperatingPoint, found: FoundThreshold
    ) -> None:
        self.comparisons, self.at, self.found = comparisons, at, found
        on_development = rates_at_key(development, at, development.mated.keys.dtype.type(found.key))
        rates = on_development.fmr, on_development.fnmr
        self.held = float(np.mean(rates) if at.kind == "eer" else rates[ERROR_RATES.index(at.kind)])
        self.ends = [self._end(threshold) for threshold in (found.laxest, found.strictest)]
        self.numbers, of_development, self._n, self.n_shared = numbered(comparisons, development)
        self.of_held: Added | None = None
        if self.n_shared:
            parts = [
                added(development, of_development, self._n, found.key, mated=name == "fnmr", group=None)
                for name in (ERROR_RATES if at.kind == "eer" else (at.kind,))
            ]
            self.of_held = parts[0].minus(parts[1]) if at.kind == "eer" else parts[0]

    def _end(self, threshold: float) -> _End:
        comparisons = self.comparisons
        if math.isinf(threshold):
            accepts = (threshold < 0) == (comparisons.score_kind != "distance")
            values = (1.0, 0.0) if accepts else (0.0, 1.0)
            groups = (None, *comparisons.groups)
            return _End(dict.fromkeys(groups, values[0]), dict.fromkeys(groups, values[1]))
        found = rates_at_key(comparisons, at_threshold(threshold), comparisons.to_key(threshold))
        of_groups = zip(found.groups, found.group_fmr.tolist(), found.group_fnmr.tolist(), strict=True)
        by_group = {group: (fmr, fnmr) for group, fmr, fnmr in of_groups}
        return _End(
            {None: found.fmr} | {group: both[0] for group, both in by_group.items()},
            {None: found.fnmr} | {group: both[1] for group, both in by_group.items()},
        )

    def row(self, quantity: Quantity) -> AppliedRate:
        """Return a rate with both intervals."""
        name, group, rate = quantity.name, quantity.group, quantity.estimate
        given = [math.nan if end is None else end for end in (quantity.low, quantity.high)]
        notes = [quantity.note] if quantity.note else []
        low = high = math.nan
        if not math.isnan(given[0]):
            ends = [getattr(end, name)[group] for end in self.ends]
            if name == "fmr" and rate == 0 and self.at.kind == "fmr" and not math.isinf(self.found.laxest):
                # Without errors nothing tells how the FMR grows: as that of the development data does, at most.
                ends[0] = max(ends[0], given[1] * (self.found.relative - 1))
            low, high = _joined(rate, given, ends, self._correlation(name, group))
            if math.isinf(self.found.laxest) or math.isinf(self.found.strictest):
                notes.append(NO_END)
        return AppliedRate(
            name, group, rate, low, high, given[0], given[1], quantity.n_comparisons or 0, quantity.n_errors or 0,
            quantity.n_subjects or 0, "; ".join(notes),
        )  # fmt: skip

    def _correlation(self, name: str, group: str | None) -> float:
        """Return the correlation of the rate at a threshold and of what the threshold held adds, sign turned."""
        if self.of_held is None:
            return 0.0
        own = added(
            self.comparisons, self.numbers, self._n, int(self.comparisons.to_key(self.found.threshold)),
            mated=name == "fnmr", group=None if group is None else self.comparisons.groups.index(group),
        )  # fmt: skip
        grows = {"fmr": 1.0, "fnmr": -1.0, "eer": 1.0}[self.at.kind]  # what is held, as the threshold gets laxer
        rate_grows = 1.0 if name == "fmr" else -1.0
        return grows * rate_grows * correlation(own, self.of_held)
