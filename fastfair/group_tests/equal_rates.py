"""`fnmr_test` and `fmr_test`: do the error rates of groups differ by more than chance?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.progress import reporting
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint, at_threshold, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.errors import FewResamplesWarning, NotComputableWarning
from fastfair.resampling.units import require_units

from .failure_counts import FailureCounts
from .inputs import (
    POLICIES,
    counts_to_test,
    require_resamples,
    require_subjects,
    warn_of_small_groups,
)
from .replicates import STATISTICS, GroupRates, group_pvalues, of_counts, pvalue, replicate
from .results import FmrTest, FnmrTest

Floats = NDArray[np.float64]


@checked
def fnmr_test(
    data: Comparisons | Embeddings | FailureCounts,
    at: OperatingPoint | None = None,
    *,
    statistic: str = "f",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    follow_up: bool = True,
    incomplete_groups: str = "raise",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> FnmrTest:
    """Test whether the false non-match rates of groups differ by more than chance.

    Parameters
    ----------
    data : Comparisons, Embeddings or FailureCounts
        Comparisons with subjects and groups, vectors with groups, or the failures of each subject.
    at : OperatingPoint, optional
        The operating point; needed for comparisons and embeddings. The threshold is the same for all groups and in all
        replicates.
    statistic : {"f", "max-difference", "max-ratio"}
        "f": the variance between groups divided by that within groups, where attempts of a subject are correlated.
        "max-difference": the largest difference between a group's rate and the overall rate. "max-ratio": the largest
        ratio of the two, whichever is larger on top.
    n_resamples : int, default 9999
        Number of replicates.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1); groups are found to differ at 1 minus this level.
    follow_up : bool, default True
        Whether to test each group against all others as well.
    incomplete_groups : {"raise", "drop"}
        What to do with groups of fewer than two subjects, from which no variance can be estimated: raise an error, or
        leave them out with a warning.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    FnmrTest

    Raises
    ------
    InputError
        For fewer than two groups, groups with fewer than two subjects, and as `FailureCounts` does.

    Warns
    -----
    NotComputableWarning
        Where no attempt failed or all did: statistic and p-values are NaN.
    DroppedWarning
        Names the groups left out.
    FewResamplesWarning
        Where the follow-up has too few replicates for any group to be significant.
    NarrowIntervalsWarning
        As `margin_of_error` does, for the statistics other than "f".

    Notes
    -----
    The statistic "f" is (7) of [1]_. A replicate draws the subjects of each group with replacement, adds to each
    group's rate the overall rate minus the group's rate in the data (9), and computes the statistic again (10, 11). The
    p-value is (1 + the number of replicates with a statistic at least as large) / (1 + n_resamples). The other two
    statistics, sketched in section V of [1]_, use the overall rate of the replicate. A replicate counts as larger where
    its variance within groups is not positive, or where a ratio needs shifted rates that are not positive.

    The follow-up compares each group with all others together. A replicate draws the subjects of every group from those
    of all groups; the statistic is the difference between the two rates divided by its standard error, and the p-value
    is two-sided.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups", section IV-A.

    Examples
    --------
    >>> import fastfair as ff
    >>> counts = ff.FailureCounts([0, 1, 0, 0, 2, 3, 1, 2], [4] * 8, group=list("ffffmmmm"))
    >>> test = ff.fnmr_test(counts, rng=0)
    >>> round(test.statistic, 2), test.pvalue < 0.05
    (16.7, True)
    """
    settings = _settings(at, statistic, n_resamples, confidence_level, incomplete_groups)
    n_resamples = settings["n_resamples"]
    counts = counts_to_test(data, at, incomplete_groups, n_threads)
    if statistic != "f":
        warn_of_small_groups(counts)
    key, settings["rng"] = seeds.stream(rng)
    observed = of_counts(counts)
    with reporting(progress, f"{n_resamples:,} replicates") as report:
        replicated = replicate(counts, n_resamples, key, n_threads, report)
    found = _compare(observed, replicated, settings, "attempts")
    of_groups = np.full(len(counts.groups), np.nan)
    if follow_up and not np.isnan(found["statistic"]):
        _warn_of_few_resamples(n_resamples, len(counts.groups), 1 - settings["confidence_level"])
        of_groups = group_pvalues(counts, n_resamples, key, n_threads)
    low, high = counts.confidence_interval(confidence_level)
    return FnmrTest(
        **found,
        **_followed_up(of_groups),
        groups=counts.groups,
        n_subjects=counts.n_subjects,
        n_trials=counts.n_attempts,
        n_errors=counts.n_failures,
        standard_error=counts.standard_error,
        low=low,
        high=high,
        counts=counts,
    )


@checked(data=argument_kinds.one_of("Comparisons", "Embeddings"))
def fmr_test(
    data: Comparisons | Embeddings,
    at: OperatingPoint,
    *,
    statistic: str = "f",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    incomplete_groups: str = "raise",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> FmrTest:
    """Test whether the false match rates of groups differ by more than chance.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons with subjects and groups, or vectors with groups, all of whose pairs are compared, as by
        `Embeddings.comparisons`. Non-mated comparisons between groups do not count.
    at : OperatingPoint
        The operating point. The threshold is the same for all groups and in all replicates.
    statistic : {"f", "max-difference", "max-ratio"}
        As in `fnmr_test`.
    n_resamples : int, default 9999
        Number of replicates.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1); groups are found to differ at 1 minus this level.
    incomplete_groups : {"raise", "drop"}
        What to do with groups of fewer than three subjects, from which no variance can be estimated: raise an error, or
        leave them out with a warning.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    FmrTest

    Raises
    ------
    InputError
        For fewer than two groups, groups with fewer than three subjects, and comparisons without subjects or groups.

    Warns
    -----
    NotComputableWarning
        Where no comparison, or every comparison, is a false match: statistic and p-values are NaN. Also names groups
        without a p-value of their own, as they, or all other groups together, have fewer than 10 false matches.
    DroppedWarning
        Names the groups left out.

    Notes
    -----
    This extends `fnmr_test` to comparisons of two subjects, as [1]_ suggests in its section V. A replicate draws the
    subjects of each group with replacement and weighs a comparison by the product of its subjects' numbers of draws,
    shrunk until the rates have the dyadic-robust variance (the scheme "dyadic" of `evaluate`). A group's design effect
    is this variance divided by that of as many independent comparisons; all replicates use the one of the data.

    The follow-up compares a group's rate with that of all others on the logarithmic scale, with the same variances and
    normal quantiles. With fewer than 10 false matches on either side, this would too often find a difference where
    there is none, so such groups are not compared, and Holm's procedure does not count them.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups".

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(60, 2, 8, concentration=(20, 60), rng=0)
    >>> e = ff.Embeddings(e.vectors, e.subject, group=["f" if k < 30 else "m" for k in e.subject])
    >>> ff.fmr_test(e, ff.at_fmr(0.01), n_resamples=999, rng=0).groups
    ('f', 'm')
    """
    from fastfair.resampling.comparison_replicates import NO_METRICS, Resampler

    settings = _settings(at, statistic, n_resamples, confidence_level, incomplete_groups)
    n_resamples = settings["n_resamples"]
    comparisons = data.comparisons(n_threads=n_threads) if isinstance(data, Embeddings) else data
    comparisons.require_groups()
    require_units(comparisons, "subject")
    rates = rates_at_key(comparisons, at, threshold_key(comparisons, at))
    subjects, trials, errors = (
        np.asarray(of_groups)
        for of_groups in (
            rates.counts.group_nonmated_subjects,
            rates.counts.group_nonmated,
            rates.counts.group_false_matches,
        )
    )
    lacking = require_subjects(comparisons.groups, subjects.tolist(), 3, "non-mated comparisons", incomplete_groups)
    kept = np.array([k for k, group in enumerate(comparisons.groups) if group not in lacking])
    resampler = Resampler(comparisons, [at_threshold(rates.threshold)], metrics=NO_METRICS)
    key, settings["rng"] = seeds.stream(rng)
    with reporting(progress, f"{n_resamples:,} replicates") as report:
        drawn = resampler.replicate(n_resamples, key, n_threads=n_threads, progress=report)
    rate, size = rates.group_fmr[kept], trials[kept]
    replicates = np.ascontiguousarray(drawn.fmr[0, 1 + kept].T)
    error = intervals.standard_error(replicates.T)
    spread = rate * (1 - rate)
    effect = np.where(spread > 0, error**2 * size / np.where(spread > 0, spread, 1), 1.0)
    observed = GroupRates(rate, size, effect)
    found = _compare(observed, GroupRates(replicates, size, effect), settings, "non-mated comparisons")
    low, high = intervals.confidence_interval(replicates.T, rate, confidence_level, "dyadic")
    return FmrTest(
        **found,
        **_followed_up(_compare_with_rest(observed, error, errors[kept], [comparisons.groups[k] for k in kept])),
        groups=tuple(comparisons.groups[k] for k in kept),
        n_subjects=subjects[kept],
        n_trials=size,
        n_errors=errors[kept],
        standard_error=error,
        low=low,
        high=high,
        threshold=rates.threshold,
    )


def _settings(
    at: OperatingPoint | None, statistic: str, n_resamples: int, confidence_level: float, policy: str
) -> dict[str, Any]:
    """Check the arguments that both tests share."""
    validation.choice("incomplete_groups", policy, POLICIES)
    return {
        "at": None if at is None else str(at),
        "statistic": validation.choice("statistic", statistic, STATISTICS),
        "n_resamples": require_resamples(n_resamples),
        "confidence_level": intervals.level(confidence_level),
        "incomplete_groups": policy,
    }


def _compare(observed: GroupRates, replicated: GroupRates, settings: dict[str, Any], trials: str) -> dict[str, Any]:
    """Compute the statistic, its p-value, and the other parts of a result that depend only on replicates."""
    name, size, level = settings["statistic"], observed.size, settings["confidence_level"]
    statistic = float(observed.statistic(name, size))
    overall = float(observed.overall)
    if overall in (0, 1):
        warn(
            f"{'none' if overall == 0 else 'all'} of the {trials} are errors: there is nothing to test, and statistic "
            "and p-values are NaN",
            NotComputableWarning,
        )
        statistic = np.nan
    low, high = intervals.confidence_interval(replicated.rate.T, observed.rate, level)
    varies = low < high
    replicates = replicated.shifted(observed).statistic(name, size)
    # Where replicates of comparisons drew one subject of a group alone: that is no evidence against chance.
    replicates[np.isnan(replicates)] = np.inf
    return {
        "statistic": statistic,
        "pvalue": float(pvalue(statistic, replicates)),
        "statistic_name": name,
        "rate": overall,
        "group_rate": observed.rate,
        "difference": observed.difference_from_rest(),
        "bootstrap_low": np.where(varies, low, np.nan),
        "bootstrap_high": np.where(varies, high, np.nan),
        "replicates": replicates,
        "confidence_level": level,
        "settings": settings,
    }


def _warn_of_few_resamples(n_resamples: int, n_groups: int, alpha: float) -> None:
    """Warn where even the smallest possible p-value of a group is not significant after Holm's adjustment."""
    least = int(np.ceil(2 * n_groups / alpha))
    if n_resamples < least:
        warn(
            f"with n_resamples={n_resamples} none of {n_groups} groups can be found to differ from the others, as "
            f"adjusted p-values are at least {min(1, 2 * n_groups / (n_resamples + 1)):.2g}: use {least} or more, or "
            "pass follow_up=False",
            FewResamplesWarning,
        )


