"""Operating points, each a rule that fixes the threshold; that threshold in comparisons, and slopes
of rates there.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import KINDS, AnyNumber, Kind, Natural, Rate, checked
from fastfair._lib.arrays import Indices, Integers
from fastfair._lib.bisection import least_whole
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import GroupedSide, not_kept
from fastfair.errors import InputError

from . import score_metrics

ENOUGH_ERRORS = 30  # Doddington's rule of 30: fewer errors than that say little about a rate
# too few to estimate clustering: with fewer, tests and bands call equal rates different
FEWEST_ERRORS = 10
Keys = np.signedinteger[Any]
RULES: dict[str, Rule] = {}  # by `OperatingPoint.kind`
_SEARCHES: tuple[str, ...] = "non-mated", "mated"


class Rule(ABC):
    """What operating points of a kind hold, and how that fixes the threshold: a new kind is one
    class like these.

    Attributes
    ----------
    kind, title, example : str
        Its name in `OperatingPoint.kind`, as results print it, and what people may type, such as
        "fmr=0.001".
    holds : tuple of str
        The error rates whose errors fix the threshold.
    signs : tuple of float, or None
        How the FNMR and the FMR enter what is held; None where no closed form knows how the
        threshold moves.
    eers : {"", "all", "groups"}
        Whose EERs fix the threshold.
    searches : tuple of {"non-mated", "mated"}
        The searches of a gallery that have rates there; empty for rules of comparisons alone.
    curve : str
        The rate of searches that is drawn over several values; empty where none is.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    example: ClassVar[str]
    holds: ClassVar[tuple[str, ...]] = ()
    signs: ClassVar[tuple[float, float] | None] = None
    eers: ClassVar[str] = ""
    searches: ClassVar[tuple[str, ...]] = ()
    curve: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            RULES[cls.kind] = cls()

    @property
    def takes_value(self) -> bool:
        """Whether its operating points have a value."""
        return "=" in self.example

    @property
    def is_looked_for(self) -> bool:
        """Whether the threshold is looked for in data, in a way that closed forms know."""
        return bool(self.holds) and self.signs is not None

    @property
    def grows(self) -> float:
        """1 where what is held grows as the threshold gets laxer, and -1 where it falls."""
        return 1.0 if "fmr" in self.holds else -1.0

    def checked(self, value: float) -> float:
        """Check the value of an operating point."""
        return validation.fraction(self.kind, value)

    def threshold_of_searches(self, searches: Any, at: OperatingPoint) -> float:
        """Find the threshold in searches of a gallery, given what looks for it: an
        `identification.Estimator`.
        """
        raise InputError(
            f"{at} is an operating point of comparisons: searches have at_fpir, at_fnir, at_rank"
        )

    def rank(self, at: OperatingPoint, rank: int | None) -> int | None:
        """Return how many candidates of a search are looked at, given how many are at thresholds;
        None for all.
        """
        return rank

    @abstractmethod
    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        """Find the lowest key that is accepted in data; groups: whose EERs count, by default those
        of all.
        """

    @abstractmethod
    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        """Find the (points, 64) keys of a block of replicates; None where lists do not reach far
        enough.

        block: what looks for thresholds, which is a `resampling.engine.BlockSweep`; places: those
        of operating points of this kind among all.
        """


class _FalseMatchRate(Rule):
    kind, title, example = "fmr", "FMR", "fmr=0.001"
    holds, signs = ("fmr",), (0.0, 1.0)

    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        keys = keys_of(comparisons)
        errors = allowed_errors(at.value, keys.sizes[1])
        nonmated = keys.nonmated
        if errors >= nonmated.size:
            raise not_kept(f"the threshold of {at}", keys)
        return nonmated[nonmated.size - 1 - errors] + nonmated.dtype.type(1)

    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        return block.at_rates(False, places)


