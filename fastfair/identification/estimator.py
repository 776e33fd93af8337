"""`Estimator`: the rates of searches at operating points, with their limits.

A threshold that holds a rate is an estimate. Limits of the other rates combine the uncertainty at a
given threshold with that of the threshold, by the method of Zou and Donner (MOVER) with the
correlation of influences. Where the rate held rests on few errors, both intervals must hold, each
at half of the error probability. The limits at a given threshold are those of
`uncertainty.rate_limits`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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

from .errors import (
    RATES,
    Influence,
    SearchContributions,
    SearchCriterion,
    SearchRate,
    false_positives,
    first_candidate_of_group,
    influence,
    influence_in_sessions,
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

    def moved(
        self,
        errors: Callable[[Searches, SearchCriterion], SearchContributions | None],
        searches: Searches,
        criterion: SearchCriterion,
    ) -> list[SearchContributions | None]:
        """Return the errors of a rate at the strictest and the laxest threshold; None beyond what
        is known.
        """
        ends = [
            None if threshold is None else criterion._replace(threshold=threshold)
            for threshold in self.thresholds
        ]
        return [None if end is None else if_known(errors, searches, end) for end in ends]


def if_known(
    errors: Callable[[Searches, SearchCriterion], SearchContributions | None],
    searches: Searches,
    criterion: SearchCriterion,
) -> SearchContributions | None:
    """Return what searches add to a rate; None where lists of candidates do not reach so far."""
    try:
        return errors(searches, criterion)
    except InputError:
        return None


class _RateOfGroup(NamedTuple):
    """A rate of all searches or of a group's, and the highest value that it can have."""

    rate: SearchRate
    group: int | None
    highest: float = 1.0


