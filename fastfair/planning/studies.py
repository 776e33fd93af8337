"""Studies of groups' FNMRs that are planned: their settings and subjects, exact margins, and simulated studies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import memory, validation
from fastfair._lib.bisection import least_whole
from fastfair.errors import InputError
from fastfair.group_tests.failure_counts import SubjectKinds, beta_binomial_pmf, squared_deviations, sum_kinds
from fastfair.group_tests.replicates import AT_ONCE, draw_groups

Floats = NDArray[np.float64]
_OUTSIDE = 1e-16  # probability that may fall outside the window computed
_SHORT = 1e-12  # by which sums of probabilities may fall short of what they are


def law_of_failures(n: int, pmf: Floats) -> tuple[int, Floats]:
    """Raise the law of one subject's failures to its n-th convolution power: that of n alike, independent subjects.

    pmf are the probabilities of 0 to m failures. Returned are the number of failures where a window begins, outside
    which lies no probability worth a number by Bernstein's inequality, and the probabilities inside. The transform need
    only span the window: beyond it the convolution wraps round, and what wraps is less than rounding.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    m = pmf.size - 1
    k = np.arange(m + 1)
    mean = float(k @ pmf)
    low, high = _window(n, m, mean, float((k - mean) ** 2 @ pmf))
    length = next_fast_len(max(high - low, m) + 1, real=True)
    power = np.maximum(irfft(rfft(pmf, length) ** n, length), 0)
    return low, np.roll(power, -(low % length))[: high - low + 1] / power.sum()


def _window(n: int, m: int, mean: float, variance: float) -> tuple[int, int]:
    """Return the ends of the window of n subjects' failures, from the mean and variance of one with m attempts."""
    logs = math.log(2 / _OUTSIDE)
    reach = logs * m / 3 + math.sqrt((logs * m / 3) ** 2 + 2 * logs * n * variance)
    return max(0, math.floor(n * mean - reach)), min(n * m, math.ceil(n * mean + reach))


Counts = NDArray[np.int64]
_GROUPS_OF_STUDIES = 7  # kind of draws, told apart in the random stream from those of resampling


@dataclass(frozen=True, eq=False)
class Attempts:
    """How many attempts subjects make.

    Attributes
    ----------
    numbers : (k,) ndarray of int
        The different numbers of attempts.
    shares : (k,) ndarray
        The share of subjects who make so many.
    """

    numbers: Counts
    shares: Floats

    @classmethod
    def of(cls, attempts: ArrayLike) -> Attempts:
        """Take the attempts of each subject of a pilot, or one number for all subjects."""
        numbers, times = np.unique(validation.counts("attempts", attempts, 1), return_counts=True)
        return cls(numbers, times / times.sum())

    def as_dict(self) -> dict[int, float]:
        """Return the share of subjects with each number of attempts."""
        return dict(zip(self.numbers.tolist(), self.shares.tolist(), strict=True))

    @property
    def mean(self) -> float:
        """Attempts of a subject, on average."""
        return float(self.shares @ self.numbers)

    @property
    def m0(self) -> float:
        """Attempts of the subject of an attempt, on average: the sum of m^2 over the sum of m."""
        return float(self.shares @ self.numbers.astype(np.float64) ** 2) / self.mean

    @property
    def are_equal(self) -> bool:
        """Whether all subjects make as many attempts."""
        return self.numbers.size == 1


