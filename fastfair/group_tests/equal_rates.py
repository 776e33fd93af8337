"""`fnmr_test` and `fmr_test`: do the error rates of groups differ by more than chance?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.progress import reporting
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scanned_comparisons import KeptComparisons, ScannedComparisons
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.enough_pairs import with_enough_pairs
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.errors import FewResamplesWarning, InputError, NotComputableWarning
from fastfair.resampling.units import require_units

from .failure_counts import FailureCounts
from .failure_roots import draw_roots_of_failures
from .false_matches import count_false_matches
from .frailty import draw_roots
from .inputs import (
    POLICIES,
    counts_to_test,
    require_resamples,
    require_subjects,
    warn_of_few_subjects,
    warn_of_small_groups,
)
from .replicates import STATISTICS, GroupRates, of_counts, pvalue, replicate
from .results import FmrTest, FnmrTest, significance_level

Floats = NDArray[np.float64]
DEVIANCE = "deviance"  # the statistic of false match rates that draws errors instead of subjects
FMR_STATISTICS = (DEVIANCE, *STATISTICS)


@checked
def fnmr_test(
    data: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
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
    data : Comparisons, ScannedComparisons, Embeddings or FailureCounts
        Comparisons with subjects and groups, a scan of such, vectors with groups, or the failures of each subject:
        false non-matches, failures to acquire or failures to enrol.
    at : OperatingPoint, optional
        The operating point; needed for all but failures. The threshold is the same for all groups and in all
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
        Whether to name the groups that differ as well.
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

    The follow-up names groups as `fmr_test` does, by tests of several groups at once ([2]_, closed testing), with the
    signed roots of a Poisson deviance whose parts are divided by (1 - p) (1 + (m0 - 1) rho): of a group m0 is the sum
    of m^2 over the sum of m attempts, and rho is the intra-class correlation of all groups together. A replicate draws
    subjects with the attempts of their group, and their failures from a beta-binomial law with one rate and rho.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups", section IV-A.
    .. [2] Marcus, Peritz and Gabriel, "On closed testing procedures with special reference to ordered analysis of
       variance", Biometrika 63 (1976).

    Examples
    --------
    >>> import fastfair as ff
    >>> counts = ff.FailureCounts([0, 1, 0, 0, 2, 3, 1, 2], [4] * 8, group=list("ffffmmmm"))
    >>> test = ff.fnmr_test(counts, rng=0)
    >>> round(test.statistic, 2), test.pvalue < 0.05
    (16.7, True)
    """
    validation.choice("statistic", statistic, STATISTICS)
    settings = _settings(at, statistic, n_resamples, confidence_level, incomplete_groups)
    n_resamples = settings["n_resamples"]
    counts = counts_to_test(data, at, incomplete_groups, n_threads)
    if statistic != "f":
        warn_of_small_groups(counts)
    key, settings["rng"] = seeds.stream(rng)
    observed = of_counts(counts)
    with reporting(progress, f"{n_resamples:,} replicates") as report:
        replicated = replicate(counts, n_resamples, key, n_threads, report)
    found = _compare(observed, replicated, _statistic_of(observed, replicated, statistic), settings, "attempts")
    of_groups = adjusted = np.full(len(counts.groups), np.nan)
    if follow_up and not np.isnan(found["statistic"]):
        level = significance_level(confidence_level)
        _warn_of_few_resamples(n_resamples, level)
        roots = draw_roots_of_failures(counts, n_resamples, key, n_threads)
        of_groups, adjusted = roots.pvalues(), np.maximum(roots.adjusted_pvalues(level), found["pvalue"])
    low, high = counts.confidence_interval(confidence_level)
    together = counts.confidence_interval(confidence_level ** (1 / len(counts.groups)))
    return FnmrTest(
        **found,
        group_pvalue=of_groups,
        group_pvalue_adjusted=adjusted,
        groups=counts.groups,
        n_subjects=counts.n_subjects,
        n_trials=counts.n_attempts,
        n_errors=counts.n_failures,
        standard_error=counts.standard_error,
        low=low,
        high=high,
        simultaneous_low=together[0],
        simultaneous_high=together[1],
        rate_name=counts.rate_name,
        icc=counts.icc,
        design_effect=counts.design_effect,
        remarks=tuple(counts.remarks()),
        counts=counts,
    )


