"""How far the threshold that holds a rate may lie from where the data have it.

At the population's threshold the data's rate differs from what is to be held by no more than chance allows: it varies
about that, with the standard error of the rate there. So the interval of the threshold is that between the thresholds
at which the data's rates are the quantiles of a law with this mean and standard error: a gamma law for a rate, as
numbers of few errors are skewed, and Student's for the difference of the two rates that an EER holds at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, allowed_errors, at_threshold
from fastfair.error_rates.threshold_slopes import HeldThreshold
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation, maker_of
from fastfair.uncertainty.few_errors import law_of_held_rate
from fastfair.uncertainty.quantities import Quantity

KINDS = ("fmr", "fnmr", "eer")


@dataclass(frozen=True)
class FoundThreshold:
    """A threshold found on data, and how far it may be from the population's.

    Attributes
    ----------
    key : int
        The threshold, as a key of the comparisons that it was found in.
    threshold, laxest, strictest : float
        The threshold, and the ends of its interval, on the scale of the scores; infinite where the data set no end.
    relative : float
        The rate held at the laxest threshold divided by the rate held; 1 for an EER.
    standard_error : float
        Of the rate held, or of FMR minus FNMR.
    freedom : float
        Its degrees of freedom.
    """

    key: int
    threshold: float
    laxest: float
    strictest: float
    relative: float
    standard_error: float
    freedom: float


def found_threshold(comparisons: Comparisons, at: OperatingPoint, confidence_level: float) -> FoundThreshold:
    """Find the threshold of an operating point and its interval.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects.
    at : OperatingPoint
        That holds an FMR, an FNMR or an EER.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    FoundThreshold

    Raises
    ------
    InputError
        For other operating points.
    """
    if at.kind not in KINDS:
        raise InputError(
            f"at={at} finds no threshold in development data: use at_fmr, at_fnmr or at_eer, or evaluate with "
            "at_threshold for one that is given"
        )
    held, of_key = HeldThreshold(comparisons, at), comparisons.mated.keys.dtype.type
    threshold = comparisons.to_threshold(of_key(held.key))
    found = evaluate(comparisons, at_threshold(threshold), [], metrics=[], n_resamples=0, incomplete_groups="nan")
    quantities = [found.quantity(name) for name in (("fmr", "fnmr") if at.kind == "eer" else (at.kind,))]
    error, freedom = zip(*(_error_of(found, one, at) for one in quantities), strict=True)
    spread, least = math.hypot(*error), min(freedom)
    if at.kind == "eer":
        ends = _ends_of_eer(held, spread, least, confidence_level)
        relative = 1.0
    else:
        low, high = law_of_held_rate(at.value, spread, least, (1 - confidence_level) / 2)
        ends = _ends_of_rate(held, comparisons, (low, high))
        relative = high / at.value if at.value else 1.0
    laxest, strictest = (end if isinstance(end, float) else comparisons.to_threshold(of_key(end)) for end in ends)
    if not isinstance(ends[0], float):  # at most what the threshold of these data may be
        laxest = comparisons.to_scale(float(score_keys.decode(np.array([ends[0]], comparisons.mated.keys.dtype))[0]))
    if comparisons.score_kind == "distance":
        laxest, strictest = (0.0 - end if math.isinf(end) else end for end in (laxest, strictest))
    return FoundThreshold(held.key, threshold, laxest, strictest, relative, spread, least)


def _error_of(found: Evaluation, quantity: Quantity, at: OperatingPoint) -> tuple[float, float]:
    """Return the standard error of a rate at its threshold, and its degrees of freedom."""
    maker, row = maker_of(found), found.quantities.index(quantity)
    n, freedom = quantity.n_comparisons or 1, float(maker.sizes.degrees_of_freedom[row])
    rate = quantity.estimate if at.kind == "eer" else at.value
    independent = float(maker.sizes.effective[row])
    if math.isnan(independent):
        own = float(maker.standard_errors[row])
        return max(own if math.isfinite(own) else 0.0, math.sqrt(rate * (1 - rate) / n)), freedom
    return math.sqrt(max(rate * (1 - rate), rate / n) / independent), freedom


def _ends_of_rate(held: HeldThreshold, comparisons: Comparisons, rates: tuple[float, float]) -> tuple[int | float, ...]:
    """Return the laxest and the strictest threshold that the population may have.

    A threshold holds an FMR if the rate is at most that, and above it where the score below is accepted, too. So of the
    data's scores s it may be next above those that few or more non-mated comparisons reach, and at most many exceed.
    """
    is_fmr = held.kind == "fmr"
    keys = (comparisons.nonmated if is_fmr else comparisons.mated).keys
    n = keys.size
    few, many = (allowed_errors(rate, n) for rate in rates)
    if is_fmr:
        laxest = -math.inf if many >= n else int(keys[n - 1 - many]) + 1
        return laxest, math.inf if few == 0 else int(keys[n - few]) + 1
    laxest = -math.inf if few == 0 else int(keys[few - 1])
    return laxest, math.inf if many >= n else int(keys[many])


def _ends_of_eer(
    held: HeldThreshold, spread: float, freedom: float, confidence_level: float
) -> tuple[int | float, ...]:
    """Return the thresholds at which FMR minus FNMR is as far from 0 as chance takes it."""
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * spread * math.sqrt(1 + 1 / freedom)
    strictest, laxest = held.near(reach)
    return min(laxest, held.key), max(strictest, held.key)