@dataclass(frozen=True, eq=False)
class Subjects:
    """Subjects who are alike and independent.

    Attributes
    ----------
    attempts : Attempts
        How many attempts they make.
    fnmr, correlation : float
        As in `plan_margin`.
    goats : float
        The share of subjects who fail often, all others being alike; 0 where failures are beta-binomial.
    """

    attempts: Attempts
    fnmr: float
    correlation: float
    goats: float = 0.0

    def rates(self) -> tuple[float, float]:
        """Return the FNMRs of goats and of others, with the FNMR and the correlation of all."""
        spread = math.sqrt(self.correlation * self.fnmr * (1 - self.fnmr))
        odds = math.sqrt((1 - self.goats) / self.goats)
        return self.fnmr + spread * odds, self.fnmr - spread / odds

    def law(self, m: int) -> Floats:
        """Return the probabilities of 0 to m failures of a subject with m attempts."""
        if not self.goats:
            return beta_binomial_pmf(m, self.fnmr, self.correlation)
        often, seldom = (beta_binomial_pmf(m, rate, 0.0) for rate in self.rates())
        return self.goats * often + (1 - self.goats) * seldom

    @cached_property
    def kinds(self) -> tuple[Counts, Counts, Floats]:
        """(kinds,) failures and attempts of subjects, and how probable they are."""
        numbers = self.attempts.numbers
        laws = [self.law(int(m)) for m in numbers]
        failures = np.concatenate([np.arange(law.size) for law in laws])
        share = np.concatenate([part * law for part, law in zip(self.attempts.shares, laws, strict=True)])
        return failures, np.repeat(numbers, numbers + 1), share

    def variance(self, n: int) -> float:
        """Return the variance of the FNMR of n subjects: pi (1 - pi) (1 + (m0 - 1) rho) over the attempts."""
        inflation = 1 + (self.attempts.m0 - 1) * self.correlation
        return self.fnmr * (1 - self.fnmr) * inflation / (n * self.attempts.mean)

    def margins(self, n: int, n_groups: Counts, probability: float) -> Floats:
        """Compute the exact margins of (k,) numbers of groups of n, all with as many attempts, where the rate is known.

        Groups are alike and independent: all keep a distance with the probability of one, to the power of their number.
        """
        m = int(self.attempts.numbers[0])
        low, high = _window(n, m, m * self.fnmr, m**2 * self.variance(1))
        memory.require(
            80 * (m + high - low), f"the exact law of the failures of {n:,} subjects with {m:,} attempts each",
            "plan for fewer attempts or subjects",
        )  # fmt: skip
        first, pmf = law_of_failures(n, self.law(m))
        distance = np.abs(first + np.arange(pmf.size) - n * m * self.fnmr)
        order = np.argsort(distance)
        wanted = probability ** (1 / n_groups) - _SHORT
        return np.asarray(distance[order[np.searchsorted(np.cumsum(pmf[order]), wanted)]] / (n * m))


SETTINGS = ("n_groups", "n_subjects", "n_attempts", "fnmr", "correlation")
_LEAST_OF = {"n_groups": 2, "n_subjects": 1}


def checked_settings(
    n_attempts: ArrayLike | None, attempts: ArrayLike | None, **given: ArrayLike
) -> tuple[dict[str, NDArray[Any]], Attempts | None]:
    """Check settings by name and broadcast them, in the order of `SETTINGS`; and return the attempts of a pilot.

    One of `n_attempts` and `attempts` is given; the attempts of a pilot are among the settings by their mean.
    """
    if (n_attempts is None) == (attempts is None):
        raise InputError(
            "give n_attempts, how many attempts each subject makes, or attempts, those of the subjects of a pilot, and "
            "not both"
        )
    pilot = None if attempts is None else Attempts.of(attempts)
    arrays: dict[str, NDArray[Any]] = {}
    for name in SETTINGS:
        if name == "n_attempts":
            arrays[name] = validation.counts(name, n_attempts, 1) if pilot is None else np.array(pilot.mean)
        if name not in given:
            continue
        values = given[name]
        if name in _LEAST_OF:
            arrays[name] = validation.counts(name, values, _LEAST_OF[name])
        else:
            arrays[name] = validation.fractions(name, values, ends=name == "correlation")
    return broadcast(arrays), pilot


