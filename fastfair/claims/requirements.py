"""The language of requirements and claims: a quantity, perhaps of a group and at a point, a
relation and a number.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fastfair._lib import validation
from fastfair._lib.text import did_you_mean, joined_by_or
from fastfair.data.attacks import SPECIES
from fastfair.data.group_labels import Grouping
from fastfair.error_rates.operating_points import OperatingPoint, read_point
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.errors import InputError
from fastfair.measures import MEASURES
from fastfair.measures._registry import (
    ACCURACY,
    COMPLEMENTS,
    SUCCESSES,
    SUMMARIES,
    difference_of,
    measure_of,
    name_of_difference,
    names_of,
    quantity_name,
    range_of,
)
from fastfair.resampling.engine import METRICS as SCORE_METRICS

RELATION = re.compile("<=|>=|[<>\u2264\u2265]")
RELATIONS = {"<=": "<=", "\u2264": "<=", "<": "<", ">=": ">=", "\u2265": ">=", ">": ">"}
_NUMBER = re.compile(r"\s*(?P<number>[^\s%]+)\s*(?P<percent>%?)\s*")


def number_of(text: str) -> float:
    """Return the number that is written, such as "1e-4" or "2 %"; a ValueError where the text is no
    finite number.
    """
    match = _NUMBER.fullmatch(text)
    value = float(match["number"]) / (100 if match["percent"] else 1) if match else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value


EVERY_GROUP = "*"
Systems = tuple[str, str]
_DIGITS = 15  # of a bound that 1 minus another is
_OF_COMPARISONS = (*ERROR_RATES, *SCORE_METRICS, ACCURACY)
_HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_NAME = re.compile(r"[A-Za-z][\w\s()'-]*")
# A group's label may hold anything, and nothing after it has a bracket.
_REQUIREMENT = re.compile(
    r"(?P<called>[^[@<>\u2264\u2265]+)(?:\[\s*(?P<group>\S.*)\]\s*)?(?:@(?P<point>[^[<>\u2264\u2265]*))?"
    rf"(?P<relation>{RELATION.pattern})(?P<number>.*)",
    re.DOTALL,
)


def keeps_bound(relation: str, value: float, bound: float) -> bool:
    """Return whether a value is on the side of a bound that is asked for; NaN is not."""
    return bool(_HOLDS[relation](value, bound))


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
        Its group; "*" for every group on its own, and None for all comparisons and measures over
        all groups.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How the quantity must lie to the bound.
    bound : float
        What it is compared with.
    counts_failures : bool
        Whether it was written with a term of rates in which comparisons that failed count.
    grouping : tuple of str
        The attributes that make the group.
    written : str or None
        What results call the group, where its label alone does not say whose it is.
    systems : pair of str or None
        The systems in whose difference the quantity is; None for one of a system itself.
    of_success : bool
        Whether it was written as 1 minus the rate that it is judged by, such as the TAR.
    """

    text: str
    name: str
    group: str | None
    at: OperatingPoint | None
    relation: str
    bound: float
    counts_failures: bool = False
    grouping: Grouping = ()
    written: str | None = None
    systems: Systems | None = None
    of_success: bool = False

    @property
    def as_written(self) -> Requirement:
        """The same of the rate of success that it was written as."""
        if not self.of_success:
            return self
        name = SUCCESSES[difference_of(self.name) or self.name]
        return replace(
            self,
            name=name_of_difference(name) if self.systems else name,
            relation=_FLIPPED[self.relation],
            bound=self.mirror(self.bound),
            of_success=False,
        )

    def mirror(self, value: float) -> float:
        """Turn a value of a rate of errors, or of a difference, into that of success."""
        return -value if self.systems else round(1 - value, _DIGITS)

    @property
    def group_term(self) -> str:
        """What one of its groups is called: of attacks "species", which is its plural, too."""
        return SPECIES if self.grouping == (SPECIES,) else "group"

    @property
    def is_upper(self) -> bool:
        """Whether the bound is above what is allowed."""
        return self.relation.startswith("<")

    @property
    def sides(self) -> tuple[str, str]:
        """The side of the limit that has to keep the bound, and the opposite one."""
        return ("upper", "lower") if self.is_upper else ("lower", "upper")

    def allows(self, value: float) -> bool:
        """Return whether a value meets the requirement; NaN does not."""
        return keeps_bound(self.relation, value, self.bound)

    @property
    def rates(self) -> list[str]:
        """The error rates that the quantity is, or is made of; empty where it is of none."""
        metric = self.name.partition("(")[2].removesuffix(")")
        return [name for name in ERROR_RATES if name in (self.name, metric)]

    def with_room(self, limit: float, room: float) -> float:
        """Return a limit that is so many times worse; of a rate of success, such as the TPIR, its
        errors are, of which there are at most all. Of a difference below 0, worse is nearer to 0.
        """
        if self.name in COMPLEMENTS and room != 1:
            return max(0.0, 1 - (1 - limit) * (1 / room if self.is_upper else room))
        return limit * room if self._grows(limit) else limit / room

    def _grows(self, limit: float) -> bool:
        """Tell whether a limit, or the errors of one of success, that is worse is larger."""
        return self.is_upper == (limit >= 0 and self.name not in COMPLEMENTS)

    def room_in_words(self, room: float, limit: float) -> str:
        """Say what becomes of a limit."""
        return (
            f"{'its errors ' * (self.name in COMPLEMENTS)}"
            f"{'times' if self._grows(limit) else 'divided by'} {room:g}"
        )

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
            raise _refused(
                self.text,
                "there are no groups: name an attribute that makes them, as with ⟦groups=⟧",
            )
        if self.group == EVERY_GROUP:
            return [replace(self, group=group) for group in groups]
        if self.group not in groups:
            near, term = did_you_mean(self.group, groups), self.group_term
            would_do = f"write one of {', '.join(groups)}, or * for each of them"
            raise _refused(self.text, f"there is no {term} {self.group!r}{near}: {would_do}")
        return [self]


