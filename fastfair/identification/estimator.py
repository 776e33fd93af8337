"""`Estimator`: the rates of searches at operating points, with their limits.

A threshold that holds a rate is an estimate. Limits of the other rates combine the uncertainty at a
given threshold with that of the threshold, by the method of Zou and Donner (MOVER) with the
correlation of influences. Where the rate held rests on few errors, both intervals must hold, each
at half of the error probability. The limits at a given threshold are those of
`uncertainty.rate_limits`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import stdtrit

from fastfair import intervals
from fastfair._lib.arrays import Floats
from fastfair._lib.label_codes import Coded
from fastfair._lib.products import dot
from fastfair._lib.text import per_cent
from fastfair.data.score_keys import typed_threshold
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint, allowed_errors
from fastfair.errors import InputError
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.group_tests.equal_rates import fnmr_test
from fastfair.measures import MEASURES
from fastfair.measures._registry import Estimand
from fastfair.resampling.dependence import (
    ENOUGH_PAIRS,
    AttemptSums,
    effective_size,
    one_more_session,
    two_way_freedom,
    typical_subject,
)
from fastfair.uncertainty.few_errors import raised_by_both
from fastfair.uncertainty.notes import ENOUGH_SESSIONS, FEWEST_SESSIONS, Code, Note, has_code
from fastfair.uncertainty.quantities import Estimate, mirrored
from fastfair.uncertainty.rate_limits import HeldRate, RateEvidence, raised_rate
from fastfair.uncertainty.sessions import note_of_few

from .influence import Influence, influence_in_sessions, influence_of_people
from .rates import (
    RATES,
    ContributionsOf,
    SearchContributions,
    SearchCriterion,
    SearchRate,
    false_positives,
    first_candidate_of_group,
)
from .searches import Searches

Ends = tuple[float, float]
IdentificationRate = Literal["fpir", "fnir"]
_RESAMPLES = 1999  # of a test of equal rates
_MOST_GROUPS = 16  # whose intervals' corners are all looked at


@dataclass(frozen=True, kw_only=True)
class IdentifiedRate(Estimate):
    """A rate of identification: an `Estimate`, and where it was measured.

    Attributes
    ----------
    name : str
        "fpir", "fnir", "tpir", "selectivity", or a fairness measure followed by its rate, such as
        "gini(fnir)". The "fpir_matrix" is the share of non-mated searches whose first candidate is
        someone of `group`.
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
        How many of these failed, as they or their mates have no score: misses at every rank and
        threshold, or searches that return nobody. None where none did.
    pvalue : float
        Of a measure in this very gallery (``gallery="fixed"``), the p-value of equal rates of all
        groups by `fnmr_test`; else NaN.
    flags : str
        Of `notes`. "leaves-room": the limit of a rate in other galleries may be several times too
        low, as it is luck who is enrolled. "unknown-concentration": a measure of such rates.
    """

    name: str
    at: OperatingPoint
    threshold: float
    gallery_size: int
    n_searches: int
    n_failed: int | None = None
    probe_group: str | None = None
    pvalue: float = math.nan

    _unused = ("n_comparisons",)


class HeldSearchRate(NamedTuple):
    """The rate that an operating point holds: what searches add to it, the influence of people on
    it, and the thresholds it may be held at.

    distribution: of the number of errors that hold it. thresholds: the strictest and the laxest
    that may be the population's, at a tail probability; None beyond all scores.
    """

    rate: SearchRate
    distribution: HeldRate
    errors: SearchContributions
    influence: Influence
    tail: float
    thresholds: tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class MeasuredRate:
    """A rate of all searches, or of a group's, at an operating point.

    Attributes
    ----------
    estimator : Estimator
        What it is estimated by.
    rate : SearchRate
        The rate.
    errors : SearchContributions or None
        What searches add to it; None where that is not known.
    group : int or None
        The group; None for all searches.
    highest : float
        The highest value that it can have.
    held : HeldSearchRate or None
        Another rate that the threshold holds; None where it holds none.
    moved : tuple of MeasuredRate or None
        The same at the strictest and at the laxest threshold that may hold that one; None beyond
        what is known.
    """

    estimator: Estimator
    rate: SearchRate
    errors: SearchContributions | None
    group: int | None = None
    highest: float = 1.0
    held: HeldSearchRate | None = None
    moved: tuple[MeasuredRate | None, ...] = ()

    def within(self, group: int | None) -> MeasuredRate:
        """Return the rate of the searches of a group."""
        moved = tuple(end and end.within(group) for end in self.moved)
        errors = self.errors and self.errors.within(group)
        return replace(self, errors=errors, group=group, moved=moved)

    @property
    def contributions(self) -> SearchContributions:
        """What searches add, which must be known."""
        assert self.errors is not None
        return self.errors

    @cached_property
    def influence(self) -> Influence:
        """The rate, its variance, and the influence of people on it."""
        return self.estimator.influence(self.contributions)

    def effective(self) -> float:
        """Return the effective sample size of a rate with few errors, by the design effect of a
        laxer criterion, at which five people have errors.

        Where fewer than five people search, each person counts as one attempt as far as attempts differ in number.
        """
        errors = self.contributions
        m = errors.attempts[0]
        n = errors.value.size
        order = np.argsort(errors.margin, kind="stable")
        _, first = np.unique(errors.subject[order], return_index=True)
        if first.size >= ENOUGH_PAIRS:
            cut = float(errors.margin[order[np.sort(first)[ENOUGH_PAIRS - 1]]])
            nearest = errors.of_probes_alone((errors.margin <= cut).astype(np.float64))
            s = self.estimator.searches
            if not self.rate.of_mated and self.estimator.drawn and not (s.reach >= -cut).any():
                criterion = SearchCriterion(-cut, None, s.n_enrolled)
                nearest = false_positives(s, criterion).within(self.group)
            x = nearest.value.sum()
            if x < n:
                return effective_size(n, x, self.estimator.influence(nearest).variance * n**2)
        return float(m.sum() ** 2) / dot(m, m)

    def limits(self, level: float) -> Ends:
        """Return the limits of the rate at a given threshold."""
        if self.contributions.attempts[0].size < 2:
            return 0.0, self.highest
        if not self.rate.is_share:
            return self._limits_of_mean((1 - level) / 2)
        low, high = self.evidence().interval(level)
        return float(low), float(high)

    def _limits_of_mean(self, tail: float) -> Ends:
        """Return the limits of a mean number; some candidates leave no less room than none
        would.
        """
        rate, variance, freedom = self.influence[:3]
        of_none = 0.0
        if rate * self.contributions.value.size < ENOUGH_PAIRS:
            of_none = min(-math.log(tail) / self.effective(), self.highest)
        if rate == 0:
            return 0.0, of_none
        reach = float(stdtrit(freedom, 1 - tail)) * min(math.sqrt(variance) / rate, 1.0)
        high = rate * math.exp(min(reach, math.log(self.highest / rate)))
        return rate * math.exp(-reach), max(high, of_none)

    def evidence(self) -> RateEvidence:
        """Return what the limits of the rate at a given threshold are computed from."""
        influence = self.influence
        n = self.contributions.value.size
        m, e = self.contributions.attempts
        rate = influence.rate
        freedom = float(m.size - 1) if self.rate.of_mated else influence.freedom
        shared = influence.in_sessions
        if shared is not None:
            freedom = float(two_way_freedom(freedom, shared.n))
        if rate in (0, 1):
            return RateEvidence(rate, math.nan, freedom, max(1.0, self.effective()))
        effective = self.effective() if rate * n < ENOUGH_PAIRS else math.nan
        sums = AttemptSums(n, e.sum(), dot(m, m), dot(e, m), dot(e, e))
        raised = raised_rate(rate, n, typical_subject(sums, sums))
        if shared is not None:
            added = (influence.variance - shared.people) * n**2
            by_session = one_more_session(added, n, shared.n, self.rate.of_mated)
            raised = raised_by_both(raised, by_session)
        return RateEvidence(rate, math.sqrt(influence.variance), freedom, effective, raised)

    def _sign_of(self, held: HeldSearchRate) -> float:
        """Return whether the rate grows with the one held, 1.0, or falls, -1.0, at a fixed
        threshold.
        """
        return -1.0 if self.rate.of_mated == held.rate.of_mated else 1.0

    def limits_with_threshold(self, held: HeldSearchRate) -> Ends:
        """Return limits that are wider as the threshold is an estimate."""
        level = self.estimator.level
        ends = self.limits(level)
        influence = self.influence
        # A strict threshold beyond all scores makes no candidates, and a lax one makes all.
        beyond = (1.0, 0.0) if self.rate.of_mated else (0.0, self.highest)
        if held.distribution.expected < FEWEST_ERRORS:
            half = (1 + level) / 2
            limits = [
                (end, end) if moved is None else moved.limits(half)
                for moved, end in zip(self.moved, beyond, strict=True)
            ]
            return min(low for low, _ in limits), max(high for _, high in limits)
        rates = [
            end if moved is None else moved.influence.rate
            for moved, end in zip(self.moved, beyond, strict=True)
        ]
        mine, of_held = influence.of_people, held.influence.of_people
        scale = math.sqrt(dot(mine, mine) * dot(of_held, of_held))
        correlation = self._sign_of(held) * dot(mine, of_held) / scale if scale else 0.0
        shift = np.array([0.0, min(rates) - influence.rate, max(rates) - influence.rate])
        joined = intervals.sum_interval(
            np.array([influence.rate, *ends]), shift, np.array(correlation)
        )
        # Never narrower than either part alone, so that an interval of a higher level is never
        # narrower, too.
        low = min(float(joined[0]), ends[0], min(rates))
        high = max(float(joined[1]), ends[1], max(rates))
        return max(0.0, low), min(self.highest, high)

    def influence_with_threshold(self) -> Floats:
        """Return what people add to the rate, and by way of the threshold that holds another."""
        mine, held = self.influence.of_people, self.held
        rates = [
            float(moved.contributions.value.mean()) for moved in self.moved if moved is not None
        ]
        if held is None or len(rates) < 2 or not held.influence.variance:
            return mine
        reach = abs(rates[0] - rates[1]) / 2 / float(stdtrit(held.influence.freedom, 1 - held.tail))
        of_held = held.influence.of_people
        length = math.sqrt(dot(of_held, of_held))
        return mine + (self._sign_of(held) * reach / length) * of_held if length else mine

    def row(self, at: OperatingPoint, criterion: SearchCriterion, **about: Any) -> IdentifiedRate:
        """Return the row of the rate."""
        s = self.estimator.searches
        about |= {
            "at": at,
            "threshold": s._sign * criterion.threshold,
            "gallery_size": criterion.size,
        }
        errors = self.errors
        if errors is None or not errors.value.size:
            note = Note(Code.SHORT_LISTS if errors is None else Code.NO_SEARCHES)
            n = 0 if errors is not None else int(self.rate.of_searches(s).sum())
            return IdentifiedRate(estimate=math.nan, n_searches=n, notes=(note,), **about)
        influence, held = self.influence, self.held
        notes: list[Note] = []
        if held is None:
            low, high = self.limits(self.estimator.level)
        else:
            low, high = self.limits_with_threshold(held)
            notes += [Note(Code.THRESHOLD_BEYOND_SCORES)] if None in self.moved else []
        if influence.of_enrolled or (held is not None and held.influence.of_enrolled):
            notes.append(Note(Code.FEW_ENROLLED))
        notes += self._notes_of_sessions()
        if any(note.code is Code.TOO_FEW_SESSIONS for note in notes):
            low = high = math.nan
        return IdentifiedRate(
            estimate=influence.rate,
            low=low if math.isnan(low) else min(low, influence.rate),
            high=high if math.isnan(high) else max(high, influence.rate),
            n_searches=errors.value.size,
            n_errors=round(errors.value.sum()) if self.rate.is_share else None,
            n_subjects=errors.attempts[0].size,
            notes=tuple(notes),
            **about,
        )

    def _notes_of_sessions(self) -> list[Note]:
        """Say how much sessions add to the variance of a rate of all searches, and where sessions
        are few.
        """
        influence = self.influence
        shared = influence.in_sessions
        if shared is None:
            return []
        if shared.n < FEWEST_SESSIONS:
            return [Note(Code.TOO_FEW_SESSIONS)]
        notes = [note_of_few(shared.n)] if shared.n < ENOUGH_SESSIONS else []
        binomial = influence.rate * (1 - influence.rate) / self.contributions.value.size
        if self.group is None and self.rate.is_share and binomial and shared.people:
            effect = Note.of(
                Code.EFFECT_OF_SESSIONS,
                times=math.sqrt(influence.variance / shared.people),
                people=shared.people / binomial,
                sessions=shared.sessions / binomial,
                n=shared.n,
            )
            return [effect, *notes]
        return notes


class SearchPoint(NamedTuple):
    """An operating point in searches: what makes a candidate there, and how far its threshold may
    be off.
    """

    estimator: Estimator
    criterion: SearchCriterion
    held: HeldSearchRate | None

    def measure(self, rate: SearchRate, errors: ContributionsOf | None = None) -> MeasuredRate:
        """Measure a rate of all searches; errors: what searches add, where it is no rate's own."""
        s = self.estimator.searches
        count = errors or rate.errors
        held = None if self.held is None or self.held.rate == rate else self.held
        of_all = MeasuredRate(
            self.estimator,
            rate,
            count(s, self.criterion),
            highest=rate.highest(self.criterion.size),
            held=held,
        )
        if held is None:
            return of_all
        moved = []
        for threshold in held.thresholds:
            end = None
            if threshold is not None:
                end = if_known(count, s, self.criterion._replace(threshold=threshold))
            moved.append(None if end is None else replace(of_all, errors=end, held=None))
        return replace(of_all, moved=tuple(moved))


