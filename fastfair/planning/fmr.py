"""`plan_fmr`: how many subjects a study needs, and who is compared with whom, to support a claimed
FMR.

Studies are simulated, and judged as `claim` judges: how many false matches there are, the upper
limit of the FMR, and whether few subjects cause most of them. Subjects err as those of the pilot
do, or by a lognormal law.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from scipy.special import bdtr, betainc, betaincinv, ndtr, ndtri, xlogy

from fastfair._lib import memory, seeds
from fastfair._lib.arguments import Natural, Probability, Rate, at_least, checked
from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair._lib.bisection import least_whole
from fastfair._lib.plots import axes_or_new, tick_per_cent
from fastfair._lib.text import per_cent
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.exclusions import exclusions_of
from fastfair.data.sessions import refuse_sessions
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, threshold_key
from fastfair.error_rates.rates import errors_of_top_subjects
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests.frailty import chance_of_errors, count_errors, estimate
from fastfair.resampling.dependence import ENOUGH_PAIRS, effective_size, overdispersion
from fastfair.resampling.units import require_units
from fastfair.results.result import Result
from fastfair.uncertainty.interval_maker import ROOM, are_of_few, two_sided_level
from fastfair.uncertainty.notes import CONCENTRATED
from fastfair.uncertainty.rate_limits import RateEvidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ERRORS = 1e5  # of a study that is drawn
_LEAST_STUDIES = 200  # which are drawn, however
_WORK = 5e6  # many false matches and subjects they have in all
# of drawing pairs, after which those not drawn yet are left out: a few subjects have all false
# matches
_ROUNDS = 50
_VALUES = 60  # times as often as on average that subjects may err
_LEAST_TIMES = 0.02  # the least of them
_LEAST_SPREAD = 0.1  # of the logarithms of effects, where the steps begin
_TOP = 0.05  # share of the subjects, those with most false matches
_MOST_PAIRS = 0.9  # that a subject errs with
_STEPS = 200  # of expectation and maximisation, which would end at a law of very few values


class Subjects(NamedTuple):
    """Subjects who are drawn for a study.

    Attributes
    ----------
    n : int
        Their number.
    all_pairs : float
        Sum over all pairs of how much more often than at the FMR they have a false match.
    pairs : callable
        Draws so many pairs with false matches, some of them twice or of one subject with itself:
        (2, m).
    """

    n: int
    all_pairs: float
    pairs: Callable[[int], Integers]


def lognormal_subjects(n: int, covariance: float, rng: np.random.Generator) -> Subjects:
    """Draw subjects with lognormal effects of mean 1; two err in proportion to the product of their
    effects.
    """
    spread = math.log1p(covariance)
    effect = np.exp(math.sqrt(spread) * rng.standard_normal(n) - spread / 2)
    ends = np.cumsum(effect)
    all_pairs = float((effect.sum() ** 2 - (effect**2).sum()) / 2)
    return Subjects(
        n, all_pairs, lambda m: np.searchsorted(ends, ends[-1] * rng.random((2, m)), side="right")
    )


class Law(NamedTuple):
    """The law of a pilot's subjects, whose scores are sums of both subjects' parts and of a normal
    noise.

    Attributes
    ----------
    rates : (v, v) ndarray
        The share of false matches among subjects with any two parts, up to a factor.
    shares : (v,) ndarray
        The share of subjects with each part.
    """

    rates: Floats
    shares: Floats

    @classmethod
    def of(cls, errors: Integers, chances: Floats, fmr: float, covariance: float) -> Law:
        """Estimate the law of subjects who err with so many of their partners, in proportion to
        chances.

        How often subjects err is estimated by the maximum of likelihood of a mixture of Poisson
        laws (Kiefer and Wolfowitz 1956), reached for by steps of expectation and maximisation from
        the lognormal law of a covariance.
        """
        expected = chances * (errors.sum() / chances.sum())
        times = np.geomspace(_LEAST_TIMES, max(4.0, float((errors / expected).max())), _VALUES)
        (numbers, means), subjects = np.unique(
            np.stack((errors, expected)), axis=1, return_counts=True
        )
        weights = subjects * means  # as many comparisons as they have
        mean = means[:, None] * times
        logarithm = xlogy(numbers[:, None], mean) - mean
        likelihood = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        spread = max(math.log1p(covariance), _LEAST_SPREAD)
        shares = np.exp(-((np.log(times) + spread / 2) ** 2) / (2 * spread))
        for _ in range(_STEPS):
            of_each = likelihood * shares
            shares = weights @ (of_each / of_each.sum(axis=1, keepdims=True))
        shares /= shares.sum()
        wanted = ndtri(np.minimum(fmr * times / (shares @ times), _MOST_PAIRS))
        part = wanted / 2
        for _ in range(_STEPS):  # until the parts make these rates of subjects
            part += (wanted - ndtri(ndtr(np.add.outer(part, part)) @ shares)) / 2
        return cls(ndtr(np.add.outer(part, part)), shares)

    @property
    def concentration(self) -> float:
        """As `Design.concentration`."""
        order = np.argsort(-(self.rates @ self.shares))
        top = np.empty_like(self.shares)
        top[order] = np.diff(np.minimum(np.cumsum(self.shares[order]), _TOP), prepend=0.0)
        others = self.shares - top
        return float(1 - others @ self.rates @ others / (self.shares @ self.rates @ self.shares))

    def draw(self, n: int, rng: np.random.Generator) -> Subjects:
        """Draw subjects."""
        number = rng.multinomial(n, self.shares)
        weights = np.outer(number, number) * self.rates
        ends = np.cumsum(weights)
        first = np.cumsum(number) - number

        def pairs(m: int) -> Integers:
            parts = np.stack(
                np.divmod(
                    np.searchsorted(ends, ends[-1] * rng.random(m), side="right"), number.size
                )
            )
            return first[parts] + (rng.random((2, m)) * number[parts]).astype(np.int64)

        usual = self.shares @ self.rates @ self.shares
        return Subjects(n, float((ends[-1] - number @ self.rates.diagonal()) / (2 * usual)), pairs)


@dataclass(frozen=True)
class Design:
    """Who is compared with whom, and how false matches come about.

    Attributes
    ----------
    n_partners : int or None
        How many others, drawn at random, each subject is compared with; None for all.
    n_samples : int
        Samples of each subject; all samples of two subjects who are compared are.
    fmr : float
        The share of false matches.
    covariance : float
        Relative covariance of false matches that share one subject.
    again : float
        Chance that another comparison of two subjects is a false match where one is.
    law : Law, optional
        Of the subjects of a pilot; by default effects are lognormal.
    """

    n_partners: int | None
    n_samples: int
    fmr: float = 0.0
    covariance: float = 0.0
    again: float = 0.0
    law: Law | None = None

    @property
    def repeats(self) -> int:
        """Comparisons of two subjects."""
        return self.n_samples**2

    def partners(self, n: int) -> int:
        """Return how many others each of n subjects is compared with."""
        return n - 1 if self.n_partners is None else min(self.n_partners, n - 1)

    def pairs(self, n: int) -> int:
        """Return how many pairs of n subjects are compared."""
        return n * self.partners(n) // 2

    def comparisons(self, n: int) -> int:
        """Return the number of comparisons of n subjects."""
        return self.pairs(n) * self.repeats

    def relative_variance(self, n: int) -> float:
        """Return the variance of the FMR of n subjects over its square: of N comparisons, with M as
        in `frailty`.

        That of the number of false matches is N p (1 + a (c - 1)) + kappa p^2 M, if each two
        subjects have c comparisons.
        """
        size, partners = self.comparisons(n), self.partners(n)
        repeated = size * (self.repeats - 1)
        sharing = n * self.repeats**2 * partners * (partners - 1)
        more = overdispersion(self.again, repeated, self.covariance, self.fmr, sharing, size)
        return float(more / (size * self.fmr))

    @property
    def concentration(self) -> float:
        """The share of false matches that involve one of the 5 % of subjects with most, in endless
        data.
        """
        if self.law is not None:
            return self.law.concentration
        # Of lognormal effects weighted by themselves, the logarithms are higher by their variance.
        return float(1 - ndtr(ndtri(1 - _TOP) - math.sqrt(math.log1p(self.covariance))) ** 2)

    def draw(self, n: int, rng: np.random.Generator) -> Subjects:
        """Draw the subjects of a study."""
        return (
            lognormal_subjects(n, self.covariance, rng)
            if self.law is None
            else self.law.draw(n, rng)
        )


def simulate(
    design: Design, n: int, confidence_level: float, n_studies: int, seed: list[int]
) -> tuple[Integers, Floats, Flags]:
    """Draw studies with n subjects and compute their upper limits as `claim` does, but from
    variances in closed form.

    Two subjects have a false match in proportion to the product of their effects. Only pairs with
    false matches are drawn.

    n is at least 4, and the level above 0.5. Fewer studies are drawn where they have many subjects
    or false matches. Returned are (studies,) numbers of false matches, upper limits of the FMR, and
    whether few subjects cause most false matches, so that `claim` takes the limit for too low.
    """
    memory.require(
        100 * n + 50 * n_studies + 24 * design.repeats,
        f"{n_studies:,} studies of {n:,} subjects with {design.n_samples:,} samples each",
        "plan for fewer",
    )
    mean = design.fmr * design.comparisons(n)
    if mean > MOST_ERRORS:
        raise InputError(
            f"studies of {n:,} subjects would have {mean:,.0f} false matches each, too many to"
            f" draw: claim more than {design.fmr:g}, or compare each subject with fewer others"
            " (⟦n_partners⟧)"
        )
    n_studies = min(n_studies, max(_LEAST_STUDIES, int(_WORK / (mean + n))))
    rng = np.random.default_rng([*seed, n])
    size = design.comparisons(n)
    of_pair = float(chance_of_errors(np.array(float(design.repeats)), np.array(design.again)))
    in_design = design.partners(n) / (n - 1)
    errors, is_narrow = np.zeros(n_studies, np.int64), np.zeros(n_studies, np.bool_)
    error, freedom, effective = np.ones((3, n_studies))
    for study in range(n_studies):
        subjects = design.draw(n, rng)
        n_pairs = min(
            rng.poisson(design.fmr * subjects.all_pairs * in_design * of_pair), design.pairs(n)
        )
        drawn = _draw(subjects, n_pairs, design, rng)
        errors[study] = total = int(drawn[2].sum())
        if total == 0:
            five = _draw(subjects, min(ENOUGH_PAIRS, design.pairs(n)), design, rng)
            few = float(five[2].sum())
            effective[study] = max(1, n // 2)
            if few < size:
                effective[study] = effective_size(size, few, dyadic_variance(five, n, design)[0])
        else:
            variance, of_variance = dyadic_variance(drawn, n, design)
            error[study] = math.sqrt(variance) / size
            freedom[study] = max(1.0, min(of_variance, n - 1))
            is_narrow[study] = are_of_few(total, n, concentration(drawn, n))
    evidence = RateEvidence(np.minimum(errors / size, 1), error, freedom, effective)
    return errors, evidence.interval(2 * confidence_level - 1)[1], is_narrow


def _draw(
    subjects: Subjects, n_pairs: int, design: Design, rng: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Draw distinct pairs of subjects with false matches, and how many each has."""
    n = subjects.n
    codes = np.empty(0, np.int64)
    for _ in range(_ROUNDS):
        if codes.size == n_pairs:
            break
        a, b = subjects.pairs(2 * (n_pairs - codes.size) + 2)
        drawn = np.minimum(a, b) * n + np.maximum(a, b)
        codes = np.concatenate((codes, drawn[a != b]))
        _, first = np.unique(codes, return_index=True)
        codes = codes[np.sort(first)][:n_pairs]
    n_pairs = codes.size
    times = np.ones(n_pairs, np.int64)
    if design.repeats > 1 and design.again > 0:
        # The first of them to err is at a place that is geometric, and each of those after it errs
        # with the chance.
        before = (1 - design.again) ** np.arange(design.repeats)
        first_error = rng.choice(design.repeats, n_pairs, p=before / before.sum())
        times += rng.binomial(design.repeats - 1 - first_error, design.again)
    return codes // n, codes % n, times