class Estimator:
    """Computes the rates of searches at operating points, with their limits."""

    def __init__(
        self, searches: Searches, rank: int | None, gallery: str, confidence_level: float
    ) -> None:
        self.searches = searches
        self.rank = rank
        self.level = confidence_level
        self.drawn = gallery == "drawn"

    def of_group(self, code: int) -> Estimator:
        """Return what estimates rates of one group's searches alone."""
        alone = self.searches._of_group(code)
        return Estimator(alone, self.rank, "drawn" if self.drawn else "fixed", self.level)

    def influence(self, errors: SearchContributions) -> Influence:
        """Return a rate with its variance and the influence of people on it."""
        n_people = self.searches.labels.size
        of_people = influence(errors, self.searches.enrolled, n_people, drawn=self.drawn)
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
        errors = rate.errors(self.searches, criterion)
        assert errors is not None
        influence = self.influence(errors)
        scores = self.scores_errors_first(rate)
        n = errors.value.size
        target = _RateOfGroup(rate, None)
        is_few = errors.value.sum() < ENOUGH_PAIRS
        value = at.value if at.rule.takes_value else 0.0
        distribution = HeldRate.of(
            value,
            n,
            influence.freedom,
            math.sqrt(influence.variance),
            self.effective(errors, target) if is_few else None,
        )
        tail = (1 - self.level) / (2 if distribution.expected >= FEWEST_ERRORS else 4)

        def upper_limit(errors: int) -> float:
            there = if_known(
                rate.errors, self.searches, criterion._replace(threshold=float(scores[errors]))
            )
            return (
                1.0
                if there is None
                else self.limits(there, self.influence(there), target, 1 - 2 * tail)[1]
            )

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

    def effective(self, errors: SearchContributions, target: _RateOfGroup) -> float:
        """Return the effective sample size of a rate with few errors, by the design effect of a
        laxer criterion, at which five people have errors.

        Where fewer than five people search, each person counts as one attempt as far as attempts differ in number.
        """
        m = errors.attempts[0]
        n = errors.value.size
        order = np.argsort(errors.margin, kind="stable")
        _, first = np.unique(errors.subject[order], return_index=True)
        if first.size >= ENOUGH_PAIRS:
            cut = float(errors.margin[order[np.sort(first)[ENOUGH_PAIRS - 1]]])
            nearest = errors.of_probes_alone((errors.margin <= cut).astype(np.float64))
            if not target.rate.of_mated and self.drawn and not (self.searches.reach >= -cut).any():
                nearest = false_positives(
                    self.searches, SearchCriterion(-cut, None, self.searches.n_enrolled)
                ).within(target.group)
            x = nearest.value.sum()
            if x < n:
                return effective_size(n, x, self.influence(nearest).variance * n**2)
        return float(m.sum() ** 2) / dot(m, m)

    def limits(
        self, errors: SearchContributions, influence: Influence, target: _RateOfGroup, level: float
    ) -> Ends:
        """Return the limits of a rate at a given threshold."""
        if errors.attempts[0].size < 2:
            return 0.0, target.highest
        if not target.rate.is_share:
            return self._limits_of_mean(errors, influence, target, (1 - level) / 2)
        low, high = self.evidence(errors, influence, target).interval(level)
        return float(low), float(high)

    def _limits_of_mean(
        self, errors: SearchContributions, influence: Influence, target: _RateOfGroup, tail: float
    ) -> Ends:
        """Return the limits of a mean number; some candidates leave no less room than none
        would.
        """
        is_few = influence.rate * errors.value.size < ENOUGH_PAIRS
        of_none = (
            min(-math.log(tail) / self.effective(errors, target), target.highest) if is_few else 0.0
        )
        if influence.rate == 0:
            return 0.0, of_none
        reach = float(stdtrit(influence.freedom, 1 - tail)) * min(
            math.sqrt(influence.variance) / influence.rate, 1.0
        )
        high = influence.rate * math.exp(min(reach, math.log(target.highest / influence.rate)))
        return influence.rate * math.exp(-reach), max(high, of_none)

    def evidence(
        self, errors: SearchContributions, influence: Influence, target: _RateOfGroup
    ) -> RateEvidence:
        """Return what the limits of a rate at a given threshold are computed from."""
        n = errors.value.size
        m, e = errors.attempts
        rate = influence.rate
        freedom = float(m.size - 1) if target.rate.of_mated else influence.freedom
        shared = influence.in_sessions
        if shared is not None:
            freedom = float(two_way_freedom(freedom, shared.n))
        if rate in (0, 1):
            return RateEvidence(rate, math.nan, freedom, max(1.0, self.effective(errors, target)))
        effective = self.effective(errors, target) if rate * n < ENOUGH_PAIRS else math.nan
        sums = AttemptSums(n, e.sum(), dot(m, m), dot(e, m), dot(e, e))
        raised = raised_rate(rate, n, typical_subject(sums, sums))
        if shared is not None:
            added = (influence.variance - shared.people) * n**2
            by_session = one_more_session(added, n, shared.n, target.rate.of_mated)
            raised = raised_by_both(raised, by_session)
        return RateEvidence(rate, math.sqrt(influence.variance), freedom, effective, raised)

    def evidence_of(self, row: IdentifiedRate) -> RateEvidence:
        """Return what the limits of a row are computed from."""
        group = None if row.group is None else self.searches.groups.index(row.group)
        target = _RateOfGroup(RATES[row.name], group)
        errors = target.rate.errors(
            self.searches, self.criterion_at(row.at)._replace(size=row.gallery_size)
        )
        assert errors is not None
        kept = errors.within(group)
        return self.evidence(kept, self.influence(kept), target)

    def rows(
        self, at: OperatingPoint, sizes: Sequence[int], rates: Sequence[SearchRate] = ()
    ) -> list[IdentifiedRate]:
        """Return all rows of an operating point; rates: of these alone."""
        criterion = self.criterion_at(at)
        held = self.held(at, criterion)
        return [
            row
            for size in sizes
            for rate in rates or RATES.values()
            if ("mated" if rate.of_mated else "non-mated") in at.rule.searches
            and rate.of_searches(self.searches).any()
            for row in self._rows_of(rate, at, criterion._replace(size=size), held)
        ]

    def _rows_of(
        self,
        rate: SearchRate,
        at: OperatingPoint,
        criterion: SearchCriterion,
        held: HeldSearchRate | None,
    ) -> list[IdentifiedRate]:
        """Return the rows of a rate in galleries of a size, of all searches and of each group."""
        s = self.searches
        rows = []
        errors, at_worst = rate.errors(s, criterion), rate.at_worst(s, criterion)
        moved = held.moved(rate.errors, s, criterion) if held and rate != held.rate else ()
        by_luck = self.drawn and (errors is None or errors.depends_on_gallery or held is not None)
        about = {
            "name": rate.name,
            "at": at,
            "threshold": self.searches._sign * criterion.threshold,
            "gallery_size": criterion.size,
        }
        for group in (None, *range(len(s.groups))):
            kept = errors and errors.within(group)
            target = _RateOfGroup(rate, group, rate.highest(criterion.size))
            about |= {"group": None if group is None else s.groups[group]}
            row = self.row(kept, [end and end.within(group) for end in moved], held, target, about)
            if at_worst is not None and kept is not None and kept.value.size:
                row = self.with_hidden_ties(row, kept, at_worst.within(group), target)
            failed = s.failed & rate.of_searches(s) & ((s.group == group) | (group is None))
            row = replace(
                row,
                n_failed=int(failed.sum()) or None,
                notes=_by_luck(row) if by_luck else row.notes,
            )
            rows.append(row if criterion.size == s.n_enrolled else replace(row, n_errors=None))
            if rate.complement:
                rows.append(mirrored(rows[-1], rate.complement, lambda value: 1 - value))
        return rows

    def with_hidden_ties(
        self,
        row: IdentifiedRate,
        errors: SearchContributions,
        at_worst: SearchContributions,
        target: _RateOfGroup,
    ) -> IdentifiedRate:
        """Let the upper limit of a rate allow for people with the mate's score who are missing from
        lists.
        """
        n = int((at_worst.value > errors.value).sum())
        if not n:
            return row
        highest = self.influence(at_worst)
        note = Note.of(Code.HIDDEN_TIES, n=n, of=errors.value.size, highest=per_cent(highest.rate))
        high = max(row.high, self.limits(at_worst, highest, target, self.level)[1])
        return replace(row, high=high, notes=(*row.notes, note))

    def row(
        self,
        errors: SearchContributions | None,
        moved: Sequence[SearchContributions | None],
        held: HeldSearchRate | None,
        target: _RateOfGroup,
        about: Mapping[str, Any],
    ) -> IdentifiedRate:
        """Return the row of a rate, given what searches add to it at the thresholds that may be the
        population's.
        """
        if errors is None or not errors.value.size:
            note = Note(Code.SHORT_LISTS if errors is None else Code.NO_SEARCHES)
            n = 0 if errors is not None else int(target.rate.of_searches(self.searches).sum())
            return IdentifiedRate(estimate=math.nan, n_searches=n, notes=(note,), **about)
        influence = self.influence(errors)
        notes: tuple[Note, ...] = ()
        low, high = self.limits(errors, influence, target, self.level)
        if held is not None and target.rate == held.rate:
            notes = (Note(Code.HELD),) if target.group is None else ()
        elif held is not None:
            (low, high), notes = self.with_threshold((low, high), influence, moved, held, target)
        if influence.of_enrolled or (
            held is not None and held.influence.of_enrolled and target.rate != held.rate
        ):
            notes = (*notes, Note(Code.FEW_ENROLLED))
        shared = influence.in_sessions
        notes = (*notes, *_notes_of_sessions(influence, target, errors.value.size))
        if shared is not None and shared.n < FEWEST_SESSIONS:
            low = high = math.nan
        return IdentifiedRate(
            estimate=influence.rate,
            low=low if math.isnan(low) else min(low, influence.rate),
            high=high if math.isnan(high) else max(high, influence.rate),
            n_searches=errors.value.size,
            n_errors=round(errors.value.sum()) if target.rate.is_share else None,
            n_subjects=errors.attempts[0].size,
            notes=notes,
            **about,
        )

    def with_threshold(
        self,
        ends: Ends,
        influence: Influence,
        moved: Sequence[SearchContributions | None],
        held: HeldSearchRate,
        target: _RateOfGroup,
    ) -> tuple[Ends, tuple[Note, ...]]:
        """Widen limits at a given threshold for the threshold being an estimate."""
        notes = (
            (Note(Code.THRESHOLD_BEYOND_SCORES),) if any(errors is None for errors in moved) else ()
        )
        # A strict threshold beyond all scores makes no candidates, and a lax one makes all.
        beyond = (1.0, 0.0) if target.rate.of_mated else (0.0, target.highest)
        others = [None if errors is None else self.influence(errors) for errors in moved]
        if held.distribution.expected < FEWEST_ERRORS:
            half = (1 + self.level) / 2
            limits = [
                (
                    (end, end)
                    if errors is None or of_one is None
                    else self.limits(errors, of_one, target, half)
                )
                for errors, of_one, end in zip(moved, others, beyond, strict=True)
            ]
            return (min(low for low, _ in limits), max(high for _, high in limits)), notes
        rates = [
            end if other is None else other.rate for other, end in zip(others, beyond, strict=True)
        ]
        sign = -1.0 if target.rate.of_mated == held.rate.of_mated else 1.0
        mine, of_held = influence.of_people, held.influence.of_people
        scale = math.sqrt(dot(mine, mine) * dot(of_held, of_held))
        correlation = sign * dot(mine, of_held) / scale if scale else 0.0
        shift = np.array([0.0, min(rates) - influence.rate, max(rates) - influence.rate])
        joined = intervals.sum_interval(
            np.array([influence.rate, *ends]), shift, np.array(correlation)
        )
        # Never narrower than either part alone, so that an interval of a higher level is never
        # narrower, too.
        low = min(float(joined[0]), ends[0], min(rates))
        high = max(float(joined[1]), ends[1], max(rates))
        return (max(0.0, low), min(target.highest, high)), notes

    def influence_with_threshold(
        self,
        errors: SearchContributions,
        moved: Sequence[SearchContributions | None],
        held: HeldSearchRate | None,
        rate: SearchRate,
    ) -> Floats:
        """Return what people add to a rate, and by way of the threshold that holds another rate."""
        mine = self.influence(errors).of_people
        rates = [
            float(errors_of_end.value.mean())
            for errors_of_end in moved
            if errors_of_end is not None
        ]
        if held is None or len(rates) < 2 or not held.influence.variance:
            return mine
        reach = abs(rates[0] - rates[1]) / 2 / float(stdtrit(held.influence.freedom, 1 - held.tail))
        sign = -1.0 if rate.of_mated == held.rate.of_mated else 1.0
        of_held = held.influence.of_people
        length = math.sqrt(dot(of_held, of_held))
        return mine + (sign * reach / length) * of_held if length else mine

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

    def measured(self, at: OperatingPoint, measures: Sequence[str]) -> list[IdentifiedRate]:
        """Return measures of fairness; intervals are what groups' intervals allow, which hold all
        at once.
        """
        s = self.searches
        shared = 1 - (1 - self.level) / len(s.groups)  # by Bonferroni's inequality
        rows = Estimator(s, self.rank, "drawn" if self.drawn else "fixed", shared).rows(
            at, [s.n_enrolled]
        )
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
        criterion = self.criterion_at(at)
        whose = np.array(labels, object)
        rows: list[IdentifiedRate] = []
        held = self.held(at, criterion)
        about = {
            "name": "fpir_matrix",
            "at": at,
            "threshold": self.searches._sign * criterion.threshold,
            "gallery_size": s.n_enrolled,
        }
        for name in sorted({str(labels[k]) for k in s.enrolled.tolist()}):
            of_group = partial(first_candidate_of_group, is_of_group=whose == name)
            errors = of_group(s, criterion)
            moved = held.moved(of_group, s, criterion) if held and held.rate != rate else ()
            for group in (None, *range(len(s.groups))):
                probe_group = None if group is None else s.groups[group]
                kept = [
                    errors_of_end and errors_of_end.within(group)
                    for errors_of_end in (errors, *moved)
                ]
                about |= {"group": name, "probe_group": probe_group}
                row = self.row(kept[0], kept[1:], held, _RateOfGroup(rate, group), about)
                row = replace(
                    row, notes=tuple(note for note in row.notes if note.code is not Code.HELD)
                )
                rows.append(replace(row, notes=_by_luck(row)) if self.drawn else row)
        return rows