class _FalseNonMatchRate(Rule):
    kind, title, example = "fnmr", "FNMR", "fnmr=0.05"
    holds, signs = ("fnmr",), (1.0, 0.0)

    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        keys = keys_of(comparisons)
        errors = allowed_errors(at.value, keys.sizes[0])
        mated = keys.mated
        if errors >= mated.size:
            raise not_kept(f"the threshold of {at}", keys)
        if mated[errors] == score_keys.failed_key(mated):
            n_failed = score_keys.count_failed(mated)
            raise InputError(
                f"no threshold holds {at}: {n_failed} of {keys.sizes[0]} mated comparisons failed"
                " and count as non-matches, which alone is an FNMR of"
                f" {n_failed / keys.sizes[0]:.3g}; hold a higher one, or read them with"
                ' ⟦failures="exclude"⟧'
            )
        return mated[errors]

    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        return block.at_rates(True, places)


class _GivenThreshold(Rule):
    kind, title, example = "threshold", "threshold", "threshold=0.4"
    signs, searches = (0.0, 0.0), _SEARCHES

    def checked(self, value: float) -> float:
        return validation.real(self.kind, value)

    def threshold_of_searches(self, searches: Any, at: OperatingPoint) -> float:
        return at.value

    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        return comparisons.to_key(at.value)

    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        return block.given(places)


class _EqualErrorRate(Rule):
    kind, title, example, eers = "eer", "EER", "eer", "all"
    holds, signs = ("fmr", "fnmr"), (-1.0, 1.0)

    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        return score_metrics.nearest_equal_error(keys_of(comparisons)).key

    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        return block.at_equal_error()


class _MeanGroupEqualErrorRate(Rule):
    kind, title, example, eers = "mean group eer", "mean group EER", "mean-group-eer", "groups"
    holds = "fmr", "fnmr"

    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        comparisons.require_groups()
        similarities = []
        for group in range(len(comparisons.groups)) if groups is None else groups:
            keys = keys_of(comparisons, group)
            if not all(keys.sizes):
                raise InputError(
                    f"group {comparisons.groups[group]!r} has {keys.sizes[0]} mated and"
                    f" {keys.sizes[1]} non-mated comparisons of its own, so it has no EER and there"
                    " is no mean of the groups' EER thresholds"
                )
            if keys.all_failed:
                raise InputError(
                    f"all comparisons of group {comparisons.groups[group]!r} failed, so it has no"
                    " EER threshold, and there is no mean of the groups' EER thresholds"
                )
            similarities.append(
                score_keys.decode(np.array([score_metrics.nearest_equal_error(keys).key]))[0]
            )
        mean = np.array([np.mean(similarities, dtype=np.float64)])
        return score_keys.first_keys_at_least(mean, comparisons.mated.keys)[0]

    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        return block.at_mean_group_equal_error()


class OfSearches(Rule):
    """Of searches of a gallery: comparisons have none. Its threshold holds a rate of all
    searches.
    """

    kind = ""  # of no operating point
    searches = _SEARCHES

    def key(
        self, comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None
    ) -> Keys:
        """Refuse comparisons."""
        raise InputError(
            f"{at} is an operating point of searches: comparisons have none, use identify"
        )

    def keys_in_block(self, block: Any, places: Indices) -> Integers | None:
        """Find nothing: `key` refuses before anything is drawn."""
        raise AssertionError("`key` refuses before anything is drawn")

    def threshold_of_searches(self, searches: Any, at: OperatingPoint) -> float:
        """Find the threshold that holds the rate."""
        return searches.threshold_that_holds(at)


class _FalsePositiveIdentificationRate(OfSearches):
    kind, title, example, holds, curve = "fpir", "FPIR", "fpir=0.01", ("fpir",), "fnir"


class _FalseNegativeIdentificationRate(OfSearches):
    kind, title, example, holds = "fnir", "FNIR", "fnir=0.05", ("fnir",)


class _Rank(OfSearches):
    kind, title, example, curve = "rank", "rank", "rank=1", "tpir"
    searches = ("mated",)

    def checked(self, value: float) -> float:
        return validation.count(self.kind, int(value) if value == int(value) else value, 1)

    def threshold_of_searches(self, searches: Any, at: OperatingPoint) -> float:
        return -math.inf

    def rank(self, at: OperatingPoint, rank: int | None) -> int | None:
        return int(at.value)