def dyadic_variance(
    errors: tuple[Integers, Integers, Integers], n: int, design: Design
) -> tuple[float, float]:
    """Compute the dyadic-robust variance of a number of false matches and its degrees of freedom.

    Each of the n subjects has as many comparisons. errors are the two subjects and the number of
    false matches of each of the (pairs,) that has any.
    """
    from fastfair.kernels import dyadic, pair_walk

    ends = np.concatenate(errors[:2])
    times = np.tile(errors[2].astype(np.float64), 2)
    each = np.full(n, float(design.partners(n) * design.repeats))  # comparisons of a subject
    of_subject = np.bincount(ends, times, n)
    wrong = np.array(
        [of_subject, np.bincount(ends, times**2, n), design.repeats * of_subject], np.float64
    )
    of_pairs = np.zeros((1, pair_walk.N_SUMS))
    sums = pair_walk.Sums(
        each, design.repeats * each, each.sum(keepdims=True), wrong[None], of_pairs
    )
    point = (np.int64(0), errors[2].sum(keepdims=True), np.zeros(1, np.int64))
    stratum = np.zeros(n, np.int32)
    estimates = np.empty((1, 3))
    pair_walk.finish_list(
        sums, np.arange(n), point, (stratum, np.array([n])), estimates, of_pairs.copy()
    )
    return float(estimates[0, dyadic.ROBUST]), float(estimates[0, dyadic.FREEDOM])


