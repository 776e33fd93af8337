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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtrit

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import Natural, checked
from fastfair._lib.plots import Bar, draw_lines, draw_rows, rate_ticks
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair.claims import Check, Estimates, Requirement, judged_check, requirements_of
from fastfair.data.exclusions import exclusions_of
from fastfair.data.score_keys import typed_threshold
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint, allowed_errors
from fastfair.errors import InputError
from fastfair.group_tests.failure_counts import FailureCounts
from fastfair.measures import MEASURES
from fastfair.measures._registry import METRICS, Estimand, measure_of
from fastfair.resampling.dependence import ENOUGH_PAIRS, effective_size
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN
from fastfair.uncertainty.few_errors import law_of_held_rate
from fastfair.uncertainty.notes import Code, Note, has_code, joined
from fastfair.uncertainty.quantities import (
    Estimate,
    Group,
    find,
    warn_of_narrow,
)
from fastfair.uncertainty.rate_limits import RateEvidence, raised_rate

from .searches import Searches, rounded_threshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ends = tuple[float, float]
Gallery = Literal["drawn", "fixed"]
IdentificationRate = Literal["fpir", "fnir"]
RATES = "fpir", "fnir"
FAIRNESS = "gini", "std", "max_min_ratio", "max_geomean_ratio", "log_geomean_sum"
# What requirements may be about.
QUANTITIES = *RATES, "tpir", *(f"{name}({rate})" for name in FAIRNESS for rate in RATES)
_LEAST_HELD = 1e-300  # no data hold a rate below it, and its square is 0
_TIED = 4  # a step of equal scores larger than this part of what a held rate may be moves thresholds by leaps
_MOST_GROUPS = 16  # whose intervals' corners are all looked at
_OPEN = Note(Code.THRESHOLD_BEYOND_SCORES)


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


_SUM_IS_ZERO = 1e-12  # times its terms: so little is rounding, which the order of people's names decides


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
        if beyond > _SUM_IS_ZERO * float(total @ total + squares.sum()):
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


def listed_at(searches: Searches, rows: NDArray[np.intp], threshold: float) -> NDArray[np.bool_]:
    """Return which candidates kept of some searches reach a threshold; without a score nobody does."""
    return np.asarray((searches.best[rows] >= threshold) & (searches.candidate[rows] >= 0))


def false_positives(searches: Searches, threshold: float, size: int, *, drawn: bool) -> Errors:
    """Return what non-mated searches add to the FPIR in galleries of `size` people."""
    threshold = rounded_threshold(threshold, searches.dtype)
    rows = np.flatnonzero(~searches.is_mated)
    best, n = searches.best[rows], searches.n_enrolled
    listed = listed_at(searches, rows, threshold)
    c = listed.sum(axis=1)
    needed = n if size < n else 2 if drawn else 1
    _require_known(searches, rows[(threshold <= searches.reach[rows]) & (c < needed)], "FPIR", threshold)
    value, sole = chances(n, size, best.shape[1])
    search, column = np.nonzero(listed & (sole[c] > 0)[:, None])
    return Errors(
        searches.subject[rows], searches.group[rows], value[c], -best[:, 0], search,
        searches.candidate[rows][search, column], sole[c][search],
    )  # fmt: skip


def returned(searches: Searches, threshold: float, is_of_group: NDArray[np.bool_], *, drawn: bool) -> Errors:
    """Return what non-mated searches add to the share whose first candidate is of a group; is_of_group: of people.

    Without that person, the second candidate is the first.
    """
    whole = false_positives(searches, threshold, searches.n_enrolled, drawn=drawn)
    rows = np.flatnonzero(~searches.is_mated)
    listed = listed_at(searches, rows, rounded_threshold(threshold, searches.dtype))[:, :2]
    of_group = is_of_group[searches.candidate[rows, :2]] & listed
    first, second = of_group[:, 0], of_group[:, -1] & (of_group.shape[1] > 1)
    search = np.flatnonzero((first != second) & (whole.value > 0))
    weight = first[search].astype(np.float64) - second[search]
    return replace(
        whole, value=first.astype(np.float64), search=search, person=searches.candidate[rows][search, 0], weight=weight
    )


