"""`plan_margin`, `plan_power`, `plan_subjects`: what studies of groups' FNMRs, or other rates of one
person's attempts, find, and how many subjects they need.

Settings become studies, which have exact margins or are simulated; plans are made of what they
find.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from fastfair._lib import memory, seeds, validation
from fastfair._lib.arguments import AtLeastTwo, Natural, Probability, checked
from fastfair._lib.arrays import AnyArray, Floats, Integers, RandomKey
from fastfair._lib.bisection import least_whole
from fastfair._lib.plots import USUAL, axes_or_new, tick_per_cent
from fastfair._lib.tables import rows_of
from fastfair._lib.text import per_cent
from fastfair._lib.threads import run_blocks
from fastfair._lib.warnings import require, warn
from fastfair._lib.workers import Report, reporting
from fastfair.data.exclusions import exclusions_of
from fastfair.data.sessions import refuse_sessions
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.evaluation.failure_counts import (
    AT_ONCE,
    ATTEMPTS,
    OF_TWO_PEOPLE,
    FailureCounts,
    SubjectKinds,
    beta_binomial_pmf,
    draw_groups,
    squared_deviations,
    sum_kinds,
)
from fastfair.group_tests.equal_rates import Quantile, share_inside
from fastfair.measures._registry import printed_name
from fastfair.results.result import Printed, Result
from fastfair.results.written import UNWRITTEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHORT = 1e-12  # by which sums of probabilities may fall short of what they are


def law_of_failures(n: int, pmf: Floats) -> Floats:
    """Return the probabilities of 0 to n m failures of n alike, independent subjects, from those of
    0 to m of one.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    size = n * (pmf.size - 1) + 1
    length = next_fast_len(size, real=True)
    power = np.maximum(irfft(rfft(pmf, length) ** n, length)[:size], 0)
    return np.asarray(power / power.sum())


@dataclass(frozen=True, eq=False)
class Subjects:
    """Subjects who are alike and independent.

    Attributes
    ----------
    numbers, shares : (k,) ndarray
        The different numbers of attempts, and the share of subjects who make so many.
    fnmr, correlation : float
        As in `plan_margin`.
    """

    numbers: Integers
    shares: Floats
    fnmr: float
    correlation: float

    @property
    def mean_attempts(self) -> float:
        """Attempts of a subject, on average."""
        return float(self.shares @ self.numbers)

    @cached_property
    def kinds(self) -> tuple[Integers, Integers, Floats]:
        """(kinds,) failures and attempts of subjects, and how probable they are."""
        laws = [beta_binomial_pmf(int(m), self.fnmr, self.correlation) for m in self.numbers]
        failures = np.concatenate([np.arange(law.size) for law in laws])
        share = np.concatenate([part * law for part, law in zip(self.shares, laws, strict=True)])
        return failures, np.repeat(self.numbers, self.numbers + 1), share

    def variance(self, n: int) -> float:
        """Return the variance of the FNMR of n subjects: pi (1 - pi) (1 + (m0 - 1) rho) over the
        attempts.

        m0 are the attempts of the subject of an attempt, on average: the sum of m^2 over that of m.
        """
        m0 = float(self.shares @ self.numbers.astype(np.float64) ** 2) / self.mean_attempts
        inflation = 1 + (m0 - 1) * self.correlation
        return self.fnmr * (1 - self.fnmr) * inflation / (n * self.mean_attempts)

    def margins(self, n: int, n_groups: Integers, probability: float) -> Floats:
        """Compute the exact margins of (k,) numbers of groups of n, all with as many attempts,
        where the rate is known.

        Groups are alike and independent: all keep a distance with the probability of one, to the
        power of their number.
        """
        m = int(self.numbers[0])
        memory.require(
            80 * n * m,
            f"the exact law of the failures of {n:,} subjects with {m:,} attempts each",
            "plan for fewer attempts or subjects",
        )
        pmf = law_of_failures(n, beta_binomial_pmf(m, self.fnmr, self.correlation))
        distance = np.abs(np.arange(pmf.size) - n * m * self.fnmr)
        order = np.argsort(distance)
        wanted = probability ** (1 / n_groups) - _SHORT
        nearest = np.searchsorted(np.cumsum(pmf[order]), wanted)
        return np.asarray(distance[order[nearest]] / (n * m))


def attempts_of(attempts: ArrayLike) -> tuple[Integers, Floats]:
    """Return the different numbers of attempts of a pilot's subjects, or the one of all, and the
    shares with them.
    """
    numbers, times = np.unique(validation.counts("attempts", attempts, 1), return_counts=True)
    return numbers, times / times.sum()


SETTINGS = ("n_groups", "n_subjects", "n_attempts", "fnmr", "correlation")
_LEAST_OF = {"n_groups": 2, "n_subjects": 1, "n_attempts": 1}


# studies whose margins are estimated by replicates, as `margin_of_error` does
_STUDIES_RESAMPLED = 200
_REPLICATES = 999  # of each of them
_LEAST = 2  # subjects of a group, without whom no variance can be estimated
_ROUNDS = 8  # of simulation, after which the search for a number of subjects ends
# of 1 / distance, by which the search looks ahead for a number of subjects that is not enough
_STEPS = 4
_MOST_AHEAD = 1000  # numbers of subjects
_HALVINGS = 40  # of the interval in which a margin lies
# relative distance of numbers of subjects at which what was simulated for one tells of the other
_NEAR = 0.03
_ROUNDING = 1e-9  # relative, by which margins that are equal may differ