def concentration(errors: tuple[Integers, Integers, Integers], n: int) -> float:
    """Return the share of false matches that involve one of the 5 % of n subjects with most."""
    first, second = (np.repeat(end, errors[2]) for end in errors[:2])
    return errors_of_top_subjects(first, second, n, n) / first.size


@dataclass(frozen=True)
class FmrStudy:
    """What studies with so many subjects find.

    Attributes
    ----------
    n_subjects, n_pairs, n_comparisons : int
        Numbers of subjects, of pairs of subjects who are compared, and of comparisons.
    expected_errors : float
        Number of false matches to be expected.
    limit : float
        The upper limit of the FMR, the median over simulated studies.
    limit_assured : float
        The limit that the wanted share of studies stays within.
    within_limit : float
        The share of studies whose limit is low enough; with fewer than 30 false matches, four times
        their limit.
    concentrated : float
        The share of studies in which few subjects cause so many false matches that `claim` takes
        limits for too low.
    assurance : float
        The share of studies that support the claim: their limit is low enough, and false matches
        not concentrated.
    independent_limit : float
        Clopper and Pearson's limit for the expected number of false matches, rounded, if
        comparisons were independent.
    """

    n_subjects: int
    n_pairs: int
    n_comparisons: int
    expected_errors: float
    limit: float
    limit_assured: float
    within_limit: float
    concentrated: float
    assurance: float
    independent_limit: float