@checked(data=argument_kinds.one_of("Comparisons", "ScannedComparisons", "Embeddings"))
def fmr_test(
    data: Comparisons | ScannedComparisons | Embeddings,
    at: OperatingPoint,
    *,
    statistic: str = "deviance",
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    incomplete_groups: str = "raise",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> FmrTest:
    """Test whether the false match rates of groups differ by more than chance.

    Parameters
    ----------
    data : Comparisons, ScannedComparisons or Embeddings
        Comparisons with subjects and groups, or vectors with groups, all of whose pairs are compared; or what
        `Embeddings.scanned` keeps of these. Non-mated comparisons between groups do not count.
    at : OperatingPoint
        The operating point. The threshold is the same for all groups and in all replicates.
    statistic : {"deviance", "f", "max-difference", "max-ratio"}
        "deviance": how improbable the groups' numbers of false matches are at one rate, for comparisons that share
        subjects. The others are those of `fnmr_test`.
    n_resamples : int, default 2000
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
        For fewer than two groups, groups with fewer than three subjects, comparisons without subjects or groups, and
        scans of score files, which do not keep who was compared with whom in the order that is needed.

    Warns
    -----
    NotComputableWarning
        Where no comparison, or every comparison, is a false match: statistic and p-values are NaN.
    DroppedWarning
        Names the groups left out.
    NarrowIntervalsWarning
        Names groups of 10 subjects or fewer, with which the test errs in more than the level.

    Notes
    -----
    With x false matches among the n comparisons of a group, and mu = n p, the statistic "deviance" is the sum over
    groups of 2 [x log(x / mu) - (x - mu)] / D, a Poisson deviance with the quasi-likelihood of [2]_. The inflation
    D = 1 + a R / n + kappa p M / n is how much more x varies than if comparisons were independent. M counts the ordered
    two comparisons that share one subject, and R those that share both; kappa is the relative covariance of false
    matches that share one subject, and a the chance that another comparison of two subjects is a false match where one
    is. Both are estimated from all groups together, and kappa also from each group alone, which counts the more the
    more false matches it has. The common rate p is the sum of x / D over that of n / D.

    A replicate draws false matches as if all groups had this rate (a parametric bootstrap, [3]_). Each subject has an
    effect (a frailty, as survival analysis calls it), lognormal with mean 1 and variance kappa; a comparison is a false
    match in proportion to the product of its subjects' effects, and where it is, another of the same two subjects is
    one with the chance a. Everything is then estimated from the replicate anew.

    A group's p-value compares the signed root of its part of the statistic with those in the replicates. Which groups
    are named is decided by tests of several groups at once ([4]_, closed testing): as few groups as possible are set
    aside so that the others, more than half of all, do not differ detectably. A group is named if it is among those set
    aside whichever way that is done. Its adjusted p-value is that of the deviance of as many groups as are left, this
    one among them, chosen to differ the least ([5]_, trimming). Where no more than half of the groups are alike, all
    are named. An adjusted p-value is not below that of the test, so groups are named only where it finds a difference.

    For the other statistics a replicate draws the subjects of each group with replacement and weighs a comparison by
    the product of its subjects' numbers of draws, shrunk until the rates have the dyadic-robust variance (the scheme
    "dyadic" of `evaluate`), as [1]_ suggests in its section V. Standard errors and intervals of groups' rates are from
    these replicates whatever the statistic, and groups are named by roots.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups".
    .. [2] McCullagh and Nelder, "Generalized Linear Models", 2nd edition, chapter 9.
    .. [3] Davison and Hinkley, "Bootstrap Methods and their Application", section 4.2.
    .. [4] Marcus, Peritz and Gabriel, "On closed testing procedures with special reference to ordered analysis of
       variance", Biometrika 63 (1976).
    .. [5] Rousseeuw and Van Driessen, "Computing LTS regression for large data sets", Data Mining and Knowledge
       Discovery 12 (2006).

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(60, 2, 8, concentration=(20, 60), rng=0)
    >>> e = ff.Embeddings(e.vectors, e.subject, group=["f" if k < 30 else "m" for k in e.subject])
    >>> ff.fmr_test(e, ff.at_fmr(0.01), rng=0).groups
    ('f', 'm')
    """
    validation.choice("statistic", statistic, FMR_STATISTICS)
    settings = _settings(at, statistic, n_resamples, confidence_level, incomplete_groups)
    workers = Workers(n_threads, progress)
    if not isinstance(data, Embeddings):
        return _test_of_false_matches(data, at, settings, rng, workers)
    if not data.groups:
        raise InputError("the embeddings have no groups to compare: give group")
    seed = seeds.fixed(rng)  # the same one however often more pairs are kept

    def of_scan(scans: list[ScannedComparisons]) -> FmrTest:
        return _test_of_false_matches(scans[0], at, settings, seed, workers)

    return with_enough_pairs([data], [at], False, of_scan, Workers(n_threads))


def _test_of_false_matches(
    data: Comparisons | ScannedComparisons,
    at: OperatingPoint,
    settings: dict[str, Any],
    rng: seeds.Seed,
    workers: Workers,
) -> FmrTest:
    from fastfair.resampling.comparison_replicates import Resampler
    from fastfair.resampling.preparation import NO_METRICS

    comparisons = data.kept if isinstance(data, ScannedComparisons) else data
    if isinstance(comparisons, KeptComparisons) and not isinstance(comparisons.pairs[1], PairsOfVectors):
        raise InputError(
            "data is a scan of score files, which does not list who was compared with whom: read them with "
            "read_comparisons"
        )
    statistic, n_resamples, n_threads = settings["statistic"], settings["n_resamples"], workers.n_threads
    level, policy = settings["confidence_level"], settings["incomplete_groups"]
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
    lacking = require_subjects(comparisons.groups, subjects.tolist(), 3, "non-mated comparisons", policy)
    kept = np.array([k for k, group in enumerate(comparisons.groups) if group not in lacking])
    warn_of_few_subjects([comparisons.groups[k] for k in kept], subjects[kept])
    resampler = Resampler(comparisons, [at_threshold(rates.threshold)], metrics=NO_METRICS, workers=workers)
    key, seed = seeds.stream(rng)
    settings = settings | {"rng": seed}
    drawn = resampler.replicate(n_resamples, key, workers)
    rate, size = rates.group_fmr[kept], trials[kept]
    replicates = np.ascontiguousarray(drawn.fmr[0, 1 + kept].T)
    error = intervals.standard_error(replicates.T)
    spread = rate * (1 - rate)
    effect = np.where(spread > 0, error**2 * size / np.where(spread > 0, spread, 1), 1.0)
    observed, replicated = GroupRates(rate, size, effect), GroupRates(replicates, size, effect)
    roots = None
    if 0 < observed.overall < 1:
        roots = draw_roots(*count_false_matches(comparisons, rates.threshold, kept), n_resamples, key, n_threads)
    if statistic != DEVIANCE:
        values = _statistic_of(observed, replicated, statistic)
    elif roots is not None:
        values = roots.deviance()
    else:
        values = np.nan, np.full(n_resamples, np.nan)
    found = _compare(observed, replicated, values, settings, "non-mated comparisons")
    low, high = intervals.confidence_interval(replicates.T, rate, level, "dyadic")
    together = intervals.confidence_interval(replicates.T, rate, level ** (1 / kept.size), "dyadic")
    of_groups = adjusted = np.full(kept.size, np.nan)
    if roots is not None:
        of_groups = roots.pvalues()
        adjusted = np.maximum(roots.adjusted_pvalues(significance_level(level)), found["pvalue"])
    return FmrTest(
        **found,
        group_pvalue=of_groups,
        group_pvalue_adjusted=adjusted,
        groups=tuple(comparisons.groups[k] for k in kept),
        n_subjects=subjects[kept],
        n_trials=size,
        n_errors=errors[kept],
        standard_error=error,
        low=low,
        high=high,
        simultaneous_low=together[0],
        simultaneous_high=together[1],
        threshold=rates.threshold,
    )


def _settings(
    at: OperatingPoint | None, statistic: str, n_resamples: int, confidence_level: float, policy: str
) -> dict[str, Any]:
    """Check the arguments that both tests share."""
    validation.choice("incomplete_groups", policy, POLICIES)
    return {
        "at": None if at is None else str(at),
        "statistic": statistic,
        "n_resamples": require_resamples(n_resamples),
        "confidence_level": intervals.level(confidence_level),
        "incomplete_groups": policy,
    }


def _statistic_of(observed: GroupRates, replicated: GroupRates, name: str) -> tuple[float, Floats]:
    """Compute a statistic of rates in the data and, as if all groups had one rate, in the replicates."""
    replicates = replicated.shifted(observed).statistic(name, observed.size)
    # Where replicates of comparisons drew one subject of a group alone: that is no evidence against chance.
    replicates[np.isnan(replicates)] = np.inf
    return float(observed.statistic(name, observed.size)), replicates


def _compare(
    observed: GroupRates,
    replicated: GroupRates,
    values: tuple[float, Floats],
    settings: dict[str, Any],
    trials: str,
) -> dict[str, Any]:
    """Compute the p-value and the other parts of a result that both tests share.

    values: the statistic in the data and in the replicates.
    """
    (statistic, replicates), level = values, settings["confidence_level"]
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
    return {
        "statistic": statistic,
        "pvalue": float(pvalue(statistic, replicates)),
        "statistic_name": settings["statistic"],
        "rate": overall,
        "group_rate": observed.rate,
        "difference": observed.difference_from_rest(),
        "bootstrap_low": np.where(varies, low, np.nan),
        "bootstrap_high": np.where(varies, high, np.nan),
        "replicates": replicates,
        "confidence_level": level,
        "settings": settings,
    }


def _warn_of_few_resamples(n_resamples: int, alpha: float) -> None:
    """Warn where even the smallest possible p-value of a group is not significant."""
    least = int(np.ceil(1 / alpha))
    if n_resamples < least:
        warn(
            f"with n_resamples={n_resamples} no group can be found to differ from the others, as p-values are at least "
            f"{1 / (n_resamples + 1):.2g}: use {least} or more, or pass follow_up=False",
            FewResamplesWarning,
        )
