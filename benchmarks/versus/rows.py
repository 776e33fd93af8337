"""What a row of the table is made of."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any


class NotMeasuredError(Exception):
    """A row that cannot be measured here, with the reason."""


class DisagreementError(Exception):
    """A peer whose answer is not ours, so that its time means nothing."""


@dataclass(frozen=True)
class AtMost:
    """A target for ours / theirs."""

    bound: float
    ratio_of: str = "ours / theirs"

    def ratio(self, ours: float, theirs: float) -> float:
        return ours / theirs

    def met(self, ours: float, theirs: float) -> bool:
        return self.ratio(ours, theirs) <= self.bound

    def __str__(self) -> str:
        return f"{self.ratio_of} <= {self.bound:g}"


@dataclass(frozen=True)
class AtLeast:
    """A target for theirs / ours: times faster."""

    bound: float
    ratio_of: str = "theirs / ours"

    def ratio(self, ours: float, theirs: float) -> float:
        return theirs / ours

    def met(self, ours: float, theirs: float) -> bool:
        return self.ratio(ours, theirs) >= self.bound

    def __str__(self) -> str:
        return f"{self.ratio_of} >= {self.bound:,g}"


@dataclass(frozen=True)
class AtMostSeconds(AtMost):
    """A target for the seconds of ours, whatever theirs takes."""

    def met(self, ours: float, theirs: float) -> bool:
        return ours <= self.bound

    def __str__(self) -> str:
        return f"ours <= {in_units(self.bound)}"


@dataclass(frozen=True)
class AtMostMore(AtMost):
    """A target for the seconds by which ours is slower."""

    def met(self, ours: float, theirs: float) -> bool:
        return ours - theirs <= self.bound

    def __str__(self) -> str:
        return f"ours - theirs <= {in_units(self.bound)}"


@dataclass(frozen=True)
class Stated:
    """A target that the row itself judges, in words: there is no peer."""

    aim: str
    ratio_of: str = ""

    def __str__(self) -> str:
        return self.aim


def in_units(seconds: float) -> str:
    """Write seconds for readers."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@dataclass(frozen=True)
class Measurement:
    """Seconds of every round, taken in turns, and what the peer's answer was checked for.

    Attributes
    ----------
    ours, theirs : list of float
        Seconds, one a round; theirs is empty where there is no peer.
    agreement : str
        In what the answers agree.
    versions : dict of str
        Versions of what was run.
    also_met : bool
        Whether targets other than the time's are met.
    remarks : str
        Figures that belong to the row besides the ratio.
    details : dict
        The same for machines.
    table : tuple of tuple of str
        A table to print below that of the rows, its header first.
    """

    ours: list[float]
    theirs: list[float]
    agreement: str
    versions: dict[str, str]
    also_met: bool = True
    remarks: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    table: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Row:
    """One comparison with one peer: what is done, by whom, and what is aimed at."""

    name: str
    task: str
    peer: str
    target: AtMost | AtLeast | Stated
    measure: Callable[[], Measurement]


@dataclass(frozen=True)
class Result:
    """One line of the table; None where there is no peer or nothing could be measured, and then `remarks` says why."""

    name: str
    task: str
    peer: str
    ratio_of: str
    target: str
    ours_s: float | None = None
    theirs_s: float | None = None
    ratio: float | None = None
    ratio_of_medians: float | None = None
    met: bool | None = None
    spread_ours: float | None = None
    spread_theirs: float | None = None
    agree: bool | None = None
    agreement: str = ""
    remarks: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    rounds: dict[str, list[float]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    table: tuple[tuple[str, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure(row: Row) -> Result:
    """Measure a row, and turn what went wrong into a result that says so."""
    blank = Result(row.name, row.task, row.peer, row.target.ratio_of, str(row.target))
    try:
        found = row.measure()
    except NotMeasuredError as reason:
        return replace(blank, remarks=f"not measured: {reason}")
    except DisagreementError as reason:
        return replace(blank, agree=False, remarks=f"the answers differ: {reason}")
    result = replace(
        blank,
        ours_s=min(found.ours),
        met=found.also_met,
        spread_ours=_spread(found.ours),
        agree=True,
        agreement=found.agreement,
        remarks=found.remarks,
        versions=found.versions,
        rounds={"ours": found.ours, "theirs": found.theirs},
        details=found.details,
        table=found.table,
    )
    if isinstance(row.target, Stated):
        return result
    least = min(found.ours), min(found.theirs)
    return replace(
        result,
        theirs_s=least[1],
        ratio=row.target.ratio(*least),
        ratio_of_medians=row.target.ratio(statistics.median(found.ours), statistics.median(found.theirs)),
        met=row.target.met(*least) and found.also_met,
        spread_theirs=_spread(found.theirs),
    )


def _spread(seconds: list[float]) -> float:
    """Return how far the slowest round lies above the fastest, as a share of it."""
    return max(seconds) / min(seconds) - 1