@dataclass(frozen=True, eq=False, repr=False)
class FmrPlan(Result):
    """The result of `plan_fmr`.

    Attributes
    ----------
    claimed : float
        What the FMR is claimed not to exceed.
    fmr : float
        The true FMR to be expected.
    covariance : float
        Relative covariance of false matches that share one subject.
    again : float
        Chance that another comparison of two subjects is a false match where one is.
    wanted_assurance : float
        The share of studies that are to support the claim.
    n_subjects : int or None
        The number of subjects with which they do; None where `max_subjects` are too few, or where
        no number would do, as few subjects cause most false matches.
    n_by_limit : int or None
        The number of subjects with which limits are low enough, whoever causes the false matches;
        None where `max_subjects` are too few.
    concentration : float
        The share of false matches that involve one of the 5 % of subjects with most, in endless
        data. `claim` supports nothing where it is about 0.7 or more.
    needed : FmrStudy
        What studies of so many subjects find; where there is no such number, studies of
        `n_by_limit` subjects, or of `max_subjects`.
    studies : tuple of FmrStudy
        What studies of fewer and of more subjects find, by their number; `needed` is among them.
    n_independent : int
        The number of subjects that would do if all comparisons were independent.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The arguments of the call, and the seed.
    """

    claimed: float
    fmr: float
    covariance: float
    again: float
    wanted_assurance: float
    n_subjects: int | None
    n_by_limit: int | None
    concentration: float
    needed: FmrStudy
    studies: tuple[FmrStudy, ...]
    n_independent: int
    confidence_level: float
    settings: dict[str, Any]

    _title = "How many subjects the claim needs"
    _rows = "studies"
    _printed = """n_subjects n_pairs n_comparisons expected_errors limit limit_assured within_limit concentrated
        assurance independent_limit"""
    _derived = ("rule_of_3", "rule_of_30")

    @property
    def rule_of_3(self) -> int:
        """How many independent comparisons without a false match would support the claim, by the
        rule of 3.
        """
        return math.ceil(3 / self.claimed)

    @property
    def rule_of_30(self) -> float:
        """How many comparisons have 30 false matches on average, for the rule of 30; infinite at an
        FMR of 0.
        """
        return math.ceil(30 / self.fmr) if self.fmr else math.inf

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        needed = self.needed
        level = f"{100 * self.confidence_level:g} %"
        partners, samples = self.settings["n_partners"], self.settings["n_samples"]
        with_whom = "all others" if partners is None else f"{partners:,} others drawn at random"
        of_each = "" if samples == 1 else f", {samples:,} samples of each"
        text = [
            (
                f"The claim: FMR at most {per_cent(self.claimed)}; expected is"
                f" {per_cent(self.fmr)}, and a relative covariance of {self.covariance:.3g} between"
                " false matches that share a subject."
            ),
            (
                f"{needed.n_subjects:,} subjects{of_each}, each compared with {with_whom}, make"
                f" {needed.n_comparisons:,} comparisons of {needed.n_pairs:,} pairs;"
                f" {needed.expected_errors:.3g} false matches are expected."
            ),
            (
                f"{per_cent(needed.assurance)} of such studies support the claim, with an upper limit"
                f" ({level}) of at most {per_cent(self.claimed)}; half of them have a limit of at"
                f" most {per_cent(needed.limit)}."
            ),
        ]
        about = (
            f"5 % of the subjects have a part in {per_cent(self.concentration, 2)} of all false"
            " matches"
        )
        if self.n_subjects is None and self.n_by_limit == needed.n_subjects:
            text.append(
                f"No number of subjects would do: {about}, and in {per_cent(needed.concentrated)} of"
                " such studies in so many that claim takes the limit for too low. Find out whose"
                " false matches these are."
            )
        elif self.n_subjects is None:
            text.append(
                f"That is too few for {per_cent(self.wanted_assurance)} of studies: plan for more"
                " subjects."
            )
        elif self.n_by_limit is not None and self.n_subjects > _MORE * self.n_by_limit:
            text.append(
                f"By their limits alone {self.n_by_limit:,} subjects would do, but {about}, and"
                " with fewer subjects claim more often takes the limit for too low."
            )
        text.append(
            f"If all comparisons were independent, {self.n_independent:,} subjects would do. The"
            f" rule of 3 asks for {self.rule_of_3:,} comparisons without a false match"
            + (f", that of 30 for {self.rule_of_30:,} comparisons." if self.fmr else ".")
        )
        return text

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the limits of studies over their numbers of subjects, and the number that is needed.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib.ticker import LogLocator, NullLocator

        ax = axes_or_new(ax)
        n = [study.n_subjects for study in self.studies]
        kept = f"limit that {100 * self.wanted_assurance:g} % of studies keep"
        ax.plot(
            n, [study.limit_assured for study in self.studies], "o-", color="#0072B2", label=kept
        )
        ax.plot(
            n, [study.limit for study in self.studies], ".-", color="#56B4E9", label="median limit"
        )
        independent = [study.independent_limit for study in self.studies]
        ax.plot(n, independent, ":", color="0.45", label="limit if comparisons were independent")
        ax.axhline(
            self.claimed, color="k", linestyle="--", linewidth=1.2, zorder=0, label="claimed"
        )
        if self.fmr:
            ax.axhline(self.fmr, color="0.7", linewidth=1.2, zorder=0, label="expected FMR")
        if self.n_subjects is not None:
            ax.axvline(self.n_subjects, color="0.8", linewidth=1, zorder=0)
            ax.annotate(
                f"{self.n_subjects:,}",
                (self.n_subjects, self.claimed),
                (4, 4),
                textcoords="offset points",
            )
        ax.set(xlabel="Subjects", ylabel="Upper limit of the FMR", xscale="log", yscale="log")
        ax.set_xticks(n, [f"{k:,}" for k in n])
        ax.set_xticks([], minor=True)
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(tick_per_cent)
        ax.yaxis.set_minor_locator(NullLocator())
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
        return ax


