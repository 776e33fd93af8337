"""`plan_power`, `plan_subjects`: how many subjects studies of groups' FNMRs need, and what they find, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import warn
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests.margins import share_inside

from .around import Around
from .margins import plan_margin
from .plans import MarginPlan, PowerPlan, SubjectsPlan
from .settings import broadcast, checked_difference, checked_goats, checked_settings
from .studies import Study
from .subjects import Attempts, Groups, Subjects


@checked(
    n_subjects=argument_kinds.numbers,
    n_attempts=argument_kinds.numbers,
    attempts=argument_kinds.numbers,
    fnmr=argument_kinds.numbers,
    correlation=argument_kinds.numbers,
)
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
    quantile: str = "family-wise",
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
        around = Around(int(settings["n_subjects"].ravel()[0]), again)
    return PowerPlan(
        **settings, margin=margin, power=power, confidence_level=confidence_level, quantile=quantile,
        attempts=None if pilot is None else pilot.as_dict(), goats=few or None, n_simulations=n_simulations, seed=seed,
        _around=around,
    )  # fmt: skip


@checked(
    n_attempts=argument_kinds.numbers,
    attempts=argument_kinds.numbers,
    fnmr=argument_kinds.numbers,
    correlation=argument_kinds.numbers,
    assurance=argument_kinds.numbers,
)
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
    quantile: str = "family-wise",
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
        around = Around(int(np.nan_to_num(needed.ravel()[0], nan=max_subjects)), again)
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