_OTHER_TERMS = {
    "far": "fmr",
    "fpr": "fmr",
    "frr": "fnmr",
    "fnr": "fnmr",
    "tar": "fnmr",
    "gar": "fnmr",
    "tpr": "fnmr",
    "tmr": "fnmr",
}
_OF_ATTACKS = ("iapar", "apcer", "bpcer")
_FLIPPED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
_MATCHES = ("tar", "gar", "tpr", "tmr")  # what 1 - FNMR is called
_OF_SUCCESS = {"fnmr": _MATCHES, "frr": _MATCHES, "fnir": ("tpir",)}


def terms_of_success(names: Sequence[str]) -> dict[str, str]:
    """Return what is 1 minus one of some rates, by the terms that are none of them."""
    return {term: rate for rate in names for term in _OF_SUCCESS.get(rate, ()) if term not in names}


def read_requirement(
    text: str,
    default: OperatingPoint,
    names: Sequence[str] = (),
    pairs: Sequence[Systems] = (),
    also: Sequence[str] = (),
) -> Requirement:
    """Read a requirement such as "fnmr[f]@fmr=0.001 <= 5 %".

    default is the operating point of rates, and of measures of rates, that name none. FAR and FPR
    are read as FMR, FRR and FNR as FNMR, and TAR, GAR, TPR and TMR as 1 - FNMR; names: what it may
    be about where the data are no comparisons, all of it at an operating point; pairs: the systems
    in whose differences it is, as "difference(fnmr)" where there is one pair, or as "fnmr(new) -
    fnmr(old)"; also: rates that comparisons have beside their own. An InputError says what cannot
    be read, and what would do; what no data or all data would meet is refused as well.
    """
    parts = _REQUIREMENT.fullmatch(text)
    if parts is None:
        raise _refused(
            text,
            "write a quantity, perhaps a group in brackets and an operating point, a relation and a"
            " number, as in fnmr[f]@fmr=0.001 <= 0.05; data can show that it is <=, <, >= or > a"
            " number, not that it equals one",
        )
    group = parts["group"] and parts["group"].strip()
    called = parts["called"].strip()
    relation = RELATIONS[parts["relation"]]
    systems = None
    try:
        if pairs:
            called, systems = _compared(called, names, pairs)
        term = called.lower()
        terms = terms_of_success(names) if names else _OTHER_TERMS
        possible = also if quantity_name(called) in also else names
        name = terms.get(term) or _name_of(called, possible)
        at = _point_of(name, parts["point"], default, possible)
        _check_group(name, group)
        bound = _bound_of(name_of_difference(name) if systems else name, parts["number"])
    except ValueError as error:  # InputError is one
        raise _refused(text, str(error)) from None
    if group is None and at is not None and at.rate == COMPLEMENTS.get(name, name):
        raise _refused(
            text,
            f"{at} holds the {name.upper()} of all comparisons, so data say nothing of it: name"
            " another operating point, or a group",
        )
    of_success = term in terms_of_success(names or ERROR_RATES)
    if of_success:  # judged by its errors
        relation = _FLIPPED[relation]
        bound = -bound if systems else round(1 - bound, _DIGITS)
    return Requirement(
        text.strip(),
        name_of_difference(name) if systems else name,
        group,
        at,
        relation,
        bound,
        counts_failures=not names and term in ("frr", "far", "tar", "gar"),
        systems=systems,
        of_success=of_success,
    )


