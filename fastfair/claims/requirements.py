"""`Requirement`: what is required of an error rate, a cost or a fairness measure, read from text."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from fastfair._lib import validation
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint, read_point
from fastfair.errors import InputError
from fastfair.measures import MEASURES
from fastfair.measures._registry import SUMMARIES, measure_of, quantity_name, range_of
from fastfair.resampling.preparation import METRICS

from .statements import RELATION, RELATIONS, number_of

EVERY_GROUP = "*"
_HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_NAME = re.compile(r"[A-Za-z][\w\s()-]*")
_END_OF_NAME = re.compile(rf"[\[@]|{RELATION.pattern}")


@dataclass(frozen=True)
class Requirement:
    """What is required of one quantity.

    Attributes
    ----------
    text : str
        As it was written.
    name : str
        The quantity, as in `Quantity`.
    group : str or None
        Its group; "*" for every group on its own, and None for all comparisons and measures over all groups.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How the quantity must lie to the bound.
    bound : float
        What it is compared with.
    """

    text: str
    name: str
    group: str | None
    at: OperatingPoint | None
    relation: str
    bound: float

    @property
    def is_upper(self) -> bool:
        """Whether the bound is above what is allowed."""
        return self.relation.startswith("<")

    def allows(self, value: float) -> bool:
        """Return whether a value meets the requirement; NaN does not."""
        return bool(_HOLDS[self.relation](value, self.bound))

    def of_groups(self, groups: Sequence[str]) -> list[Requirement]:
        """Return the requirement for each group that it is about, and check that there is one.

        Raises
        ------
        InputError
            For a group that the comparisons do not have, and where they have none.
        """
        if self.group is None:
            return [self]
        if not groups:
            raise self._refused(f"[{self.group}]", "the comparisons have no groups: name an attribute that makes them")
        if self.group == EVERY_GROUP:
            return [replace(self, group=group) for group in groups]
        if self.group not in groups:
            near = validation.did_you_mean(self.group, groups)
            raise self._refused(
                self.group, f"there is no such group{near}: write one of {', '.join(groups)}, or * for each of them"
            )
        return [self]

    def _refused(self, part: str, why: str) -> InputError:
        return _refused(self.text, self.text.find(part), part, why)


def read_requirement(text: str, default: OperatingPoint) -> Requirement:
    """Read a requirement such as "fnmr[f]@fmr=0.001 <= 5 %".

    Parameters
    ----------
    text : str
        A quantity, perhaps its group in brackets and its operating point after "@", a relation and a number.
    default : OperatingPoint
        The operating point of rates, and of measures of rates, that name none.

    Returns
    -------
    Requirement

    Raises
    ------
    InputError
        For what cannot be read, at which character, and what would do; and for what no data or all data would meet.
    """
    after_group = text.rfind("]") + 1  # a group's label may hold anything, and nothing after it has a bracket
    relation = RELATION.search(text, after_group)
    opened = text.find("[", 0, None if relation is None or after_group else relation.start())
    if opened >= 0 and after_group <= opened:
        raise _refused(text, opened, text[opened:], 'the bracket before a group is not closed: add "]"')
    if relation is None:
        raise _refused(
            text, len(text), "the end", "a relation and a number are missing, as in fnmr@fmr=0.001 <= 0.05; data can "
            "show that a quantity is <=, <, >= or > a number, not that it equals one"
        )  # fmt: skip
    end = _END_OF_NAME.search(text)
    assert end is not None
    if opened > end.start():
        raise _refused(
            text, opened, text[opened:after_group], "a group comes before the operating point: fnmr[f]@fmr=0.001"
        )
    group = text[opened + 1 : after_group - 1].strip() if opened >= 0 else None
    if group == "":
        raise _refused(text, opened, "[]", "name a group between the brackets, or * for every group")
    between = text[after_group if opened >= 0 else end.start() : relation.start()].strip()
    if between and not between.startswith("@"):
        raise _refused(
            text, text.find(between, after_group), between, "after a group comes an operating point, as in @fmr=0.001"
        )
    called = text[: end.start()].strip()
    name = _name_of(text, called)
    at = _point_of(text, name, between[1:].strip() if between else None, default)
    _check_group(text, name, group)
    if group is None and at is not None and at.kind == name:
        raise _refused(
            text, 0, called, f"{at} holds the {name.upper()} of all comparisons, so data say nothing of it: name "
            "another operating point, or a group"
        )  # fmt: skip
    bound = _bound_of(text, name, relation)
    return Requirement(text.strip(), name, group, at, RELATIONS[relation.group()], bound)


def _name_of(text: str, called: str) -> str:
    name = quantity_name(called)
    measure = measure_of(name)
    is_name = _NAME.fullmatch(called) is not None  # names are compared without their marks
    if is_name and (name in (*ERROR_RATES, *METRICS) or _is_summary(name)):
        return name
    code, _, metric = name.partition("(")
    if not is_name or measure is None or code != measure.name:
        known = [*ERROR_RATES, *METRICS, *MEASURES]
        near = validation.did_you_mean(called.partition("(")[0], known)
        raise _refused(text, 0, called or "the start", f"there is no such quantity{near}: name one of {_listed(known)}")
    metric = metric.removesuffix(")")
    if not measure.of:
        if metric:
            raise _refused(text, 0, called, f"{measure.title} takes no ({metric}): write {measure.name}")
        return name
    computed = [one for one in measure.of if one != "act_dcf"]
    if not metric and len(computed) == 1:
        return f"{code}({computed[0]})"
    if metric not in computed:
        if metric in measure.of:
            raise _refused(text, 0, called, "actual DCFs are not checked: evaluate_calibration has their intervals")
        would_do = _listed([f"{code}({one})" for one in computed])
        raise _refused(text, 0, called, f"{measure.title} is of a rate or cost: write {would_do}")
    return name


def _is_summary(name: str) -> bool:
    """Return whether it is the mean or standard deviation of a measure that has a value for each group."""
    measure = measure_of(name)
    return measure is not None and measure.own_threshold and name != measure.name


def _point_of(text: str, name: str, written: str | None, default: OperatingPoint) -> OperatingPoint | None:
    measure = measure_of(name)
    metric = None if measure is None or not measure.of else name.partition("(")[2].removesuffix(")")
    needs = name in ERROR_RATES if measure is None else measure.needs_policy_threshold(metric)
    if not needs:
        if written is not None:
            raise _refused(text, text.find("@"), f"@{written}", f"{name} needs no operating point: leave it out")
        return None
    if written is None:
        return default
    place = text.find("@", text.rfind("]") + 1) + 1
    try:
        return read_point(written)
    except ValueError as error:  # InputError is one
        raise _refused(text, place, written or "the end", str(error)) from None


def _check_group(text: str, name: str, group: str | None) -> None:
    measure = measure_of(name)
    of_each = measure is not None and measure.per_group and not _is_summary(name)
    if measure is not None and of_each and group is None:
        would_do = [f"{name}[*]", *(f"{name}_{word}" for word in SUMMARIES if measure.own_threshold)]
        raise _refused(
            text, 0, name, f"it has a value for each group: write {_listed(would_do)}, or a group in place of *"
        )
    if measure is not None and not of_each and group is not None:
        raise _refused(text, text.find("["), f"[{group}]", f"{name} is over all groups: leave the brackets out")


def _bound_of(text: str, name: str, relation: re.Match[str]) -> float:
    written = text[relation.end() :].strip()
    place = relation.end() + len(text[relation.end() :]) - len(text[relation.end() :].lstrip())
    try:
        bound = number_of(written)
    except ValueError:
        raise _refused(
            text, place, written or "the end", "a requirement ends with a number, such as 0.05 or 5 %"
        ) from None
    least, most = range_of(name)
    if least < bound < most:
        return bound
    hint = f"; for {bound:g} % write {bound:g} % or {bound / 100:g}" if most == 1 and 1 < bound < 100 else ""
    raise _refused(
        text, place, written, f"the bound must lie between {least:g} and {most:g}, the least and the greatest possible "
        f"value, as no data could show what is beyond{hint}"
    )  # fmt: skip


def _listed(names: Collection[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _refused(text: str, place: int, part: str, why: str) -> InputError:
    return InputError(f"requirement {text.strip()!r}, at {part!r} (character {max(place, 0) + 1}): {why}")