@dataclass(frozen=True, eq=False)
class Studies:
    """What simulated studies with n subjects in each group found.

    Attributes
    ----------
    n : int
        Number of subjects in each group.
    margin : (studies,) ndarray
        The margin of error that a study estimates; infinite where there is none, as nothing failed.
    apart : (studies,) ndarray
        How much the first group's FNMR differs from that of all groups together.
    expected : float
        The true difference of the two.
    step : float
        What margins of n subjects are multiples of; 0 where attempts vary, so that they are not.
    """

    n: int
    margin: Floats
    apart: Floats
    expected: float
    step: float

    def margins(self) -> Floats:
        """Return the margins as `margin_of_error` would estimate them, in whole steps."""
        return self.margin if self.step == 0 else self.step * np.ceil(self.margin / self.step - 0.5)

    def keep(self, wanted: float) -> float:
        """Return the share of studies whose margin is at most `wanted`."""
        return float((self.margins() <= wanted * (1 + _ROUNDING)).mean())

    def margin_kept(self, share: float) -> float:
        """Return the smallest margin that a share of studies stays within."""
        return float(np.quantile(self.margins(), share, method="inverted_cdf"))

    def find(self) -> float:
        """Return the share of studies in which the first group is farther from the overall rate
        than the margin.
        """
        return float((np.abs(self.apart) > self.margins() * (1 + _ROUNDING)).mean())

    def of(self, n: int) -> Studies:
        """Return about what as many studies of n subjects find, as errors fall with the root of the
        number.
        """
        shrunk = math.sqrt(self.n / n)
        return replace(
            self,
            n=n,
            margin=shrunk * self.margin,
            step=self.step * self.n / n,
            apart=self.expected + shrunk * (self.apart - self.expected),
        )