def _followed_up(group_pvalue: Floats) -> dict[str, Any]:
    return {"group_pvalue": group_pvalue, "group_pvalue_holm": intervals.holm(group_pvalue)}


def _compare_with_rest(
    observed: GroupRates, error: Floats, n_errors: NDArray[np.int64], groups: Sequence[str]
) -> Floats:
    """Compute two-sided p-values of the logarithm of each group's rate divided by that of all other groups together.

    They are NaN where either side has too few errors.
    """
    from scipy.special import ndtr

    size = observed.size.astype(np.float64)
    rest_size = size.sum() - size
    rest = observed.rate - observed.difference_from_rest()
    weighted = (size * error) ** 2
    rest_error = np.sqrt(weighted.sum() - weighted) / rest_size
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.log(observed.rate / rest) / np.hypot(error / observed.rate, rest_error / rest)
    few = np.minimum(n_errors, n_errors.sum() - n_errors) < FEWEST_ERRORS
    if few.any() and 0 < observed.overall < 1:
        named = ", ".join(repr(group) for group, is_few in zip(groups, few, strict=True) if is_few)
        warn(
            f"fewer than {FEWEST_ERRORS} false matches within {named}, or in all other groups: they have no p-value of "
            "their own",
            NotComputableWarning,
        )
    return np.where(np.isfinite(z) & ~few, 2 * ndtr(-np.abs(z)), np.nan)