def shares() -> list[str]:
    """Return the names of the rates that are shares of searches: requirements and measures are
    about these, and systems are compared by them.
    """
    return [rate.name for rate in RATES.values() if rate.is_share]


def _notes_of_sessions(influence: Influence, target: _RateOfGroup, n: int) -> list[Note]:
    """Say how much sessions add to the variance of a rate of all n searches, and where sessions are
    few.
    """
    shared = influence.in_sessions
    if shared is None:
        return []
    if shared.n < FEWEST_SESSIONS:
        return [Note(Code.TOO_FEW_SESSIONS)]
    notes = [note_of_few(shared.n)] if shared.n < ENOUGH_SESSIONS else []
    binomial = influence.rate * (1 - influence.rate) / n
    if target.group is None and target.rate.is_share and binomial and shared.people:
        effect = Note.of(
            Code.EFFECT_OF_SESSIONS,
            times=math.sqrt(influence.variance / shared.people),
            people=shared.people / binomial,
            sessions=shared.sessions / binomial,
            n=shared.n,
        )
        return [effect, *notes]
    return notes


def _by_luck(row: IdentifiedRate) -> tuple[Note, ...]:
    """Add to the notes of a rate for other galleries that few people may matter, unless they say
    so.
    """
    return (
        row.notes
        if has_code(row, Code.HELD, Code.FEW_ENROLLED)
        else (*row.notes, Note(Code.CHANCE_OF_GALLERY))
    )


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


def identified(
    estimator: Estimator,
    points: Sequence[OperatingPoint],
    sizes: Sequence[int],
    measures: Sequence[str] = (),
    returned_group: Mapping[Any, str] | None = None,
) -> tuple[IdentifiedRate, ...]:
    """Return the rows of all operating points: rates, measures and the FPIR matrix."""
    rows: list[IdentifiedRate] = []
    for at in points:
        rows += estimator.rows(at, sizes) + (estimator.measured(at, measures) if measures else [])
        rows += [] if returned_group is None else estimator.matrix(at, returned_group)
    if not rows:
        raise InputError("there are no searches of the kind that the operating points need")
    return tuple(rows)
