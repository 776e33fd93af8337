"""`identify`: error rates of one-to-many searches, by group, with intervals.

A rate is a mean over searches of what each adds, v. It is 0 or 1 in the whole gallery of N people; in a gallery of n of
them it is the probability of an error, over all subsets, which follows from how many others score high enough.

Intervals are for other people like those of the data. A person's influence on a rate has two parts. As a probe: the
sum of (v - rate) over the searches, divided by the number of all searches. As an enrolled person: what the rate would
lose if the person left the gallery, minus the mean of this over the gallery, whose size stays. A false positive is lost
if the person is its sole candidate; a mate missed at rank R is found after all if exactly R people outrank it, and the
person is one of them. Such an error belongs to a pair of people, the one searched with and the one enrolled, and is in
the influence of both. So the variance is the sum of squares of influences, minus that of pairs, which would count twice
(Aronow, Samii and Assenova 2015), and never below that of a fixed gallery, the sum of squares of the first parts alone.
Limits of few errors are those of other rates: see `uncertainty.few_errors`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtrit

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import Natural, checked
from fastfair._lib.plots import Bar, draw_lines, draw_rows, tick_per_cent
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint, allowed_errors
from fastfair.errors import InputError
from fastfair.group_tests.failure_counts import FailureCounts
from fastfair.measures._registry import METRICS
from fastfair.resampling.dependence import ENOUGH_PAIRS, effective_size
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN
from fastfair.uncertainty.few_errors import law_of_held_rate, raised_rate, widened_for_few_errors
from fastfair.uncertainty.quantities import HELD, TOO_NARROW, Estimate, find, warn_of_narrow

from .searches import Searches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ends = tuple[float, float]
Gallery = Literal["drawn", "fixed"]
IdentificationRate = Literal["fpir", "fnir"]
OF_ENROLLED = f"few enrolled people cause much of the uncertainty: {TOO_NARROW}"
_OPEN = "an end of the threshold's interval lies beyond all scores: more searches are needed"


def sums(place: NDArray[Any], values: Floats, n: int) -> Floats:
    """Sum the values of each of n places."""
    return np.asarray(np.bincount(place, values, n), np.float64)


@dataclass(frozen=True, eq=False)
class Errors:
    """What each mated, or each non-mated, search adds to a rate, and how this hangs on single enrolled people.

    Attributes
    ----------
    subject, group : (m,) ndarray
        The person and group of each search's probe.
    value : (m,) ndarray
        What it adds: the probability of an error.
    margin : (m,) ndarray
        The larger, the farther it is from an error.
    search, person, weight : (pairs,) ndarray
        By how much a search adds less without an enrolled person.
    """

    subject: NDArray[np.int32]
    group: NDArray[np.int32]
    value: Floats
    margin: Floats
    search: NDArray[np.intp]
    person: NDArray[np.int32]
    weight: Floats

    def within(self, group: int | None) -> Errors:
        """Keep the searches of a group."""
        if group is None:
            return self
        kept = self.group == group
        pairs = kept[self.search]
        return Errors(
            self.subject[kept], self.group[kept], self.value[kept], self.margin[kept],
            (np.cumsum(kept) - 1)[self.search[pairs]], self.person[pairs], self.weight[pairs],
        )  # fmt: skip

    @cached_property
    def attempts(self) -> tuple[Floats, Floats]:
        """(probed people,) number of searches, and of errors, of each."""
        people, place = np.unique(self.subject, return_inverse=True)
        return sums(place, np.ones(place.size), people.size), sums(place, self.value, people.size)


class Influence(NamedTuple):
    """A rate, its variance, the degrees of freedom of that, and the (people,) influence of each person.

    of_enrolled: whether enrolled people add more to the variance than those who search.
    """

    rate: float
    variance: float
    freedom: float
    of_people: Floats
    of_enrolled: bool


def influence(errors: Errors, enrolled: NDArray[np.int32], n_people: int, *, drawn: bool) -> Influence:
    """Compute a rate and its variance, for another gallery of other people, or for this one and other probes."""
    n, n_probed = errors.value.size, errors.attempts[0].size
    rate = float(errors.value.mean())
    own = sums(errors.subject, errors.value - rate, n_people) / n
    fixed = float(own @ own) * n_probed / max(n_probed - 1, 1)
    total, variance = own, fixed
    shared: Floats = np.zeros(n_people)
    if drawn and errors.weight.size:
        weight, first = errors.weight / n, errors.subject[errors.search].astype(np.int64)
        received = sums(errors.person, weight, n_people)
        total = own + received
        total[enrolled] -= received.sum() / enrolled.size
        low, high = np.minimum(first, errors.person), np.maximum(first, errors.person)
        pairs, place = np.unique(low * n_people + high, return_inverse=True)
        squares = sums(place, weight, pairs.size) ** 2
        beyond = float(total @ total - own @ own - squares.sum())
        if beyond > 0:
            variance = fixed + beyond
            shared = sums(np.concatenate(np.divmod(pairs, n_people)), np.tile(squares, 2), n_people)
        else:
            total = own
    centred = errors.value - rate
    variance = max(variance, float(centred @ centred) / n**2)
    each = np.maximum(total**2 - shared / 2, 0.0)
    n_units = n_probed + (enrolled.size if drawn and total is not own else 0)
    rarer = max(min(errors.value.sum(), n - errors.value.sum()), 1e-9)
    uneven = float(each @ each) / float(each.sum()) ** 2 - 1 / n_units - 1 / (2 * rarer) if each.any() else 0.0
    freedom = min(max(2 / uneven, 1.0), max(n_units - 1, 1)) if uneven > 0 else max(n_units - 1, 1)
    return Influence(rate, variance, float(freedom), total, variance > 2 * max(fixed, float(centred @ centred) / n**2))


def chances(n_others: int, n_drawn: int, most: int) -> tuple[Floats, Floats]:
    """Return what c = 0 to `most` of n_others people, of whom n_drawn are drawn, make of a search.

    The first is the probability that one of the c is drawn at least; the second by how much less that is, on average
    over subsets, without a given one of them.
    """
    j = np.arange(most)
    none = np.append(1.0, np.cumprod(np.maximum(n_others - n_drawn - j, 0) / np.maximum(n_others - j, 1)))
    sole = np.append(1.0, np.cumprod(np.maximum(n_others - n_drawn - j, 0) / np.maximum(n_others - 1 - j, 1)))
    return 1 - none, np.append(0.0, sole[:most]) * n_drawn / n_others


def chance_of_rank(rank: NDArray[np.int64], most: int, n_others: int, n_drawn: int) -> Floats:
    """Return the probability that fewer than `most` of the rank - 1 people who outrank a mate are drawn."""
    distinct, place = np.unique(rank, return_inverse=True)
    ahead = (distinct - 1)[:, None].astype(np.float64)
    found = np.exp(log_chance(np.arange(most), ahead, n_others, n_drawn)).sum(axis=1)
    return np.asarray(np.minimum(found, 1.0)[place])


def log_chance(hits: NDArray[Any], special: NDArray[Any], n: int, n_drawn: int) -> Floats:
    """Return the logarithm of the hypergeometric probability of so many special ones among those drawn."""

    def ways(a: Any, b: Any) -> Any:
        possible = (b >= 0) & (b <= a)
        a, b = np.where(possible, a, 0), np.where(possible, b, 0)
        return np.where(possible, gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1), -np.inf)

    return np.asarray(ways(special, hits) + ways(n - special, n_drawn - hits) - ways(n, n_drawn))


def false_positives(searches: Searches, threshold: float, size: int, *, drawn: bool) -> Errors:
    """Return what non-mated searches add to the FPIR in galleries of `size` people."""
    rows = np.flatnonzero(~searches.is_mated)
    best, n = searches.best[rows], searches.n_enrolled
    listed = best >= threshold
    c = listed.sum(axis=1)
    needed = n if size < n else 2 if drawn else 1
    _require_known(searches, rows[(threshold <= searches.reach[rows]) & (c < needed)], "FPIR", threshold)
    value, sole = chances(n, size, best.shape[1])
    search, column = np.nonzero(listed & (sole[c] > 0)[:, None])
    return Errors(
        searches.subject[rows], searches.group[rows], value[c], -best[:, 0], search,
        searches.candidate[rows][search, column], sole[c][search],
    )  # fmt: skip


def false_negatives(searches: Searches, threshold: float, rank: int | None, size: int) -> Errors:
    """Return what mated searches add to the FNIR in galleries of `size` people."""
    rows = np.flatnonzero(searches.is_mated)
    score, place, n = searches.mate_score[rows], searches.rank[rows], searches.n_enrolled
    unlisted = np.isnan(score)
    short = np.zeros(rows.size, bool) if rank is None or size < n else place > rank
    _require_known(searches, rows[unlisted & (threshold <= searches.reach[rows]) & ~short], "FNIR", threshold)
    high = score >= threshold
    known = np.where(unlisted, -np.inf, score)
    value: Floats = np.where(high, 0.0, 1.0)
    margin = known - threshold if math.isfinite(threshold) else np.full(rows.size, np.inf)
    none = np.zeros(0, np.intp), np.zeros(0, np.int32), np.zeros(0)
    if rank is None or size == 1:
        return Errors(searches.subject[rows], searches.group[rows], value, margin, *none)
    value = 1 - high * chance_of_rank(place, rank, n - 1, size - 1)
    best = searches.best[rows]
    if rank <= best.shape[1]:
        margin = np.minimum(margin, known - np.maximum(best[:, rank - 1], -1e300))
    listed = (best >= np.where(high, score, np.inf)[:, None]) & (place > rank)[:, None]
    search, column = np.nonzero(listed)
    ahead = (place[search] - 2).astype(np.float64)  # besides this person
    weight = np.exp(log_chance(np.array(rank - 1), ahead, n - 2, size - 2)) * (size - 1) / (n - 1)
    kept = weight > 0
    pairs = search[kept], searches.candidate[rows][search[kept], column[kept]], weight[kept]
    return Errors(searches.subject[rows], searches.group[rows], value, margin, *pairs)


def candidates(searches: Searches, threshold: float, size: int) -> Errors | None:
    """Return how many candidates non-mated searches have in galleries of `size` people; None where lists are short."""
    rows = np.flatnonzero(~searches.is_mated)
    if (threshold <= searches.reach[rows]).any():
        return None
    best, share = searches.best[rows], size / searches.n_enrolled
    search, column = np.nonzero(best >= threshold)
    return Errors(
        searches.subject[rows], searches.group[rows], sums(search, np.full(search.size, share), rows.size),
        -best[:, 0], search, searches.candidate[rows][search, column], np.full(search.size, share),
    )  # fmt: skip


def _require_known(searches: Searches, unknown: NDArray[np.intp], rate: str, threshold: float) -> None:
    if unknown.size:
        reach = float(searches.reach[unknown].max())
        raise InputError(
            f"the {rate} at the threshold {typed(threshold)} is not known, as the candidates of {unknown.size:,} "
            f"searches are known above {typed(reach)} alone: take a higher threshold, or keep more candidates"
        )


@dataclass(frozen=True, kw_only=True)
class IdentifiedRate(Estimate):
    """A rate of identification: an `Estimate`, and where it was measured.

    Attributes
    ----------
    name : {"fpir", "fnir", "tpir", "selectivity"}
        What is estimated.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there; -inf at a rank.
    gallery_size : int
        The number of enrolled people.
    n_searches : int
        The number of non-mated searches (FPIR, selectivity), or of mated ones.
    """

    name: str
    at: OperatingPoint
    threshold: float
    gallery_size: int
    n_searches: int

    _unused = ("n_comparisons",)


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """The result of `identify`.

    Attributes
    ----------
    rows : tuple of IdentifiedRate
        At each operating point and gallery size, of all searches and of each group of probes.
    groups : tuple of str
        The groups.
    n_enrolled : int
        The number of enrolled people.
    rank : int or None
        How many candidates were looked at; None for all.
    gallery : {"drawn", "fixed"}
        Whether intervals are for another gallery, or for this one.
    confidence_level : float
        The level of the intervals.
    """

    rows: tuple[IdentifiedRate, ...]
    groups: tuple[str, ...]
    n_enrolled: int
    rank: int | None
    gallery: str
    confidence_level: float
    searches: Searches | None = field(default=None, repr=False, metadata=UNWRITTEN)

    _title = "How often are searches of a gallery wrong?"
    _printed = "name group operating_point gallery_size n_searches n_errors estimate"

    @checked
    def of(
        self, name: str, group: str | None = None, at: OperatingPoint | None = None, size: int | None = None
    ) -> IdentifiedRate:
        """Return a row.

        Parameters
        ----------
        name : {"fpir", "fnir", "tpir", "selectivity"}
            What is estimated.
        group : str, optional
            A group of probes; all searches by default.
        at : OperatingPoint, optional
            Needed where there are several.
        size : int, optional
            The number of enrolled people; all by default.

        Returns
        -------
        IdentifiedRate
        """
        sizes = sorted({row.gallery_size for row in self.rows})
        wanted = (self.n_enrolled if self.n_enrolled in sizes else sizes[-1]) if size is None else size
        if wanted not in sizes:
            raise InputError(f"there are no rates in galleries of {wanted}, only of {', '.join(map(str, sizes))}")
        return find([row for row in self.rows if row.gallery_size == wanted], name, group, at)

    @checked
    def failure_counts(self, rate: IdentificationRate = "fnir", at: OperatingPoint | None = None) -> FailureCounts:
        """Count the searches of each person, and the errors among them, to test whether groups' rates are equal.

        Parameters
        ----------
        rate : {"fnir", "fpir"}
            Errors of mated or of non-mated searches.
        at : OperatingPoint, optional
            Needed where there are several.

        Returns
        -------
        FailureCounts
            For `fnmr_test`, which then tests equal rates in this very gallery.
        """
        if self.searches is None:
            raise InputError("this result was read from a file: identify the searches again")
        if not self.groups:
            raise InputError("the searches have no groups to compare: give group")
        row, s = self.of(rate, at=at), self.searches
        rank = int(row.at.value) if row.at.kind == "rank" else self.rank
        errors = (
            false_positives(s, row.threshold, s.n_enrolled, drawn=False) if rate == "fpir"
            else false_negatives(s, row.threshold, rank, s.n_enrolled)
        )  # fmt: skip
        return FailureCounts.from_decisions(
            errors.value.astype(int), s.labels[errors.subject], np.array(s.groups, object)[errors.group], rate=rate
        )

    def _sentences(self) -> list[str]:
        kind = "other galleries of such people" if self.gallery == "drawn" else "this gallery and other probes"
        level, largest = f"{100 * self.confidence_level:g} %", max(row.gallery_size for row in self.rows)
        told = [
            row
            for row in self.rows
            if row.group is None and row.gallery_size == largest
            if row.name in ("fpir", "fnir") and HELD not in row.note
        ]
        return [
            f"Searches of a gallery of {self.n_enrolled:,} people; {level} intervals for {kind}.",
            *(f"{row.title} is {_in_words(row)}{self._extremes(row)}." for row in told),
        ]

    def _extremes(self, of_all: IdentifiedRate) -> str:
        """Name the groups with the lowest and the highest rate."""
        alike = (row for row in self.rows if (row.name, row.at, row.gallery_size) == _key(of_all))
        known = sorted((row for row in alike if row.group and not math.isnan(row.estimate)), key=lambda r: r.estimate)
        if len(known) < 2:
            return ""
        return f"; from {_in_words(known[0])} ({known[0].group}) to {_in_words(known[-1])} ({known[-1].group})"

    @checked
    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Axes:
        """Draw TPIR over rank (CMC) where there are several ranks, a rate over gallery sizes, or rates of groups.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : {"fpir", "fnir", "tpir"}, optional
            The rate; by default TPIR over ranks, and else FNIR, or FPIR where there are no mated searches.

        Returns
        -------
        matplotlib Axes
        """
        ranks, sizes = (sorted(set(values)) for values in (
            (row.at.value for row in self.rows if row.at.kind == "rank"), (row.gallery_size for row in self.rows),
        ))  # fmt: skip
        over_ranks = len(ranks) > 1
        usual = "tpir" if over_ranks else "fnir" if any(row.name == "fnir" for row in self.rows) else "fpir"
        rate = validation.choice("name", name or usual, ("fpir", "fnir", "tpir"))
        rows = [row for row in self.rows if row.name == rate and (not over_ranks or row.at.kind == "rank")]
        if not rows:
            raise InputError(f"there is no {rate.upper()} to draw")
        if over_ranks or len(sizes) > 1:
            at = rows[-1].at
            rows = (
                [row for row in rows if row.gallery_size == sizes[-1]]
                if over_ranks
                else [r for r in rows if r.at == at]
            )
            places = np.array(ranks if over_ranks else sizes, np.float64)
            curves = {
                group or "all": [
                    np.array([getattr(row, part) for row in sorted(rows, key=_place) if row.group == group])
                    for part in ("estimate", "low", "high")
                ]
                for group in (self.groups or (None,))
            }
            called = "Rank" if over_ranks else f"Enrolled people, at {at}"
            ax = draw_lines(places, curves, ax, (called, METRICS[rate].long_title))
            ax.yaxis.set_major_formatter(tick_per_cent)
            return ax
        labels = [f"{row.group or 'all'} at {row.at}" for row in rows]
        bars = [Bar(k, row.estimate, row.low, row.high) for k, row in enumerate(rows)]
        return draw_rows(ax, labels, bars, xlabel=METRICS[rate].long_title)


def _key(row: IdentifiedRate) -> tuple[str, OperatingPoint, int]:
    return row.name, row.at, row.gallery_size


def _place(row: IdentifiedRate) -> tuple[float, int]:
    return row.at.value, row.gallery_size


def _in_words(row: IdentifiedRate) -> str:
    return rate_with_interval(row.estimate, row.low, row.high) if row.has_interval else per_cent(row.estimate)


class _Held(NamedTuple):
    """The rate that an operating point holds, whose data are few: which thresholds may be the population's."""

    name: str
    expected: float  # effective number of errors
    thresholds: tuple[float | None, float | None]  # the strictest and the laxest; None beyond all scores
    of_people: Floats
    of_enrolled: bool