def if_known(
    errors: ContributionsOf, searches: Searches, criterion: SearchCriterion
) -> SearchContributions | None:
    """Return what searches add to a rate; None where lists of candidates do not reach so far."""
    try:
        return errors(searches, criterion)
    except InputError:
        return None


@dataclass(frozen=True, eq=False)
class Estimator:
    """Computes the rates of searches at operating points, with their limits.

    Attributes
    ----------
    searches : Searches
        The searches.
    rank, gallery
        As in `identify`.
    level : float
        The confidence level.
    """

    searches: Searches
    rank: int | None
    gallery: str
    level: float

    @property
    def drawn(self) -> bool:
        """Whether limits are for other galleries."""
        return self.gallery == "drawn"

    def influence(self, errors: SearchContributions) -> Influence:
        """Return a rate with its variance and the influence of people on it."""
        n_people = self.searches.labels.size
        of_people = influence_of_people(errors, self.searches.enrolled, n_people, drawn=self.drawn)
        sessions = self.searches.sessions
        if sessions is None:
            return of_people
        return influence_in_sessions(errors, of_people, n_people, sessions.size)

    def criterion_at(self, at: OperatingPoint) -> SearchCriterion:
        """Return what makes a candidate at an operating point, with a threshold short enough to be
        typed.
        """
        threshold = at.rule.threshold_of_searches(self, at)
        rank = at.rule.rank(at, self.rank)
        if at.kind == "threshold":
            threshold *= self.searches._sign
        return SearchCriterion(threshold, rank, self.searches.n_enrolled, self.drawn)

    def point(self, at: OperatingPoint) -> SearchPoint:
        """Look at an operating point in the searches."""
        criterion = self.criterion_at(at)
        return SearchPoint(self, criterion, self.held(at, criterion))

    def threshold_that_holds(self, at: OperatingPoint) -> float:
        """Return the threshold of an operating point that holds a rate."""
        s = self.searches
        rate = RATES[at.rule.holds[0]]
        scores = self.scores_errors_first(rate)
        if not scores.size:
            kind = "mated" if rate.of_mated else "non-mated"
            raise InputError(f"{at} is held over {kind} searches, and there are none")
        after = float(scores[min(allowed_errors(at.value, scores.size), scores.size - 1)])
        if rate.of_mated:
            if after == -math.inf:
                raise InputError(
                    f"no threshold holds {at}: more searches miss their mate whatever its score"
                )
            return typed_threshold(self.next_score(after, -1.0), after, s.dtype.type)
        n_failed = int(s.failed[~s.is_mated].sum())
        others = ~s.is_mated & ~s.failed
        if after == -math.inf and n_failed and (s.best[others, 0] > -np.inf).all():
            raise InputError(
                f"no threshold holds {at}: {n_failed} of {scores.size} non-mated searches failed"
                " and return nobody, so that it is lower at every threshold"
            )
        above = typed_threshold(after, self.next_score(after, 1.0), s.dtype.type)
        if after == -math.inf or (above <= s.reach[others][s.best[others, 0] < above]).any():
            raise InputError(
                f"{at} is below the reach of the candidate lists: lists with lower scores are"
                " needed"
            )
        return above

    def next_score(self, score: float, sign: float) -> float | None:
        """Return the next score above (1.0), or below (-1.0), of mates, candidates kept, and ends
        of lists.
        """
        s = self.searches
        beyond, nearest_of = (np.greater, np.min) if sign > 0 else (np.less, np.max)
        nearest = sign * math.inf
        for values in (s.mate_score, s.best, s.reach):
            is_beyond = beyond(values, score)
            nearest = float(nearest_of(values, initial=nearest, where=is_beyond))
        return nearest if math.isfinite(nearest) else None

    def next_threshold_above(self, score: float) -> float:
        """Return the least threshold that is above a score, in the type of scores."""
        kind = self.searches.dtype.type
        return float(np.nextafter(kind(score), kind(math.inf)))

    def scores_errors_first(self, rate: SearchRate) -> Floats:
        """Return the scores from the error side inward, errors of a held rate first."""
        s = self.searches
        if not rate.of_mated:
            return np.sort(s.best[~s.is_mated, 0])[::-1]
        scores = np.where(
            (self.rank is None) | (s.rank <= (self.rank or 0)), s.mate_score, -np.inf
        )[s.is_mated]
        return np.sort(np.where(np.isnan(scores), -np.inf, scores))

    def held(self, at: OperatingPoint, criterion: SearchCriterion) -> HeldSearchRate | None:
        """Return how far the threshold of an operating point may be off."""
        if at.is_given:
            return None
        rate = RATES[at.rule.holds[0]]
        of_all = MeasuredRate(self, rate, rate.errors(self.searches, criterion))
        errors, influence = of_all.contributions, of_all.influence
        scores = self.scores_errors_first(rate)
        n = errors.value.size
        distribution = HeldRate.of(
            at.value if at.rule.takes_value else 0.0,
            n,
            influence.freedom,
            math.sqrt(influence.variance),
            of_all.effective() if errors.value.sum() < ENOUGH_PAIRS else None,
        )
        tail = (1 - self.level) / (2 if distribution.expected >= FEWEST_ERRORS else 4)

        def upper_limit(errors: int) -> float:
            there = criterion._replace(threshold=float(scores[errors]))
            moved = replace(of_all, errors=if_known(rate.errors, self.searches, there))
            return 1.0 if moved.errors is None else moved.limits(1 - 2 * tail)[1]

        fewest, most = (
            distribution.errors(tail, upper_limit) if rate.of_mated else distribution.errors(tail)
        )
        near = None if fewest == 0 else float(scores[fewest - 1])
        far = None if most >= n else float(scores[most])
        # thresholds are above the scores, and the strict one makes few errors
        if not rate.of_mated:
            far, near = (
                None if score is None else self.next_threshold_above(score) for score in (near, far)
            )
        return HeldSearchRate(rate, distribution, errors, influence, tail, (far, near))

    def evidence_of(self, row: IdentifiedRate) -> RateEvidence:
        """Return what the limits of a row are computed from."""
        group = None if row.group is None else self.searches.groups.index(row.group)
        criterion = self.criterion_at(row.at)._replace(size=row.gallery_size)
        rate = RATES[row.name]
        return (
            MeasuredRate(self, rate, rate.errors(self.searches, criterion)).within(group).evidence()
        )

    def rows(
        self, at: OperatingPoint, sizes: Sequence[int], rates: Sequence[SearchRate] = ()
    ) -> list[IdentifiedRate]:
        """Return all rows of an operating point; rates: of these alone."""
        point = self.point(at)
        return [
            row
            for size in sizes
            for rate in rates or RATES.values()
            if ("mated" if rate.of_mated else "non-mated") in at.rule.searches
            and rate.of_searches(self.searches).any()
            for row in self._rows_of(
                rate, at, point._replace(criterion=point.criterion._replace(size=size))
            )
        ]

    def _rows_of(
        self, rate: SearchRate, at: OperatingPoint, point: SearchPoint
    ) -> list[IdentifiedRate]:
        """Return the rows of a rate in galleries of a size, of all searches and of each group."""
        s, criterion = self.searches, point.criterion
        rows = []
        of_all, at_worst = point.measure(rate), rate.at_worst(s, criterion)
        errors = of_all.errors
        by_luck = errors is None or errors.depends_on_gallery or point.held is not None
        for group in (None, *range(len(s.groups))):
            measured = of_all.within(group)
            name = None if group is None else s.groups[group]
            row = measured.row(at, criterion, name=rate.name, group=name)
            if point.held is not None and of_all.held is None and group is None:
                row = replace(row, notes=(Note(Code.HELD), *row.notes))
            if at_worst is not None and row.n_searches:
                row = self.with_hidden_ties(row, measured, at_worst)
            failed = s.failed & rate.of_searches(s) & ((s.group == group) | (group is None))
            row = replace(row, n_failed=int(failed.sum()) or None)
            row = _note_luck(row) if by_luck and self.drawn else row
            rows.append(row if criterion.size == s.n_enrolled else replace(row, n_errors=None))
            if rate.complement:
                rows.append(mirrored(rows[-1], rate.complement, lambda value: 1 - value))
        return rows

    def with_hidden_ties(
        self, row: IdentifiedRate, measured: MeasuredRate, at_worst: SearchContributions
    ) -> IdentifiedRate:
        """Let the upper limit of a rate allow for people with the mate's score who are missing from
        lists.
        """
        worst = replace(measured, errors=at_worst.within(measured.group))
        n = int((worst.contributions.value > measured.contributions.value).sum())
        if not n:
            return row
        highest = per_cent(worst.influence.rate)
        note = Note.of(Code.HIDDEN_TIES, n=n, of=row.n_searches, highest=highest)
        high = max(row.high, worst.limits(self.level)[1])
        return replace(row, high=high, notes=(*row.notes, note))

    def counts(self, rate: SearchRate, at: OperatingPoint) -> FailureCounts:
        """Count the searches of each person, and the errors among them, in this very gallery."""
        errors = rate.errors(self.searches, self.criterion_at(at)._replace(drawn=False))
        assert errors is not None
        groups = np.array(self.searches.groups, object)
        group = groups[errors.group] if groups.size else None
        subject = self.searches.labels[errors.subject]
        name: Any = rate.name  # "fpir" or "fnir"
        sessions = self.searches.sessions
        shared = None if sessions is None else Coded(sessions, errors.session)
        return FailureCounts.from_decisions(
            errors.value.astype(int), subject, group, rate=name, session=shared
        )

    def pvalue_of_equal_rates(self, rate: SearchRate, at: OperatingPoint) -> float:
        """Return the p-value of equal rates of groups; NaN for other galleries, and where too
        little is known.
        """
        if self.drawn or rate.name not in get_args(IdentificationRate):
            return math.nan
        counts = self.counts(rate, at)
        if not 0 < counts.rate < 1 or (counts.n_subjects > 1).sum() < 2:
            return math.nan
        how = {"n_resamples": _RESAMPLES, "follow_up": False, "incomplete_groups": "drop", "rng": 0}
        return fnmr_test(counts, **how).pvalue  # type: ignore[arg-type]

    def measure_rows(self, at: OperatingPoint, measures: Sequence[str]) -> list[IdentifiedRate]:
        """Return measures of fairness; intervals are what groups' intervals allow, which hold all
        at once.
        """
        s = self.searches
        shared = 1 - (1 - self.level) / len(s.groups)  # by Bonferroni's inequality
        rows = replace(self, level=shared).rows(at, [s.n_enrolled])
        measured: list[IdentifiedRate] = []
        for rate in map(RATES.__getitem__, shares()):
            of_groups = [row for row in rows if row.name == rate.name and row.group is not None]
            pvalue = self.pvalue_of_equal_rates(rate, at) if of_groups else math.nan
            measured += [
                self._measure(MEASURES[name], of_groups, pvalue) for name in measures if of_groups
            ]
        return measured

    def _measure(
        self, measure: Estimand, of_groups: Sequence[IdentifiedRate], pvalue: float
    ) -> IdentifiedRate:
        """Return a measure of the rates of groups."""
        estimates, *ends = (
            np.array([getattr(row, part) for row in of_groups])
            for part in ("estimate", "low", "high")
        )
        low, high = range_within(measure, np.array(ends))
        notes: tuple[Note, ...] = (Note(Code.MEASURE_OF_GALLERY),) if self.drawn else ()
        if any(has_code(row, Code.TOO_FEW_SESSIONS) for row in of_groups):
            notes = (Note(Code.TOO_FEW_SESSIONS),)
        elif not low <= high:
            notes = (Note.of(Code.MANY_GROUPS, most=_MOST_GROUPS),)
        few = [note for row in of_groups for note in row.notes if note.code is Code.FEW_SESSIONS]
        notes += tuple(few[:1])
        return replace(
            of_groups[0],
            name=f"{measure.name}({of_groups[0].name})",
            group=None,
            estimate=float(measure.function(estimates)),
            low=low,
            high=high,
            pvalue=pvalue,
            notes=notes,
            n_searches=sum(row.n_searches for row in of_groups),
            n_errors=None,
            n_subjects=None,
        )

    def matrix(self, at: OperatingPoint, group_of: Mapping[Any, str]) -> list[IdentifiedRate]:
        """Return how often people of each group are wrongly returned, of all probes and of each
        group's.
        """
        s = self.searches
        rate = RATES["fpir"]
        if s.is_mated.all() or "non-mated" not in at.rule.searches:
            return []
        labels = [group_of.get(label) for label in s.labels.tolist()]
        unknown = [s.labels[k] for k in s.enrolled.tolist() if labels[k] is None]
        if unknown:
            raise InputError(
                f"returned_group has no group of {len(unknown)} enrolled people, such as"
                f" {unknown[0]!r}"
            )
        whose = np.array(labels, object)
        rows: list[IdentifiedRate] = []
        point = self.point(at)
        for name in sorted({str(labels[k]) for k in s.enrolled.tolist()}):
            of_all = point.measure(
                rate, partial(first_candidate_of_group, is_of_group=whose == name)
            )
            for group in (None, *range(len(s.groups))):
                probe_group = None if group is None else s.groups[group]
                row = of_all.within(group).row(
                    at, point.criterion, name="fpir_matrix", group=name, probe_group=probe_group
                )
                rows.append(_note_luck(row) if self.drawn else row)
        return rows