_LEAST = 5  # subjects, below whom there is no variance
_MOST_RATE = 0.1  # for which false matches are rare
_FARTHEST = 16  # times the number of subjects from which the search starts, where it ends
_MORE = 1.1  # times as many subjects are more than chance makes of the search
_STEP = 1.3  # ratio of numbers of subjects that the search looks at first,
_NEAR = 1.01  # and at which it ends
_AROUND = (0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0)  # times the number needed, for the plot


@checked
def plan_fmr(
    *,
    claimed: Probability,
    fmr: Rate | None = None,
    covariance: float | None = None,
    again: Rate | None = None,
    pilot: Comparisons | None = None,
    at: OperatingPoint | None = None,
    n_partners: Natural | None = None,
    n_samples: Natural = 1,
    assurance: Probability = 0.8,
    n_simulations: Natural = 1000,
    confidence_level: Probability = 0.95,
    max_subjects: Annotated[int, at_least(_LEAST)] = 100_000,
    rng: seeds.Seed = None,
) -> FmrPlan:
    """Find how many subjects a study needs so that `claim` supports what is claimed of its FMR.

    Parameters
    ----------
    claimed : float
        What the FMR is claimed not to exceed, in (0, 0.1].
    fmr : float, optional
        The true FMR to be expected, below `claimed`; 0 where no false match is expected. By default
        that of the pilot.
    covariance : float, optional
        Relative covariance of false matches that share one subject, at least 0: 0 if all subjects
        are falsely matched as often, 0.7 to 1.8 among the speakers of VoxCeleb1-H. By default
        subjects are as those of the pilot.
    again : float, optional
        Chance, in [0, 1), that another comparison of the same two subjects is a false match where
        one is; needed for several samples of each. By default that of the pilot.
    pilot : Comparisons, optional
        Comparisons of a pilot, from which what is not given is estimated. With one of 1,500 people
        plans deliver what they promise; one of 400 hardly shows whether few people cause most false
        matches.
    at : OperatingPoint, optional
        The operating point of the pilot. Where few pairs have false matches there, a laxer one
        tells more of their covariance; `fmr` is then to be given.
    n_partners : int, optional
        How many other subjects, drawn at random, each is compared with. By default all.
    n_samples : int, default 1
        Number of samples of each subject. All samples of two subjects are compared, which makes
        `n_samples` squared comparisons.
    assurance : float, default 0.8
        Share of studies that are to support the claim, as `claim` judges, in (0, 1): their limit is
        at most what is claimed, and not likely too low because few subjects cause most false
        matches.
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
        For numbers out of range, where `fmr`, `covariance` or `again` is missing and there is no
        pilot, and for a pilot with false matches of fewer than 5 pairs of subjects.

    Warns
    -----
    OutOfReachWarning
        Where `max_subjects` are too few, or no number would do.

    See Also
    --------
    claim : whether data support the claim.

    Notes
    -----
    Of N comparisons at the FMR p, the number of false matches has the variance N p (1 + a (c - 1))
    + kappa p^2 M, if each two subjects have c comparisons: a is `again`, kappa the covariance, and
    M counts the ordered two comparisons that share one subject. Its last part falls as the number
    of subjects grows, not as that of comparisons does.

    Studies are drawn, and judged as `claim` judges: by the upper limit from the dyadic-robust
    variance and its degrees of freedom, which with fewer than 30 false matches has to be a quarter
    of what is claimed, and not where few subjects cause most false matches. Without a false match
    the limit is that for the number of comparisons divided by the design effect of five pairs with
    false matches. The number of subjects is searched for until it is known to 1 %, and depends on
    the studies drawn by about as much.

    Subjects are as those of the pilot: scores are sums of both subjects' parts and of a normal
    noise, and how often subjects are falsely matched is estimated by the nonparametric maximum of
    likelihood of a mixture of Poisson laws [1]_. With a covariance that is given, subjects have
    effects, lognormal with mean 1 and variance kappa, and a comparison is a false match in
    proportion to the product of its subjects' effects.

    Where 5 % of the subjects have a part in about 70 % of false matches or more, `claim` takes
    every limit for too low, and more data show it more clearly: no number of subjects would do.
    Where it is somewhat less, studies find less the more subjects they have, and `n_subjects` is
    larger than `n_by_limit`.

    References
    ----------
    .. [1] J. Kiefer and J. Wolfowitz, "Consistency of the maximum likelihood estimator in the presence of infinitely
       many incidental parameters", Annals of Mathematical Statistics 27(4), 1956.

    Examples
    --------
    >>> import fastfair as ff
    >>> plan = ff.plan_fmr(claimed=1e-3, fmr=5e-4, covariance=1.2, rng=0)
    >>> plan.n_subjects, plan.n_independent
    (382, 198)
    """
    if claimed > _MOST_RATE:
        raise InputError(
            f"claimed must be at most {_MOST_RATE:g}, as a plan takes false matches for rare"
        )
    if (pilot is None) != (at is None):
        raise InputError("pilot and at go together: give both, or neither")
    if covariance is not None and covariance < 0:
        raise InputError(f"covariance must be at least 0, not {covariance:g}")
    given: dict[str, Any] = {
        "fmr": fmr,
        "covariance": covariance,
        "again": 0.0 if again is None and n_samples == 1 else again,
    }
    missing = [name for name, value in given.items() if value is None]
    if missing:
        if pilot is None or at is None:
            listed = " and ".join(f"⟦{name}⟧" for name in missing)
            raise InputError(
                f"give {listed}, or the comparisons of a pilot, ⟦pilot=⟧, and their point, ⟦at=⟧"
            )
        of_pilot = _of_pilot(pilot, at, fmr)
        given |= {name: float(of_pilot[name]) for name in missing}
        given["law"] = of_pilot["law"] if covariance is None else None
    design = Design(n_partners, n_samples, **given)
    if design.fmr >= claimed:
        raise InputError(
            f"fmr must be below what is claimed, {claimed:g}, not {design.fmr:g}: no study would"
            " show it"
        )
    two_sided_level(confidence_level)
    key, seed = seeds.stream(rng)

    @cache
    def study(n: int) -> FmrStudy:
        errors, limit, is_narrow = simulate(
            design, n, confidence_level, n_simulations, key.tolist()
        )
        size = design.comparisons(n)
        within = np.where((errors < ENOUGH_ERRORS) & (n < 2 * size), ROOM, 1) * limit <= claimed
        expected = round(size * design.fmr)
        return FmrStudy(
            n_subjects=n,
            n_pairs=design.pairs(n),
            n_comparisons=size,
            expected_errors=size * design.fmr,
            limit=float(np.median(limit)),
            limit_assured=float(np.quantile(limit, assurance, method="inverted_cdf")),
            within_limit=float(within.mean()),
            concentrated=float(is_narrow.mean()),
            assurance=float((within & ~is_narrow).mean()),
            independent_limit=float(betaincinv(expected + 1, size - expected, confidence_level)),
        )

    about = _about(design, claimed)
    farthest = min(max_subjects, _FARTHEST * about)
    by_limit = n = _smallest(lambda n: study(n).within_limit >= assurance, about, farthest, _NEAR)
    concentration, fewer = design.concentration, n

    def is_supported(n: int) -> bool:
        return study(n).assurance >= assurance

    while (
        not is_supported(n)
        and n < farthest
        and design.fmr * design.comparisons(2 * n) < MOST_ERRORS
    ):
        if concentration >= CONCENTRATED and study(n).concentrated > 1 - assurance:
            n = by_limit
            break  # more data show it more clearly
        fewer = n
        n = min(farthest, math.ceil(_STEP * n))
    n = least_whole(is_supported, fewer, n, _NEAR) if is_supported(n) else n
    is_reached = is_supported(n)
    is_within = study(by_limit).within_limit >= assurance
    if not is_reached:
        would_do = "raise ⟦max_subjects⟧, or ask for less"
        if is_within and n == by_limit:
            would_do = (
                f"no number is, as 5 % of the subjects have a part in {100 * concentration:.0f} %"
                " of false matches"
            )
        warn(
            f"{n:,} subjects are not enough for {100 * assurance:g} % of studies to support an FMR"
            f" of at most {claimed:g}; {would_do}",
            OutOfReachWarning,
        )
    numbers = sorted({n, *(min(max_subjects, max(_LEAST, round(times * n))) for times in _AROUND)})
    rows = {
        k: study(k) for k in numbers if k == n or design.fmr * design.comparisons(k) <= MOST_ERRORS
    }
    return FmrPlan(
        claimed=claimed,
        fmr=design.fmr,
        covariance=design.covariance,
        again=design.again,
        wanted_assurance=assurance,
        n_subjects=n if is_reached else None,
        n_by_limit=by_limit if is_within else None,
        concentration=concentration,
        needed=rows[n],
        studies=tuple(rows.values()),
        n_independent=independent_subjects(design, claimed, assurance, confidence_level),
        confidence_level=confidence_level,
        left_out=exclusions_of(pilot),
        settings={
            "at": None if at is None else str(at),
            "n_partners": n_partners,
            "n_samples": n_samples,
            "n_simulations": n_simulations,
            "max_subjects": max_subjects,
            "rng": seed,
        },
    )