def false_negatives(
    searches: Searches, threshold: float, rank: int | None, size: int, *, at_worst: bool = False
) -> Errors:
    """Return what mated searches add to the FNIR in galleries of `size` people.

    at_worst: with ranks as high as they can be, where lists end with the mate's score.
    """
    threshold = rounded_threshold(threshold, searches.dtype)
    rows = np.flatnonzero(searches.is_mated)
    score, n = searches.mate_score[rows], searches.n_enrolled
    unlisted = np.isnan(score)
    place = (searches.last_rank if at_worst else searches.rank)[rows]
    short = np.zeros(rows.size, bool) if rank is None or size < n else searches.rank[rows] > rank
    unknown = rows[unlisted & (threshold <= searches.reach[rows]) & ~short]
    _require_known(searches, unknown, "FNIR", threshold if rank is None or threshold > -math.inf else rank)
    high = (score >= threshold) & (score > -np.inf)
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
    threshold = rounded_threshold(threshold, searches.dtype)
    rows = np.flatnonzero(~searches.is_mated)
    if (threshold <= searches.reach[rows]).any():
        return None
    best, share = searches.best[rows], size / searches.n_enrolled
    search, column = np.nonzero(listed_at(searches, rows, threshold))
    return Errors(
        searches.subject[rows], searches.group[rows], sums(search, np.full(search.size, share), rows.size),
        -best[:, 0], search, searches.candidate[rows][search, column], np.full(search.size, share),
    )  # fmt: skip


def _require_known(searches: Searches, unknown: NDArray[np.intp], rate: str, at: float | int) -> None:
    """Refuse a rate that some searches leave unknown; at: a threshold, or a rank, which is an int."""
    if not unknown.size:
        return
    if isinstance(at, int):
        raise InputError(
            f"the {rate} at rank {at} is not known, as the lists of {unknown.size:,} searches are shorter and lack the "
            "mate: take a lower rank, or longer lists"
        )
    reach = float(searches.reach[unknown].max())
    raise InputError(
        f"the {rate} at the threshold {typed(at)} is not known, as the candidates of {unknown.size:,} searches are "
        f"known above {typed(reach)} alone: take a higher threshold, or keep more candidates"
    )