def _compared(called: str, names: Sequence[str], pairs: Sequence[Systems]) -> tuple[str, Systems]:
    """Return the quantity of a difference, and the systems: the first minus the second."""
    inside = difference_of(called)
    if inside and len(pairs) == 1:
        return inside, pairs[0]
    for first, second in (order for pair in pairs for order in (pair, pair[::-1])):
        between = re.fullmatch(
            rf"(.+?)\s*\({re.escape(first)}\)\s*[-\u2212\u2013]\s*(.+?)\s*\({re.escape(second)}\)",
            called,
        )
        if between and between[1] == between[2]:
            return between[1], (first, second)
    first, second = pairs[0]
    rate = names[0] if names else "fnmr"
    raise InputError(
        f"{called!r} is no difference of systems that are compared: write one, as in"
        f" {rate}({first}) - {rate}({second})"
        + (f" or {name_of_difference(rate)}" if len(pairs) == 1 else "")
    )


def _refused(text: str, why: str) -> InputError:
    return InputError(f"requirement {text.strip()!r}: {why}")


def _name_of(called: str, names: Sequence[str]) -> str:
    name = quantity_name(called)
    measure = measure_of(name)
    is_name = _NAME.fullmatch(called) is not None  # they are compared without their marks
    if (
        is_name and name in names
        if names
        else is_name and (name in _OF_COMPARISONS or _is_summary(name))
    ):
        return name
    code, _, metric = name.partition("(")
    if not names:
        _refuse_rates_of_others(name)
    if names or not is_name or measure is None or code != measure.name:
        candidates = names or (*_OF_COMPARISONS, *MEASURES)
        near = did_you_mean(called.partition("(")[0], candidates)
        raise InputError(
            f"there is no quantity {called!r}{near}: name one of {joined_by_or(candidates)}"
        )
    metric = metric.removesuffix(")")
    if not measure.of:
        if metric:
            raise InputError(f"{measure.title} takes no ({metric}): write {measure.name}")
        return name
    computed = [base_metric for base_metric in measure.of if base_metric != "act_dcf"]
    if not metric and len(computed) == 1:
        return f"{code}({computed[0]})"
    if metric not in computed:
        if metric in measure.of:
            raise InputError(
                "actual DCFs are not checked: evaluate_calibration has their intervals"
            )
        would_do = joined_by_or(f"{code}({base_metric})" for base_metric in computed)
        raise InputError(f"{measure.title} is of a rate or cost: write {would_do}")
    return name


def _refuse_rates_of_others(name: str) -> None:
    """Refuse rates that comparisons do not have, and say what has them."""
    if name in names_of("rate of counts"):
        raise InputError(
            f"the {name.upper()} is counted: give failures and attempts, as FailureCounts of this"
            " rate, in place of comparisons"
            + (", or comparisons with attacks" if name in _OF_ATTACKS else "")
        )
    if name in names_of("identification rate"):
        raise InputError(
            f"the {name.upper()} is of searches of a gallery, not of comparisons: give Searches to"
            " identify, whose result has a method check, or FailureCounts of this rate"
        )
    if name in names_of("rate with failures"):
        raise InputError(
            f"the {name.upper()} is of transactions: make them with transactions(), give"
            f" FailureCounts of this rate, or name the {_OTHER_TERMS[name].upper()} of comparisons"
        )


def _is_summary(name: str) -> bool:
    """Return whether it is the mean or standard deviation of a measure that has a value for each
    group.
    """
    measure = measure_of(name)
    return measure is not None and measure.own_threshold and name != measure.name