def _of_pilot(pilot: Comparisons, at: OperatingPoint, fmr: float | None) -> dict[str, Any]:
    """Estimate how false matches come about from the comparisons of a pilot, as `fmr_test` does."""
    refuse_sessions(pilot.sessions, "a plan of false matches", "use plan_requirement")
    require_units(pilot, "subject")
    side = pilot.nonmated
    assert side.reference is not None
    assert side.probe is not None
    erred = side.keys >= threshold_key(pilot, at)
    compared, counts = count_errors(
        side.reference, side.probe, np.zeros(erred.size, np.int64), erred, 1
    )
    if counts[0, 1] < ENOUGH_PAIRS:
        raise InputError(
            f"the pilot has false matches of {counts[0, 1]} pairs of subjects at {at}, too few for"
            " their covariance: name a laxer operating point, and ⟦fmr=⟧"
        )
    null = estimate(counts, compared)
    again = min(float(null.again), 1 - 1e-9)
    n = int(max(side.reference.max(), side.probe.max())) + 1
    first, second = np.sort((side.reference, side.probe), axis=0).astype(np.int64)
    pairs, pair, repeats = np.unique(first * n + second, return_inverse=True, return_counts=True)
    ends = np.concatenate(np.divmod(pairs, n))
    of_pairs = (
        np.bincount(pair, erred) > 0,
        chance_of_errors(repeats.astype(np.float64), np.array(again)),
    )
    wrong, chance = (np.bincount(ends, np.tile(values, 2)) for values in of_pairs)
    used = chance > 0
    law = Law.of(
        wrong[used].astype(np.int64),
        chance[used].astype(np.float64),
        fmr or erred.mean(),
        null.kappa[0],
    )
    return {"fmr": erred.mean(), "covariance": null.kappa[0], "again": again, "law": law}