@dataclass(frozen=True, kw_only=True)
class IdentifiedRate(Estimate):
    """A rate of identification: an `Estimate`, and where it was measured.

    Attributes
    ----------
    name : str
        "fpir", "fnir", "tpir", "selectivity", or a fairness measure followed by its rate, such as "gini(fnir)". The
        "fpir_matrix" is the share of non-mated searches whose first candidate is someone of `group`.
    probe_group : str or None
        For "fpir_matrix", the group of probes; None for all.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there; -inf at a rank.
    gallery_size : int
        The number of enrolled people.
    n_searches : int
        The number of non-mated searches (FPIR, selectivity), or of mated ones.
    n_failed : int or None
        How many of these failed, as they or their mates have no score: misses at every rank and threshold, or searches
        that return nobody. None where none did.
    flags : str
        Of `notes`. "leaves-room": the limit of a rate in other galleries may be several times too low, as it is luck
        who is enrolled. "unknown-concentration": a measure of such rates.
    """

    name: str
    at: OperatingPoint
    threshold: float
    gallery_size: int
    n_searches: int
    n_failed: int | None = None
    probe_group: str | None = None

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
    _printed = "name group probe_group operating_point gallery_size n_searches n_failed n_errors estimate"

    @checked
    def of(
        self, name: str, group: Group = None, at: OperatingPoint | None = None, size: int | None = None
    ) -> IdentifiedRate:
        """Return a row.

        Parameters
        ----------
        name : str
            What is estimated, as in `IdentifiedRate`.
        group : str, or tuple of two, optional
            A group of probes; all searches by default. For "fpir_matrix", the group of the person returned, or that and
            the group of the probe.
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
    def check(
        self,
        requirements: str | Sequence[str],
        at: OperatingPoint | None = None,
        *,
        confidence_level: float = 0.95,
        allow_undecided: bool = False,
    ) -> Check:
        """Judge requirements on FPIR, FNIR and measures of their fairness, as `check` does those on comparisons.

        Parameters
        ----------
        requirements : str or sequence of str
            What must hold, such as "fpir[*]@threshold=0.6 <= 0.1 %" or "max_min_ratio(fnir)@rank=1 <= 3": as in
            `check`, with operating points of searches.
        at : OperatingPoint, optional
            The operating point of requirements that name none; by default the first of this result.
        confidence_level : float, default 0.95
            The level of the limits, to one side, in (0.5, 1).
        allow_undecided : bool, default False
            Whether the check passes where the data do not decide.

        Returns
        -------
        Check

        Raises
        ------
        InputError
            For a requirement that cannot be read, that no data or all data would meet, or on a rate that its operating
            point holds; for unknown groups, and as `identify` does.

        Notes
        -----
        For this gallery, limits decide. For others (`gallery="drawn"`) it is luck whether someone is enrolled who
        resembles many, so that a requirement is met only where the bound is four times the limit, and undecided if it
        is on a measure of fairness.

        Examples
        --------
        >>> import numpy as np
        >>> import fastfair as ff
        >>> rng = np.random.default_rng(0)
        >>> people, scores = np.arange(300), rng.normal(size=(300, 200))
        >>> searches = ff.Searches.from_matrix(scores, people, people[:200], group=np.where(people % 2, "f", "m"))
        >>> found = ff.identify(searches, ff.at_threshold(4.5), gallery="fixed")
        >>> found.check(["fpir[*] <= 10 %", "fpir@threshold=2 <= 10 %"]).verdicts
        {'fpir[*] <= 10 %': 'met', 'fpir@threshold=2 <= 10 %': 'not met'}
        """
        searches, level = self._searches(), intervals.level(confidence_level)
        wanted = requirements_of(requirements, at or self.rows[0].at, QUANTITIES)
        points = points_of(list(dict.fromkeys(one.at for one in wanted if one.at is not None)))
        measures = sorted({measure.name for one in wanted if (measure := measure_of(one.name))})

        @cache
        def rows_at(level: float) -> Callable[[Requirement], IdentifiedRate]:
            how = self.rank, self.gallery, level
            found = identified(searches, points, [self.n_enrolled], how, measures)[0]
            return lambda one: find(found, one.name, one.group, one.at)

        def needed(one: Requirement, row: IdentifiedRate, level: float) -> str:
            if self.gallery != "fixed" or one.name not in RATES or not row.at.is_given:
                return ""
            known = _Estimator(searches, self.rank, self.gallery, level).evidence_of(row)
            times = known.times_needed(one.bound, level)
            people = f"{math.ceil(times * (row.n_subjects or 0)):,}" if 1 < times < math.inf else ""
            return f"; about {people} people who search with this rate would be enough" if people else ""

        settings = {"rank": self.rank, "gallery": self.gallery, "confidence_level": level}
        made = judged_check(wanted, self.groups, Estimates(rows_at(level), rows_at, needed=needed), settings)
        return replace(made, allow_undecided=allow_undecided, left_out=self.left_out)

    def _searches(self) -> Searches:
        if self.searches is None:
            raise InputError("this result was read from a file: identify the searches again")
        return self.searches

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
        if not self.groups:
            raise InputError("the searches have no groups to compare: give group")
        row, s = self.of(rate, at=at), self._searches()
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
            if row.name in ("fpir", "fnir") and not row.is_held
        ]
        return [
            f"Searches of a gallery of {self.n_enrolled:,} people; {level} intervals for {kind}.",
            *(f"{row.title} is {_in_words(row)}{self._extremes(row)}." for row in told),
            *sentences_on_failed(self.rows),
            *(f"Note: {note}." for note in self._notes()),
        ]

    def _notes(self) -> list[str]:
        notes = joined(*(row.notes for row in self.rows))
        return [str(note) for note in notes if note.code is not Code.HELD]

    def _extremes(self, of_all: IdentifiedRate) -> str:
        """Name the groups with the lowest and the highest rate."""
        alike = (row for row in self.rows if (row.name, row.at, row.gallery_size) == _key(of_all))
        known = sorted((row for row in alike if row.group and not math.isnan(row.estimate)), key=lambda r: r.estimate)
        if len(known) < 2:
            return ""
        return f"; from {_in_words(known[0])} ({known[0].group}) to {_in_words(known[-1])} ({known[-1].group})"

    @checked
    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Axes:
        """Draw TPIR over rank (CMC), FNIR over FPIR (DET), a rate over gallery sizes, or rates of groups.

        A curve is drawn over what has several values; its intervals are of each point by itself.

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
        values = {kind: {row.at.value for row in self.rows if row.at.kind == kind} for kind in ("rank", "fpir")}
        sizes = {row.gallery_size for row in self.rows}
        over = next((kind for kind in values if len(values[kind]) > 1), "size" if len(sizes) > 1 else "")
        usual = "tpir" if over == "rank" else "fnir" if any(row.name == "fnir" for row in self.rows) else "fpir"
        rate = validation.choice("name", name or usual, ("fpir", "fnir", "tpir"))
        rows = [row for row in self.rows if row.name == rate and over in ("", "size", row.at.kind)]
        if not rows:
            raise InputError(f"there is no {rate.upper()} to draw")
        if over:
            by_size, at = over == "size", rows[-1].at
            rows = [row for row in rows if (row.at == at if by_size else row.gallery_size == max(sizes))]
            rows.sort(key=lambda row: row.gallery_size if by_size else row.at.value)
            places = np.array(sorted(sizes if by_size else values[over]), np.float64)
            curves = {
                group or "all": [
                    np.array([getattr(row, part) for row in rows if row.group == group])
                    for part in ("estimate", "low", "high")
                ]
                for group in (self.groups or (None,))
            }
            called = {"rank": "Rank", "fpir": METRICS["fpir"].long_title, "size": f"Enrolled people, at {at}"}[over]
            ax = draw_lines(places, curves, ax, (called, METRICS[rate].long_title))
            rate_ticks(ax.yaxis)
            if over == "fpir":
                ax.set_xscale("log")
                rate_ticks(ax.xaxis)
            return ax
        labels = [f"{row.group or 'all'} at {row.at}" for row in rows]
        bars = [Bar(k, row.estimate, row.low, row.high) for k, row in enumerate(rows)]
        return draw_rows(ax, labels, bars, xlabel=METRICS[rate].long_title)


