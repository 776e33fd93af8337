"""`plan_margin`, `margin_study`: the margins of error of studies that compare the FNMRs of groups."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.progress import Report, reporting
from fastfair._lib.threads import run_blocks
from fastfair.errors import InputError
from fastfair.group_tests.margins import share_inside

from .around import Around
from .plans import MarginPlan
from .settings import checked_goats, checked_settings
from .studies import Study
from .subjects import Attempts, Groups, Subjects

METHODS = ("simulation", "exact")


@checked(
    n_subjects=argument_kinds.numbers,
    n_attempts=argument_kinds.numbers,
    attempts=argument_kinds.numbers,
    fnmr=argument_kinds.numbers,
    correlation=argument_kinds.numbers,
)
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
    simulated = validation.choice("method", method, METHODS) == "simulation"
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
        around = Around(int(settings["n_subjects"].ravel()[0]), again)
    return MarginPlan(
        **settings,
        margin=margin.reshape(settings["n_groups"].shape),
        confidence_level=confidence_level,
        quantile=quantile,
        method=method,
        assurance=share,
        attempts=None if pilot is None else pilot.as_dict(),
        goats=few or None,
        n_simulations=n_simulations if simulated else None,
        seed=seed if simulated else None,
        _around=around,
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
