"""The difference of two systems' rates of the same people: a score test clustered by person, and
its limits.

Let T_k be what person k adds to the difference D: the errors of the first system in the searches
with this person, minus those of the second one, divided by the number of searches; for other
galleries also what the person adds by being enrolled, and where a rate is held, by way of the
thresholds. Where the rates are equal, D / sqrt(sum T_k^2) has about Student's law, with (sum
T_k^2)^2 / sum T_k^4 - 1 degrees of freedom: of so many people alike, one fewer. Of few people in
whose searches the systems differ, the p-value is exact: the share of all changes of signs of their
T_k after which D is at least as far from 0. Limits are the differences that the test does not
reject, with T_k less this difference times the person's share of the searches. So that limits agree
with an exact p-value, which grows as D moves in steps, each is farther by what D would have to be
nearer to 0 for Student's p-value to be as large; where the exact p-value is the smaller one, the
variance is scaled instead.

By way of a threshold a person adds the influence on the rate held, times a slope. Were D smaller,
the first system's rate would be lower and the second one's higher: a slope to one side is how far
the rate moves to the end of the threshold's interval on that side, in standard errors of the rate
held.

Where people share sessions, the variance is the two-way one: what sessions add beyond people in
them, about the difference that there is, comes on top whatever the difference may be.
"""

from __future__ import annotations

import math
from copy import copy
from functools import cache, partial
from itertools import starmap
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from fastfair import intervals
from fastfair._lib.arrays import Floats, Indices
from fastfair._lib.label_codes import encode_together
from fastfair._lib.products import dot
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.resampling.dependence import two_way_freedom, two_way_variance

from .estimator import Estimator, MeasuredRate
from .influence import PersonSums, SessionSums, Term, sum_over_people, sum_over_sessions
from .rates import RATES, sum_by_place
from .searches import Searches

_LEVEL = 0.95  # of the threshold's interval, whatever that of the difference
_MOST_SIGNS = 16  # people whose changes of signs are all looked at
_SMALL = 1e-12  # what differs by so little is equal but for rounding


def exact_pvalue(added: Floats) -> float:
    """Return the share of changes of signs after which a sum of few numbers is at least as far from
    0.
    """
    changed = np.zeros(1)
    for step in added.tolist():
        changed = np.concatenate([changed + step, changed - step])
    return float((np.abs(changed) >= abs(added.sum()) - _SMALL).mean())


def score_test(
    added: PersonSums,
    of_searches: Floats,
    of_thresholds: float,
    exact: float | None,
    level: float,
    side: int,
    shared: SessionSums | None = None,
) -> tuple[float, float]:
    """Return a limit of a difference, and the p-value of no difference.

    of_searches: (people,) the share of the searches that each person has. of_thresholds: what
    thresholds add to the variance that no person explains. exact: the p-value by the signs of what
    people add as probes, if known. side: -1 for the lower limit, 1 for the upper one. shared: what
    sessions add, where people share them.
    """
    beyond = added.beyond_probes
    total = added.of_all if beyond else added.of_probes
    squares = total**2
    difference = float(added.of_probes.sum())
    difference = difference if abs(difference) > _SMALL else 0.0
    alike = float(squares.sum()) ** 2 / dot(squares, squares) if squares.any() else 1.0
    freedom = max(alike - 1, 1.0)
    # The variance is at_zero - 2 cross d + bend d^2 where the difference is d.
    at_zero = dot(added.of_probes, added.of_probes) + beyond + of_thresholds
    cross, bend = dot(total, of_searches), dot(of_searches, of_searches)
    if not at_zero:  # nobody differs
        n_alike = min(1 / bend, shared.n if shared else math.inf)
        return side * intervals.upper_limit_without_errors(max(1.0, n_alike), level), 1.0
    if shared is not None:
        of_people = at_zero, freedom
        at_zero = float(two_way_variance(at_zero, shared.variance, shared.of_cells))
        freedom = float(two_way_freedom(freedom, shared.n))
        if (at_zero, freedom) != of_people:
            exact = None  # signs of people who share sessions are not independent
    standard = abs(difference) / math.sqrt(at_zero)
    pvalue = 2 * float(stdtr(freedom, -standard))
    critical = float(stdtrit(freedom, (1 + level) / 2))
    step = 0.0
    if exact is not None:
        pvalue = max(exact, pvalue) if beyond else exact
        of_exact = -float(stdtrit(freedom, pvalue / 2))
        if standard < of_exact:  # as if the variance gave this p-value
            critical *= standard / of_exact
        else:  # a factor would grow without limit where the difference is about one step
            step = (standard - of_exact) * math.sqrt(at_zero)
    # Limits are the roots of (end - d)^2 = critical^2 (at_zero - 2 cross d + bend d^2), that is of
    # a d^2 - 2 b d + c.
    end = difference + side * step
    a = 1 - critical**2 * bend
    b = end - critical**2 * cross
    c = end**2 - critical**2 * at_zero
    if a <= 0:
        return float(side), pvalue
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return min(max((b + side * root) / a, -1.0), 1.0), pvalue