def _key(row: IdentifiedRate) -> tuple[str, OperatingPoint, int]:
    return row.name, row.at, row.gallery_size


def _in_words(row: IdentifiedRate) -> str:
    return rate_with_interval(row.estimate, row.low, row.high) if row.has_interval else per_cent(row.estimate)


def sentences_on_failed(rows: Sequence[IdentifiedRate]) -> list[str]:
    """Say how many searches failed, and what they count as."""
    said = []
    for row in rows:
        if row.group is not None or not row.n_failed:
            continue
        is_mated = row.name in ("fnir", "tpir")
        kind = "mated" if is_mated else "non-mated"
        counts_as = "are misses at every rank and threshold" if is_mated else "return nobody"
        said.append(f"{row.n_failed:,} of {row.n_searches:,} {kind} searches failed and {counts_as}.")
    return list(dict.fromkeys(said))


def _by_luck(row: IdentifiedRate) -> tuple[Note, ...]:
    """Add to the notes of a rate for other galleries that few people may matter, unless they say so."""
    if has_code(row, Code.HELD, Code.FEW_ENROLLED):
        return row.notes
    return (*row.notes, Note(Code.CHANCE_OF_GALLERY))


class _Held(NamedTuple):
    """The rate that an operating point holds, whose data are few: which thresholds may be the population's."""

    name: str
    expected: float  # effective number of errors
    thresholds: tuple[float | None, float | None]  # the strictest and the ends; None beyond all scores
    reach: float  # by how much the held rate differs between them
    is_tied: bool  # whether much of that is one step, of equal scores
    of_people: Floats
    of_enrolled: bool


class _What(NamedTuple):
    """A rate of all searches or of a group's, and the highest value that it can have."""

    name: str
    group: int | None
    highest: float = 1.0


