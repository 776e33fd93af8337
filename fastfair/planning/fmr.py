"""`plan_fmr`: how many subjects a study needs, and who is compared with whom, to support a claimed FMR."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fastfair import intervals
from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests.frailty import count_errors, estimate
from fastfair.resampling.units import require_units
from fastfair.uncertainty.interval_maker import two_sided_level

from .false_matches import MOST_ERRORS, Design, FalseMatches, Limits, simulate
from .fmr_plans import FmrPlan, FmrStudy

_LEAST = 5  # subjects, below whom there is no variance
_ENOUGH_PAIRS = 5  # of a pilot with false matches, without which their covariance is not known
_MOST_RATE = 0.1  # for which false matches are rare
_FARTHEST = 16  # times the number of subjects from which the search starts, where it ends
_NEAR = 1.01  # ratio of numbers of subjects at which the search ends
_AROUND = (0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0)  # times the number needed, for the plot


@checked(n_samples=argument_kinds.whole)
def plan_fmr(
    *,
    claimed: float,
    fmr: float | None = None,
    covariance: float | None = None,
    again: float | None = None,
    pilot: Comparisons | None = None,
    at: OperatingPoint | None = None,
    n_partners: int | None = None,
    n_samples: int = 1,
    assurance: float = 0.8,
    n_simulations: int = 1000,
    confidence_level: float = 0.95,
    max_subjects: int = 100_000,
    rng: seeds.Seed = None,
) -> FmrPlan:
    """Find how many subjects a study needs so that its upper limit of the FMR is at most what is claimed.

    Parameters
    ----------
    claimed : float
        What the FMR is claimed not to exceed, in (0, 0.1].
    fmr : float, optional
        The true FMR to be expected, below `claimed`; 0 where no false match is expected. By default that of the pilot.
    covariance : float, optional
        Relative covariance of false matches that share one subject, at least 0: 0 if all subjects are falsely matched
        as often, 0.7 to 1.8 among the speakers of VoxCeleb1-H. By default that of the pilot.
    again : float, optional
        Chance, in [0, 1), that another comparison of the same two subjects is a false match where one is; needed for
        several samples of each. By default that of the pilot.
    pilot : Comparisons, optional
        Comparisons of a pilot, from which what is not given is estimated.
    at : OperatingPoint, optional
        The operating point of the pilot. Where few pairs have false matches there, a laxer one tells more of their
        covariance; `fmr` is then to be given.
    n_partners : int, optional
        How many other subjects, drawn at random, each is compared with. By default all.
    n_samples : int, default 1
        Number of samples of each subject. All samples of two subjects are compared, which makes `n_samples` squared
        comparisons.
    assurance : float, default 0.8
        Share of studies that are to support the claim, as `claim` judges, in (0, 1): their limit is at most what is
        claimed, and not likely too low because few subjects cause most false matches.
    n_simulations : int, default 1000
        Number of studies drawn for each number of subjects that is looked at.
    confidence_level : float, default 0.95
        The level of the limit, to one side, in (0.5, 1).
    max_subjects : int, default 100,000
        The largest number of subjects to consider, at least 5.
    rng
        Seed of the random numbers.

    Returns
    -------
    FmrPlan

    Raises
    ------
    InputError
        For numbers out of range, where `fmr`, `covariance` or `again` is missing and there is no pilot, and for a pilot
        with false matches of fewer than 5 pairs of subjects.

    Warns
    -----
    OutOfReachWarning
        Where `max_subjects` are too few.

    See Also
    --------
    claim : whether data support the claim.

    Notes
    -----
    Of N comparisons at the FMR p, the number of false matches has the variance N p (1 + a (c - 1)) + kappa p^2 M, if
    each two subjects have c comparisons: a is `again`, kappa the covariance, and M counts the ordered two comparisons
    that share one subject. Its last part falls as the number of subjects grows, not as that of comparisons does.

    Studies are drawn in which each subject has an effect, lognormal with mean 1 and variance kappa, and a comparison is
    a false match in proportion to the product of its subjects' effects. The limit of each is that of `claim`, by the
    dyadic-robust variance and its degrees of freedom, and so is its verdict. Without a false match the limit is that
    for the number of comparisons divided by the design effect of five pairs with false matches. The number of subjects
    is searched for until it is known to 1 %, and depends on the studies drawn by about as much.

    Examples
    --------
    >>> import fastfair as ff
    >>> plan = ff.plan_fmr(claimed=1e-3, fmr=5e-4, covariance=1.2, rng=0)
    >>> plan.n_subjects, plan.n_independent
    (382, 198)
    """
    claimed = validation.positive("claimed", validation.rate("claimed", claimed))
    if claimed > _MOST_RATE:
        raise InputError(f"claimed must be at most {_MOST_RATE:g}, as a plan takes false matches for rare")
    design = Design(
        None if n_partners is None else validation.count("n_partners", n_partners, 1),
        validation.count("n_samples", n_samples, 1),
    )
    matches = _matches(fmr, covariance, again, pilot, at, design)
    if matches.fmr >= claimed:
        raise InputError(f"fmr must be below what is claimed, {claimed:g}, not {matches.fmr:g}: no study would show it")
    share = validation.open_fraction("assurance", assurance)
    level = intervals.level(confidence_level)
    two_sided_level(level)
    most = validation.count("max_subjects", max_subjects, _LEAST)
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    key, seed = seeds.stream(rng)

    def study(n: int) -> Limits:
        return simulate(design, matches, n, level, n_simulations, key.tolist())

    about = _about(design, matches, claimed)
    farthest = min(most, _FARTHEST * about)
    found = _smallest(lambda n: study(n).support(claimed) >= share, about, farthest)
    if found is None:
        warn(
            f"{farthest:,} subjects are not enough for {100 * share:g} % of studies to support an FMR of at most "
            f"{claimed:g}; raise max_subjects, or ask for less",
            OutOfReachWarning,
        )
    n = found or farthest
    numbers = sorted({n, *(min(most, max(_LEAST, round(times * n))) for times in _AROUND)})
    rows = {
        k: _row(design, matches, study(k), claimed, share, level)
        for k in numbers
        if k == n or matches.fmr * design.comparisons(k) <= MOST_ERRORS
    }
    return FmrPlan(
        claimed=claimed, fmr=matches.fmr, covariance=matches.covariance, again=matches.again, wanted_assurance=share,
        n_subjects=found, needed=rows[n], studies=tuple(rows.values()),
        n_independent=independent_subjects(design, matches.fmr, claimed, share, level), confidence_level=level,
        settings={
            "at": None if at is None else str(at), "n_partners": n_partners, "n_samples": n_samples,
            "n_simulations": n_simulations, "max_subjects": most, "rng": seed,
        },
    )  # fmt: skip


def _matches(
    fmr: float | None, covariance: float | None, again: float | None,
    pilot: Comparisons | None, at: OperatingPoint | None, design: Design,
) -> FalseMatches:  # fmt: skip
    """Check how false matches come about, and take from the pilot what is not given."""
    if (pilot is None) != (at is None):
        raise InputError("pilot and at go together: give both, or neither")
    if again is None and design.repeats == 1:
        again = 0.0
    of_pilot = None
    if pilot is not None and at is not None and None in (fmr, covariance, again):
        of_pilot = matches_of(pilot, at)
    missing = [name for name, value in (("fmr", fmr), ("covariance", covariance), ("again", again)) if value is None]
    if missing and of_pilot is None:
        raise InputError(f"give {' and '.join(missing)}, or the comparisons of a pilot, pilot=, and their point, at=")
    if of_pilot is not None:
        fmr = of_pilot.fmr if fmr is None else fmr
        covariance = of_pilot.covariance if covariance is None else covariance
        again = of_pilot.again if again is None else again
    relative = validation.real("covariance", covariance)
    if relative < 0:
        raise InputError(f"covariance must be at least 0, not {relative:g}")
    return FalseMatches(validation.rate("fmr", fmr), relative, validation.rate("again", again))


def matches_of(pilot: Comparisons, at: OperatingPoint) -> FalseMatches:
    """Estimate how false matches come about from the comparisons of a pilot, as `fmr_test` does."""
    require_units(pilot, "subject")
    side = pilot.nonmated
    assert side.reference is not None
    assert side.probe is not None
    erred = side.keys >= threshold_key(pilot, at)
    design, counts = count_errors(side.reference, side.probe, np.zeros(erred.size, np.int64), erred, 1)
    if counts[0, 1] < _ENOUGH_PAIRS:
        raise InputError(
            f"the pilot has false matches of {counts[0, 1]} pairs of subjects at {at}, too few for their covariance: "
            "name a laxer operating point, and fmr="
        )
    found = estimate(counts, design)
    return FalseMatches(float(erred.mean()), float(found.kappa[0]), min(float(found.again), 1 - 1e-9))


def _about(design: Design, matches: FalseMatches, claimed: float) -> int:
    """Return about how many subjects are needed, by the variance of the number of false matches."""
    if matches.fmr == 0:
        return _first(lambda n: design.comparisons(n) * claimed >= 3)
    reach = math.log(claimed / matches.fmr)
    return _first(lambda n: math.sqrt(matches.relative_variance(design, n)) * 2.5 <= reach)


def _first(is_enough: Callable[[int], bool]) -> int:
    """Find the first of the numbers of subjects that is enough, where all larger ones are, too."""
    high = _LEAST
    while not is_enough(high) and high < 2**40:
        high *= 2
    low = max(_LEAST - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _smallest(is_enough: Callable[[int], bool], about: int, most: int) -> int | None:
    """Find the smallest number of subjects that is enough, to 1 %, starting from about that number."""
    high = min(most, max(_LEAST, about))
    while not is_enough(high):
        if high == most:
            return None
        high = min(most, math.ceil(1.3 * high))
    low = high
    while low > _LEAST and is_enough(low):
        low, high = max(_LEAST, math.floor(low / 1.3)), low
    if low == _LEAST and is_enough(low):
        return low
    while high > low * _NEAR and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def independent_subjects(design: Design, fmr: float, claimed: float, assurance: float, level: float) -> int:
    """Return how many subjects would do if all comparisons were independent, by Clopper and Pearson's limit."""
    from scipy.special import bdtr, betainc

    def supports(errors: int) -> Callable[[int], bool]:
        # The limit for so many errors in n is at most what is claimed where so many are this improbable at it.
        return lambda n: (
            design.comparisons(n) > errors and (betainc(errors + 1, design.comparisons(n) - errors, claimed) >= level)
        )

    errors = 0
    while True:
        n = _first(supports(errors))
        if bdtr(errors, design.comparisons(n), fmr) >= assurance:
            return n
        errors += 1


def _row(
    design: Design, matches: FalseMatches, found: Limits, claimed: float, share: float, level: float
) -> FmrStudy:  # fmt: skip
    from scipy.special import betaincinv

    size = design.comparisons(found.n)
    expected = size * matches.fmr
    errors = round(expected)
    return FmrStudy(
        n_subjects=found.n, n_pairs=design.pairs(found.n), n_comparisons=size, expected_errors=expected,
        limit=float(np.median(found.limit)),
        limit_assured=float(np.quantile(found.limit, share, method="inverted_cdf")),
        assurance=found.support(claimed), independent_limit=float(betaincinv(errors + 1, size - errors, level)),
    )  # fmt: skip