def _point_of(
    name: str, written: str | None, default: OperatingPoint, names: Sequence[str]
) -> OperatingPoint | None:
    measure = measure_of(name)
    needs = bool(names) or name in (*ERROR_RATES, ACCURACY)
    if measure is not None and not names:
        metric = name.partition("(")[2].removesuffix(")") if measure.of else None
        needs = measure.needs_policy_threshold(metric)
    if written is None:
        return default if needs else None
    if not needs:
        raise InputError(f"{name} needs no operating point: leave it out")
    return read_point(written.strip())


def _check_group(name: str, group: str | None) -> None:
    measure = measure_of(name)
    if measure is None:
        return
    of_each = measure.per_group and not _is_summary(name)
    if of_each and group is None:
        would_do = [
            f"{name}[*]",
            *(f"{name}_{word}" for word in SUMMARIES if measure.own_threshold),
        ]
        raise InputError(
            f"{name} has a value for each group: write {joined_by_or(would_do)}, or a group in"
            " place of *"
        )
    if not of_each and group is not None:
        raise InputError(f"{name} is over all groups: leave the brackets out")


def _bound_of(name: str, written: str) -> float:
    try:
        bound = number_of(written)
    except ValueError:
        raise InputError("a requirement ends with a number, such as 0.05 or 5 %") from None
    least, most = range_of(name)
    if least < bound < most:
        return bound
    hint = (
        f"; for {bound:g} % write {bound:g} % or {bound / 100:g}"
        if most == 1 and 1 < bound < 100
        else ""
    )
    raise InputError(
        f"the bound must lie between {least:g} and {most:g}, the least and the greatest possible"
        f" value, as no data could show what is beyond{hint}"
    )


def requirements_of(
    requirements: str | Sequence[str],
    at: OperatingPoint,
    names: Sequence[str] = (),
    pairs: Sequence[Systems] = (),
    also: Sequence[str] = (),
) -> list[Requirement]:
    """Read requirements; at: the operating point of those that name none; names, pairs, also: as in
    `read_requirement`.
    """
    listed = [requirements] if isinstance(requirements, str) else list(requirements)
    if not listed:
        raise InputError(
            'requirements is empty: give at least one, such as "fnmr@fmr=0.001 <= 0.05"'
        )
    return [read_requirement(text, at, names, pairs, also) for text in dict.fromkeys(listed)]


def points_in(rules: Iterable[Requirement]) -> list[OperatingPoint]:
    """Return the operating points of requirements, each once."""
    return list(dict.fromkeys(rule.at for rule in rules if rule.at is not None))


def measures_in(rules: Iterable[Requirement]) -> list[str]:
    """Return the names of the measures that requirements are on."""
    return [measure.name for rule in rules if (measure := measure_of(rule.name))]


class Statement(NamedTuple):
    """What is claimed: that a rate of errors is at most so large; of_success: whether it was
    written as 1 minus the rate, such as the TAR.
    """

    rate: str
    claimed: float
    of_success: bool = False


def read_statement(statement: str, names: Sequence[str] = ERROR_RATES) -> Statement:
    """Read what is claimed of one of the rates named."""
    match = RELATION.search(statement)
    rate = statement[: match.start()].strip().lower() if match else ""
    terms = terms_of_success(names)
    called, bracket, group = rate.partition("[")
    if bracket and called.strip() in (*names, *terms):
        raise InputError(
            f"statement {statement!r} names a group, but a claim is judged of all people and of each"
            f" group: leave {bracket + group!r} out, or give it to `check` as a requirement"
        )
    if tuple(names) == tuple(ERROR_RATES) and rate not in terms:
        _refuse_rates_of_others(rate)
    asked = ">=" if rate in terms else "<="
    if match is None or rate not in (*names, *terms) or RELATIONS[match.group()] != asked:
        named = joined_by_or(f'"{name}"' for name in names)
        or_success = ""
        if terms:
            successes = joined_by_or(f'"{term}"' for term in terms)
            or_success = f', or {successes}, ">=" and a rate'
        raise InputError(
            f'statement must be {named}, "<=" and a rate, as in "{names[0]} <= 1e-4"{or_success},'
            f" not {statement!r}"
        )
    written = statement[match.end() :].strip()
    try:
        limit = number_of(written)
    except ValueError:
        raise InputError(
            f'statement must end with a number, as in "fmr <= 1e-4", not {written!r}'
        ) from None
    limit = validation.fraction("the rate claimed", limit, "(0, 1)")
    if rate in terms:
        return Statement(terms[rate], round(1 - limit, _DIGITS), of_success=True)
    return Statement(rate, limit)
