"""What searches add to a rate of identification, and what people do by that: how rates vary.

A rate is a mean over searches of what each adds, v. It is 0 or 1 in the whole gallery of N people;
in a gallery of n of them it is the probability of an error, over all subsets, which follows from
how many others score high enough.

Intervals are for other people like those of the data. A person's influence on a rate has two parts.
As a probe: the sum of (v - rate) over the searches, divided by the number of all searches. As an
enrolled person: what the rate would lose if the person left the gallery, minus the mean of this
over the gallery, whose size stays. A false positive is lost if the person is its sole candidate; a
mate missed at rank R is found after all if exactly R people outrank it, and the person is one of
them. Such an error belongs to a pair of people, the one searched with and the one enrolled, and is
in the influence of both. So the variance is the sum of squares of influences, minus that of pairs,
which would count twice (Aronow, Samii and Assenova 2015), and never below that of a fixed gallery,
the sum of squares of the first parts alone.

A rate of searches is a function of them and of where they are looked at, registered by
`rate_of_searches`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln

from fastfair._lib.arrays import AnyArray, Codes, Flags, Floats, Indices, Integers
from fastfair._lib.products import dot
from fastfair._lib.text import typed
from fastfair.errors import InputError
from fastfair.measures._registry import MATED, METRICS, Estimand
from fastfair.resampling.dependence import two_way_freedom, two_way_variance

from .searches import Searches, rounded_threshold


def sum_by_place(place: AnyArray, values: Floats, n: int) -> Floats:
    """Sum the values of each of n places."""
    return np.asarray(np.bincount(place, values, n), np.float64)


@dataclass(frozen=True, eq=False)
class SearchContributions:
    """What each mated, or each non-mated, search adds to a rate, whether it errs or not, and how
    this depends on single enrolled people.

    Attributes
    ----------
    subject, group, session : (m,) ndarray
        The person, the group and the session of each search's probe.
    value : (m,) ndarray
        What it adds: the probability of an error, or a number of candidates.
    margin : (m,) ndarray
        How far it is from an error: the smaller, the nearer.
    search, person, weight : (pairs,) ndarray
        By how much a search adds less without an enrolled person.
    depends_on_gallery : bool
        Whether it is luck who is enrolled besides the mate.
    """

    subject: Codes
    group: Codes
    session: Codes
    value: Floats
    margin: Floats
    search: Indices
    person: Codes
    weight: Floats
    depends_on_gallery: bool = True

    def within(self, group: int | None) -> SearchContributions:
        """Keep the searches of a group."""
        if group is None:
            return self
        kept = self.group == group
        pairs = kept[self.search]
        return replace(
            self,
            subject=self.subject[kept],
            group=self.group[kept],
            session=self.session[kept],
            value=self.value[kept],
            margin=self.margin[kept],
            search=(np.cumsum(kept) - 1)[self.search[pairs]],
            person=self.person[pairs],
            weight=self.weight[pairs],
        )

    def of_probes_alone(self, value: Floats) -> SearchContributions:
        """Return other values of the same searches, which depend on no enrolled person."""
        none = slice(0, 0)
        return replace(
            self,
            value=value,
            search=self.search[none],
            person=self.person[none],
            weight=self.weight[none],
        )

    @cached_property
    def attempts(self) -> tuple[Floats, Floats]:
        """(probed people,) number of searches, and of errors, of each."""
        n_searches = np.bincount(self.subject)
        n_errors = sum_by_place(self.subject, self.value, n_searches.size)
        is_probed = n_searches > 0
        return n_searches[is_probed].astype(np.float64), n_errors[is_probed]


# times its terms: so little is rounding, which the order of people's names decides
_SUM_IS_ZERO = 1e-12


class Influence(NamedTuple):
    """A rate, its variance, the degrees of freedom of that, and the influence of each person; of
    searches in sessions, followed by that of each session.

    of_enrolled: whether enrolled people add more to the variance than those who search. in_sessions:
    what sessions do, None where they are not known.
    """

    rate: float
    variance: float
    freedom: float
    of_people: Floats
    of_enrolled: bool
    in_sessions: InfluenceOfSessions | None = None


class InfluenceOfSessions(NamedTuple):
    """How many sessions searches are of, the variance of a rate as they share people, and as they
    share sessions, alone.
    """

    n: int
    people: float
    sessions: float


class Term(NamedTuple):
    """A term of an estimate, which people add to: contributions of searches minus the rate
    expected, times a factor.

    people: (people of the searches,) their positions among all people; None where they are all.
    """

    factor: float
    errors: SearchContributions
    expected: float
    people: Integers | None = None


class PersonSums(NamedTuple):
    """What people add to an estimate.

    of_probes, of_all: (people,) what each adds as a probe, and in total; for this very gallery both
    are the same. pairs, of_pairs: (pairs,) two people a < b of n, numbered a * n + b, and what
    belongs to both.
    """

    of_probes: Floats
    of_all: Floats
    pairs: Integers
    of_pairs: Floats

    @property
    def beyond_probes(self) -> float:
        """What enrolled people add to the sum of squares; 0 for what would be negative, or but for
        rounding.
        """
        squares = dot(self.of_pairs, self.of_pairs)
        of_all = dot(self.of_all, self.of_all)
        beyond = of_all - dot(self.of_probes, self.of_probes) - squares
        return beyond if beyond > _SUM_IS_ZERO * (of_all + squares) else 0.0


def sum_over_people(
    terms: Sequence[Term], enrolled: Codes, n_people: int, *, drawn: bool
) -> PersonSums:
    """Sum terms over people, as probes; drawn: for other galleries, also as enrolled people."""
    of_probes, received = np.zeros((2, n_people))
    pairs = [np.zeros(0, np.int64)]
    weights = [np.zeros(0)]
    for factor, errors, expected, people in terms:
        n = errors.value.size
        subject, person = (
            codes if people is None else people[codes] for codes in (errors.subject, errors.person)
        )
        of_probes += factor * sum_by_place(subject, errors.value - expected, n_people) / n
        if drawn:
            first = subject[errors.search].astype(np.int64)
            weight = factor * errors.weight / n
            received += sum_by_place(person, weight, n_people)
            pairs.append(np.minimum(first, person) * n_people + np.maximum(first, person))
            weights.append(weight)
    received[enrolled] -= received.sum() / enrolled.size
    both, place = np.unique(np.concatenate(pairs), return_inverse=True)
    return PersonSums(
        of_probes,
        of_probes + received,
        both,
        sum_by_place(place, np.concatenate(weights), both.size),
    )


def influence(
    errors: SearchContributions, enrolled: Codes, n_people: int, *, drawn: bool
) -> Influence:
    """Compute a rate and its variance, for another gallery of other people, or for this one and
    other probes.
    """
    n = errors.value.size
    n_probed = errors.attempts[0].size
    rate = float(errors.value.mean())
    added = sum_over_people([Term(1.0, errors, rate)], enrolled, n_people, drawn=drawn)
    of_probes = added.of_probes
    beyond = added.beyond_probes
    centred = errors.value - rate
    fixed = dot(of_probes, of_probes) * n_probed / max(n_probed - 1, 1)
    least = dot(centred, centred) / n**2
    variance = max(fixed + beyond, least)
    total = of_probes
    n_units = n_probed
    each = of_probes**2
    if beyond:
        total = added.of_all
        n_units = n_probed + enrolled.size
        ends = np.concatenate(np.divmod(added.pairs, n_people))
        shared = sum_by_place(ends, np.tile(added.of_pairs**2, 2), n_people)
        each = np.maximum(total**2 - shared / 2, 0.0)
    rarer = max(min(errors.value.sum(), n - errors.value.sum()), 1e-9)
    uneven = (
        dot(each, each) / float(each.sum()) ** 2 - 1 / n_units - 1 / (2 * rarer)
        if each.any()
        else 0.0
    )
    freedom = min(max(2 / uneven, 1.0), max(n_units - 1, 1)) if uneven > 0 else max(n_units - 1, 1)
    return Influence(rate, variance, float(freedom), total, variance > 2 * max(fixed, least))


def influence_in_sessions(
    errors: SearchContributions, of_people: Influence, n_people: int, n_sessions: int
) -> Influence:
    """Add what sessions that people share do to a rate: its variance is the two-way one of people
    and sessions, never below that of people alone.
    """
    shared = sum_over_sessions([Term(1.0, errors, of_people.rate)], n_people, n_sessions)
    return of_people._replace(
        variance=float(two_way_variance(of_people.variance, shared.variance, shared.of_cells)),
        freedom=float(two_way_freedom(of_people.freedom, shared.n)),
        of_people=np.append(of_people.of_people, shared.of_sessions),
        in_sessions=InfluenceOfSessions(shared.n, of_people.variance, shared.variance),
    )


class SessionSums(NamedTuple):
    """What sessions add to an estimate.

    n: how many there are of the term with fewest. of_sessions: (sessions,) what each adds.
    variance, of_cells: that of the estimate as searches share sessions, and as they share a person
    in a session.
    """

    n: int
    of_sessions: Floats
    variance: float
    of_cells: float


def sum_over_sessions(terms: Sequence[Term], n_people: int, n_sessions: int) -> SessionSums:
    """Sum terms, about their own means, over the sessions of probes and over people in these."""
    sums: list[Floats] = []
    cells: list[Integers] = []
    for factor, errors, _, people in terms:
        sums.append(factor * (errors.value - errors.value.mean()) / errors.value.size)
        subject = errors.subject if people is None else people[errors.subject]
        cells.append(errors.session.astype(np.int64) * n_people + subject)
    added = np.concatenate(sums)
    in_cells, cell = np.unique(np.concatenate(cells), return_inverse=True)
    of_sessions = sum_by_place(np.concatenate(cells) // n_people, added, n_sessions)
    n = min(np.unique(term.errors.session).size for term in terms)
    n_of_all = np.unique(in_cells // n_people).size
    variance, of_cells = (
        float(of_units @ of_units) * k / max(k - 1, 1)
        for of_units, k in (
            (of_sessions, n_of_all),
            (sum_by_place(cell, added, in_cells.size), in_cells.size),
        )
    )
    return SessionSums(n, of_sessions, variance, of_cells)


def hit_probabilities(n_others: int, n_drawn: int, most: int) -> tuple[Floats, Floats]:
    """Return what c people who score high enough make of a search, for c = 0 to `most`.

    They are among n_others people, of whom n_drawn are in the gallery. The first array is the
    probability that at least one of the c is in the gallery; the second, by how much it is less on
    average over galleries if a given one of them is taken out.
    """
    j = np.arange(most)
    none = np.append(
        1.0, np.cumprod(np.maximum(n_others - n_drawn - j, 0) / np.maximum(n_others - j, 1))
    )
    sole = np.append(
        1.0, np.cumprod(np.maximum(n_others - n_drawn - j, 0) / np.maximum(n_others - 1 - j, 1))
    )
    return 1 - none, np.append(0.0, sole[:most]) * n_drawn / n_others


def chance_of_rank(rank: Integers, most: int, n_others: int, n_drawn: int) -> Floats:
    """Return the probability that fewer than `most` of the rank - 1 people who outrank a mate are
    drawn.
    """
    distinct, position = np.unique(rank, return_inverse=True)
    ahead = (distinct - 1)[:, None].astype(np.float64)
    chances = np.exp(log_chance(np.arange(most), ahead, n_others, n_drawn)).sum(axis=1)
    return np.asarray(np.minimum(chances, 1.0)[position])


def log_chance(hits: AnyArray, n_special: AnyArray, n: int, n_drawn: int) -> Floats:
    """Return the logarithm of the hypergeometric probability of `hits` special ones among n_drawn
    of n.

    It is that of scipy.stats.hypergeom.logpmf, whose checks take longer; impossible cases are -inf.
    """

    def ways(a: Any, b: Any) -> Any:
        possible = (b >= 0) & (b <= a)
        a, b = np.where(possible, a, 0), np.where(possible, b, 0)
        return np.where(possible, gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1), -np.inf)

    return np.asarray(
        ways(n_special, hits) + ways(n - n_special, n_drawn - hits) - ways(n, n_drawn)
    )


class SearchCriterion(NamedTuple):
    """What makes a candidate of a search: a threshold, how many candidates are looked at (None for
    all), and the size of galleries.

    drawn: whether intervals are for other galleries, so that it matters how rates depend on single
    enrolled people.
    """

    threshold: float
    rank: int | None
    size: int
    drawn: bool = True


Errors = Callable[[Searches, SearchCriterion], SearchContributions | None]


@dataclass(frozen=True)
class SearchRate:
    """A rate of searches.

    Attributes
    ----------
    name : str
        Its name, also in `METRICS`.
    of_mated : bool
        Whether it is of mated searches, and grows as thresholds get stricter.
    errors : callable
        Returns what searches add to it at a criterion; None where that is not known.
    at_worst : callable
        The same where ranks are as high as they can be; None where ranks are known.
    complement : str
        The name of 1 minus it, which is shown as well.
    is_share : bool
        Whether it is a share of searches; otherwise it is a mean, of at most the number of enrolled
        people.
    """

    name: str
    of_mated: bool
    errors: Errors
    at_worst: Errors = lambda searches, criterion: None
    complement: str = ""
    is_share: bool = True

    def highest(self, size: int) -> float:
        """Return the highest value that it can have in galleries of a size."""
        return 1.0 if self.is_share else float(size)

    def of_searches(self, searches: Searches) -> Flags:
        """Return which searches it is of."""
        return searches.is_mated if self.of_mated else ~searches.is_mated


RATES: dict[str, SearchRate] = {}
_Errors = TypeVar("_Errors", bound=Callable[[Searches, SearchCriterion], Any])


def rate_of_searches(estimand: Estimand, **more: Any) -> Callable[[_Errors], _Errors]:
    """Register a rate, by the function that returns what searches add; more: what `SearchRate` has
    besides.
    """

    def registered(function: _Errors) -> _Errors:
        METRICS.setdefault(estimand.name, estimand)
        RATES[estimand.name] = SearchRate(
            estimand.name, estimand.sides == (MATED,), function, **more
        )
        return function

    return registered


def _errors_of(
    searches: Searches,
    rows: Indices,
    value: Floats,
    margin: Floats,
    search: Any = (),
    person: Any = (),
    weight: Any = (),
    depends_on_gallery: bool = True,
) -> SearchContributions:
    """Make the errors of some searches."""
    pairs = (
        np.asarray(search, np.intp),
        np.asarray(person, np.int32),
        np.asarray(weight, np.float64),
    )
    return SearchContributions(
        searches.subject[rows],
        searches.group[rows],
        searches.session[rows],
        value,
        margin,
        *pairs,
        depends_on_gallery,
    )


def listed_at(searches: Searches, rows: Indices, threshold: float) -> Flags:
    """Return which candidates kept of some searches reach a threshold, but for places at the ends
    of lists where none does; without a score nobody does.
    """
    places = slice(max(2, int(np.count_nonzero(searches._highest >= threshold))))
    best, who = searches.best[rows, places], searches.candidate[rows, places]
    return np.asarray((best >= threshold) & (who >= 0))


@rate_of_searches(METRICS["fpir"])
def false_positives(searches: Searches, criterion: SearchCriterion) -> SearchContributions:
    """Return what non-mated searches add to the FPIR."""
    threshold = rounded_threshold(criterion.threshold, searches.dtype)
    rows = np.flatnonzero(~searches.is_mated)
    n = searches.n_enrolled
    listed = listed_at(searches, rows, threshold)
    c = listed.sum(axis=1)
    needed = n if criterion.size < n else 2 if criterion.drawn else 1
    _require_known(
        searches, rows[(threshold <= searches.reach[rows]) & (c < needed)], "FPIR", threshold
    )
    value, sole = hit_probabilities(n, criterion.size, listed.shape[1])
    search, column = np.nonzero(listed & (sole[c] > 0)[:, None])
    person = searches.candidate[rows[search], column]
    margin = -searches.best[rows, 0]
    return _errors_of(searches, rows, value[c], margin, search, person, sole[c][search])


def first_candidate_of_group(
    searches: Searches, criterion: SearchCriterion, is_of_group: Flags
) -> SearchContributions:
    """Return what non-mated searches add to the share whose first candidate is of a group;
    is_of_group: (people,) of each person.

    Without that person, the second candidate is the first.
    """
    whole = false_positives(searches, criterion)
    rows = np.flatnonzero(~searches.is_mated)
    threshold = rounded_threshold(criterion.threshold, searches.dtype)
    listed = listed_at(searches, rows, threshold)[:, :2]
    of_group = is_of_group[searches.candidate[rows, :2]] & listed
    first = of_group[:, 0]
    second = of_group[:, -1] & (of_group.shape[1] > 1)
    search = np.flatnonzero((first != second) & (whole.value > 0))
    weight = first[search].astype(np.float64) - second[search]
    person = searches.candidate[rows[search], 0]
    return replace(
        whole, value=first.astype(np.float64), search=search, person=person, weight=weight
    )


def false_negatives_at_worst(
    searches: Searches, criterion: SearchCriterion
) -> SearchContributions | None:
    """Return what mated searches add to the FNIR with ranks as high as they can be; None where they
    are known.

    Where lists end with the mate's score, others with that score may be missing from them.
    """
    listed = searches.is_mated & ~np.isnan(searches.mate_score)
    if criterion.rank is None or (searches.last_rank == searches.rank)[listed].all():
        return None
    return _missed(searches, criterion, searches.last_rank)


@rate_of_searches(METRICS["fnir"], at_worst=false_negatives_at_worst, complement="tpir")
def false_negatives(searches: Searches, criterion: SearchCriterion) -> SearchContributions:
    """Return what mated searches add to the FNIR."""
    return _missed(searches, criterion, searches.rank)


def _missed(searches: Searches, criterion: SearchCriterion, ranks: Integers) -> SearchContributions:
    threshold = rounded_threshold(criterion.threshold, searches.dtype)
    rank, size = criterion.rank, criterion.size
    rows = np.flatnonzero(searches.is_mated)
    score = searches.mate_score[rows]
    rank_of_mate = ranks[rows]
    n = searches.n_enrolled
    unlisted = np.isnan(score)
    short = np.zeros(rows.size, bool) if rank is None or size < n else searches.rank[rows] > rank
    unknown = rows[unlisted & (threshold <= searches.reach[rows]) & ~short]
    _require_known(
        searches, unknown, "FNIR", threshold if rank is None or threshold > -math.inf else rank
    )
    high = (score >= threshold) & (score > -np.inf)
    finite_score = np.where(unlisted, -np.inf, score)
    margin = finite_score - threshold if math.isfinite(threshold) else np.full(rows.size, np.inf)
    if rank is None or size == 1:
        return _errors_of(
            searches, rows, np.where(high, 0.0, 1.0), margin, depends_on_gallery=rank is not None
        )
    value = 1 - high * chance_of_rank(rank_of_mate, rank, n - 1, size - 1)
    if rank <= searches.best.shape[1]:
        last = searches.best[rows, rank - 1]
        margin = np.minimum(margin, finite_score - np.maximum(last, -1e300))
    late = np.flatnonzero(high & (rank_of_mate > rank))
    place, column = np.nonzero(searches.best[rows[late]] >= score[late, None])
    search = late[place]
    ahead = (rank_of_mate[search] - 2).astype(np.float64)  # besides this person
    weight = np.exp(log_chance(np.array(rank - 1), ahead, n - 2, size - 2)) * (size - 1) / (n - 1)
    kept = weight > 0
    person = searches.candidate[rows[search[kept]], column[kept]]
    return _errors_of(searches, rows, value, margin, search[kept], person, weight[kept])


@rate_of_searches(METRICS["selectivity"], is_share=False)
def candidates(searches: Searches, criterion: SearchCriterion) -> SearchContributions | None:
    """Return how many candidates non-mated searches have; None where lists are short."""
    threshold = rounded_threshold(criterion.threshold, searches.dtype)
    rows = np.flatnonzero(~searches.is_mated)
    if (threshold <= searches.reach[rows]).any():
        return None
    search, column = np.nonzero(listed_at(searches, rows, threshold))
    weight = np.full(search.size, criterion.size / searches.n_enrolled)
    person = searches.candidate[rows[search], column]
    return _errors_of(
        searches,
        rows,
        sum_by_place(search, weight, rows.size),
        -searches.best[rows, 0],
        search,
        person,
        weight,
    )


def _require_known(searches: Searches, unknown: Indices, rate: str, at: float | int) -> None:
    """Refuse a rate that some searches leave unknown; at: a threshold, or a rank, which is an
    int.
    """
    if not unknown.size:
        return
    if isinstance(at, int):
        raise InputError(
            f"the {rate} at rank {at} is not known, as the lists of {unknown.size:,} searches are"
            " shorter and lack the mate: take a lower rank, or longer lists"
        )
    reach = float(searches.reach[unknown].max())
    raise InputError(
        f"the {rate} at the threshold {typed(at)} is not known, as the candidates of"
        f" {unknown.size:,} searches are known above {typed(reach)} alone: take a higher threshold,"
        " or keep more candidates"
    )
