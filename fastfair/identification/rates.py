"""Rates of searches: what each search adds to them, in the whole gallery and in smaller ones.

A rate is a mean over searches of what each adds, v. It is 0 or 1 in the whole gallery of N people;
in a gallery of n of them it is the probability of an error, over all subsets, which follows from
how many others score high enough.

A rate is a function of searches and of where they are looked at, registered by `rate_of_searches`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln

from fastfair._lib.arrays import AnyArray, Codes, Flags, Floats, Indices, Integers
from fastfair._lib.text import typed
from fastfair.errors import InputError
from fastfair.measures._registry import MATED, METRICS, Estimand

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
        of_searches = ("subject", "group", "session", "value", "margin")
        return replace(
            self,
            **{name: getattr(self, name)[kept] for name in of_searches},
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


ContributionsOf = Callable[[Searches, SearchCriterion], SearchContributions | None]


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
    errors: ContributionsOf
    at_worst: ContributionsOf = lambda searches, criterion: None
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


def _contributions_of(
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
    return _contributions_of(searches, rows, value[c], margin, search, person, sole[c][search])


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
    return _count_misses(searches, criterion, searches.last_rank)


@rate_of_searches(METRICS["fnir"], at_worst=false_negatives_at_worst, complement="tpir")
def false_negatives(searches: Searches, criterion: SearchCriterion) -> SearchContributions:
    """Return what mated searches add to the FNIR."""
    return _count_misses(searches, criterion, searches.rank)


def _count_misses(
    searches: Searches, criterion: SearchCriterion, ranks: Integers
) -> SearchContributions:
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
        return _contributions_of(
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
    return _contributions_of(searches, rows, value, margin, search[kept], person, weight[kept])


@rate_of_searches(METRICS["selectivity"], is_share=False)
def count_candidates(searches: Searches, criterion: SearchCriterion) -> SearchContributions | None:
    """Return how many candidates non-mated searches have; None where lists are short."""
    threshold = rounded_threshold(criterion.threshold, searches.dtype)
    rows = np.flatnonzero(~searches.is_mated)
    if (threshold <= searches.reach[rows]).any():
        return None
    search, column = np.nonzero(listed_at(searches, rows, threshold))
    weight = np.full(search.size, criterion.size / searches.n_enrolled)
    person = searches.candidate[rows[search], column]
    return _contributions_of(
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