@dataclass(frozen=True, eq=False)
class Study:
    """A study of groups, of which the first may differ, that can be made with any number of
    subjects.

    Attributes
    ----------
    n_groups : int
        Number of groups.
    first, others : Subjects
        The subjects of the first group, and of every other; all make as many attempts.
    probability : float
        Which quantile of the largest differences the margin is.
    n_simulations : int
        Number of studies to draw.
    key : (2,) ndarray of uint32
        Key of the random stream.
    """

    n_groups: int
    first: Subjects
    others: Subjects
    probability: float
    n_simulations: int
    key: RandomKey

    @cached_property
    def kinds(self) -> SubjectKinds:
        """The kinds of subjects of all groups, with the share of each in its group."""
        parts = zip(self.first.kinds, self.others.kinds, strict=True)
        failures, attempts, share = (
            np.concatenate((first, np.tile(others, self.n_groups - 1))) for first, others in parts
        )
        end = self.first.kinds[0].size * np.arange(1, self.n_groups + 1)
        return SubjectKinds(failures, attempts, share, end)

    def _require_memory(self, n_kept: int) -> None:
        """Refuse studies for whose sums, and n_kept numbers of each, there is no memory."""
        numbers = self.others.numbers
        n_studies = n_kept * self.n_simulations
        n_kinds = int(numbers.sum()) + numbers.size
        memory.require(
            self.n_groups * (40 * n_kinds + 64 * min(AT_ONCE, n_studies))
            + 200 * n_kinds
            + 40 * n_studies,
            f"{n_studies:,} studies of {self.n_groups:,} groups with up to {numbers[-1]:,} attempts"
            " of each subject",
            "plan for fewer, or margins with the exact method",
        )

    def _draw(self, n: int, use: Callable[[slice, Integers], None]) -> None:
        """Draw studies with groups of n subjects, and pass on sums over them as `draw_groups`
        does.
        """
        draw_groups(
            self.kinds,
            np.full(self.n_groups, n),
            seeds.Purpose.GROUPS_OF_PLANNED_STUDIES,
            self.n_simulations,
            self.key,
            use,
        )

    def margins_of_known_rate(self, n: int, n_groups: Integers) -> Floats:
        """Draw margins of (k,) numbers of alike groups; the first groups of this study are those of
        a smaller one.
        """
        numbers, number_of = np.unique(n_groups, return_inverse=True)
        self._require_memory(numbers.size)
        largest = np.empty((self.n_simulations, numbers.size))

        def use(at: slice, sums: Integers) -> None:
            apart = np.abs(sums[1] / sums[0] - self.others.fnmr)
            largest[at] = np.maximum.accumulate(apart, axis=1)[:, numbers - 1]

        self._draw(n, use)
        return np.asarray(
            np.quantile(largest, self.probability, axis=0, method="inverted_cdf")[number_of]
        )

    def simulate(self, n: int) -> Studies:
        """Draw studies with n subjects in each group.

        Their margins are those of normal laws with the variances that a study estimates, times a
        factor by which the margins of resampled studies differ from it on average.
        """
        self._require_memory(1)
        margin, apart = np.empty((2, self.n_simulations))

        def use(at: slice, sums: Integers) -> None:
            m, e = sums[:2]
            margin[at] = self._normal_margins(sums)
            overall = e.sum(axis=1) / m.sum(axis=1)
            apart[at] = e[:, 0] / m[:, 0] - overall

        self._draw(n, use)
        numbers = self.others.numbers
        step = 1 / (n * int(numbers[0])) if numbers.size == 1 else 0.0
        return Studies(n, margin * self._factor(n), apart, self._difference(), step)

    def _difference(self) -> float:
        """Return how much the first group's true rate differs from that of all groups together."""
        return (self.first.fnmr - self.others.fnmr) * (1 - 1 / self.n_groups)

    def _normal_margins(self, sums: Any) -> Floats:
        """Compute (studies,) the distance that all groups' rates keep, if normal, from (5, studies,
        groups) sums.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(squared_deviations(sums)) / sums[0]
        return distance_kept(np.nan_to_num(error), self.probability)

    def _factor(self, n: int) -> float:
        """Compare margins estimated by replicates with those of normal laws, in a part of the
        studies.
        """
        rng = np.random.default_rng([*self.key.tolist(), n])
        by_replicates, normal = [], []
        for study in range(min(_STUDIES_RESAMPLED, self.n_simulations)):
            kinds, sums = self._draw_kinds(n, rng)
            m, e = sums[:2]
            if not e.any():
                continue
            observed = e / m
            largest = np.empty(_REPLICATES)

            def use(
                at: slice, drawn: Integers, observed: Floats = observed, largest: Floats = largest
            ) -> None:
                rates = drawn[1] / drawn[0]
                largest[at] = np.abs(rates - observed).max(axis=1)

            key = np.array([self.key[0], self.key[1] ^ np.uint32(study)], np.uint32)
            draw_groups(
                kinds,
                np.full(self.n_groups, n),
                seeds.Purpose.REPLICATES_OF_PLANNED_STUDIES,
                _REPLICATES,
                key,
                use,
            )
            by_replicates.append(np.quantile(largest, self.probability))
            normal.append(self._normal_margins(sums[:, None])[0])
        return float(np.sum(by_replicates) / np.sum(normal)) if by_replicates else 1.0

    def _draw_kinds(self, n: int, rng: np.random.Generator) -> tuple[SubjectKinds, Integers]:
        """Draw n subjects of each group: their kinds, and (5, groups) sums over them."""
        kinds = self.kinds
        of_groups = np.split(kinds.subjects, kinds.end[:-1])
        times = np.concatenate([rng.multinomial(n, share / share.sum()) for share in of_groups])
        kept = times > 0
        end = np.cumsum(kept, dtype=np.int64)[kinds.end - 1]
        drawn = SubjectKinds(kinds.failures[kept], kinds.attempts[kept], times[kept], end)
        return drawn, sum_kinds(drawn)

    def subjects_for_margin(
        self, wanted: float, share: float, most: int
    ) -> tuple[int | None, Studies]:
        """Find how many subjects keep the margin at or below `wanted` in a share of studies."""
        about = self.others.variance(1) * (self._errors_inside() / wanted) ** 2
        return self._smallest(lambda studies: studies.keep(wanted) >= share, about, wanted, most)

    def subjects_for_power(self, wanted: float, most: int) -> tuple[int | None, Studies]:
        """Find how many subjects the first group is found with in the share of studies `wanted`."""
        difference = abs(self._difference())
        # that the difference has to be large
        errors = max(1.0, self._errors_inside() + float(ndtri(wanted)))
        about = max(self.others.variance(1), self.first.variance(1)) * (errors / difference) ** 2
        return self._smallest(lambda studies: studies.find() >= wanted, about, difference, most)

    def _errors_inside(self) -> float:
        """Return how many standard errors all groups keep within."""
        return float(distance_kept(np.ones((1, self.n_groups)), self.probability)[0])

    def _smallest(
        self, is_enough: Callable[[Studies], bool], about: float, distance: float, most: int
    ) -> tuple[int | None, Studies]:
        """Find the smallest number of subjects from which on all numbers are enough, and what its
        studies find.

        What is simulated for one number tells of others that are near.
        """
        n = min(most, max(_LEAST, math.ceil(about)))
        ahead = min(_MOST_AHEAD, math.ceil(_STEPS / distance))
        for _ in range(_ROUNDS):
            studies = self.simulate(n)
            if n == most and not is_enough(studies):
                return None, studies
            low = max(_LEAST, n // 2)
            high = min(most, 2 * n)
            smallest = _first(lambda k, at=studies: is_enough(at.of(k)), low, high, ahead)  # type: ignore[misc]
            if abs(smallest - n) <= _NEAR * n:
                break
            n = smallest
        return smallest, studies.of(smallest)


def _first(is_enough: Callable[[int], bool], low: int, high: int, ahead: int) -> int:
    """Find the smallest of the numbers from low to high from which on all are enough; high if this
    is not enough.

    Rates are multiples of 1 / (n m), or of 1 / n where all attempts of a subject fail or none.
    While n grows by 1 / distance, other multiples come to lie just within the distance, so that one
    number can be enough and the next not: the search looks ahead.
    """
    many = least_whole(is_enough, low - 1, high)
    few = many - 1
    for k in range(many, min(few + ahead, high) + 1):
        if not is_enough(k):
            few = k
    return min(few + 1, high)


def distance_kept(error: Floats, probability: float) -> Floats:
    """Compute the distance from 0 that normal numbers all keep with a probability: (n,) of (n, g)
    standard deviations.

    The g numbers are independent. It is infinite where all standard deviations are 0.
    """
    largest = error.max(axis=1)
    # That of one number alone, and what any number of them keep by Bonferroni's inequality.
    low = largest * ndtri((1 + probability) / 2)
    high = largest * ndtri(1 - (1 - probability) / (2 * error.shape[1]))
    divisor = np.where(error > 0, error, 1e-300)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        outside = 2 * ndtr(-middle[:, None] / divisor)
        is_kept = np.prod(1 - outside, axis=1) >= probability
        low, high = np.where(is_kept, low, middle), np.where(is_kept, middle, high)
    return np.where(largest > 0, high, np.inf)


RATES_OF_GROUPS = tuple(name for name in ATTEMPTS if name not in OF_TWO_PEOPLE)
_MOST_PRINTED = 200  # settings in a table of the terminal
_MOST_SENTENCES = 10  # settings that a summary describes one by one
# The number of subjects of a plan of a single setting, and what plans the same for other numbers,
# which plots draw.
_Around = tuple[int, Callable[..., Any]]
# How settings and planned values are written on axes, and in legends.
_NAMES = {
    "n_groups": ("Groups", "G"), "n_subjects": ("Subjects in each group", "n"),
    "n_attempts": ("Attempts of each subject", "m"), "fnmr": ("FNMR", "π"),
    "correlation": ("Correlation of attempts", "ρ"), "difference": ("Difference in FNMR", "δ"),
    "wanted_margin": ("Margin of error", "M"), "wanted_assurance": ("Share of studies within the margin", "assurance"),
    "wanted_power": ("Power", "power"), "margin": ("Margin of error", "M"), "power": ("Power", "power"),
}  # fmt: skip
_PER_CENT = {
    "fnmr",
    "difference",
    "margin",
    "power",
    "wanted_margin",
    "wanted_assurance",
    "wanted_power",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupsPlan(Result):
    """What studies of groups' FNMRs find, or how many subjects they need: the result of three
    functions.

    Attributes
    ----------
    n_groups, n_subjects, n_attempts, fnmr, correlation : ndarray
        The settings, broadcast to one shape. Where numbers of subjects were looked for,
        `n_subjects` are those needed in each group: whole numbers, or NaN where `max_subjects` are
        not enough.
    difference : ndarray or None
        The difference of the group to find; None for plans of margins.
    wanted_margin, wanted_assurance, wanted_power : ndarray or None
        What `plan_subjects` was asked for: the largest margin allowed and the share of studies that
        are to stay within it, or the power.
    margin : ndarray
        The margin of each setting: groups whose rate differs by more from the overall rate are
        found to differ. Of studies that estimate theirs, the median, or what `assurance` of them
        stay within.
    assurance : ndarray or None
        The share of studies whose margin is at most the one wanted, or planned; None for the margin
        at a known FNMR and correlation, and for `difference`. With `max_subjects` where these are
        not enough.
    power : ndarray or None
        The share of studies in which the group that differs is found.
    confidence_level : float
        Probability that no group of a fair system is found to differ.
    quantile : str
        "family-wise" or "paper", as in `plan_margin`.
    method : str
        "simulation" or "exact".
    attempts : dict of int to float, or None
        Share of subjects with each number of attempts, where it varies; `n_attempts` is then its
        mean.
    n_simulations : int or None
        Number of studies drawn for each setting; None where the margin is exact.
    seed : int or str or None
        The seed that was used; as `rng`, it gives the same result again.
    rate : str
        The rate that `fnmr` is of each group, such as "fta".
    """

    n_groups: Integers
    n_subjects: Integers | Floats
    n_attempts: Integers | Floats
    fnmr: Floats
    correlation: Floats
    difference: Floats | None = None
    wanted_margin: Floats | None = None
    wanted_assurance: Floats | None = None
    wanted_power: Floats | None = None
    margin: Floats
    assurance: Floats | None = None
    power: Floats | None = None
    confidence_level: float
    quantile: str
    method: str = "simulation"
    attempts: dict[int, float] | None = None
    n_simulations: int | None = None
    seed: Any = None
    rate: str = "fnmr"
    _around: _Around | None = field(default=None, repr=False, metadata=UNWRITTEN)

    @property
    def _wanted(self) -> Floats | None:
        """What numbers of subjects were looked for with; None where these were given."""
        return self.wanted_power if self.wanted_margin is None else self.wanted_margin

    @property
    def _planned(self) -> str:
        """The name of what was planned."""
        if self._wanted is not None:
            return "n_subjects"
        return "margin" if self.power is None else "power"

    def _sentence(self, row: Mapping[str, Any]) -> str:
        """Say what is planned for one setting, a row of the table."""
        title = printed_name(self.rate)
        if self.difference is not None:
            side = "higher" if row["difference"] > 0 else "lower"
            share = row["power"]
            aim = f"find a group whose {title} is {_points(abs(row['difference']))} {side}"
        elif self.assurance is not None:
            margin = row["margin"] if self.wanted_margin is None else row["wanted_margin"]
            share = row["assurance"]
            aim = f"have a margin of at most {_points(margin)}"
        else:
            return (
                f"groups with equal {title}s all lie within {_points(row['margin'])} of the overall"
                f" {title} with a probability of {per_cent(self.confidence_level)}."
            )
        sentence = f"{per_cent(share)} of studies {aim}."
        if self._wanted is None:
            return sentence
        if math.isnan(row["n_subjects"]):
            return f"max_subjects are too few; with so many, {sentence}"
        return f"with {row['n_subjects']:,.0f} subjects in each group {sentence}"

    def _sentences(self) -> list[str]:
        """Describe each setting, or the range of more than ten."""
        rows = rows_of(self._columns())
        if len(rows) <= _MOST_SENTENCES:
            return [f"{self._setting(row)}: {self._sentence(row)}" for row in rows]
        values = getattr(self, self._planned)
        finite = values[np.isfinite(values)]
        missing = len(rows) - finite.size
        text = f"{len(rows):,} settings."
        if finite.size:
            name = self._label(self._planned).lower()
            write = tick_per_cent if self._planned in _PER_CENT else "{:,.0f}".format
            low, high = write(finite.min()), write(finite.max())
            text = f"{len(rows):,} settings: {name} from {low} to {high}."
        return [text + (f" In {missing:,} of them max_subjects are too few." if missing else "")]

    def _setting(self, row: Mapping[str, Any]) -> str:
        of_each = (
            f" of {row['n_subjects']:,} subjects" if isinstance(row.get("n_subjects"), int) else ""
        )
        attempts = f"{row['n_attempts']:,.3g} {ATTEMPTS[self.rate]}{'s' * (row['n_attempts'] != 1)}"
        return (
            f"{row['n_groups']:,} groups{of_each}, {attempts} of each subject,"
            f" {printed_name(self.rate)} {per_cent(row[self.rate])}, correlation"
            f" {row['correlation']:g}"
        )

    def _label(self, name: str) -> str:
        """Return how a setting is written on axes."""
        return _NAMES[name][0].replace("FNMR", printed_name(self.rate))

    def _given(self) -> list[str]:
        """Return the names of the settings."""
        names = [name for name in _NAMES if isinstance(getattr(self, name), np.ndarray)]
        return [name for name in names if name not in ("margin", "power", self._planned)]

    def _columns(self) -> dict[str, list[Any]]:
        return {
            self.rate if name == "fnmr" else name: array.ravel().tolist()
            for name, array in vars(self).items()
            if isinstance(array, np.ndarray)
        }

    def _tables(self) -> list[Printed]:
        return super()._tables() if self.margin.size <= _MOST_PRINTED else []

    @checked
    def plot(self, ax: Axes | None = None, *, over: str | None = None, **kwargs: Any) -> Axes:
        """Draw the planned value over one setting, with a line for each combination of the others.

        A plan of a single setting is drawn with what studies of a quarter to four times as many
        subjects would give: margins or, where a group is to be found, the power. What was wanted is
        marked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        over : str, optional
            The setting on the horizontal axis, by the attribute's name; by default the one with the
            most values, and for a single setting the number of subjects.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        if over is None and self._around is not None:
            return self._plot_around(*self._around, ax, **kwargs)
        given = self._given()
        planned = self._planned
        longest = max(given, key=lambda name: np.unique(getattr(self, name)).size)
        over = validation.choice("over", over or longest, given)
        columns = {name: getattr(self, name).ravel() for name in (*given, planned)}
        ax = axes_or_new(ax)
        colormap = require("matplotlib", "cli", "drawing").colormaps["viridis"]
        others = [name for name in given if name != over and np.ptp(columns[name])]
        combinations, line = np.unique(
            np.stack([np.zeros(self.margin.size), *(columns[name] for name in others)]),
            axis=1,
            return_inverse=True,
        )
        # In an order that all see, none too light for paper.
        colors = colormap(np.linspace(0, 0.75, combinations.shape[1]))
        for k, (color, combination) in enumerate(zip(colors, combinations[1:].T, strict=True)):
            at = np.flatnonzero(line.ravel() == k)
            at = at[np.argsort(columns[over][at], kind="stable")]
            label = ", ".join(
                f"{_NAMES[name][1]} ="
                f" {tick_per_cent(number) if name in _PER_CENT else f'{number:g}'}"
                for name, number in zip(others, combination, strict=True)
            )
            style = {"color": color, "marker": ".", "label": label} | kwargs
            ax.plot(columns[over][at], columns[planned][at], **style)
        ax.set(xlabel=self._label(over), ylabel=self._label(planned))
        for name, axis in ((over, ax.xaxis), (planned, ax.yaxis)):
            if name in _PER_CENT:
                axis.set_major_formatter(tick_per_cent)
        ax.grid(alpha=0.3)
        if others:
            ax.legend()
        return ax

    def _plot_around(
        self, n: int, plan: Callable[..., Any], ax: Axes | None, **kwargs: Any
    ) -> Axes:
        """Draw what studies with a quarter to four times as many subjects would give, and what was
        wanted.
        """
        sizes = sorted({max(2, round(n * times)) for times in (0.25, 0.5, 1, 2, 4)})
        ax = plan(n_subjects=sizes).plot(ax, over="n_subjects", **({"color": USUAL} | kwargs))
        ax.set_xscale("log")
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.set_xticks([], minor=True)
        ax.axvline(n, color="0.5", linewidth=1, zorder=0, label=f"{n:,} subjects")
        if self._wanted is not None:
            wanted = float(self._wanted.ravel()[0])
            label = f"wanted: {per_cent(wanted)}"
            ax.axhline(wanted, color="black", linestyle="--", linewidth=1, zorder=0, label=label)
        ax.legend(fontsize="small")
        return ax