def broadcast(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Give arrays one shape."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if array.ndim)
        raise InputError(
            f"the settings' shapes do not go together: {shapes}; give one an axis of its own, as in values[:, None]"
        ) from None
    return {name: np.broadcast_to(array, shape) for name, array in arrays.items()}


def checked_difference(difference: ArrayLike | None, fnmr: Floats) -> Floats:
    """Check the differences of one group from an FNMR."""
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


def checked_goats(goats: float | None, settings: dict[str, NDArray[Any]]) -> float:
    """Check that this share of subjects who fail often can produce the given rates; 0 for None."""
    if goats is None:
        return 0.0
    share = validation.open_fraction("goats", goats)
    others = settings["fnmr"] + settings.get("difference", 0.0)
    for fnmr in (settings["fnmr"], others):
        for pi, rho in zip(fnmr.ravel().tolist(), settings["correlation"].ravel().tolist(), strict=True):
            often, seldom = Subjects(Attempts.of(1), pi, rho, share).rates()
            if seldom <= 0 or often >= 1:
                raise InputError(
                    f"goats={share:g} cannot cause a correlation of {rho:g} at an FNMR of {pi:g}: they would fail with "
                    f"a probability of {often:.3g} and the others with {seldom:.3g}"
                )
    return share


_REPLICATES_OF_PLANS = 8  # kind of draws, told apart in the random stream from others
_STUDIES_RESAMPLED = 200  # studies whose margins are estimated by replicates, as `margin_of_error` does
_REPLICATES = 999  # of each of them
_LEAST = 2  # subjects of a group, without whom no variance can be estimated
_ROUNDS = 8  # of simulation, after which the search for a number of subjects ends
_STEPS = 4  # of 1 / distance, by which the search looks ahead for a number of subjects that is not enough
_MOST_AHEAD = 1000  # numbers of subjects
_HALVINGS = 40  # of the interval in which a margin lies
_NEAR = 0.03  # relative distance of numbers of subjects at which what was simulated for one tells of the other
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
        """Return the share of studies in which the first group is farther from the overall rate than the margin."""
        return float((np.abs(self.apart) > self.margins() * (1 + _ROUNDING)).mean())

    def of(self, n: int) -> Studies:
        """Return about what as many studies of n subjects find, as errors fall with the root of the number."""
        shrunk = math.sqrt(self.n / n)
        return replace(
            self, n=n, margin=shrunk * self.margin, step=self.step * self.n / n,
            apart=self.expected + shrunk * (self.apart - self.expected),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Study:
    """A study of groups, of which the first may differ, that can be made with any number of subjects.

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
    key: NDArray[np.uint32]

    def _require_memory(self, n_kept: int) -> None:
        """Refuse studies for whose sums, and n_kept numbers of each, there is no memory."""
        numbers, n_studies = self.others.attempts.numbers, n_kept * self.n_simulations
        n_kinds = int(numbers.sum()) + numbers.size
        memory.require(
            self.n_groups * (40 * n_kinds + 64 * min(AT_ONCE, n_studies)) + 200 * n_kinds + 40 * n_studies,
            f"{n_studies:,} studies of {self.n_groups:,} groups with up to {numbers[-1]:,} attempts of each subject",
            "plan for fewer, or margins with the exact method",
        )

    def _draw(self, n: int, use: Callable[[slice, Counts], None]) -> None:
        """Draw studies with groups of n subjects, and pass on sums over them as `draw_groups` does."""
        from fastfair.kernels import clusters

        numbers = self.others.attempts.numbers
        n_kinds = int(numbers.sum()) + numbers.size
        parts = zip(self.first.kinds, self.others.kinds, strict=True)
        failures, attempts, share = (
            np.concatenate((first, np.tile(others, self.n_groups - 1))) for first, others in parts
        )
        kinds = clusters.Kinds(failures, attempts, share, n_kinds * np.arange(1, self.n_groups + 1))
        draw_groups(kinds, np.full(self.n_groups, n), _GROUPS_OF_STUDIES, self.n_simulations, self.key, use)

    def margins_of_known_rate(self, n: int, n_groups: Counts) -> Floats:
        """Draw margins of (k,) numbers of alike groups; the first groups of this study are those of a smaller one."""
        from fastfair.kernels import clusters

        numbers, number_of = np.unique(n_groups, return_inverse=True)
        self._require_memory(numbers.size)
        largest = np.empty((self.n_simulations, numbers.size))

        def use(at: slice, sums: Counts) -> None:
            apart = np.abs(sums[clusters.FAILURES] / sums[clusters.ATTEMPTS] - self.others.fnmr)
            largest[at] = np.maximum.accumulate(apart, axis=1)[:, numbers - 1]

        self._draw(n, use)
        return np.asarray(np.quantile(largest, self.probability, axis=0, method="inverted_cdf")[number_of])

    def simulate(self, n: int) -> Studies:
        """Draw studies with n subjects in each group.

        Their margins are those of normal laws with the variances that a study estimates, times a factor by which the
        margins of resampled studies differ from it on average.
        """
        from fastfair.kernels import clusters

        self._require_memory(1)
        margin, apart = np.empty((2, self.n_simulations))

        def use(at: slice, sums: Counts) -> None:
            m, e = sums[clusters.ATTEMPTS], sums[clusters.FAILURES]
            margin[at] = self._normal_margins(sums)
            apart[at] = e[:, 0] / m[:, 0] - e.sum(axis=1) / m.sum(axis=1)

        self._draw(n, use)
        equal = self.others.attempts
        return Studies(
            n, margin * self._factor(n), apart, expected=self._difference(),
            step=1 / (n * int(equal.numbers[0])) if equal.are_equal else 0.0,
        )  # fmt: skip

    def _difference(self) -> float:
        """Return how much the first group's true rate differs from that of all groups together."""
        return (self.first.fnmr - self.others.fnmr) * (1 - 1 / self.n_groups)

    def _normal_margins(self, sums: Any) -> Floats:
        """Compute (studies,) the distance that all groups' rates keep, if normal, from (5, studies, groups) sums."""
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(squared_deviations(sums)) / sums[0]
        return distance_kept(np.nan_to_num(error), self.probability)

    def _factor(self, n: int) -> float:
        """Compare margins estimated by replicates with those of normal laws, in a part of the studies."""
        from fastfair.kernels import clusters

        rng = np.random.default_rng([*self.key.tolist(), n])
        by_replicates, normal = [], []
        for study in range(min(_STUDIES_RESAMPLED, self.n_simulations)):
            kinds, sums = self._draw_kinds(n, rng)
            if not sums[clusters.FAILURES].any():
                continue
            own = sums[clusters.FAILURES] / sums[clusters.ATTEMPTS]
            largest = np.empty(_REPLICATES)

            def use(at: slice, drawn: Counts, own: Floats = own, largest: Floats = largest) -> None:
                rates = drawn[clusters.FAILURES] / drawn[clusters.ATTEMPTS]
                largest[at] = np.abs(rates - own).max(axis=1)

            key = np.array([self.key[0], self.key[1] ^ np.uint32(study)], np.uint32)
            draw_groups(kinds, np.full(self.n_groups, n), _REPLICATES_OF_PLANS, _REPLICATES, key, use)
            by_replicates.append(np.quantile(largest, self.probability))
            normal.append(self._normal_margins(sums[:, None])[0])
        return float(np.sum(by_replicates) / np.sum(normal)) if by_replicates else 1.0

    def _draw_kinds(self, n: int, rng: np.random.Generator) -> tuple[Any, Counts]:
        """Draw n subjects of each group: kinds, as `kernels.clusters` has them, and (5, groups) sums over them."""
        from fastfair.kernels import clusters

        parts = []
        for g in range(self.n_groups):
            failures, attempts, share = (self.others if g else self.first).kinds
            times = rng.multinomial(n, share / share.sum())
            parts.append([values[times > 0] for values in (failures, attempts, times)])
        end = np.cumsum([times.size for _, _, times in parts])
        failures, attempts, times = map(np.concatenate, zip(*parts, strict=True))
        sums = sum_kinds(SubjectKinds(failures, attempts, times, end))
        return clusters.Kinds(failures, attempts, times.astype(np.float64), end), sums

    def subjects_for_margin(self, wanted: float, share: float, most: int) -> tuple[int | None, Studies]:
        """Find how many subjects keep the margin at or below `wanted` in a share of studies."""
        about = self.others.variance(1) * (self._errors_inside() / wanted) ** 2
        return self._smallest(lambda studies: studies.keep(wanted) >= share, about, wanted, most)

    def subjects_for_power(self, wanted: float, most: int) -> tuple[int | None, Studies]:
        """Find how many subjects the first group is found with in the share of studies `wanted`."""
        from scipy.special import ndtri

        difference = abs(self._difference())
        errors = max(1.0, self._errors_inside() + float(ndtri(wanted)))  # that the difference has to be large
        about = max(self.others.variance(1), self.first.variance(1)) * (errors / difference) ** 2
        return self._smallest(lambda studies: studies.find() >= wanted, about, difference, most)

    def _errors_inside(self) -> float:
        """Return how many standard errors all groups keep within."""
        return float(distance_kept(np.ones((1, self.n_groups)), self.probability)[0])

    def _smallest(
        self, is_enough: Callable[[Studies], bool], about: float, distance: float, most: int
    ) -> tuple[int | None, Studies]:
        """Find the smallest number of subjects from which on all numbers are enough, and what its studies find.

        What is simulated for one number tells of others that are near.
        """
        n, ahead = min(most, max(_LEAST, math.ceil(about))), min(_MOST_AHEAD, math.ceil(_STEPS / distance))
        for _ in range(_ROUNDS):
            studies = self.simulate(n)
            if n == most and not is_enough(studies):
                return None, studies
            low, high = max(_LEAST, n // 2), min(most, 2 * n)
            found = _first(lambda k, at=studies: is_enough(at.of(k)), low, high, ahead)  # type: ignore[misc]
            if abs(found - n) <= _NEAR * n:
                break
            n = found
        return found, studies.of(found)


def _first(is_enough: Callable[[int], bool], low: int, high: int, ahead: int) -> int:
    """Find the smallest of the numbers from low to high from which on all are enough; high if this is not enough.

    Rates are multiples of 1 / (n m), or of 1 / n where all attempts of a subject fail or none. While n grows by
    1 / distance, other multiples come to lie just within the distance, so that one number can be enough and the next
    not: the search looks ahead.
    """
    many = least_whole(is_enough, low - 1, high)
    few = many - 1
    for k in range(many, min(few + ahead, high) + 1):
        if not is_enough(k):
            few = k
    return min(few + 1, high)


def distance_kept(error: Floats, probability: float) -> Floats:
    """Compute the distance from 0 that normal numbers all keep with a probability: (n,) of (n, g) standard deviations.

    The g numbers are independent. It is infinite where all standard deviations are 0.
    """
    from scipy.special import ndtr, ndtri

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
