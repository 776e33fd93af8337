"""Looks whose number nobody planned: verdicts by confidence sequences on people, or pairs of people.

A rate of failure is that of people: each has failures in attempts. A false match rate is that of
pairs of people, of whom nobody is in two pairs: who comes first in the data makes a pair with whom
he is first compared with. So units are independent, whoever causes errors. A threshold that an
operating point finds in the data is fixed by the first look, and the people of that look are not
judged by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fastfair._lib.arrays import AnyArray, Flags, Integers
from fastfair.data.comparisons import Comparisons
from fastfair.data.sessions import refuse_sessions
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.errors import InputError
from fastfair.uncertainty.notes import Code, Note
from fastfair.uncertainty.sequences import sequence_limits

from .looks import JudgedUnits, Look
from .requirements import Requirement
from .verdicts import Estimates

_UNITS = {"fnmr": "people", "fmr": "pairs of people"}
_LATE = np.iinfo(np.int64).max


class Units(NamedTuple):
    """People, or pairs of people, in the order of the data.

    Attributes
    ----------
    labels : (units,) ndarray, or (units, 2)
        Who they are.
    errors, comparisons : (units,) ndarray of int64
        Of each.
    """

    labels: AnyArray
    errors: Integers
    comparisons: Integers

    def digest(self, n: int) -> str:
        """Return what the first units have, in short."""
        content = tuple(part[:n].tolist() for part in self)
        return hashlib.sha256(repr(content).encode()).hexdigest()


def judge_any(
    data: Any, rules: Sequence[Requirement], confidence_level: float, earlier: Look | None
) -> tuple[Look, Callable[[Estimates], Estimates]]:
    """Return a look, of which nobody knows how many follow, and what turns estimates into those with
    limits of confidence sequences; earlier: the look before.
    """
    comparisons = _required(data, rules)
    people = _People.of(comparisons)
    judged: dict[Requirement, tuple[Units, JudgedUnits]] = {}
    before = () if earlier is None else earlier.judged
    for rule in rules:
        about = rule.name, rule.group, _grouping_of(rule)
        same_point = [there for there in before if there.at == rule.at]
        same = next(
            (there for there in same_point if (there.name, there.group, there.grouping) == about),
            None,
        )
        if rule not in judged:
            judged[rule] = people.judged(rule, same or next(iter(same_point), None), same)
    number = 1 if earlier is None else earlier.number + 1
    look = Look(
        number=number,
        planned=None,
        limit_level=confidence_level,
        spent=1 - confidence_level,
        judged=tuple(state for _, state in judged.values()),
    )
    return look, lambda estimates: _with_sequences(estimates, judged, str(look))


def _grouping_of(rule: Requirement) -> tuple[str, ...]:
    """Return the attributes that make the group of a requirement; none for all comparisons."""
    return rule.grouping if rule.group is not None else ()


def _required(data: Any, rules: Sequence[Requirement]) -> Comparisons:
    """Refuse what has no confidence sequence."""
    for rule in rules:
        if rule.name not in _UNITS:
            raise InputError(
                f'requirement {rule.text!r}: with ⟦looks="any"⟧ requirements are on an FNMR, an FMR or'
                " a rate of counts, which people have on their own; for others plan a number of looks,"
                " as in 3/12"
            )
    if not isinstance(data, Comparisons):
        raise InputError(
            '⟦looks="any"⟧ needs all comparisons in memory: use read_comparisons, or plan a number of'
            " looks, as in 3/12"
        )
    if data.subjects is None:
        raise InputError(
            '⟦looks="any"⟧ judges people, but there are no subjects: give reference and probe, or counts'
            " of people in place of totals"
        )
    refuse_sessions(data.sessions, '⟦looks="any"⟧', "plan a number of looks, as in 3/12")
    return data


class _People(NamedTuple):
    """The people of comparisons, in the order of their first comparison.

    place: of each subject; labels: by place.
    """

    comparisons: Comparisons
    place: Integers
    labels: AnyArray

    @classmethod
    def of(cls, comparisons: Comparisons) -> _People:
        assert comparisons.subjects is not None
        first = np.full(comparisons.subjects.size, _LATE)
        for side in (comparisons.mated, comparisons.nonmated):
            for who in side.compared() if len(side) else ():
                np.minimum.at(first, who, np.asarray(side.rows, np.int64))
        order = np.argsort(first, kind="stable")
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return cls(comparisons, place, comparisons.subjects[order])

    def judged(
        self, rule: Requirement, of_point: JudgedUnits | None, earlier: JudgedUnits | None
    ) -> tuple[Units, JudgedUnits]:
        """Return the units that a requirement judges, and what a later look has to know of them."""
        assert rule.at is not None
        n_people = self.place.size
        if of_point is None:
            threshold, n_before = self._threshold(rule.at), 0 if rule.at.is_given else n_people
        else:
            threshold, n_before = of_point.threshold, of_point.n_before
        if n_before > n_people:
            raise InputError(
                f"⟦previous⟧ has {n_before:,} people, and there are {n_people:,} now: a look is at all"
                " data so far"
            )
        count = self._failures if rule.name == "fnmr" else self._false_matches
        units = count(rule, threshold, n_before)
        most = int(units.comparisons.max(initial=0))
        if earlier is not None:
            if units.digest(earlier.n) != earlier.digest:
                raise InputError(
                    f"requirement {rule.text!r}: the first {earlier.n:,} {_UNITS[rule.name]} are not"
                    " those of ⟦previous⟧, or have other comparisons now. A look adds people to the"
                    " end of the data, and leaves those of earlier ones as they are"
                )
            if earlier.n and most > earlier.most:
                raise InputError(
                    f"requirement {rule.text!r}: somebody has {most:,} comparisons, and looks before"
                    f" had {earlier.most:,} of each of the {_UNITS[rule.name]} at most, which their"
                    " limits rest on: leave further ones out"
                )
            most = earlier.most if earlier.n else most
        n = units.errors.size
        state = JudgedUnits(
            name=rule.name,
            group=rule.group,
            grouping=_grouping_of(rule),
            at=rule.at,
            threshold=threshold,
            n_before=n_before,
            n=n,
            most=most,
            digest=units.digest(n),
        )
        return units, state

    def _threshold(self, at: OperatingPoint) -> float:
        if at.is_given:
            return at.value
        return self.comparisons.to_threshold(threshold_key(self.comparisons, at))

    def _inside(self, rule: Requirement, *, mated: bool) -> Flags:
        """Flag the comparisons within the group of a requirement."""
        side = self.comparisons.mated if mated else self.comparisons.nonmated
        if rule.group is None:
            return np.ones(len(side), np.bool_)
        by = self.comparisons
        if tuple(by.grouping) != rule.grouping:
            by = by.by(*rule.grouping)
        grouped = by.mated_by_group if mated else by.nonmated_by_group
        code = by.groups.index(rule.group)
        return (grouped.reference_group == code) & (grouped.probe_group == code)

    def _failures(self, rule: Requirement, threshold: float, n_before: int) -> Units:
        """Count the failures of each person who comes after some."""
        side = self.comparisons.mated
        reference, probe = side.compared()
        if not np.array_equal(reference, probe):
            raise InputError(
                "mated comparisons of two subjects have no person whose failures they are"
            )
        inside = self._inside(rule, mated=True)
        is_error = inside & (side.keys < self.comparisons.to_key(threshold))
        who = self.place[reference]
        attempts = np.bincount(who[inside], minlength=self.place.size)
        failures = np.bincount(who[is_error], minlength=self.place.size)
        there = np.flatnonzero(attempts)
        there = there[there >= n_before]
        return Units(self.labels[there], failures[there], attempts[there])

    def _false_matches(self, rule: Requirement, threshold: float, n_before: int) -> Units:
        """Count the false matches of disjoint pairs of people who come after some."""
        side = self.comparisons.nonmated
        reference, probe = (self.place[who] for who in side.compared())
        low, high = np.minimum(reference, probe), np.maximum(reference, probe)
        kept = np.flatnonzero(self._inside(rule, mated=False) & (low >= n_before) & (low < high))
        kept = kept[np.argsort(np.asarray(side.rows)[kept], kind="stable")]
        codes = low[kept] * self.place.size + high[kept]
        pairs, first, of_pair = np.unique(codes, return_index=True, return_inverse=True)
        chosen = _disjoint(pairs, np.argsort(first), self.place.size)
        is_error = side.keys[kept] >= self.comparisons.to_key(threshold)
        comparisons = np.bincount(of_pair, minlength=pairs.size)[chosen]
        errors = np.bincount(of_pair[is_error], minlength=pairs.size)[chosen]
        both = np.stack(np.divmod(pairs[chosen], self.place.size), axis=1)
        return Units(self.labels[both], errors, comparisons)


def _disjoint(pairs: Integers, order: Integers, n_people: int) -> Integers:
    """Choose pairs in some order, each of two people of whom none has been chosen."""
    free = bytearray(b"\1") * n_people
    chosen = []
    left = n_people
    for k, pair in zip(order.tolist(), pairs[order].tolist(), strict=True):
        first, second = divmod(pair, n_people)
        if free[first] and free[second]:
            free[first] = free[second] = 0
            chosen.append(k)
            left -= 2
            if left < 2:
                break
    return np.array(chosen, np.int64)


def _with_sequences(
    estimates: Estimates,
    judged: dict[Requirement, tuple[Units, JudgedUnits]],
    when: str,
) -> Estimates:
    """Return estimates with the limits of confidence sequences."""

    def row_of(rule: Requirement, level: float | None) -> Any:
        shown = estimates.row(rule, None)
        if level is None:
            return shown
        there, state = judged[rule]
        low, high = sequence_limits(there.errors, there.comparisons, state.most, (1 - level) / 2)
        note = Note.of(Code.BY_SEQUENCE, n=state.n, units=_UNITS[rule.name])
        if not state.n:
            threshold = f"{state.threshold:.7g}"
            note = (
                Note.of(Code.THRESHOLD_FIXED, threshold=threshold)
                if state.n_before
                else Note(Code.NO_COMPARISONS)
            )
        in_several = 2 if rule.name == "fmr" else 1  # people of a unit
        return replace(
            shown,
            low=low,
            high=high,
            n_comparisons=state.n,
            n_errors=int(there.errors.sum()),
            n_subjects=in_several * state.n,
            notes=(note,),
        )

    return Estimates(row_of, when=when)