def _points(difference: float) -> str:
    return f"{100 * difference:.3g} percentage points"


_Method = Literal["simulation", "exact"]


@checked
def plan_margin(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike | FailureCounts,
    fnmr: ArrayLike | None = None,
    correlation: ArrayLike,
    assurance: Probability | None = None,
    n_simulations: Natural = 1000,
    confidence_level: Probability = 0.95,
    quantile: Quantile = "family-wise",
    method: _Method = "simulation",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Report = False,
    **rates: ArrayLike,
) -> GroupsPlan:
    """Compute the margin of error that a study of groups with equal FNMRs would have.

    Parameters
    ----------
    n_groups : array_like of int
        Number of groups compared, at least 2.
    n_subjects : array_like of int
        Number of subjects in each group.
    n_attempts : array_like of int or FailureCounts
        Number of mated comparisons of each subject, if it is the same for all; or the failure
        counts of a pilot, whose subjects' numbers of attempts those of the study are taken to have,
        too.
    fnmr : array_like of float
        True FNMR of every group, in (0, 1).

        Or another rate, one of `rates`.
    correlation : array_like of float
        Intra-class correlation of the decisions on one subject, in [0, 1].
    assurance : float, optional
        Share of studies whose own margin is to be at most the one returned, in (0, 1). By default
        the margin is that for a known FNMR and correlation, as in the paper; the margin that a
        study estimates is larger in about half of studies.
    n_simulations : int, default 1000
        Number of studies drawn for each setting.
    confidence_level : float, default 0.95
        Probability that no group of a fair system is found to differ.
    quantile : {"family-wise", "paper"}
        Which quantile of the largest difference the margin is: "family-wise" is that at the
        confidence level 1 - alpha; "paper" that at 1 - alpha/2, as in the paper's step 5.
    method : {"simulation", "exact"}
        "simulation" draws studies, as the paper does. "exact" computes the distribution that they
        are drawn from, which is faster and has no simulation noise; with neither a pilot nor
        `assurance`.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers. A setting's margin depends only on the setting, the seed and
        `n_simulations`, not on the other settings of the call.
    n_threads : int, optional
        Number of threads; all processors by default. Results do not depend on it.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of settings done and
        in all, where settings that differ only in the number of groups count as one.
    rates : array_like of float
        Another rate of one person's attempts: ``frr``, ``fta``, ``fte``, ``fnir``, ``fpir``,
        ``apcer``, ``bpcer`` or ``iapar``, as in ``fta=0.02``. With ``fnmr`` and ``fta`` it is the
        FRR of transactions of one attempt, FTA + (1 - FTA) FNMR.

    Returns
    -------
    GroupsPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, and where the exact
        method is asked for what it does not compute.

    See Also
    --------
    plan_subjects : how many subjects a margin needs.

    Notes
    -----
    The failures of a subject are beta-binomial: each decision fails with probability `fnmr`, and
    two decisions on one subject have the correlation [1]_. The margin is the smallest value that
    the largest difference between a group's estimate and `fnmr` exceeds in at most the share of
    studies that the quantile leaves. Rates are multiples of 1 / (n_subjects * n_attempts), so
    margins come in steps.

    The exact margin follows from groups being independent and alike: the probability that no group
    differs by more than x is that of a single group to the power of the number of groups. A group's
    failures are the sum over independent, alike subjects, whose distribution is a convolution
    power, computed by one Fourier transform.

    With `assurance`, each study drawn estimates its own margin as `margin_of_error` does, and the
    margin returned is the smallest that so many of them stay within. See `plan_subjects`.

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
    settings, studies, about = _planned(locals() | {"progress": False}, plan_margin)
    if method == "exact":
        for name, given in (
            ("the attempts of a pilot", about["attempts"]),
            ("assurance", assurance),
        ):
            if given is not None:
                raise InputError(
                    f'⟦method="exact"⟧ computes no margin with {name}: use ⟦method="simulation"⟧'
                )
        about |= {"n_simulations": None, "seed": None}
    groups, *others = (settings[name].ravel() for name in SETTINGS)
    law_of = np.unique(np.stack(others), axis=1, return_inverse=True)[
        1
    ].ravel()  # in NumPy 2.0.0 of two dimensions
    of_law = np.split(np.argsort(law_of, kind="stable"), np.cumsum(np.bincount(law_of))[:-1])
    margin = np.empty(settings["n_groups"].shape)

    def work(k: int) -> None:
        at = of_law[k]
        n = int(settings["n_subjects"].flat[at[0]])
        largest = studies[at[groups[at].argmax()]]
        if method == "exact":
            margin.flat[at] = largest.others.margins(n, groups[at], largest.probability)
        elif assurance is None:
            margin.flat[at] = largest.margins_of_known_rate(n, groups[at])
        else:
            for at_setting in at.tolist():
                margin.flat[at_setting] = studies[at_setting].simulate(n).margin_kept(assurance)

    with reporting(progress, f"{len(of_law):,} settings") as report:
        run_blocks(work, range(len(of_law)), len(of_law), 1, n_threads, report)
    within = None if assurance is None else np.full(margin.shape, assurance)
    return GroupsPlan(**about | settings, margin=margin, method=method, assurance=within)


@checked
def plan_power(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike | FailureCounts,
    fnmr: ArrayLike | None = None,
    correlation: ArrayLike,
    difference: ArrayLike,
    n_simulations: Natural = 2000,
    confidence_level: Probability = 0.95,
    quantile: Quantile = "family-wise",
    rng: seeds.Seed = None,
    **rates: ArrayLike,
) -> GroupsPlan:
    """Compute how often a study would find a group whose FNMR differs from that of the others.

    Parameters
    ----------
    n_groups, n_subjects, n_attempts, fnmr, correlation
        As in `plan_margin`; `fnmr` is the FNMR of all groups but one.
    difference : array_like of float
        FNMR of the remaining group minus `fnmr`; above or below 0.
    n_simulations : int, default 2000
        Number of studies drawn for each setting. With 2,000 a power of 80 % is known to within
        about 2 points.
    confidence_level, quantile
        As in `plan_margin`.
    rng
        Seed of the random numbers.
    rates : array_like of float
        As in `plan_margin`.

    Returns
    -------
    GroupsPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, and for settings whose shapes do not broadcast.

    Notes
    -----
    The group is found if its estimate differs from that of all groups together by more than the
    margin that the study estimates, as `margin_of_error` does by default. As the group is one of
    these G groups, it moves their estimate by 1 / G of the difference. Margins of simulated studies
    are those of normal laws with the variances estimated in each study, times a factor by which
    margins by replicates differ from them in 200 studies.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> ff.plan_power(n_subjects=[200, 400], difference=0.05, rng=0, **settings).power.round(2)
    array([0.5 , 0.89])
    """
    settings, studies, about = _planned(locals(), plan_power)
    margin, power = (np.empty(settings["n_groups"].shape) for _ in range(2))
    for k, study in enumerate(studies):
        simulated = study.simulate(int(settings["n_subjects"].flat[k]))
        margin.flat[k] = simulated.margin_kept(0.5)
        power.flat[k] = simulated.find()
    return GroupsPlan(**about | settings, margin=margin, power=power)


@checked
def plan_subjects(
    *,
    n_groups: ArrayLike,
    n_attempts: ArrayLike | FailureCounts,
    fnmr: ArrayLike | None = None,
    correlation: ArrayLike,
    margin: ArrayLike | None = None,
    assurance: ArrayLike = 0.8,
    difference: ArrayLike | None = None,
    power: ArrayLike = 0.8,
    n_simulations: Natural = 2000,
    confidence_level: Probability = 0.95,
    quantile: Quantile = "family-wise",
    max_subjects: AtLeastTwo = 100_000,
    rng: seeds.Seed = None,
    **rates: ArrayLike,
) -> GroupsPlan:
    """Find how many subjects a study needs in each group, for a margin of error or to find a group
    that differs.

    Parameters
    ----------
    n_groups, n_attempts, fnmr, correlation
        As in `plan_margin`.
    margin : array_like of float, optional
        The largest margin allowed; either this or `difference`.
    assurance : array_like of float, default 0.8
        Share of studies whose own margin, as `margin_of_error` estimates it, is to be at most
        `margin`; ignored with `difference`.
    difference : array_like of float, optional
        FNMR of the group to find minus `fnmr`.

        As `difference` of `plan_power`.
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
    rates : array_like of float
        As in `plan_margin`.

    Returns
    -------
    GroupsPlan
        With arrays of the shape that the settings broadcast to. `n_subjects` is NaN where
        `max_subjects` are too few.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, and where not exactly
        one of `margin` and `difference` is given.

    Warns
    -----
    OutOfReachWarning
        Where `max_subjects` are too few; what studies find is then that of `max_subjects`.

    Notes
    -----
    A study is simulated as in `plan_power`. What is simulated for one number of subjects tells of
    near ones, as errors fall with the root of the number, so few numbers are simulated; the last is
    within 3 % of the one returned.

    Where all subjects make as many attempts m, margins are multiples of 1 / (n_subjects * m), so
    one number of subjects can be enough and the next not. The result is the smallest number from
    which on all numbers are enough, and more studies than asked for may then stay within the
    margin. The search continues past the last number that is not enough until the multiples have
    shifted by several steps.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> plan = ff.plan_subjects(difference=0.05, rng=0, **settings)
    >>> float(plan.n_subjects), float(plan.power.round(2)), float(plan.margin.round(4))
    (335.0, 0.8, 0.0343)
    """
    given = locals()
    if (margin is None) == (difference is None):
        raise InputError(
            "give margin or difference, and not both: it determines how many subjects are needed"
        )
    plan: Callable[..., Any] = plan_power if margin is None else plan_margin
    wanted = {"power": power} if margin is None else {"margin": margin, "assurance": assurance}
    settings, studies, about = _planned(given, plan, wanted)
    needed, margins, shares = (np.empty(settings["n_groups"].shape) for _ in range(3))
    for k, study in enumerate(studies):
        asked = {name: float(settings[f"wanted_{name}"].flat[k]) for name in wanted}
        if margin is None:
            n, simulated = study.subjects_for_power(asked["power"], max_subjects)
            shares.flat[k] = simulated.find()
        else:
            n, simulated = study.subjects_for_margin(
                asked["margin"], asked["assurance"], max_subjects
            )
            shares.flat[k] = simulated.keep(asked["margin"])
        needed.flat[k] = np.nan if n is None else n
        margins.flat[k] = simulated.margin_kept(0.5)
    missing = np.isnan(needed)
    if missing.any():
        k = int(missing.argmax())
        first = ", ".join(f"{name} {array.flat[k]:g}" for name, array in settings.items())
        warn(
            f"{max_subjects:,} subjects in each group are not enough for {missing.sum()} of"
            f" {missing.size} settings, the first {first}: ⟦n_subjects⟧ is NaN there; raise"
            " ⟦max_subjects⟧, or ask for less",
            OutOfReachWarning,
        )
    if about["_around"]:
        about["_around"] = int(np.nan_to_num(needed, nan=max_subjects).item()), about["_around"][1]
    about |= {"power" if margin is None else "assurance": shares}
    return GroupsPlan(**about | settings, n_subjects=needed, margin=margins)


def _rate_of(given: Mapping[str, Any]) -> tuple[str, Floats]:
    """Return which rate groups have, and its values: the only one of a call, or an FRR."""
    named = {name: values for name, values in given["rates"].items() if values is not None}
    for name in named:
        if name not in ATTEMPTS:
            raise TypeError(
                f"unexpected keyword argument {name!r}: rates are {', '.join(RATES_OF_GROUPS)}"
            )
        if name in OF_TWO_PEOPLE:
            raise InputError(
                f"the comparisons of an {name.upper()} are of two people: plan_fmr plans for them"
            )
    if given["fnmr"] is not None:
        named["fnmr"] = given["fnmr"]
    fractions = {
        name: validation.fractions(f"⟦{name}⟧", values, "(0, 1)") for name, values in named.items()
    }
    if set(fractions) == {"fnmr", "fta"}:
        pilot = given["n_attempts"]
        numbers = pilot.attempts if isinstance(pilot, FailureCounts) else pilot
        if not np.all(np.equal(numbers, 1)):
            raise InputError(
                "fnmr and fta together make the FRR of transactions of one attempt: for several,"
                " give ⟦frr⟧ and ⟦n_attempts=1⟧, which counts transactions"
            )
        return "frr", fractions["fta"] + (1 - fractions["fta"]) * fractions["fnmr"]
    if len(fractions) != 1:
        raise InputError(
            "give the rate of groups once, as in ⟦fnmr=0.05⟧ or ⟦fta=0.02⟧; fnmr and fta together"
            " make an FRR"
        )
    ((rate, values),) = fractions.items()
    return rate, values


def _planned(
    given: Mapping[str, Any],
    plan: Callable[..., Any],
    wanted: Mapping[str, ArrayLike] = MappingProxyType({}),
) -> tuple[dict[str, AnyArray], list[Study], dict[str, Any]]:
    """Check what all plans are asked, by the arguments of a call.

    plan: what plans the same with a number of subjects; wanted: shares and margins to reach.
    Returned are the settings, broadcast to one shape, the study of each, and what results say of
    how it was planned.
    """
    settings: dict[str, AnyArray] = {}
    pilot = None
    if isinstance(given["n_attempts"], FailureCounts):
        if given.get("difference") is None:  # else a test is planned, in which sessions cancel
            instead = "use plan_requirement, which plans sessions"
            refuse_sessions(given["n_attempts"].sessions, "a plan of margins of error", instead)
        pilot = attempts_of(given["n_attempts"].attempts)
    for name, least in _LEAST_OF.items():
        if pilot and name == "n_attempts":
            settings[name] = np.array(float(pilot[1] @ pilot[0]))
        elif name in given:
            settings[name] = validation.counts(f"⟦{name}⟧", given[name], least)
    rate, settings["fnmr"] = _rate_of(given)
    settings["correlation"] = validation.fractions("⟦correlation⟧", given["correlation"], "[0, 1]")
    if given.get("difference") is not None:
        settings["difference"] = validation.numbers_of("⟦difference⟧", given["difference"])
    settings |= {
        f"wanted_{name}": validation.fractions(f"⟦{name}⟧", values, "(0, 1)")
        for name, values in wanted.items()
    }
    try:
        shape = np.broadcast_shapes(*(array.shape for array in settings.values()))
    except ValueError:
        shapes = ", ".join(
            f"{name} {array.shape}" for name, array in settings.items() if array.ndim
        )
        raise InputError(
            f"the settings' shapes do not go together: {shapes}; give one an axis of its own, as in"
            " values[:, None]"
        ) from None
    settings = {name: np.broadcast_to(array, shape) for name, array in settings.items()}
    probability = share_inside(given["confidence_level"], given["quantile"])
    n_simulations = given["n_simulations"]
    key, seed = seeds.stream(given["rng"])

    def study(k: int) -> Study:
        setting = {name: array.flat[k].item() for name, array in settings.items()}
        alike = Subjects(
            *(pilot or attempts_of(setting["n_attempts"])), setting["fnmr"], setting["correlation"]
        )
        first = (
            replace(alike, fnmr=alike.fnmr + setting["difference"])
            if "difference" in setting
            else alike
        )
        if not 0 < first.fnmr < 1 or setting.get("difference") == 0:
            raise InputError(
                f"difference must be other than 0, with {rate} + difference in (0, 1), not"
                f" {setting['difference']:g} at {rate} {alike.fnmr:g}"
            )
        return Study(setting["n_groups"], first, alike, probability, n_simulations, key)

    attempts = pilot and dict(zip(pilot[0].tolist(), pilot[1].tolist(), strict=True))
    around = None
    if math.prod(shape) == 1:
        again = {name: given[name] for name in signature(plan).parameters if name in given} | {
            "rng": seed
        }
        again |= {name: settings[f"wanted_{name}"].item() for name in wanted if name in again}
        again |= again.pop("rates")
        around = int(settings.get("n_subjects", np.zeros(1)).item()), partial(plan, **again)
    about = {name: given[name] for name in ("confidence_level", "quantile", "n_simulations")}
    about |= {"left_out": exclusions_of(given["n_attempts"]), "rate": rate}
    return (
        settings,
        [study(k) for k in range(math.prod(shape))],
        about | {"attempts": attempts, "seed": seed, "_around": around},
    )
