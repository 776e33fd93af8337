"""The one rule of verdicts: limits of estimates, held against the bounds of requirements.

A requirement is met where the limit that was judged keeps its bound and nothing puts that limit in
doubt, not met where the opposite limit is beyond the bound, and else undecided. All rows of a
requirement are met together where all their limits of the level asked for keep the bound: a system
that violates one row passes no more often than that row alone would (an intersection-union test).
Otherwise limits have the levels of Holm's procedure, as have the opposite limits of all rows of all
requirements. So with the probability of the level no row is called met although it is not, and none
not met although it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from fastfair import intervals
from fastfair._lib.plots import GREY, STANDS_OUT, USUAL, Bar
from fastfair._lib.text import number_with_interval, per_cent, written_level
from fastfair.data.transactions import FRR_AND_FAR
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.evaluation.evaluate import repeats_subjects
from fastfair.evaluation.failure_counts import ATTEMPTS
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import COMPLEMENTS, difference_of, measure_of
from fastfair.results.result import Printed
from fastfair.uncertainty.interval_maker import ROOM, room_for, two_sided_level
from fastfair.uncertainty.notes import Code, Flag, Note, has_flag, in_words
from fastfair.uncertainty.quantities import (
    Estimate,
    Key,
    Quantity,
    ends_of,
    is_in_per_cent,
    mirrored,
)
from fastfair.uncertainty.quantities import in_words as with_interval

from .requirements import Requirement

MET, NOT_MET, UNDECIDED = "met", "not met", "undecided"
SUPPORTED, CONTRADICTED = "supported", "contradicted"  # what claims are
COLORS = {
    SUPPORTED: USUAL,
    MET: USUAL,
    UNDECIDED: GREY,
    CONTRADICTED: STANDS_OUT,
    NOT_MET: STANDS_OUT,
}
_BREAKS = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}  # how what does not keep a bound lies to it
_LACKING = (Note(Code.GROUPS_LACK_COMPARISONS),)
_MIRRORED = ("limit", "compared", "opposite_limit")
_MOST_DIGITS = 17  # that tell two floats apart


@dataclass(frozen=True, kw_only=True)
class JudgedEstimate(Estimate):
    """An estimate with its interval, the one-sided limits that were held against a bound, and the
    verdict.

    Attributes
    ----------
    limit : float
        The one-sided limit that was judged: the upper one for a bound from above, else the lower
        one; NaN where there is none.
    limit_level : float
        Its level: that asked for, or the one of Holm's procedure at the step that decided.
    room : float
        How many times the limit the bound has to allow; 1 where the limit itself decides.
    compared : float
        What was held against the bound: the limit, with the room that it needs.
    opposite_limit : float
        The one-sided limit on the other side; beyond the bound, it decides, too.
    opposite_level : float
        Its level.
    verdict : str
        What the limits show.
    doubt : str
        Why the limit does not show that the bound is kept, whatever it is; empty where nothing puts
        it in doubt.
    reason : str
        The comparison of the limit with the bound that decided, in words.
    """

    limit: float
    limit_level: float
    room: float
    compared: float
    opposite_limit: float
    opposite_level: float
    verdict: str
    doubt: str
    reason: str

    @property
    def is_refuted(self) -> bool:
        """Whether the opposite limit is beyond the bound."""
        return self.verdict in (NOT_MET, CONTRADICTED)

    @property
    def decided_by(self) -> float:
        """The number that was held against the bound and decided: `compared`, or `opposite_limit`
        beyond the bound.
        """
        return self.opposite_limit if self.is_refuted else self.compared

    @property
    def decided_at(self) -> float:
        """The level of the limit that decided."""
        return self.opposite_level if self.is_refuted else self.limit_level

    @property
    def extra_room(self) -> float | None:
        """The room that is part of what decided; None where the limit itself did."""
        return None if self.room == 1 or self.is_refuted else self.room


def verdict_bars(
    rows: Sequence[JudgedEstimate],
    scaled: Callable[[JudgedEstimate, float], float] = lambda _, value: value,
) -> list[Bar]:
    """Return bars from estimates to what decided, in the colours of their verdicts.

    scaled: where a value of a row is drawn; not drawn where it is not finite.
    """
    places = [(row.verdict, scaled(row, row.estimate), scaled(row, row.decided_by)) for row in rows]
    return [
        Bar(y, estimate, color=COLORS[verdict], label=verdict, limit=limit, width=1.4)
        for y, (verdict, estimate, limit) in enumerate(places)
        if math.isfinite(estimate) and math.isfinite(limit)
    ]


def level_of_limits(confidence_level: float) -> float:
    """Check the level of limits to one side."""
    two_sided_level(intervals.level(confidence_level))
    return confidence_level


def compared_in_words(name: str, at: OperatingPoint | None) -> str:
    """Say what can be an error of a rate: comparisons, transactions, or what was counted."""
    name = COMPLEMENTS.get(name, name)
    if name in FRR_AND_FAR.values():
        return "transactions"
    is_counted = name in ATTEMPTS and (at is None or name not in ERROR_RATES)
    return f"{ATTEMPTS[name]}s" if is_counted else "comparisons"


def headed_by(words: set[str], tables: Sequence[Printed]) -> list[Printed]:
    """Head numbers of comparisons by what was compared, where that is the same in all rows."""
    heading = next(iter(words)) if len(words) == 1 else "comparisons"
    return [
        (title, [heading if name == "comparisons" else name for name in headings], rows)
        for title, headings, rows in tables
    ]


def written_value(name: str, value: float) -> str:
    """Write a value of a quantity: rates in per cent, all else as a number."""
    return per_cent(value) if is_in_per_cent(name) else number_with_interval(value)


def _written_apart(name: str, value: float, bound: float) -> tuple[str, str]:
    """Write a value and a bound with so many digits that they differ in writing if they differ at
    all.
    """
    texts = written_value(name, value), written_value(name, bound)
    times, sign = (100, " %") if is_in_per_cent(name) else (1, "")
    for digits in range(4, _MOST_DIGITS + 1):
        if texts[0] != texts[1] or value == bound:
            break
        texts = f"{times * value:.{digits}g}{sign}", f"{times * bound:.{digits}g}{sign}"
    return texts


def room_of(row: Any) -> tuple[float, str]:
    """Return how many times the limit of a row a bound has to allow, and why."""
    if has_flag(row, Flag.LEAVES_ROOM):
        return ROOM, "as few people may cause most errors elsewhere"
    return room_for(row), "for few false matches"


def doubts_about(row: Any) -> tuple[Note, ...]:
    """Return the notes for which the limit of a row shows nothing, whatever it is.

    row: a `Quantity`, or another estimate with notes.
    """
    blocking = (
        Flag.NARROW,
        Flag.BELOW_RESOLUTION,
        *(() if row.name == "fmr" else (Flag.UNKNOWN_CONCENTRATION,)),
    )
    return tuple(note for note in row.notes if note.flag in blocking)


def by_holm(
    hypotheses: Sequence[Any],
    is_shown: Callable[[Any, float], bool],
    confidence_level: float,
    *,
    together: bool = False,
) -> list[tuple[bool, float]]:
    """Judge hypotheses by Holm's procedure.

    Parameters
    ----------
    hypotheses : sequence
        The hypotheses.
    is_shown : callable
        Whether the data show one of them at a level.
    confidence_level : float
        How often none is to be shown that is wrong.
    together : bool
        Whether the level needs no adjustment where it shows them all, as nothing follows from some
        of them.

    Returns
    -------
    list of pair of bool and float
        Of each, whether it is shown, and the level at which it was judged last.
    """
    if together and all(is_shown(rule, confidence_level) for rule in hypotheses):
        return [(True, confidence_level)] * len(hypotheses)
    judged = [(False, confidence_level)] * len(hypotheses)
    while True:
        left = [k for k, (shown, _) in enumerate(judged) if not shown]
        level = 1 - (1 - confidence_level) / max(len(left), 1)
        for k in left:
            judged[k] = is_shown(hypotheses[k], level), level
        if not any(judged[k][0] for k in left):
            return judged


@dataclass(frozen=True)
class Estimates:
    """What requirements of one group are about: `Quantity`, or other estimates with notes.

    Attributes
    ----------
    row : callable
        Returns the estimate that a requirement is about, with a two-sided interval of a level, or
        for None with the one to show.
    doubts : tuple of Note
        What puts all limits in doubt.
    needed : callable
        Says how many subjects would do where the upper limit of an estimate shown, of a level, is
        too high.
    level_of : callable
        Returns the level of limits, given that of verdicts: another one where data are looked at
        several times, as in `looks`.
    when : str
        Which look it is, in words; empty for a single one.
    """

    row: Callable[[Requirement, float | None], Any]
    doubts: tuple[Note, ...] = ()
    needed: Callable[[Requirement, Any, float], str] = lambda *_: ""
    level_of: Callable[[float], float] = lambda level: level
    when: str = ""


class _Held:
    """A row with limits of some level, held against the bound of its requirement; doubts: what puts
    all in doubt.
    """

    def __init__(self, rule: Requirement, row: Any, doubts: tuple[Note, ...]) -> None:
        low, high = ends_of(row)
        self.rule = rule
        self.row = row
        self.doubts = doubts + doubts_about(row)
        self.limit, self.opposite = (high, low) if rule.is_upper else (low, high)
        # else it decides by itself
        self.room, self.why = room_of(row) if rule.allows(self.limit) else (1.0, "")
        self.compared = rule.with_room(self.limit, self.room)

    @property
    def is_met(self) -> bool:
        """Whether the limit, with the room that it needs, shows that the bound is kept."""
        return self.rule.allows(self.compared) and not self.doubts

    @property
    def is_refuted(self) -> bool:
        """Whether the opposite limit shows that the bound is not kept."""
        # Where errors are few, intervals of measures may lie beyond the value of a fair system.
        measure = measure_of(difference_of(self.rule.name) or self.rule.name)
        is_known = measure is None or not has_flag(self.row, Flag.NARROW)
        return is_known and not math.isnan(self.opposite) and not self.rule.allows(self.opposite)

    def limit_in_words(self, at: str) -> str:
        """Hold the limit against the bound, and say why it decides nothing where it does not keep
        it; at: its level.
        """
        if math.isnan(self.limit):
            return f"without a limit: {self.row.note or 'it is not computable'}"
        rule = self.rule.as_written
        limit, compared = map(self._as_written, (self.limit, self.compared))
        note = f" ({self.row.note})" if self.row.note else ""
        value, bound = _written_apart(rule.name, compared, rule.bound)
        if self.room != 1:
            value = (
                f"{written_value(rule.name, limit)}, {rule.room_in_words(self.room, limit)}"
                f" {self.why} = {value}"
            )
        is_kept = self.rule.allows(self.compared)
        said = (
            f"{rule.sides[0]} limit {value} {rule.relation if is_kept else _BREAKS[rule.relation]}"
            f" {bound}, {at}"
        )
        if not is_kept:
            return f"{said}: too few data to decide{note}"
        return (
            f"{said}, but this limit is in doubt: {in_words(self.doubts)}" if self.doubts else said
        )

    def opposite_in_words(self, at: str) -> str:
        """Say that the opposite limit is beyond the bound; at: its level."""
        rule = self.rule.as_written
        value, bound = _written_apart(rule.name, self._as_written(self.opposite), rule.bound)
        return f"{rule.sides[1]} limit {value} {_BREAKS[rule.relation]} {bound}, {at}"

    def _as_written(self, value: float) -> float:
        return self.rule.mirror(value) if self.rule.of_success else value


def judged(
    families: Sequence[Sequence[Requirement]], estimates: Estimates, confidence_level: float
) -> Iterator[tuple[Requirement, Any, dict[str, Any]]]:
    """Judge requirements by limits of a level to one side.

    families: the requirements, each as those of the groups that it is about. Yields each of one
    group with its estimate and with what a `JudgedEstimate` has beside that. Steps of Holm's
    procedure have levels for all looks together, and each level is turned into that of this look:
    so the procedure keeps its promise at every look.
    """
    level_of = cache(estimates.level_of)
    in_words_at = partial(_in_words, asked=confidence_level, estimates=estimates)

    @cache
    def held(rule: Requirement, level: float) -> _Held:
        row = estimates.row(rule, two_sided_level(level_of(level)))
        return _Held(rule, row, estimates.doubts)

    listed = [rule for family in families for rule in family]
    refuted = iter(
        by_holm(listed, lambda rule, level: held(rule, level).is_refuted, confidence_level)
    )
    for family in families:
        met = by_holm(
            family, lambda rule, level: held(rule, level).is_met, confidence_level, together=True
        )
        for rule, (is_met, level), (is_refuted, opposite_level) in zip(
            family, met, refuted, strict=False
        ):
            row = held(rule, level)
            opposite = held(rule, opposite_level)
            shown = estimates.row(rule, None)
            verdict = MET if is_met else NOT_MET if is_refuted else UNDECIDED
            reason = row.limit_in_words(in_words_at(level, f"{len(family)} {_several(rule)}"))
            if verdict == NOT_MET:
                at = in_words_at(opposite_level, f"{len(listed)} quantities")
                reason = opposite.opposite_in_words(at)
            if verdict == UNDECIDED and rule.is_upper and not math.isnan(row.limit):
                reason += estimates.needed(rule, shown, level_of(level))
            limits: dict[str, Any] = {
                "limit": row.limit,
                "limit_level": level_of(level),
                "room": row.room,
                "compared": row.compared,
                "opposite_limit": opposite.opposite,
                "opposite_level": level_of(opposite_level),
                "verdict": verdict,
                "doubt": in_words(row.doubts),
            }
            if rule.of_success:
                shown = mirrored(shown, rule.as_written.name, rule.mirror)
                limits |= {name: rule.mirror(limits[name]) for name in _MIRRORED}
            limits["reason"] = f"{with_interval(shown)}; {reason}"
            yield rule.as_written, shown, limits


def _several(rule: Requirement) -> str:
    return "groups" if rule.group_term == "group" else rule.group_term


def _in_words(level: float, family: str, *, asked: float, estimates: Estimates) -> str:
    """Write the level of a limit; family: what was judged together."""
    why = [estimates.when] * bool(estimates.when) + [f"Holm over {family}"] * (level != asked)
    said = f" ({', '.join(why)})" if why else ""
    return f"at {written_level(estimates.level_of(level))} confidence{said}"


def estimates_of(evaluation: Evaluation, wanted: Sequence[Requirement]) -> Estimates:
    """Return the quantities of an evaluation, whose limits are made of its replicates."""
    about = {(rule.name, rule.at) for rule in wanted}
    places = [k for k, row in enumerate(evaluation.quantities) if (row.name, row.at) in about]

    @cache
    def rows(level: float | None) -> dict[Key, Quantity]:
        made: Sequence[Quantity] = evaluation.quantities
        if level is not None:
            made = evaluation.maker.quantities_at(places, level, "auto")
        return {row.key: row for row in made}

    def row_of(rule: Requirement, level: float | None) -> Quantity:
        at = rule.at
        missing = Quantity(rule.name, rule.group, at, math.nan, math.nan, math.nan, notes=_LACKING)
        return rows(level).get((rule.name, rule.group, None, at), missing)

    doubts = doubts_about_subjects([evaluation])
    return Estimates(row_of, doubts, partial(_needed_in_words, evaluation))


def doubts_about_subjects(evaluations: Sequence[Evaluation]) -> tuple[Note, ...]:
    """Return what puts limits in doubt where comparisons were drawn as if independent, and are
    not.
    """
    is_dependent = any(
        evaluation.comparisons is not None
        and repeats_subjects(evaluation.comparisons, evaluation.settings["unit"])
        for evaluation in evaluations
    )
    return (Note(Code.REPEATED_SUBJECTS),) if is_dependent else ()


def units_needed(evaluation: Evaluation, quantity: Quantity, bound: float, level: float) -> float:
    """Return about how many subjects, or comparisons, would keep the upper limit of a rate within a
    bound.

    The rate stays as it is, and sessions grow in number as subjects do. Infinite where no number
    would do, and where it is not known.
    """
    # Notes of what is below the resolution say how many comparisons would do.
    if math.isnan(ends_of(quantity)[1]) or has_flag(quantity, Flag.BELOW_RESOLUTION):
        return math.inf
    evidence = evaluation.maker.evidence[evaluation.quantities.index(quantity)]
    needed = evidence.times_needed(bound, level, partial(room_for, quantity))
    needed *= quantity.n_subjects or quantity.n_comparisons or 0
    return math.ceil(needed - 1e-6) if math.isfinite(needed) else math.inf


def _needed_in_words(
    evaluation: Evaluation, rule: Requirement, quantity: Quantity, level: float
) -> str:
    there, what = quantity.n_subjects, "subjects"
    if not there:
        there = quantity.n_comparisons
        what = "transactions" if "transactions" in evaluation.settings else "comparisons"
        if evaluation.comparisons is not None and evaluation.comparisons.is_independent:
            what = "decisions"  # of any rate that is counted
    if rule.name not in ERROR_RATES or not there:
        return ""
    needed = units_needed(evaluation, quantity, rule.bound, level)
    if not there < needed < math.inf:
        return ""
    more = in_sessions = ""
    n_sessions = evaluation.maker.n_sessions(evaluation.quantities.index(quantity))
    if math.isfinite(n_sessions):
        more = f" in {math.ceil(n_sessions * needed / there - 1e-6):,} sessions"
        in_sessions = f" in {n_sessions:,.0f}"
    return (
        f"; about {needed:,.0f} {what}{more} with this rate would be enough, and there are"
        f" {there:,}{in_sessions}"
    )