def _about(design: Design, claimed: float) -> int:
    """Return about how many subjects are needed, by the variance of the number of false matches."""
    if design.fmr == 0:
        return _smallest(lambda n: design.comparisons(n) * claimed >= 3)
    reach = math.log(claimed / design.fmr)
    return _smallest(lambda n: math.sqrt(design.relative_variance(n)) * 2.5 <= reach)


def _smallest(
    is_enough: Callable[[int], bool], about: int = _LEAST, most: int = 2**40, ratio: float = 1.0
) -> int:
    """Find the smallest number of subjects that is enough, up to a ratio, from about that number
    on; or the most.
    """
    high = min(most, max(_LEAST, about))
    while not is_enough(high) and high < most:
        high = min(most, math.ceil(_STEP * high))
    low = high
    while low >= _LEAST and is_enough(low):
        high = low
        low = max(_LEAST, math.floor(low / _STEP)) if low > _LEAST else _LEAST - 1
    return least_whole(is_enough, low, high, ratio)


def independent_subjects(design: Design, claimed: float, assurance: float, level: float) -> int:
    """Return how many subjects would do if all comparisons were independent, by Clopper and
    Pearson's limit.
    """

    def supports(errors: int) -> Callable[[int], bool]:
        # The limit for so many errors in n is at most what is claimed where so many are this
        # improbable at it.
        return lambda n: (
            design.comparisons(n) > errors
            and (betainc(errors + 1, design.comparisons(n) - errors, claimed) >= level)
        )

    of_errors = ((errors, _smallest(supports(errors))) for errors in itertools.count())
    return next(
        n for errors, n in of_errors if bdtr(errors, design.comparisons(n), design.fmr) >= assurance
    )
