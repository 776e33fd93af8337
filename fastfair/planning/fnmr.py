"""`plan_margin`, `plan_power`, `plan_subjects`: what studies of groups' FNMRs find, and how many subjects they need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.threads import run_blocks
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Report, reporting
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests.margins import Quantile, share_inside

from .plans import MarginPlan, PowerPlan, SubjectsPlan
from .studies import Attempts, Groups, Study, Subjects, broadcast, checked_difference, checked_goats, checked_settings

_Method = Literal["simulation", "exact"]
METHODS: tuple[_Method, ...] = get_args(_Method)


@checked
def plan_margin(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike | None = None,
    attempts: ArrayLike | None = None,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    goats: float | None = None,
    assurance: float | None = None,
    n_simulations: int = 1000,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    method: _Method = "simulation",
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
    n_attempts : array_like of int, optional
        Number of mated comparisons of each subject, if it is the same for all.
    attempts : array_like of int, optional
        In place of `n_attempts`: the number of mated comparisons of each subject of a pilot, as in
        `FailureCounts.attempts`. Subjects of the study are taken to have so many or so few, too.
    fnmr : array_like of float
        True FNMR of every group, in (0, 1).
    correlation : array_like of float
        Intra-class correlation of the decisions on one subject, in [0, 1].
    goats : float, optional
        Share of subjects, in (0, 1), who fail often while all others are alike, which makes the correlation. By default
        failures are beta-binomial: the subjects' own rates vary without a gap.
    assurance : float, optional
        Share of studies whose own margin is to be at most the one returned, in (0, 1). By default the margin is that
        for a known FNMR and correlation, as in the paper; the margin that a study estimates is larger in about half of
        studies.
    n_simulations : int, default 1000
        Number of studies drawn for each setting.
    confidence_level : float, default 0.95
        Probability that no group of a fair system is found to differ.
    quantile : {"family-wise", "paper"}
        Which quantile of the largest difference the margin is: "family-wise" is that at the confidence level 1 - alpha;
        "paper" that at 1 - alpha/2, as in the paper's step 5.
    method : {"simulation", "exact"}
        "simulation" draws studies, as the paper does. "exact" computes the distribution that they are drawn from,
        which is faster and has no simulation noise; with neither `attempts` nor `assurance`.
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
        For settings out of range, for settings whose shapes do not broadcast, where not exactly one of `n_attempts` and
        `attempts` is given, and where the exact method is asked for what it does not compute.

    See Also
    --------
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

    With `assurance`, each study drawn estimates its own margin as `margin_of_error` does, and the margin returned is
    the smallest that so many of them stay within. See `plan_subjects`.

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
    settings, pilot = checked_settings(
        n_attempts, attempts, n_groups=n_groups, n_subjects=n_subjects, fnmr=fnmr, correlation=correlation
    )
    probability = share_inside(confidence_level, quantile)
    simulated = method == "simulation"
    few = checked_goats(goats, settings)
    share = None if assurance is None else validation.open_fraction("assurance", assurance)
    for name, given in (("attempts", pilot), ("assurance", share)):
        if given is not None and not simulated:
            raise InputError(f'method="exact" computes no margin with {name}: use method="simulation"')
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    key, seed = seeds.stream(rng)
    groups, *others = (array.ravel() for array in settings.values())
    laws, law_of = np.unique(np.stack(others), axis=1, return_inverse=True)
    law_of = law_of.ravel()  # NumPy 2.0.0 gives it two dimensions
    of_law = np.split(np.argsort(law_of, kind="stable"), np.cumsum(np.bincount(law_of))[:-1])
    margin = np.empty(groups.size)

    def work(k: int) -> None:
        n, m, pi, rho = laws[:, k].tolist()
        subjects, at = Subjects(pilot or Attempts.of(m), pi, rho, few), of_law[k]
        if share is not None:
            for one in at:
                study = Study(Groups(int(groups[one]), subjects, subjects), probability, n_simulations, key)
                margin[one] = study.simulate(int(n)).margin_kept(share)
        elif simulated:
            margin[at] = subjects.simulated_margins(int(n), groups[at], probability, n_simulations, key)
        else:
            margin[at] = subjects.margin(int(n), groups[at], probability)

    with reporting(progress, f"{len(of_law):,} settings") as report:
        run_blocks(work, range(len(of_law)), len(of_law), 1, n_threads, report)
    around = None
    if margin.size == 1:
        again = partial(
            plan_margin, n_groups=n_groups, n_attempts=n_attempts, attempts=attempts, fnmr=fnmr,
            correlation=correlation, goats=goats, assurance=assurance, n_simulations=n_simulations,
            confidence_level=confidence_level, quantile=quantile, method=method, rng=seed, n_threads=n_threads,
        )  # fmt: skip
        around = int(settings["n_subjects"].ravel()[0]), again
    return MarginPlan(
        **settings, margin=margin.reshape(settings["n_groups"].shape), confidence_level=confidence_level,
        quantile=quantile, method=method, assurance=share, attempts=None if pilot is None else pilot.as_dict(),
        goats=few or None, n_simulations=n_simulations if simulated else None, seed=seed if simulated else None,
        _around=around,
    )  # fmt: skip


@checked
def plan_power(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike | None = None,
    attempts: ArrayLike | None = None,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    goats: float | None = None,
    difference: ArrayLike,
    n_simulations: int = 2000,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    rng: seeds.Seed = None,
) -> PowerPlan:
    """Compute how often a study would find a group whose FNMR differs from that of the others.

    Parameters
    ----------
    n_groups, n_subjects, n_attempts, attempts, fnmr, correlation, goats
        As in `plan_margin`; `fnmr` is the FNMR of all groups but one.
    difference : array_like of float
        FNMR of the remaining group minus `fnmr`; above or below 0.
    n_simulations : int, default 2000
        Number of studies drawn for each setting. With 2,000 a power of 80 % is known to within about 2 points.
    confidence_level, quantile
        As in `plan_margin`.
    rng
        Seed of the random numbers.

    Returns
    -------
    PowerPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, and where not exactly one of `n_attempts`
        and `attempts` is given.

    Notes
    -----
    The group is found if its estimate differs from that of all groups together by more than the margin that the study
    estimates, as `margin_of_error` does by default. As the group is one of these G groups, it moves their estimate by
    1 / G of the difference. Margins of simulated studies are those of normal laws with the variances estimated in each
    study, times a factor by which margins by replicates differ from them in 200 studies.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> ff.plan_power(n_subjects=[200, 400], difference=0.05, rng=0, **settings).power.round(2)
    array([0.5 , 0.89])
    """
    settings, pilot = checked_settings(
        n_attempts, attempts, n_groups=n_groups, n_subjects=n_subjects, fnmr=fnmr, correlation=correlation
    )
    settings = broadcast(settings | {"difference": checked_difference(difference, settings["fnmr"])})
    few = checked_goats(goats, settings)
    probability = share_inside(confidence_level, quantile)
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    key, seed = seeds.stream(rng)
    shape = settings["n_groups"].shape
    margin, power = np.empty(shape), np.empty(shape)
    for at in np.ndindex(shape):
        studies = _study(settings, at, (pilot, few), probability, n_simulations, key).simulate(
            int(settings["n_subjects"][at])
        )
        margin[at], power[at] = studies.margin_kept(0.5), studies.find()
    around = None
    if margin.size == 1:
        again = partial(
            plan_power, n_groups=n_groups, n_attempts=n_attempts, attempts=attempts, fnmr=fnmr, correlation=correlation,
            goats=goats, difference=difference, n_simulations=n_simulations, confidence_level=confidence_level,
            quantile=quantile, rng=seed,
        )  # fmt: skip
        around = int(settings["n_subjects"].ravel()[0]), again
    return PowerPlan(
        **settings, margin=margin, power=power, confidence_level=confidence_level, quantile=quantile,
        attempts=None if pilot is None else pilot.as_dict(), goats=few or None, n_simulations=n_simulations, seed=seed,
        _around=around,
    )  # fmt: skip


@checked
def plan_subjects(
    *,
    n_groups: ArrayLike,
    n_attempts: ArrayLike | None = None,
    attempts: ArrayLike | None = None,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    goats: float | None = None,
    margin: ArrayLike | None = None,
    assurance: ArrayLike = 0.8,
    difference: ArrayLike | None = None,
    power: ArrayLike = 0.8,
    n_simulations: int = 2000,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    max_subjects: int = 100_000,
    rng: seeds.Seed = None,
) -> SubjectsPlan:
    """Find how many subjects a study needs in each group, for a margin of error or to find a group that differs.

    Parameters
    ----------
    n_groups, n_attempts, attempts, fnmr, correlation, goats
        As in `plan_margin`.
    margin : array_like of float, optional
        The largest margin allowed; either this or `difference`.
    assurance : array_like of float, default 0.8
        Share of studies whose own margin, as `margin_of_error` estimates it, is to be at most `margin`; ignored with
        `difference`.
    difference : array_like of float, optional
        FNMR of the group to find, as in `plan_power`, minus `fnmr`.
    power : array_like of float, default 0.8
        Probability with which that group is to be found; ignored with `margin`.
    n_simulations : int, default 2000
        Number of studies drawn for each number of subjects that is looked at.
    confidence_level, quantile
        As in `plan_margin`.
    max_subjects : int, default 100,000
        The largest number of subjects to consider, at least 2.
    rng
        Seed of the random numbers.

    Returns
    -------
    SubjectsPlan
        With arrays of the shape that the settings broadcast to. `SubjectsPlan.n_subjects` is NaN where `max_subjects`
        are too few.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, where not exactly one of `n_attempts` and
        `attempts` is given, and where not exactly one of `margin` and `difference` is.

    Warns
    -----
    OutOfReachWarning
        Where `max_subjects` are too few; what studies find is then that of `max_subjects`.

    Notes
    -----
    A study is simulated as in `plan_power`. What is simulated for one number of subjects tells of near ones, as errors
    fall with the root of the number, so few numbers are simulated; the last is within 3 % of the one returned.

    Where all subjects make as many attempts m, margins are multiples of 1 / (n_subjects * m), so one number of subjects
    can be enough and the next not. The result is the smallest number from which on all numbers are enough, and more
    studies than asked for may then stay within the margin. The search continues past the last number that is not enough
    until the multiples have shifted by several steps.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> plan = ff.plan_subjects(difference=0.05, rng=0, **settings)
    >>> float(plan.n_subjects), float(plan.power.round(2)), float(plan.margin.round(4))
    (335.0, 0.8, 0.0343)
    """
    settings, pilot = checked_settings(n_attempts, attempts, n_groups=n_groups, fnmr=fnmr, correlation=correlation)
    if (margin is None) == (difference is None):
        raise InputError("give margin or difference, and not both: it determines how many subjects are needed")
    if margin is not None:
        asked = {
            "wanted_margin": validation.fractions("margin", margin, ends=False),
            "wanted_assurance": validation.fractions("assurance", assurance, ends=False),
        }
    else:
        asked = {
            "difference": checked_difference(difference, settings["fnmr"]),
            "wanted_power": validation.fractions("power", power, ends=False),
        }
    settings = broadcast(settings | asked)
    few = checked_goats(goats, settings)
    probability = share_inside(confidence_level, quantile)
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    max_subjects = validation.count("max_subjects", max_subjects, 2)
    key, seed = seeds.stream(rng)
    shape = settings["n_groups"].shape
    needed, margins, shares = np.empty(shape), np.empty(shape), np.empty(shape)
    for at in np.ndindex(shape):
        study = _study(settings, at, (pilot, few), probability, n_simulations, key)
        if margin is not None:
            wanted = float(settings["wanted_margin"][at])
            found, studies = study.subjects_for_margin(wanted, float(settings["wanted_assurance"][at]), max_subjects)
            shares[at] = studies.keep(wanted)
        else:
            found, studies = study.subjects_for_power(float(settings["wanted_power"][at]), max_subjects)
            shares[at] = studies.find()
        needed[at], margins[at] = np.nan if found is None else found, studies.margin_kept(0.5)
    _warn_out_of_reach(settings, np.isnan(needed), max_subjects)
    around = None
    if needed.size == 1:
        given: dict[str, Any] = {
            "n_groups": n_groups, "n_attempts": n_attempts, "attempts": attempts, "fnmr": fnmr,
            "correlation": correlation, "goats": goats, "n_simulations": n_simulations,
            "confidence_level": confidence_level, "quantile": quantile, "rng": seed,
        }  # fmt: skip
        if difference is not None:
            again: Callable[..., MarginPlan | PowerPlan] = partial(plan_power, difference=difference, **given)
        else:
            again = partial(plan_margin, assurance=float(settings["wanted_assurance"].ravel()[0]), **given)
        around = int(np.nan_to_num(needed.ravel()[0], nan=max_subjects)), again
    return SubjectsPlan(
        **settings, n_subjects=needed, margin=margins,
        assurance=None if margin is None else shares, power=shares if margin is None else None,
        confidence_level=confidence_level, quantile=quantile,
        attempts=None if pilot is None else pilot.as_dict(), goats=few or None, n_simulations=n_simulations, seed=seed,
        _around=around,
    )  # fmt: skip


def _study(
    settings: dict[str, NDArray[Any]], at: tuple[int, ...], subjects: tuple[Attempts | None, float], probability: float,
    n_simulations: int, key: NDArray[np.uint32],
) -> Study:  # fmt: skip
    """Make the study of one entry of arrays of settings; of subjects with the attempts of a pilot and some goats."""
    pilot, goats = subjects
    m, pi, rho = (settings[name][at].item() for name in ("n_attempts", "fnmr", "correlation"))
    attempts = pilot or Attempts.of(m)
    difference = float(settings["difference"][at]) if "difference" in settings else 0.0
    alike = Subjects(attempts, pi, rho, goats)
    differing = Subjects(attempts, pi + difference, rho, goats) if difference else alike
    return Study(Groups(int(settings["n_groups"][at]), differing, alike), probability, n_simulations, key)


def _warn_out_of_reach(settings: dict[str, NDArray[Any]], missing: NDArray[np.bool_], most: int) -> None:
    if missing.any():
        first = ", ".join(f"{name} {array[missing][0]:g}" for name, array in settings.items())
        warn(
            f"{most:,} subjects in each group are not enough for {missing.sum()} of {missing.size} settings, the first "
            f"{first}: n_subjects is NaN there; raise max_subjects, or ask for less",
            OutOfReachWarning,
        )