@checked
@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A rule that fixes the threshold; made by `at_fmr`, `at_fnmr`, `at_threshold`, `at_eer`,
    `at_mean_group_eer`.

    Attributes
    ----------
    kind : {"fmr", "fnmr", "threshold", "eer", "mean group eer", "fpir", "fnir", "rank"}
        What the operating point holds: a rate, the threshold itself, or an equal error rate.
    value : float
        The rate or threshold held; NaN for the kinds "eer" and "mean group eer", which have none.

    Raises
    ------
    InputError
        For an unknown kind, a rate outside [0, 1), a threshold that is not finite, a missing value,
        and a value for a kind that has none.

    Notes
    -----
    Two operating points are equal if they have the same kind and exactly the same value; only then
    is their text the same.
    """

    kind: str
    value: AnyNumber = float("nan")

    def __post_init__(self) -> None:
        validation.choice("kind", self.kind, tuple(RULES))
        if not self.rule.takes_value:
            if not (isinstance(self.value, float) and math.isnan(self.value)):
                raise InputError(
                    f"the operating point {self.kind!r} takes no value, but was given"
                    f" {self.value!r}"
                )
            return
        object.__setattr__(self, "value", self.rule.checked(self.value) + 0.0)  # not -0.0

    @property
    def rule(self) -> Rule:
        """What operating points of this kind hold."""
        return RULES[self.kind]

    @property
    def rate(self) -> str | None:
        """The one error rate that is held; None where it is none or two."""
        holds = self.rule.holds
        return holds[0] if len(holds) == 1 else None

    @property
    def is_given(self) -> bool:
        """Whether the threshold is given, and hangs on no data."""
        return not self.rule.holds

    @cached_property
    def _key(self) -> tuple[str, float | None]:
        return self.kind, None if math.isnan(self.value) else self.value

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, OperatingPoint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        if math.isnan(self.value):
            return self.rule.title
        short = f"{self.value:g}"
        exact = short if float(short) == self.value else repr(self.value).removesuffix(".0")
        return f"{self.rule.title}={exact}"


def read_point(text: str) -> OperatingPoint:
    """Return the operating point that people write as "fmr=0.001", "fnmr = 5 %", "threshold=0.4",
    or "eer" alone.

    Its own text, such as "mean group EER", is read as well.

    Raises
    ------
    InputError
        For anything else.
    """
    kind, _, number = (part.strip() for part in text.lower().partition("="))
    rule = next(
        (
            candidate
            for candidate in RULES.values()
            if kind in (candidate.example.partition("=")[0], candidate.title.lower())
        ),
        None,
    )
    if rule is None or rule.takes_value != bool(number):
        examples = ", ".join(rule.example for rule in RULES.values())
        raise InputError(f"{text!r} is not an operating point: write one of {examples}")
    if not rule.takes_value:
        return OperatingPoint(rule.kind)
    digits = number.removesuffix("%").strip()
    if digits != number and not rule.holds:
        raise InputError(f"{text!r} is a percentage, but a threshold is a score: write the score")
    try:
        value = float(digits) if digits == number else float(Decimal(digits) / 100)
    except (InvalidOperation, ValueError):
        raise InputError(f"{text!r} {_what_is_wrong(rule, number)}") from None
    try:
        return OperatingPoint(rule.kind, value)
    except InputError as error:
        raise InputError(f"{text!r}: {error.marked}") from None


def _what_is_wrong(rule: Rule, number: str) -> str:
    """Return what is wrong with the text of a number, and what to write."""
    kind, _, example = rule.example.partition("=")
    if "." in example and re.fullmatch(r"[+-]?[0-9]*,[0-9]+ *%?", number):
        return f"has a decimal comma: write {kind}={number.replace(',', '.')}"
    several = [part.rpartition("=")[2].strip() for part in re.split("[,;]", number)]
    if len(several) > 1:
        points = " and ".join(f"{kind}={part}" for part in several if part)
        return f"holds several numbers: give operating points one by one, as {points}"
    if number.endswith("%"):
        return f"has no number before the %: write it as {kind}=5 %"
    return f"has no number after the =, but {number!r}: write it as in {rule.example}"


KINDS["OperatingPoint"] = Kind(
    "an operating point such as at_fmr(1e-3) or at_threshold(0.5)",
    "operating points",
    lambda value: isinstance(value, OperatingPoint | str),
    lambda _, value: read_point(value) if isinstance(value, str) else value,
)


@checked
def at_fmr(fmr: Rate) -> OperatingPoint:
    """Hold the overall false match rate: use the least strict threshold whose FMR does not exceed
    it.

    Parameters
    ----------
    fmr : float
        A fraction in [0, 1).

    Returns
    -------
    OperatingPoint

    Raises
    ------
    InputError
        For a rate outside [0, 1), such as a percentage.

    Notes
    -----
    Let s0 be the smallest of the n non-mated scores that at most fmr * n of them exceed. The
    threshold is the next float above s0, so tied scores never raise the FMR above `fmr` [1]_.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", appendix D.1.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_fmr(1e-3))
    'FMR=0.001'
    """
    return OperatingPoint("fmr", fmr)


@checked
def at_fnmr(fnmr: Rate) -> OperatingPoint:
    """Hold the overall false non-match rate: use the strictest threshold whose FNMR does not exceed
    it.

    Parameters
    ----------
    fnmr : float
        A fraction in [0, 1).

    Returns
    -------
    OperatingPoint

    Raises
    ------
    InputError
        For a rate outside [0, 1), such as a percentage.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([1, 1, 2, 3, 4, 0], [1, 1, 1, 1, 1, 0])
    >>> r = ff.rates(c, ff.at_fnmr(0))
    >>> r.threshold, r.fnmr
    (1.0, 0.0)
    """
    return OperatingPoint("fnmr", fnmr)


@checked
def at_threshold(threshold: float) -> OperatingPoint:
    """Use a given threshold, on the scale of the scores.

    Parameters
    ----------
    threshold : float
        Similarities >= it, or distances <= it, are accepted. It is rounded to the type of the
        scores, so that 0.7 accepts a score of 0.7 that is kept as float32.

    Returns
    -------
    OperatingPoint

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_threshold(0.5))
    'threshold=0.5'
    """
    return OperatingPoint("threshold", float(threshold))


def at_eer() -> OperatingPoint:
    """Use the threshold where FMR and FNMR are nearest, which is that of `eer` by its method
    "nearest".

    Returns
    -------
    OperatingPoint

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_eer())
    'EER'
    """
    return OperatingPoint("eer")


def at_mean_group_eer() -> OperatingPoint:
    """Use the mean of the groups' own EER thresholds, as the Sum of Group Error Differences does.

    Returns
    -------
    OperatingPoint

    Notes
    -----
    This is the reference threshold of [1]_, equation 8.

    References
    ----------
    .. [1] Elobaid et al., "Sum of Group Error Differences: A Critical Examination of Bias Evaluation in Biometric
       Verification and a Dual-Metric Measure", section III-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_mean_group_eer())
    'mean group EER'
    """
    return OperatingPoint("mean group eer")


@checked
def at_fpir(fpir: Rate) -> OperatingPoint:
    """Hold the false positive identification rate of all searches: use the least strict threshold
    that does.

    Parameters
    ----------
    fpir : float
        A fraction in [0, 1).

    Returns
    -------
    OperatingPoint
        For `identify`.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_fpir(0.01))
    'FPIR=0.01'
    """
    return OperatingPoint("fpir", fpir)


@checked
def at_fnir(fnir: Rate) -> OperatingPoint:
    """Hold the false negative identification rate of all searches: use the strictest threshold that
    does.

    Parameters
    ----------
    fnir : float
        A fraction in [0, 1).

    Returns
    -------
    OperatingPoint
        For `identify`.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_fnir(0.05))
    'FNIR=0.05'
    """
    return OperatingPoint("fnir", fnir)


@checked
def at_rank(rank: Natural) -> OperatingPoint:
    """Look at the best few candidates of a search, whatever their scores.

    Parameters
    ----------
    rank : int
        How many candidates are looked at.

    Returns
    -------
    OperatingPoint
        For `identify`.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_rank(5))
    'rank=5'
    """
    return OperatingPoint("rank", float(rank))


def allowed_errors(rate: float, n: int) -> int:
    """Return the largest number of errors in n comparisons whose rate does not exceed `rate`,
    compared as floats.

    Parameters
    ----------
    rate : float
        The rate not to exceed.
    n : int
        Number of comparisons.

    Returns
    -------
    int

    Examples
    --------
    >>> from fastfair.error_rates.operating_points import allowed_errors
    >>> allowed_errors(0.29, 100)  # 0.29 * 100 is 28.999999999999996
    29
    """
    errors = int(rate * n)
    while errors < n and (errors + 1) / n <= rate:
        errors += 1
    while errors > 0 and errors / n > rate:
        errors -= 1
    return errors


def threshold_key(
    comparisons: Comparisons, at: OperatingPoint, groups: Iterable[int] | None = None
) -> Keys:
    """Find the lowest key that is accepted at an operating point.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons whose scores the threshold is found from.
    at : OperatingPoint
        The operating point.
    groups : iterable of int, optional
        Positions of the groups whose EER thresholds count where their mean is meant; all by
        default.

    Returns
    -------
    int32 or int64
        The threshold as a key; see `fastfair.kernels.sorting`.
    """
    comparisons._require_rates(
        f"the threshold of {at}", at.rule.holds, "give the threshold, as in threshold=0.5"
    )
    key = at.rule.key(comparisons, at, groups)
    keys = keys_of(comparisons)
    if keys.lowest is not None and not at.is_given:  # comparisons that failed are never accepted
        key = max(key, key.dtype.type(keys.lowest))
    keys.require(f"the threshold of {at}", key)
    return key


Cell = tuple[int, int] | None  # groups of reference and probe, or all comparisons
_LEAST_SHARE = 1 / 3  # of a rate held, below which its slope is not looked for


class HeldThreshold:
    """The threshold that an operating point fixes, and how error rates change with what it holds.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons in which the threshold is found.
    point : OperatingPoint
        An operating point whose rule has signs. Where its threshold is given there are no slopes.

    Attributes
    ----------
    at : OperatingPoint
        As given.
    key : int
        The threshold's key.
    sizes : tuple of int
        Numbers of mated and non-mated comparisons.
    """

    def __init__(self, comparisons: Comparisons, point: OperatingPoint) -> None:
        self.comparisons, self.at = comparisons, point
        self.signs = point.rule.signs or (0.0, 0.0)  # how the FNMR and the FMR enter what is held
        self.sizes = len(comparisons.mated), len(comparisons.nonmated)
        self.key = int(threshold_key(comparisons, point))
        self._keys = keys_of(comparisons)
        self._not_kept = self.sizes[1] - self._keys.nonmated.size  # whose scores are the lowest

    def errors_below(self, key: int) -> tuple[int, int]:
        """Return the number of false non-matches, and of correct non-matches, of a threshold."""
        mated, nonmated = self._keys.mated, self._keys.nonmated
        return score_keys.count_below(mated, key), self._not_kept + score_keys.count_below(
            nonmated, key
        )

    def error_rows(self) -> tuple[slice, slice]:
        """Return where the false non-matches, and the false matches, are among the comparisons that
        are kept.
        """
        false_nonmatches, correct_nonmatches = self.errors_below(self.key)
        return slice(0, false_nonmatches), slice(correct_nonmatches - self._not_kept, None)

    def held(self, key: int) -> float:
        """Return what the operating point holds, at another threshold: a rate, or FMR minus
        FNMR.
        """
        fnmr, fmr = self.rates_at(key)
        return self.signs[0] * fnmr + self.signs[1] * fmr

    def rates_at(self, key: int) -> tuple[float, float]:
        """Return the FNMR and the FMR at a threshold; 0 without comparisons of their class."""
        (n_mated, n_nonmated), (rejected, below) = self.sizes, self.errors_below(key)
        return rejected / max(n_mated, 1), (n_nonmated - below) / max(n_nonmated, 1)

    def errors_held(self) -> int:
        """Return how many errors are behind the rate that the operating point holds, the fewer
        where it holds two.
        """
        false_nonmatches, correct_nonmatches = self.errors_below(self.key)
        behind = false_nonmatches, self.sizes[1] - correct_nonmatches
        return min(number for number, sign in zip(behind, self.signs, strict=True) if sign)

    def near(self, spread: float) -> tuple[int, int]:
        """Return the thresholds at which what is held lies a standard error to either side."""
        at = self.held(self.key)
        least = at - spread if self.at.rate is None else max(at - spread, at * _LEAST_SHARE)
        return self._first_key(least), self._first_key(at + spread)

    def _first_key(self, aim: float) -> int:
        """Return the lowest threshold at which a falling rate is at most `aim`, or the FNMR, which
        grows, at least.
        """

        def reached(key: int) -> bool:
            return self.held(key) >= aim if self.at.rule.grows < 0 else self.held(key) <= aim

        sides = [keys for keys in (self._keys.mated, self._keys.nonmated) if keys.size]
        limits = self._keys.limits
        low = int(min(keys[0] for keys in sides))
        high = int(max(keys[-1] for keys in sides)) + 1
        if limits is not None:
            low, high = max(low, limits[0]), min(high, limits[1])
        low = least_whole(reached, low - 1, high)
        if limits is not None and (low == limits[0] or (low == limits[1] and not reached(low))):
            raise not_kept(f"how rates change near the threshold of {self.at}", self._keys)
        return low

    def slopes(self, spread: float) -> Callable[[bool, Cell], tuple[float, float]]:
        """Return the slope of a rate over what is held, and by what share of it counts of errors
        let it vary.

        It is that between thresholds a standard error to either side; 0 without one.
        """
        if spread == 0:
            return lambda mated, cell: (0.0, 2.0)
        keys = self.near(spread)
        ends = [self.held(key) for key in keys]
        run = ends[1] - ends[0]
        if self.at.rate is not None and min(ends) > 0 and self.errors_held() >= ENOUGH_ERRORS:
            # Rates grow with the logarithm of others, rather than with these; with few errors that
            # is too flat.
            run = self.held(self.key) * float(np.log(ends[1] / ends[0]))
        below = [self.errors_below(key) for key in keys]
        moved = (abs(after - before) for before, after in zip(*below, strict=True))
        behind = sum(n for n, sign in zip(moved, self.signs, strict=True) if sign)
        comparisons = self.comparisons
        n_groups = len(comparisons.groups)

        def slope(mated: bool, cell: Cell) -> tuple[float, float]:
            start, stop = (counts[0 if mated else 1] for counts in below)
            rise = stop - start
            n = self.sizes[0 if mated else 1]
            if cell is not None:
                by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
                first = 0 if mated else self._not_kept
                rows = slice(min(start, stop) - first, max(start, stop) - first)
                cells = cells_of(by_group, rows, n_groups)
                assert cells is not None
                rise = int(np.sign(rise)) * int(
                    np.count_nonzero(cells == cell[0] * n_groups + cell[1])
                )
                n = int(by_group.cells[cell])
            per_score = (rise if mated else -rise) / n / run if run and n else 0.0
            return per_score, 1 / max(1, abs(rise)) + 1 / max(1, behind)

        return slope


def cells_of(by_group: GroupedSide | None, rows: slice, n_groups: int) -> Integers | None:
    """Return the cell of the group-by-group matrix of each comparison in some rows; None without
    groups.
    """
    if by_group is None:
        return None
    return np.asarray(
        by_group.reference_group[rows].astype(np.int64) * n_groups + by_group.probe_group[rows]
    )