def shares() -> list[str]:
    """Return the names of the rates that are shares of searches: requirements and measures are
    about these, and systems are compared by them.
    """
    return [rate.name for rate in RATES.values() if rate.is_share]


def _note_luck(row: IdentifiedRate) -> IdentifiedRate:
    """Say of a rate for other galleries that few people may matter, unless its notes say so."""
    if has_code(row, Code.HELD, Code.FEW_ENROLLED):
        return row
    return replace(row, notes=(*row.notes, Note(Code.CHANCE_OF_GALLERY)))


def range_within(measure: Estimand, ends: Floats) -> Ends:
    """Return the least and the greatest value of a measure of rates that lie within intervals;
    ends: (2, groups).

    The measure is quasi-convex in rates or in their logarithms, so it is greatest in a corner, and
    least where rates are as near to each other as intervals allow. NaN where an end is, and of too
    many groups.
    """
    low, high = ends
    if low.size > _MOST_GROUPS or np.isnan(ends).any():
        return math.nan, math.nan
    is_high = np.arange(2**low.size)[:, None] >> np.arange(low.size) & 1
    levels = np.unique(np.concatenate([ends.ravel(), np.linspace(ends.min(), ends.max(), 200)]))
    alike = np.clip(levels[:, None], low, high)
    values = measure.function(np.concatenate([np.where(is_high, high, low), alike]))
    defined = values[~np.isnan(values)]
    return (float(defined.min()), float(defined.max())) if defined.size else (math.nan, math.nan)


def points_of(at: OperatingPoint | Sequence[OperatingPoint]) -> list[OperatingPoint]:
    """Return operating points as a list, and refuse an empty one."""
    points = list(at) if isinstance(at, Sequence) else [at]
    if not points:
        raise InputError("at is empty: name an operating point")
    return points


def estimate_rows(
    estimator: Estimator,
    points: Sequence[OperatingPoint],
    sizes: Sequence[int],
    measures: Sequence[str] = (),
    returned_group: Mapping[Any, str] | None = None,
) -> tuple[IdentifiedRate, ...]:
    """Return the rows of all operating points: rates, measures and the FPIR matrix."""
    rows: list[IdentifiedRate] = []
    for at in points:
        rows += estimator.rows(at, sizes) + (
            estimator.measure_rows(at, measures) if measures else []
        )
        rows += [] if returned_group is None else estimator.matrix(at, returned_group)
    if not rows:
        raise InputError("there are no searches of the kind that the operating points need")
    return tuple(rows)