class _System(NamedTuple):
    """A system at an operating point: a rate there, and of its people the number that they have in
    the first system; factor: 1 for the first, else -1.
    """

    factor: float
    people: Indices
    rate: MeasuredRate

    def of_threshold(self, side: int) -> tuple[list[Term], float]:
        """Return what people add by way of the threshold to one side, and the variance that no
        person explains.
        """
        held = self.rate.held
        if held is None:
            return [], 0.0
        rises = side * self.factor > 0
        end = self.rate.moved[0 if rises == self.rate.rate.of_mated else 1]
        there = float(rises) if end is None else float(end.contributions.value.mean())
        influence = held.influence
        rate = float(self.rate.contributions.value.mean())
        shift = abs(there - rate) / float(stdtrit(influence.freedom, 1 - held.tail))
        if not influence.variance:
            return [], shift**2
        factor = self.factor * shift / math.sqrt(influence.variance)
        return [Term(factor, held.errors, influence.rate, self.people)], 0.0


class SystemPair:
    """Two systems whose searches are of the same people in a gallery of the same people.

    rank, gallery: as in `identify`.
    """

    def __init__(self, first: Searches, second: Searches, rank: int | None, gallery: str) -> None:
        first, second = _with_common_sessions(first, second)
        order = {label: k for k, label in enumerate(first.labels.tolist())}
        self._estimators = [
            Estimator(searches, rank, gallery, _LEVEL) for searches in (first, second)
        ]
        self._people = [
            np.array([order[label] for label in system.labels.tolist()])
            for system in (first, second)
        ]
        self._systems = cache(self._systems_at)

    def _systems_at(self, name: str, at: OperatingPoint) -> list[_System]:
        rates = [estimator.point(at).measure(RATES[name]) for estimator in self._estimators]
        return list(starmap(_System, zip((1.0, -1.0), self._people, rates, strict=True)))

    def correlation(self, name: str, group: str | None, at: OperatingPoint) -> float:
        """Return the correlation of what people, and sessions, add to the rates of both systems; 1
        where it is the same.
        """
        first, second = (
            system.rate.influence_with_threshold() for system in self._systems_of(name, group, at)
        )
        place = np.arange(first.size)
        place[: self._people[1].size] = self._people[1]
        first = first[place]
        if np.allclose(first, second, rtol=0, atol=_SMALL):
            return 1.0
        scale = math.sqrt(dot(first, first) * dot(second, second))
        return dot(first, second) / scale if scale else 0.0

    def _systems_of(self, name: str, group: str | None, at: OperatingPoint) -> list[_System]:
        """Return both systems in the searches of a group."""
        groups = self._estimators[0].searches.groups
        code = None if group is None else groups.index(group)
        return [
            system._replace(rate=system.rate.within(code)) for system in self._systems(name, at)
        ]

    def test(
        self, name: str, group: str | None, at: OperatingPoint, level: float
    ) -> tuple[float, float, float]:
        """Return the limits of the difference of a rate, first minus second, and the p-value of no
        difference.
        """
        first = self._estimators[0]
        systems = self._systems_of(name, group, at)
        errors = [system.rate.contributions for system in systems]
        rates = [float(of_system.value.mean()) for of_system in errors]
        mean = sum(rates) / 2
        n = errors[0].value.size
        n_people = first.searches.labels.size
        sessions = first.searches.sessions
        parts = [
            Term(system.factor, system.rate.contributions, mean, system.people)
            for system in systems
        ]
        added = partial(
            sum_over_people, enrolled=first.searches.enrolled, n_people=n_people, drawn=first.drawn
        )
        of_decisions = added(parts).of_probes
        differing = of_decisions[np.abs(of_decisions) > _SMALL]
        is_exact = systems[0].rate.held is None and differing.size <= _MOST_SIGNS
        exact = exact_pvalue(differing) if is_exact else None
        of_searches = sum_by_place(errors[0].subject, np.ones(n), n_people) / n
        sides = []
        for side in (-1, 1):
            more = [system.of_threshold(side) for system in systems]
            terms = [*parts, *(part for listed, _ in more for part in listed)]
            unexplained = sum(variance for _, variance in more)
            test = partial(score_test, added(terms), of_searches, unexplained, exact, level, side)
            limit, pvalue = test()
            if sessions is not None:  # never narrower than people alone
                beyond, at_least = test(sum_over_sessions(terms, n_people, sessions.size))
                limit = side * max(side * limit, side * beyond)
                pvalue = max(pvalue, at_least)
            sides.append((limit, pvalue))
        (low, below), (high, above) = sides
        return low, high, above if rates[0] < rates[1] else below


def _with_common_sessions(first: Searches, second: Searches) -> tuple[Searches, Searches]:
    """Number the sessions of both systems alike."""
    if first.sessions is None or second.sessions is None:
        return first, second
    both = first.sessions, second.sessions
    labels, (of_first, of_second) = encode_together(["session", "session"], both)
    first, second = copy(first), copy(second)
    first.session, second.session = of_first[first.session], of_second[second.session]
    first.sessions = second.sessions = labels
    return first, second