class _Estimator:
    """Computes the rates of searches at operating points, with their limits."""

    def __init__(self, searches: Searches, rank: int | None, gallery: str, confidence_level: float) -> None:
        self.searches, self.rank, self.drawn, self.level = searches, rank, gallery == "drawn", confidence_level
        self.n_people = searches.labels.size
        self.influences: dict[tuple[str, str | None, OperatingPoint, int], Floats] = {}  # of people, on each rate
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
        """Return the threshold of an operating point, so short that it can be typed."""
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
            return typed_threshold(self.next_score(after, -1.0), after, s.dtype.type)
        n_failed, others = int(s.failed[~s.is_mated].sum()), ~s.is_mated & ~s.failed
        if after == -math.inf and n_failed and (s.best[others, 0] > -np.inf).all():
            raise InputError(
                f"no threshold holds {at}: {n_failed} of {scores.size} non-mated searches failed and return nobody, so "
                "that it is lower at every threshold"
            )
        found = typed_threshold(after, self.next_score(after, 1.0), s.dtype.type)
        known = after > -math.inf and not (found <= s.reach[others][s.best[others, 0] < found]).any()
        if not known:
            raise InputError(f"{at} is below the reach of the candidate lists: lists with lower scores are needed")
        return found

    def next_score(self, score: float, sign: float) -> float | None:
        """Return the next score above (1.0), or below (-1.0), of mates, candidates kept, and ends of lists."""
        s = self.searches
        found = math.inf
        for values in (s.mate_score, s.best, s.reach):
            beyond = sign * values[np.isfinite(values)]
            found = min(found, float(beyond[beyond > sign * score].min(initial=math.inf)))
        return sign * found if math.isfinite(found) else None

    def above(self, score: float) -> float:
        """Return the least threshold that is above a score, in the type of scores."""
        kind = self.searches.dtype.type
        return float(np.nextafter(kind(score), kind(math.inf)))

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
        rate = at.value if at.value > _LEAST_HELD else 0.0
        spread = math.sqrt(rate * (1 - rate) / n)
        if errors.value.sum() >= ENOUGH_PAIRS:
            spread = max(spread, math.sqrt(found.variance))
        elif rate:
            spread *= math.sqrt(n / self.effective(errors, at.kind, None))
        expected = (rate / spread) ** 2 if spread else 0.0
        tail = (1 - self.level) / (2 if expected >= FEWEST_ERRORS else 4)
        few, many = law_of_held_rate(rate, spread, found.freedom, tail)
        fewest, most = allowed_errors(few, n), min(n, math.ceil(many * n - 1e-9))
        next_score = scores[min(allowed_errors(at.value, n), n - 1)]
        reach, is_tied = many - few, float((scores == next_score).mean()) > (many - few) / _TIED
        near = None if fewest == 0 else float(scores[fewest - 1])
        far = None if most >= n else float(scores[most])
        if at.kind == "fnir":
            return _Held("fnir", expected, (far, near), reach, is_tied, found.of_people, found.of_enrolled)
        up = [None if one is None else self.above(one) for one in (near, far)]
        return _Held("fpir", expected, (up[0], up[1]), reach, is_tied, found.of_people, found.of_enrolled)

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

    def limits(self, errors: Errors, found: Influence, what: _What, level: float) -> Ends:
        """Return the limits of a rate at a given threshold."""
        m, _ = errors.attempts
        name, group = what.name, what.group
        if m.size < 2:
            return 0.0, what.highest
        tail, rate, error = (1 - level) / 2, found.rate, math.sqrt(found.variance)
        freedom = found.freedom if name != "fnir" else float(m.size - 1)
        if name == "selectivity":
            # Some candidates leave no less room than none would.
            is_few = rate * errors.value.size < ENOUGH_PAIRS
            of_none = -math.log(tail) / self.effective(errors, name, group) if is_few else 0.0
            if rate == 0:
                return 0.0, min(of_none, what.highest)
            reach = float(stdtrit(freedom, 1 - tail)) * min(error / rate, 1.0)
            high = rate * math.exp(min(reach, math.log(what.highest / rate)))
            return rate * math.exp(-reach), max(high, min(of_none, what.highest))
        ends = self.evidence(errors, found, name, group).interval(level)
        return float(ends[0]), float(ends[1])

    def evidence(self, errors: Errors, found: Influence, name: str, group: int | None) -> RateEvidence:
        """Return what the limits of a rate at a given threshold are computed from."""
        n, (m, e) = errors.value.size, errors.attempts
        rate, freedom = found.rate, found.freedom if name != "fnir" else float(m.size - 1)
        if rate in (0, 1):
            return RateEvidence(rate, math.nan, freedom, max(1.0, self.effective(errors, name, group)))
        effective = self.effective(errors, name, group) if rate * n < ENOUGH_PAIRS else math.nan
        raised = float(raised_rate(rate, n, max(float(m @ m) / n, float(e @ m) / float(e.sum()))))
        return RateEvidence(rate, math.sqrt(found.variance), freedom, effective, raised)

    def evidence_of(self, row: IdentifiedRate) -> RateEvidence:
        """Return what the limits of a row are computed from."""
        group = None if row.group is None else self.searches.groups.index(row.group)
        rank = int(row.at.value) if row.at.kind == "rank" else self.rank
        errors = self.errors(row.name, row.threshold, rank, row.gallery_size)
        assert errors is not None
        kept = errors.within(group)
        return self.evidence(kept, self.influence(kept), row.name, group)

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
                by_luck = self.drawn and not (name == "fnir" and rank is None and held is None)
                at_worst = self.at_worst(name, threshold, rank, size)
                for group in (None, *range(len(s.groups))):
                    kept = None if known is None else known.within(group)
                    what = _What(name, group, float(size) if name == "selectivity" else 1.0)
                    row, of_people = self.row(kept, [one and one.within(group) for one in moved], held, what)
                    if at_worst is not None and kept is not None and kept.value.size:
                        row = self.with_hidden_ties(row, kept, at_worst.within(group), what)
                    row = replace(row, n_failed=self.count_failed(name, group) or None)
                    label = None if group is None else s.groups[group]
                    self.influences[name, label, at, size] = of_people
                    notes = _by_luck(row) if by_luck else row.notes
                    about = {"at": at, "threshold": threshold, "gallery_size": size, "group": label, "notes": notes}
                    rows.append(replace(row, **about))  # type: ignore[arg-type]
                    if size != s.n_enrolled:
                        rows[-1] = replace(rows[-1], n_errors=None)
                    if name == "fnir":
                        ends = {"low": 1 - row.high, "high": 1 - row.low}
                        rows.append(replace(rows[-1], name="tpir", estimate=1 - row.estimate, **ends))  # type: ignore[arg-type]
        return rows

    def at_worst(self, name: str, threshold: float, rank: int | None, size: int) -> Errors | None:
        """Return what mated searches add to an FNIR if ranks are as high as they can be; None where they are known."""
        s = self.searches
        listed = s.is_mated & ~np.isnan(s.mate_score)
        if name != "fnir" or rank is None or (s.last_rank == s.rank)[listed].all():
            return None
        return false_negatives(s, threshold, rank, size, at_worst=True)

    def with_hidden_ties(self, row: IdentifiedRate, errors: Errors, at_worst: Errors, what: _What) -> IdentifiedRate:
        """Let the upper limit of a rate allow for people with the mate's score who are missing from lists."""
        n = int((at_worst.value > errors.value).sum())
        if not n:
            return row
        highest = self.influence(at_worst)
        note = Note.of(Code.HIDDEN_TIES, n=n, of=errors.value.size, highest=per_cent(highest.rate))
        high = max(row.high, self.limits(at_worst, highest, what, self.level)[1])
        return replace(row, high=high, notes=(*row.notes, note))

    def count_failed(self, name: str, group: int | None) -> int:
        """Count the searches of a rate that failed."""
        s = self.searches
        rows = s.failed & (s.is_mated if name == "fnir" else ~s.is_mated)
        return int((rows if group is None else rows & (s.group == group)).sum())

    def row(
        self, errors: Errors | None, moved: Sequence[Errors | None], held: _Held | None, what: _What
    ) -> tuple[IdentifiedRate, Floats]:
        """Return the row of a rate, given what searches add to it at the thresholds that may be the population's.

        And the (people,) influence of each on it, as far as it is known.
        """
        name, group = what.name, what.group
        more = {"at": OperatingPoint("threshold", 0.0), "threshold": 0.0, "gallery_size": 0}
        if errors is None or not errors.value.size:
            nothing = Note(Code.SHORT_LISTS if errors is None else Code.NO_SEARCHES)
            n = 0 if errors is not None else int((~self.searches.is_mated).sum())
            row = IdentifiedRate(name=name, estimate=math.nan, n_searches=n, notes=(nothing,), **more)  # type: ignore[arg-type]
            return row, np.zeros(self.n_people)
        found = self.influence(errors)
        notes: tuple[Note, ...] = ()
        of_people = found.of_people
        low, high = self.limits(errors, found, what, self.level)
        if held is not None and name == held.name:
            notes = (Note(Code.HELD),) if group is None else ()
        elif held is not None:
            (low, high), notes, of_threshold = self.with_threshold((low, high), found, moved, held, what)
            of_people = found.of_people + of_threshold
        if found.of_enrolled or (held is not None and held.of_enrolled and name != held.name):
            notes = (*notes, Note(Code.FEW_ENROLLED))
        low, high = min(low, found.rate), max(high, found.rate)
        row = IdentifiedRate(
            name=name, estimate=found.rate, low=low, high=high, n_searches=errors.value.size,
            n_errors=None if name == "selectivity" else round(errors.value.sum()),
            n_subjects=errors.attempts[0].size, notes=notes, **more,  # type: ignore[arg-type]
        )  # fmt: skip
        return row, of_people

    def measured(self, at: OperatingPoint, measures: Sequence[str]) -> list[IdentifiedRate]:
        """Return measures of fairness; intervals are what groups' intervals allow, which hold all at once."""
        n_groups = len(self.searches.groups)
        shared = 1 - (1 - self.level) / n_groups  # by Bonferroni's inequality
        rows = _Estimator(self.searches, self.rank, "drawn" if self.drawn else "fixed", shared).rows(
            at, [self.n_enrolled]
        )
        measured, parts = [], ("estimate", "low", "high")
        for rate in RATES:
            of_groups = [row for row in rows if row.name == rate and row.group is not None]
            estimates, *ends = (np.array([getattr(row, part) for row in of_groups]) for part in parts)
            for name in measures if of_groups else ():
                estimate, (low, high) = MEASURES[name].function(estimates), range_within(MEASURES[name], np.array(ends))
                notes = [Note(Code.MEASURE_OF_GALLERY)] if self.drawn else []
                if not low <= high:
                    notes = [Note.of(Code.MANY_GROUPS, most=_MOST_GROUPS)]
                measured.append(replace(
                    of_groups[0], name=f"{name}({rate})", group=None, estimate=float(estimate), low=low, high=high,
                    n_searches=sum(row.n_searches for row in of_groups), n_errors=None, n_subjects=None,
                    notes=tuple(notes),
                ))  # fmt: skip
        return measured

    def matrix(self, at: OperatingPoint, group_of: Mapping[Any, str]) -> list[IdentifiedRate]:
        """Return how often people of each group are wrongly returned, of all probes and of each group's."""
        s, threshold = self.searches, self.threshold(at)
        if s.is_mated.all() or at.kind == "rank":
            return []
        labels = [group_of.get(label) for label in s.labels.tolist()]
        unknown = [s.labels[k] for k in s.enrolled.tolist() if labels[k] is None]
        if unknown:
            raise InputError(f"returned_group has no group of {len(unknown)} enrolled people, such as {unknown[0]!r}")
        held, rows, whose = self.held(at, threshold), [], np.array(labels, object)
        for name in sorted({str(labels[k]) for k in s.enrolled.tolist()}):
            ends = (None, None) if held is None or held.name == "fpir" else held.thresholds
            parts = [
                None if one is None else returned(s, one, whose == name, drawn=self.drawn) for one in (threshold, *ends)
            ]
            for group in (None, *range(len(s.groups))):
                of_all, *moved = [one and one.within(group) for one in parts]
                row, _ = self.row(of_all, moved, held, _What("fpir", group))
                row = replace(row, notes=tuple(note for note in row.notes if note.code is not Code.HELD))
                notes = _by_luck(row) if self.drawn else row.notes
                about = {"at": at, "threshold": threshold, "gallery_size": s.n_enrolled, "group": name, "notes": notes}
                probe_group = None if group is None else s.groups[group]
                rows.append(replace(row, name="fpir_matrix", probe_group=probe_group, **about))  # type: ignore[arg-type]
        return rows

    def with_threshold(
        self, ends: Ends, found: Influence, moved: Sequence[Errors | None], held: _Held, what: _What
    ) -> tuple[Ends, tuple[Note, ...], Floats]:
        """Widen limits at a given threshold for the threshold being an estimate; and people's influence by way of it.

        Where the held rate has few errors, or its threshold leaps, the two are said to cancel, so that nothing is said.
        """
        name = what.name
        others = [None if one is None else self.influence(one) for one in moved]
        if held.expected < FEWEST_ERRORS:
            half = (1 + self.level) / 2
            pairs = [
                None if one is None or of_one is None else self.limits(one, of_one, what, half)
                for one, of_one in zip(moved, others, strict=True)
            ]
            lowest, highest = pairs if name != "fnir" else pairs[::-1]  # a strict threshold makes few candidates
            notes = () if all(pairs) else (_OPEN,)
            return (lowest[0] if lowest else 0.0, highest[1] if highest else what.highest), notes, -found.of_people
        # A strict threshold beyond all scores makes no candidates, and a lax one makes all.
        beyond = (1.0, 0.0) if name == "fnir" else (0.0, what.highest)
        rates = [end if one is None else one.rate for one, end in zip(others, beyond, strict=True)]
        sign = 1.0 if name != "selectivity" or held.name == "fnir" else -1.0
        scale = math.sqrt(float(found.of_people @ found.of_people) * float(held.of_people @ held.of_people))
        correlation = sign * float(found.of_people @ held.of_people) / scale if scale else 0.0
        shift = np.array([0.0, min(rates) - found.rate, max(rates) - found.rate])
        joined = intervals.sum_interval(np.array([found.rate, *ends]), shift, np.array(correlation))
        # Never narrower than either part alone, so that an interval of a higher level is never narrower, too.
        low = min(float(joined[0]), ends[0], min(rates))
        high = max(float(joined[1]), ends[1], max(rates))
        slope = np.ptp([found.rate if one is None else one.rate for one in others]) / held.reach
        of_threshold = -found.of_people if held.is_tied else sign * slope * held.of_people
        notes = (_OPEN,) if any(one is None for one in others) else ()
        return (max(0.0, low), min(what.highest, high)), notes, of_threshold


