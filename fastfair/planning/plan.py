"""`plan_margin`, `plan_subjects`, `plan_power`: plan the size of a study that compares the FNMRs of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.progress import Report, reporting
from fastfair._lib.threads import run_blocks
from fastfair._lib.warnings import warn
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests.margins import share_inside

from .plans import Floats, MarginPlan, PowerPlan, SubjectsPlan, broadcast, checked_settings
from .studies import Study, Subjects

METHODS = ("simulation", "exact")


@checked(
    n_subjects=argument_kinds.numbers,
    n_attempts=argument_kinds.numbers,
    fnmr=argument_kinds.numbers,
    correlation=argument_kinds.numbers,
)
def plan_margin(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    n_simulations: int = 1000,
    confidence_level: float = 0.95,
    quantile: str = "family-wise",
    method: str = "simulation",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Report = False,
) -> MarginPlan:
    """Compute the margin of error that a study of groups with equal FNMRs would have.

    Parameters
    ----------
    n_groups : array_like of int
        Number of groups compared, at least 2.
    n_subjects : array_like of int
        Number of subjects in each group.
    n_attempts : array_like of int
        Number of mated comparisons of each subject.
    fnmr : array_like of float
        True FNMR of every group, in (0, 1).
    correlation : array_like of float
        Intra-class correlation of the decisions on one subject, in [0, 1].
    n_simulations : int, default 1000
        Number of studies drawn for each setting.
    confidence_level : float, default 0.95
        Probability that no group of a fair system is found to differ.
    quantile : {"family-wise", "paper"}
        Which quantile of the largest difference the margin is: "family-wise" is that at the confidence level 1 - alpha;
        "paper" that at 1 - alpha/2, as in the paper's step 5.
    method : {"simulation", "exact"}
        "simulation" draws studies, as the paper does. "exact" computes the distribution that they are drawn from,
        which is faster and has no simulation noise.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers. A setting's margin depends only on the setting, the seed and `n_simulations`, not on
        the other settings of the call.
    n_threads : int, optional
        Number of threads; all processors by default. Results do not depend on it.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of settings done and in all, where
        settings that differ only in the number of groups count as one.

    Returns
    -------
    MarginPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, and for settings whose shapes do not broadcast.

    See Also
    --------
    margin_study : the settings of the paper.
    plan_subjects : how many subjects a margin needs.

    Notes
    -----
    The failures of a subject are beta-binomial: each decision fails with probability `fnmr`, and two decisions on one
    subject have the correlation [1]_. The margin is the smallest value that the largest difference between a group's
    estimate and `fnmr` exceeds in at most the share of studies that the quantile leaves. Rates are multiples of
    1 / (n_subjects * n_attempts), so margins come in steps.

    The exact margin follows from groups being independent and alike: the probability that no group differs by more than
    x is that of a single group to the power of the number of groups. A group's failures are the sum over independent,
    alike subjects, whose distribution is a convolution power, computed by one Fourier transform.

    References
    ----------
    .. [1] "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic Groups",
       section IV-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> plan = ff.plan_margin(
    ...     n_groups=[3, 10, 30], n_subjects=400, n_attempts=2, fnmr=0.1, correlation=0.05, method="exact"
    ... )
    >>> plan.margin.round(4)
    array([0.0262, 0.03  , 0.0338])
    """
    settings = checked_settings(
        n_groups=n_groups, n_subjects=n_subjects, n_attempts=n_attempts, fnmr=fnmr, correlation=correlation
    )
    probability = share_inside(confidence_level, quantile)
    simulated = validation.choice("method", method, METHODS) == "simulation"
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    key, seed = seeds.stream(rng)
    groups, *others = (array.ravel() for array in settings.values())
    laws, law_of = np.unique(np.stack(others), axis=1, return_inverse=True)
    law_of = law_of.ravel()  # NumPy 2.0.0 gives it two dimensions
    of_law = np.split(np.argsort(law_of, kind="stable"), np.cumsum(np.bincount(law_of))[:-1])
    margin = np.empty(groups.size)

    def work(k: int) -> None:
        n, m, pi, rho = laws[:, k].tolist()
        subjects = Subjects(int(m), pi, rho)
        at = of_law[k]
        if simulated:
            margin[at] = subjects.simulated_margins(int(n), groups[at], probability, n_simulations, key)
        else:
            margin[at] = subjects.margin(int(n), groups[at], probability)

    with reporting(progress, f"{len(of_law):,} settings") as report:
        run_blocks(work, range(len(of_law)), len(of_law), 1, n_threads, report)
    return MarginPlan(
        **settings,
        margin=margin.reshape(settings["n_groups"].shape),
        confidence_level=confidence_level,
        quantile=quantile,
        method=method,
        n_simulations=n_simulations if simulated else None,
        seed=seed if simulated else None,
    )


@checked
def margin_study(
    *,
    n_simulations: int = 1000,
    confidence_level: float = 0.95,
    quantile: str = "family-wise",
    method: str = "simulation",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Report = False,
) -> MarginPlan:
    """Repeat the paper's study of the margin of error: all 4,000 settings.

    Parameters
    ----------
    n_simulations, confidence_level, quantile, method, rng, n_threads, progress
        As in `plan_margin`; the paper draws 1000 studies of each setting.

    Returns
    -------
    MarginPlan
        Its axes are FNMR (5), correlation (5), subjects (4), attempts (5) and groups (8), as `MarginPlan.axes` says;
        `MarginPlan.plot_overview` and `MarginPlan.plot_one_at_a_time` draw the paper's figures.

    Notes
    -----
    These findings of the paper [1]_ are confirmed: the margin grows with the number of groups, ever more slowly, and
    with the FNMR; it falls with the numbers of subjects and attempts. Starting from the setting of its figure 3, the
    number of subjects changes the margin by a factor of 2.8 from one end of its range to the other, the FNMR by 2.5,
    the attempts by 1.9 and the correlation by 1.2. The paper calls the correlation the only setting "negatively
    associated" with the margin, and two sentences later says that it has a "positive, though not linear, relationship"
    to it. The second is right: the margin grows as sqrt(1 + (m - 1) rho) with m attempts.

    References
    ----------
    .. [1] "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic Groups",
       "Simulation Study".

    Examples
    --------
    >>> import fastfair as ff
    >>> study = ff.margin_study(method="exact")
    >>> study.axes, study.margin.shape
    (('fnmr', 'correlation', 'n_subjects', 'n_attempts', 'n_groups'), (5, 5, 4, 5, 8))
    >>> float(study.margin.min().round(4)), float(study.margin.max().round(4))
    (0.005, 0.105)
    """
    values = np.ix_(
        [0.025, 0.05, 0.10, 0.15, 0.20],
        [0.05, 0.15, 0.25, 0.35, 0.45],
        [100, 200, 400, 800],
        [2, 3, 4, 6, 10],
        [3, 4, 5, 6, 10, 15, 20, 30],
    )
    fnmr, correlation, n_subjects, n_attempts, n_groups = values
    return plan_margin(
        n_groups=n_groups,
        n_subjects=n_subjects,
        n_attempts=n_attempts,
        fnmr=fnmr,
        correlation=correlation,
        n_simulations=n_simulations,
        confidence_level=confidence_level,
        quantile=quantile,
        method=method,
        rng=rng,
        n_threads=n_threads,
        progress=progress,
    )


@checked(
    n_subjects=argument_kinds.numbers,
    n_attempts=argument_kinds.numbers,
    fnmr=argument_kinds.numbers,
    correlation=argument_kinds.numbers,
)
def plan_power(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    difference: ArrayLike,
    confidence_level: float = 0.95,
    quantile: str = "family-wise",
) -> PowerPlan:
    """Compute how often a study would find a group whose FNMR differs from that of the others.

    Parameters
    ----------
    n_groups, n_subjects, n_attempts, fnmr, correlation
        As in `plan_margin`; `fnmr` is the FNMR of all groups but one.
    difference : array_like of float
        FNMR of the remaining group minus `fnmr`; above or below 0.
    confidence_level, quantile
        As in `plan_margin`.

    Returns
    -------
    PowerPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, and for settings whose shapes do not broadcast.

    Notes
    -----
    The group is found if its estimate differs by more than the exact margin of `plan_margin` from the estimate of all
    groups together. As the group is one of these G groups, it moves their estimate by 1 / G of the difference. The
    probability is exact.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> ff.plan_power(n_subjects=[200, 400, 800], difference=0.05, **settings).power.round(2)
    array([0.55, 0.89, 1.  ])
    """
    settings = checked_settings(
        n_groups=n_groups, n_subjects=n_subjects, n_attempts=n_attempts, fnmr=fnmr, correlation=correlation
    )
    settings = broadcast(settings | {"difference": _checked_difference(difference, settings["fnmr"])})
    probability = share_inside(confidence_level, quantile)
    shape = settings["n_groups"].shape
    margin, power = np.empty(shape), np.empty(shape)
    for at in np.ndindex(shape):
        n, study = int(settings["n_subjects"][at]), Study.at(settings, at, probability)
        margin[at], power[at] = study.margin(n), study.power(n)
    return PowerPlan(**settings, margin=margin, power=power, confidence_level=confidence_level, quantile=quantile)


@checked(n_attempts=argument_kinds.numbers, fnmr=argument_kinds.numbers, correlation=argument_kinds.numbers)
def plan_subjects(
    *,
    n_groups: ArrayLike,
    n_attempts: ArrayLike,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    margin: ArrayLike | None = None,
    difference: ArrayLike | None = None,
    power: ArrayLike = 0.8,
    confidence_level: float = 0.95,
    quantile: str = "family-wise",
    max_subjects: int = 100_000,
) -> SubjectsPlan:
    """Find how many subjects a study needs in each group, for a margin of error or to find a group that differs.

    Parameters
    ----------
    n_groups, n_attempts, fnmr, correlation
        As in `plan_margin`.
    margin : array_like of float, optional
        The largest margin allowed; either this or `difference`.
    difference : array_like of float, optional
        FNMR of the group to find, as in `plan_power`, minus `fnmr`.
    power : array_like of float, default 0.8
        Probability with which that group is to be found; ignored with `margin`.
    confidence_level, quantile
        As in `plan_margin`.
    max_subjects : int, default 100,000
        The largest number of subjects to consider.

    Returns
    -------
    SubjectsPlan
        With arrays of the shape that the settings broadcast to. `SubjectsPlan.n_subjects` is NaN where `max_subjects`
        are too few.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, and where not exactly one of `margin` and
        `difference` is given.

    Warns
    -----
    OutOfReachWarning
        Where `max_subjects` are too few; margin and power are then those of `max_subjects`.

    Notes
    -----
    Rates are multiples of 1 / (n_subjects * n_attempts), so margin and power, both exact, do not change steadily with
    the number of subjects: one number can be enough and the next not. The result is the smallest number from which on
    all numbers are enough. The search continues past the last number that is not enough until the multiples have
    shifted by several steps.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> ff.plan_subjects(margin=[0.02, 0.03, 0.04], **settings).n_subjects
    array([934., 424., 236.])
    >>> plan = ff.plan_subjects(difference=0.05, **settings)
    >>> float(plan.n_subjects), float(plan.power.round(3)), float(plan.margin.round(4))
    (333.0, 0.802, 0.0336)
    """
    settings = checked_settings(n_groups=n_groups, n_attempts=n_attempts, fnmr=fnmr, correlation=correlation)
    if (margin is None) == (difference is None):
        raise InputError("give margin or difference, and not both: it determines how many subjects are needed")
    if margin is not None:
        asked = {"wanted_margin": validation.fractions("margin", margin, ends=False)}
    else:
        asked = {
            "difference": _checked_difference(difference, settings["fnmr"]),
            "wanted_power": validation.fractions("power", power, ends=False),
        }
    settings = broadcast(settings | asked)
    probability = share_inside(confidence_level, quantile)
    max_subjects = validation.count("max_subjects", max_subjects, 1)
    shape = settings["n_groups"].shape
    needed, margins, powers = np.empty(shape), np.empty(shape), np.empty(shape)
    for at in np.ndindex(shape):
        study = Study.at(settings, at, probability)
        if margin is not None:
            found = study.subjects_for_margin(float(settings["wanted_margin"][at]), max_subjects)
        else:
            found = study.subjects_for_power(float(settings["wanted_power"][at]), max_subjects)
        needed[at] = np.nan if found is None else found
        margins[at] = study.margin(found or max_subjects)
        powers[at] = np.nan if margin is not None else study.power(found or max_subjects)
    _warn_out_of_reach(settings, np.isnan(needed), max_subjects)
    return SubjectsPlan(
        **settings,
        n_subjects=needed,
        margin=margins,
        power=None if margin is not None else powers,
        confidence_level=confidence_level,
        quantile=quantile,
    )


def _checked_difference(difference: ArrayLike | None, fnmr: Floats) -> Floats:
    array = validation.numbers_of("difference", difference)
    pair = broadcast({"fnmr": fnmr, "difference": array})
    other = pair["fnmr"] + pair["difference"]
    bad = ~((other > 0) & (other < 1)) | (pair["difference"] == 0)
    if bad.any():
        found, rate = pair["difference"][bad][0], pair["fnmr"][bad][0]
        raise InputError(
            f"difference must be other than 0, with fnmr + difference in (0, 1), not {found:g} at fnmr {rate:g}"
        )
    return array


def _warn_out_of_reach(settings: dict[str, NDArray[Any]], missing: NDArray[np.bool_], most: int) -> None:
    if missing.any():
        first = ", ".join(f"{name} {array[missing][0]:g}" for name, array in settings.items())
        warn(
            f"{most:,} subjects in each group are not enough for {missing.sum()} of {missing.size} settings, the first "
            f"{first}: n_subjects is NaN there; raise max_subjects, or ask for less",
            OutOfReachWarning,
        )
