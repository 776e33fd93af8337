"""Which groups a requirement is about, where several attributes make groups, and their estimates."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.group_labels import INTERSECTION, Grouping, attributed
from fastfair.data.scans import ScannedComparisons
from fastfair.errors import InputError
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import measure_of
from fastfair.uncertainty.notes import Note

from .differences import Labels
from .requirements import EVERY_GROUP, Requirement
from .verdicts import Estimates, estimates_of

Family = list[Requirement]


@dataclass(frozen=True)
class Attributes:
    """The attributes that requirements may name, and those that were asked for.

    Attributes
    ----------
    data : Comparisons, ScannedComparisons or Embeddings
        What has the labels.
    """

    data: Comparisons | ScannedComparisons | Embeddings | Labels

    @property
    def asked(self) -> list[Grouping]:
        """The attributes that were asked for, one at a time; one without any where there are no
        groups.
        """
        return [(name,) for name in self.data.grouping] or [()]

    def named(self, group: str) -> dict[str, str]:
        """Return the label, or *, of each attribute that a group names, as in "sex=f, age=*"; empty
        where it names none.
        """
        if not self.data.attributes:
            return {}
        name = "|".join(map(re.escape, self.data.attributes))
        parts = [
            re.fullmatch(rf"\s*({name})\s*=\s*(.*\S)\s*", part, re.DOTALL)
            for part in re.split(rf",(?=\s*(?:{name})\s*=)", group)
        ]
        return {part[1]: part[2] for part in parts if part} if all(parts) else {}

    def groups(self, grouping: Grouping) -> tuple[str, ...]:
        """Return the groups that some attributes make."""
        if isinstance(self.data, Labels) or grouping == tuple(self.data.grouping):
            return self.data.groups
        return self.data.by(*grouping).groups

    def family(self, rule: Requirement) -> Family:
        """Return a requirement for each group that it is about, or each attribute of a measure.

        Raises
        ------
        InputError
            For a group or an attribute that the comparisons do not have.
        """
        several = len(self.asked) > 1
        self.require_failures(rule)
        if rule.group is None:
            is_measure = several and measure_of(rule.name) is not None
            asked = self.asked if is_measure else self.asked[:1]
            return [
                replace(rule, grouping=of, written=of[0] if is_measure else None) for of in asked
            ]
        labels = self.named(rule.group)
        if labels:
            grouping = tuple(name for name in self.data.attributes if name in labels)
            listed = [
                self.data.attributes[name] if labels[name] == EVERY_GROUP else (labels[name],)
                for name in grouping
            ]
            wanted = dict.fromkeys(map(INTERSECTION.join, itertools.product(*listed)))
            there = self.groups(grouping)
            groups = [group for group in there if group in wanted]
            if groups:
                return [_of_group(rule, grouping, group) for group in groups]
            group = next(iter(wanted))
            return replace(rule, group=group).of_groups(there)  # which refuses it
        if rule.group == EVERY_GROUP and several:
            return [
                _of_group(rule, grouping, group)
                for grouping in self.asked
                for group in self.groups(grouping)
            ]
        grouping = tuple(self.data.grouping)
        self._propose(rule)
        return replace(rule, grouping=grouping).of_groups(self.data.groups)

    def require_failures(self, rule: Requirement) -> None:
        """Refuse a term of rates that count failures where these are left out of FNMR and FMR."""
        failed = getattr(self.data, "failed", None)
        if rule.counts_failures and failed is not None and failed.policy == "exclude":
            raise InputError(
                f"requirement {rule.text!r}: comparisons that failed count in FRR, FAR and TAR, and"
                f" are left out here: write {rule.as_written.name}, or count them with"
                ' ⟦failures="non-match"⟧'
            )

    def _propose(self, rule: Requirement) -> None:
        """Refuse a group without its attribute that is none of the groups."""
        if rule.group == EVERY_GROUP or rule.group in self.data.groups:
            return
        near = [
            f"{rule.as_written.name}[{name}={rule.group}]"
            for name, labels in self.data.attributes.items()
            if rule.group in labels
        ]
        if near:
            raise InputError(
                f"requirement {rule.text!r}: {rule.group!r} is a label of an attribute: write"
                f" {' or '.join(near)}"
            )


def _of_group(rule: Requirement, grouping: Grouping, group: str) -> Requirement:
    return replace(rule, group=group, grouping=grouping, written=attributed(grouping, group))


def estimates_of_each(
    evaluations: Mapping[Grouping, Evaluation], wanted: Sequence[Requirement]
) -> Estimates:
    """Return the quantities of evaluations by several attributes, whose limits are made of their
    replicates.
    """
    each = {
        grouping: estimates_of(evaluation, wanted) for grouping, evaluation in evaluations.items()
    }

    doubts = next(iter(each.values())).doubts
    return chosen_by(lambda rule: each[rule.grouping], doubts)


def chosen_by(choose: Callable[[Requirement], Estimates], doubts: tuple[Note, ...]) -> Estimates:
    """Return the estimates of requirements each of which has its own."""
    return Estimates(
        lambda rule, level: choose(rule).row(rule, level),
        doubts,
        lambda rule, row, level: choose(rule).needed(rule, row, level),
    )
