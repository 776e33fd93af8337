"""Rates of attacks in claims and checks: IAPAR, RIAPAR, APCER and BPCER of comparisons with attacks.

Decisions on attacks are judged as mated comparisons of those who are imitated; so an IAPAR or
APCER has the limits of an FNMR, of each species and of groups of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from fastfair.data.attacks import attack_decisions
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold
from fastfair.errors import InputError
from fastfair.evaluation.attacks import AT_DECISIONS, Rated, evaluate_plainly, rate_of_attacks
from fastfair.evaluation.transactions import point_of
from fastfair.uncertainty.notes import joined

from .families import Attributes, Family, chosen_by
from .requirements import Requirement
from .verdicts import Estimates, estimates_of

ON_ATTACKS = ("iapar", "apcer")
ALL_OF_ATTACKS = (*ON_ATTACKS, "riapar", "bpcer")


def names_of_attacks(data: object) -> tuple[str, ...]:
    """Return the rates that comparisons with attacks have beside others; none without attacks."""
    has_attacks = isinstance(data, Comparisons) and data.attacks is not None
    return ALL_OF_ATTACKS if has_attacks else ()


def require_rates_of_attacks(comparisons: Comparisons, wanted: Sequence[Requirement]) -> None:
    """Refuse rates of a detector where people are compared, and what an operating point holds."""
    for rule in wanted:
        if rule.name in ("apcer", "bpcer"):
            rate_of_attacks(comparisons, "apcer")
        if rule.name == "bpcer" and rule.at is not None and rule.at.rate == "fnmr":
            raise InputError(
                f"requirement {rule.text!r}: {rule.at} holds the BPCER, so data say nothing of it:"
                " name another operating point"
            )
        if rule.name == "riapar" and rule.group is not None and "=" in rule.group:
            raise InputError(
                f"requirement {rule.text!r}: a RIAPAR is that of a species: write riapar[*], or a"
                " species in place of *"
            )


def decisions_of_claim(
    comparisons: Comparisons, rate: str, at: OperatingPoint
) -> tuple[Comparisons, OperatingPoint]:
    """Return the decisions that a claim on attacks is about, and the threshold."""
    rate_of_attacks(comparisons, rate)
    point = point_of(comparisons, at)
    return attack_decisions(comparisons, point.value), point


class JudgedAttacks:
    """Families and estimates of requirements on comparisons with attacks.

    Parameters
    ----------
    comparisons : Comparisons
        With attacks.
    how : mapping
        Arguments of `evaluate`.
    """

    def __init__(self, comparisons: Comparisons, how: Mapping[str, Any]) -> None:
        self.comparisons = comparisons
        self.about = Attributes(attack_decisions(comparisons, 0.0))
        self._bona_fide = Attributes(comparisons)
        self._evaluated = cache(
            lambda data, point: evaluate_plainly(data.without_failure_rates(), point, how)
        )
        self._decisions = cache(lambda at: attack_decisions(comparisons, self._threshold(at)))
        self._grouped = cache(lambda at, of: self._decisions(at).by(*of))

    def _threshold(self, at: OperatingPoint | None) -> float:
        assert at is not None
        return point_of(self.comparisons, at).value

    def family(self, rule: Requirement) -> Family:
        """Return a requirement for each species, or group of people, that it is about."""
        about = self._bona_fide if rule.name == "bpcer" else self.about
        named = {} if rule.group is None else self._bona_fide.named(rule.group)
        unknown = [name for name in named if name not in about.data.attributes]
        if unknown:
            raise InputError(
                f"requirement {rule.text!r}: some subjects have several labels of {unknown[0]!r}, so"
                " that it is not known which groups the people are of whom attacks imitate: give"
                " each subject one label, as with ⟦metadata=⟧"
            )
        return about.family(rule)

    def estimates(self, wanted: Sequence[Requirement], others: Estimates | None) -> Estimates:
        """Return the estimates of requirements on attacks, and those of others.

        wanted: each requirement of one group.
        """
        made = {
            rule: self._of_sum(rule) if rule.name == "riapar" else self._of_rate(rule)
            for rule in dict.fromkeys(wanted)
        }

        def of(rule: Requirement) -> Estimates:
            estimates = made.get(rule, others)
            assert estimates is not None
            return estimates

        of_each = [*made.values(), *([] if others is None else [others])]
        return chosen_by(of, joined(*(estimates.doubts for estimates in of_each)))

    def _of_rate(self, rule: Requirement, name: str = "") -> Estimates:
        """Return the estimates of an FNMR: of decisions, or of bona fide comparisons for a BPCER."""
        if (name or rule.name) in ON_ATTACKS:
            of = rule.grouping or self.about.asked[0]
            data, at = self._grouped(rule.at, of), AT_DECISIONS
        else:
            data = self.comparisons
            data = data.by(*rule.grouping) if rule.grouping else data
            at = at_threshold(self._threshold(rule.at))
        as_fnmr = replace(rule, name="fnmr", at=at)
        made = estimates_of(self._evaluated(data, at), [as_fnmr])
        return Estimates(
            lambda _, level: made.row(as_fnmr, level),
            made.doubts,
            lambda _, row, level: made.needed(as_fnmr, row, level),
        )

    def _of_sum(self, rule: Requirement) -> Estimates:
        """Return the estimates of a RIAPAR."""
        of_all = replace(rule, group=None, grouping=(), written=None)
        passed, rejected = self._of_rate(rule, "iapar"), self._of_rate(of_all, "fnmr")
        threshold = self._threshold(rule.at)
        decisions = self._decisions(rule.at)
        both = Rated(
            self.comparisons,
            threshold,
            decisions,
            self._evaluated(self.comparisons, at_threshold(threshold)),
            self._evaluated(decisions, AT_DECISIONS),
            None,
        )
        return Estimates(
            lambda _, level: both.sum_of(passed.row(rule, level), rejected.row(of_all, level)),
            joined(passed.doubts, rejected.doubts),
        )
