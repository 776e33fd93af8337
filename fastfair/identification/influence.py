"""What people and sessions add to a rate of searches: how it varies.

Intervals are for other people like those of the data. A person's influence on a rate has two parts.
As a probe: the sum of (v - rate) over the searches, of which each adds v, divided by the number of
all searches. As an enrolled person: what the rate would lose if the person left the gallery, minus
the mean of this over the gallery, whose size stays. A false positive is lost if the person is its
sole candidate; a mate missed at rank R is found after all if exactly R people outrank it, and the
person is one of them. Such an error belongs to a pair of people, the one searched with and the one
enrolled, and is in the influence of both. So the variance is the sum of squares of influences,
minus that of pairs, which would count twice (Aronow, Samii and Assenova 2015), and never below that
of a fixed gallery, the sum of squares of the first parts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fastfair._lib.arrays import Codes, Floats, Integers
from fastfair._lib.products import dot
from fastfair.resampling.dependence import two_way_freedom, two_way_variance

from .rates import SearchContributions, sum_by_place

# of a sum, relative to its terms: what is left below it is rounding
_ROUNDING = 1e-12


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
        return beyond if beyond > _ROUNDING * (of_all + squares) else 0.0


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


def influence_of_people(
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