class _Estimator:
    """Computes the rates of searches at operating points, with their limits."""

    def __init__(self, searches: Searches, rank: int | None, gallery: Gallery, confidence_level: float) -> None:
        self.searches, self.rank, self.drawn, self.level = searches, rank, gallery == "drawn", confidence_level
        self.n_people = searches.labels.size
        self.n_enrolled = searches.n_enrolled

    def errors(self, name: str, threshold: float, rank: int | None, size: int) -> Errors | None:
        """Return what searches add to a rate; None where it is not known."""
        if name == "fpir":
            return false_positives(self.searches, threshold, size, drawn=self.drawn)
        if name == "fnir":
            return false_negatives(self.searches, threshold, rank, size)
        return candidates(self.searches, threshold, size)

    def influence(self, errors: Errors) -> Influence:
        return influence(errors, self.searches.enrolled, self.n_people, drawn=self.drawn)

    def threshold(self, at: OperatingPoint) -> float:
        """Return the threshold of an operating point."""
        s = self.searches
        if at.kind == "threshold":
            return at.value
        if at.kind == "rank":
            return -math.inf
        scores = self.ordered(at.kind)
        if not scores.size:
            kind = "non-mated" if at.kind == "fpir" else "mated"
            raise InputError(f"{at} is held over {kind} searches, and there are none")
        after = float(scores[min(allowed_errors(at.value, scores.size), scores.size - 1)])
        if at.kind == "fnir":
            if after == -math.inf:
                raise InputError(f"no threshold holds {at}: more searches miss their mate whatever its score")
            return after
        found = float(np.nextafter(after, math.inf))
        known = after > -math.inf and not (found <= s.reach[~s.is_mated][s.best[~s.is_mated, 0] < found]).any()
        if not known:
            raise InputError(f"{at} is below the reach of the candidate lists: lists with lower scores are needed")
        return found

    def ordered(self, held: str) -> Floats:
        """Return the scores from the error side inward, errors of a held rate first."""
        s = self.searches
        if held == "fpir":
            return np.sort(s.best[~s.is_mated, 0])[::-1]
        found = np.where((self.rank is None) | (s.rank <= (self.rank or 0)), s.mate_score, -np.inf)[s.is_mated]
        return np.sort(np.where(np.isnan(found), -np.inf, found))

    def held(self, at: OperatingPoint, threshold: float) -> _Held | None:
        """Return how far the threshold of an operating point may be off."""
        if at.is_given:
            return None
        errors = self.errors(at.kind, threshold, self.rank, self.n_enrolled)
        assert errors is not None
        found, scores, n = self.influence(errors), self.ordered(at.kind), errors.value.size
        spread = math.sqrt(at.value * (1 - at.value) / n)
        if errors.value.sum() >= ENOUGH_PAIRS:
            spread = max(spread, math.sqrt(found.variance))
        elif at.value:
            spread *= math.sqrt(n / self.effective(errors, at.kind, None))
        expected = (at.value / spread) ** 2 if spread else 0.0
        tail = (1 - self.level) / (2 if expected >= FEWEST_ERRORS else 4)
        few, many = law_of_held_rate(at.value, spread, found.freedom, tail)
        fewest, most = allowed_errors(few, n), min(n, math.ceil(many * n - 1e-9))
        near = None if fewest == 0 else float(scores[fewest - 1])
        far = None if most >= n else float(scores[most])
        if at.kind == "fnir":
            return _Held("fnir", expected, (far, near), found.of_people, found.of_enrolled)
        up = [None if one is None else float(np.nextafter(one, math.inf)) for one in (near, far)]
        return _Held("fpir", expected, (up[0], up[1]), found.of_people, found.of_enrolled)

    def effective(self, errors: Errors, name: str, group: int | None) -> float:
        """Return the effective sample size of a rate with few errors, by the design effect of the nearest more.

        Those are the searches nearest to an error, of five people; where there are not so many, each person counts as
        one attempt as far as attempts differ in number.
        """
        m, n = errors.attempts[0], errors.value.size
        order = np.argsort(errors.margin, kind="stable")
        _, first = np.unique(errors.subject[order], return_index=True)
        if first.size >= ENOUGH_PAIRS:
            cut = float(errors.margin[order[np.sort(first)[ENOUGH_PAIRS - 1]]])
            nearest = replace(
                errors, value=(errors.margin <= cut).astype(np.float64), search=np.zeros(0, np.intp),
                person=np.zeros(0, np.int32), weight=np.zeros(0),
            )  # fmt: skip
            if name != "fnir" and self.drawn and not (self.searches.reach >= -cut).any():
                nearest = false_positives(self.searches, -cut, self.n_enrolled, drawn=True).within(group)
            x = nearest.value.sum()
            if x < n:
                return effective_size(n, x, self.influence(nearest).variance * n**2)
        return float(m.sum() ** 2 / (m @ m))

    def limits(self, errors: Errors, found: Influence, name: str, group: int | None, level: float) -> Ends:
        """Return the limits of a rate at a given threshold."""
        n, (m, e) = errors.value.size, errors.attempts
        if m.size < 2:
            return (math.nan, math.nan) if name == "selectivity" else (0.0, 1.0)
        tail, rate, error = (1 - level) / 2, found.rate, math.sqrt(found.variance)
        freedom = found.freedom if name != "fnir" else float(m.size - 1)
        if name == "selectivity":
            if rate == 0:
                return 0.0, -math.log(tail) / self.effective(errors, name, group)
            factor = math.exp(float(stdtrit(freedom, 1 - tail)) * min(error / rate, 1.0))
            return rate / factor, rate * factor
        if rate in (0, 1):
            upper = intervals.upper_limit_without_errors(max(1.0, self.effective(errors, name, group)), level)
            return (0.0, upper) if rate == 0 else (1 - upper, 1.0)
        effective = self.effective(errors, name, group) if rate * n < ENOUGH_PAIRS else math.nan
        attempts = max(float(m @ m) / n, float(e @ m) / float(e.sum()))
        low, high = (float(end) for end in intervals.logit_ends(rate, error, freedom, tail))
        raised = raised_rate(rate, n, attempts)
        return widened_for_few_errors((low, high), rate, (error, freedom, effective, raised), level)

    def rows(self, at: OperatingPoint, sizes: Sequence[int]) -> list[IdentifiedRate]:
        """Return all rows of an operating point."""
        s = self.searches
        threshold, rank = self.threshold(at), int(at.value) if at.kind == "rank" else self.rank
        held = self.held(at, threshold)
        names = ["fnir"] if at.kind == "rank" else ["fpir", "fnir", "selectivity"]
        rows: list[IdentifiedRate] = []
        for size in sizes:
            for name in names:
                if not (s.is_mated if name == "fnir" else ~s.is_mated).any():
                    continue
                known = self.errors(name, threshold, rank, size)
                moved = [None, None] if held is None else [
                    None if one is None or name == held.name else self.errors(name, one, rank, size)
                    for one in held.thresholds
                ]  # fmt: skip
                for group in (None, *range(len(s.groups))):
                    kept = None if known is None else known.within(group)
                    row = self.row(kept, [one and one.within(group) for one in moved], held, (name, group))
                    label = None if group is None else s.groups[group]
                    rows.append(replace(row, at=at, threshold=threshold, gallery_size=size, group=label))
                    if size != s.n_enrolled:
                        rows[-1] = replace(rows[-1], n_errors=None)
                    if name == "fnir":
                        ends = {"low": 1 - row.high, "high": 1 - row.low}
                        rows.append(replace(rows[-1], name="tpir", estimate=1 - row.estimate, **ends))  # type: ignore[arg-type]
        return rows

    def row(
        self, errors: Errors | None, moved: Sequence[Errors | None], held: _Held | None, what: tuple[str, int | None]
    ) -> IdentifiedRate:
        """Return the row of a rate, given what searches add to it at the thresholds that may be the population's."""
        name, group = what
        more = {"at": OperatingPoint("threshold", 0.0), "threshold": 0.0, "gallery_size": 0}
        if errors is None or not errors.value.size:
            note = "lists are too short to count all candidates" if errors is None else "no such searches"
            n = 0 if errors is not None else int((~self.searches.is_mated).sum())
            return IdentifiedRate(name=name, estimate=math.nan, n_searches=n, note=note, **more)  # type: ignore[arg-type]
        found, note = self.influence(errors), ""
        low, high = self.limits(errors, found, name, group, self.level)
        if held is not None and name == held.name:
            note = HELD if group is None else ""
        elif held is not None:
            (low, high), note = self.with_threshold((low, high), found, moved, held, what)
        if found.of_enrolled or (held is not None and held.of_enrolled and name != held.name):
            note = "; ".join(filter(None, (note, OF_ENROLLED)))
        return IdentifiedRate(
            name=name, estimate=found.rate, low=low, high=high, n_searches=errors.value.size,
            n_errors=None if name == "selectivity" else round(errors.value.sum()),
            n_subjects=errors.attempts[0].size, note=note, **more,  # type: ignore[arg-type]
        )  # fmt: skip

    def with_threshold(
        self, ends: Ends, found: Influence, moved: Sequence[Errors | None], held: _Held, what: tuple[str, int | None]
    ) -> tuple[Ends, str]:
        """Widen limits at a given threshold for the threshold being an estimate."""
        name, group = what
        others = [None if one is None else self.influence(one) for one in moved]
        top = math.inf if name == "selectivity" else 1.0
        if held.expected < FEWEST_ERRORS:
            half = (1 + self.level) / 2
            pairs = [
                None if one is None or of_one is None else self.limits(one, of_one, name, group, half)
                for one, of_one in zip(moved, others, strict=True)
            ]
            lowest, highest = pairs if name != "fnir" else pairs[::-1]  # a strict threshold makes few candidates
            note = "" if all(pairs) else _OPEN
            return (lowest[0] if lowest else 0.0, highest[1] if highest else top), note
        rates = [found.rate if one is None else one.rate for one in others]
        sign = 1.0 if name != "selectivity" or held.name == "fnir" else -1.0
        scale = math.sqrt(float(found.of_people @ found.of_people) * float(held.of_people @ held.of_people))
        correlation = sign * float(found.of_people @ held.of_people) / scale if scale else 0.0
        shift = np.array([0.0, min(rates) - found.rate, max(rates) - found.rate])
        low, high = intervals.sum_interval(np.array([found.rate, *ends]), shift, np.array(correlation))
        return (max(0.0, float(low)), min(top, float(high))), ""