def range_within(measure: Estimand, ends: Floats) -> Ends:
    """Return the least and the greatest value of a measure of rates that lie within intervals; ends: (2, groups).

    The measure is quasi-convex in rates or in their logarithms, so it is greatest in a corner, and least where rates
    are as near to each other as intervals allow. NaN where an end is, and of too many groups.
    """
    low, high = ends
    if low.size > _MOST_GROUPS or np.isnan(ends).any():
        return math.nan, math.nan
    is_high = np.arange(2**low.size)[:, None] >> np.arange(low.size) & 1
    levels = np.unique(np.concatenate([ends.ravel(), np.linspace(ends.min(), ends.max(), 200)]))
    alike = np.clip(levels[:, None], low, high)
    values = measure.function(np.concatenate([np.where(is_high, high, low), alike]))
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if known.size else (math.nan, math.nan)


def points_of(at: OperatingPoint | Sequence[OperatingPoint]) -> list[OperatingPoint]:
    """Check that operating points are of searches."""
    points = list(at) if isinstance(at, Sequence) else [at]
    for point in points:
        if point.kind not in ("fpir", "fnir", "threshold", "rank"):
            raise InputError(f"{point} is an operating point of comparisons: searches have at_fpir, at_fnir, at_rank")
    if not points:
        raise InputError("at is empty: name an operating point")
    return points