@checked
def identify(
    searches: Searches,
    at: OperatingPoint | Sequence[OperatingPoint],
    *,
    rank: Natural | None = None,
    gallery: Gallery = "drawn",
    sizes: Sequence[int] | None = None,
    confidence_level: float = 0.95,
) -> Identification:
    """Estimate how often searches of a gallery are wrong, of all and of each group of probes.

    Parameters
    ----------
    searches : Searches
        The searches. Rates of errors need mated or non-mated ones.
    at : OperatingPoint or sequence of OperatingPoint
        Of `at_fpir`, `at_fnir`, `at_threshold` and `at_rank`. Thresholds are the same for all groups.
    rank : int, optional
        How many candidates, R, are looked at besides the threshold; all by default. `at_rank` has its own.
    gallery : {"drawn", "fixed"}
        What intervals are for: other galleries of as many such people (drawn), or this one and other probes (fixed).
    sizes : sequence of int, optional
        Numbers of enrolled people, at most as many as there are: the rates expected in galleries of so many of them, at
        the thresholds of the whole gallery. By default all.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    Identification
        FPIR, FNIR, TPIR and selectivity at thresholds, FNIR and TPIR at ranks.

    Raises
    ------
    InputError
        For other operating points, galleries larger than that of the data, and rates that candidate lists do not
        reach.

    Warns
    -----
    NarrowIntervalsWarning
        Where enrolled people add more to a variance than those who search, so that it is luck who is enrolled.

    Notes
    -----
    In the terms of ISO/IEC 19795-1 [1]_: FPIR(N, t) is the share of non-mated searches with a candidate at or above the
    threshold t; FNIR(N, R, t) is the share of mated searches whose mate is not among the first R candidates or below t;
    TPIR is its complement, and at a rank the identification rate of the CMC. Selectivity is the mean number of
    candidates of non-mated searches. Nobody outranks a score by a tie but non-mates the mate. Intervals come from the
    influence of people on a rate, as probes and as enrolled; see "Identification" in the documentation.

    References
    ----------
    .. [1] ISO/IEC 19795-1, "Biometric performance testing and reporting - Part 1: Principles and framework".

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> people = np.arange(300)  # the first 200 are enrolled
    >>> scores = rng.normal(size=(300, 200)) + 5 * (people[:, None] == people[:200])
    >>> searches = ff.Searches.from_matrix(scores, people, people[:200], group=np.where(people % 2, "f", "m"))
    >>> found = ff.identify(searches, [ff.at_threshold(4.0), ff.at_rank(1)])
    >>> found.of("fnir", at=ff.at_rank(1)).estimate, found.of("fpir").n_searches
    (0.02, 100)
    """
    points = list(at) if isinstance(at, Sequence) else [at]
    for point in points:
        if point.kind not in ("fpir", "fnir", "threshold", "rank"):
            raise InputError(f"{point} is an operating point of comparisons: searches have at_fpir, at_fnir, at_rank")
    if not points:
        raise InputError("at is empty: name an operating point")
    n = searches.n_enrolled
    wanted = [n] if sizes is None else sorted({validation.count("sizes", size, 1) for size in sizes})
    if not wanted or wanted[-1] > n:
        raise InputError(f"sizes must be from 1 to {n}, the number of enrolled people: larger galleries have no data")
    level = intervals.level(confidence_level)
    estimator = _Estimator(searches, rank, gallery, level)
    rows = tuple(row for point in points for row in estimator.rows(point, wanted))
    if not rows:
        raise InputError("there are no searches of the kind that the operating points need")
    warn_of_narrow(rows)
    return Identification(rows, searches.groups, n, rank, gallery, level, searches)