def identified(
    searches: Searches, points: Sequence[OperatingPoint], sizes: Sequence[int], how: tuple[int | None, str, float],
    measures: Sequence[str] = (), returned_group: Mapping[Any, str] | None = None,
) -> tuple[list[IdentifiedRate], dict[tuple[str, str | None, OperatingPoint, int], Floats]]:  # fmt: skip
    """Return all rows, and the (people,) influence of each person on each rate; how: ranks, gallery and level."""
    estimator, rows = _Estimator(searches, *how), []
    for at in points:
        rows += estimator.rows(at, sizes) + (estimator.measured(at, measures) if measures else [])
        rows += [] if returned_group is None else estimator.matrix(at, returned_group)
    if not rows:
        raise InputError("there are no searches of the kind that the operating points need")
    return rows, estimator.influences


@checked
def identify(
    searches: Searches,
    at: OperatingPoint | Sequence[OperatingPoint],
    measures: Sequence[str] = (),
    *,
    rank: Natural | None = None,
    gallery: Gallery = "drawn",
    sizes: Sequence[int] | None = None,
    returned_group: Mapping[Any, str] | None = None,
    confidence_level: float = 0.95,
) -> Identification:
    """Estimate how often searches of a gallery are wrong, of all and of each group of probes.

    Parameters
    ----------
    searches : Searches
        The searches. Rates of errors need mated or non-mated ones.
    at : OperatingPoint or sequence of OperatingPoint
        Of `at_fpir`, `at_fnir`, `at_threshold` and `at_rank`. Thresholds are the same for all groups.
    measures : sequence of str, optional
        Measures of how fair FPIR and FNIR are in the whole gallery: of "gini", "std", "max_min_ratio",
        "max_geomean_ratio" and "log_geomean_sum". Their intervals are the values that the intervals of all groups
        allow, and hold the truth at least as often as the level.
    rank : int, optional
        How many candidates, R, are looked at besides the threshold; all by default. `at_rank` has its own.
    gallery : {"drawn", "fixed"}
        What intervals are for: other galleries of as many such people (drawn), or this one and other probes (fixed).
    sizes : sequence of int, optional
        Numbers of enrolled people, at most as many as there are: the rates expected in galleries of so many of them, at
        the thresholds of the whole gallery. By default all.
    returned_group : dict, optional
        The group of each enrolled person: how often people of each group are returned by searches of people who are not
        enrolled. Of several candidates the first counts, so that the shares of groups add up to the FPIR.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    Identification
        FPIR, FNIR, TPIR and selectivity at thresholds, FNIR and TPIR at ranks, and measures of FPIR and FNIR.

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
    points, n = points_of(at), searches.n_enrolled
    wanted = [n] if sizes is None else sorted({validation.count("⟦sizes⟧", size, 1) for size in sizes})
    if not wanted or wanted[-1] > n:
        raise InputError(f"sizes must be from 1 to {n}, the number of enrolled people: larger galleries have no data")
    level = intervals.level(confidence_level)
    named = [MEASURES[validation.choice("⟦measures⟧", name, FAIRNESS)].name for name in measures]
    if named and len(searches.groups) < 2:
        raise InputError("measures compare groups, and the searches have fewer than two: give group")
    rows = tuple(identified(searches, points, wanted, (rank, gallery, level), named, returned_group)[0])
    warn_of_narrow(rows)
    left_out = exclusions_of(searches)
    return Identification(rows, searches.groups, n, rank, gallery, level, searches, left_out=left_out)
