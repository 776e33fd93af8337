"""What a row of the table is made of."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from .provenance import commit, now
from .targets import Target


class NotMeasuredError(Exception):
    """A row that cannot be measured here, with the reason."""


class DisagreementError(Exception):
    """A peer whose answer is not ours, so that its time means nothing."""


class Against(StrEnum):
    """What ours is held against."""

    TOOL = "another tool"
    NUMPY = "NumPy code"
    LIMIT = "a physical limit"
    OURS = "ours"
    NOTHING = "nothing"


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
        The same for machines, as JSON has it.
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
    """One comparison with one peer: what is done, by whom, and what is aimed at.

    `shortfall` is the cause where the target is known to be missed, shown where it is.
    """

    name: str
    task: str
    peer: str
    against: Against
    target: Target
    measure: Callable[[], Measurement]
    shortfall: str = ""


@dataclass(frozen=True)
class Result:
    """One line of the table, in seconds.

    None where there is no peer, where nothing is aimed at, or where nothing could be measured; then
    `remarks` says why.
    """

    name: str
    task: str
    peer: str
    against: str
    ratio_of: str
    target: str
    date: str
    commit: str
    ours: float | None = None
    theirs: float | None = None
    ratio: float | None = None
    ratio_of_medians: float | None = None
    met: bool | None = None
    shortfall: str = ""
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
    about = row.name, row.task, row.peer, str(row.against), row.target.ratio_of, str(row.target)
    blank = Result(*about, now(), commit())
    try:
        found = row.measure()
    except NotMeasuredError as reason:
        return replace(blank, remarks=f"not measured: {reason}")
    except DisagreementError as reason:
        return replace(blank, agree=False, remarks=f"the answers differ: {reason}")
    theirs = min(found.theirs) if found.theirs else None
    met = row.target.met(min(found.ours), float("nan") if theirs is None else theirs)
    if met is not None:
        met = met and found.also_met
    result = replace(
        blank,
        ours=min(found.ours),
        theirs=theirs,
        met=met,
        shortfall=row.shortfall if met is False else "",
        spread_ours=_spread(found.ours),
        agree=True,
        agreement=found.agreement,
        remarks=found.remarks,
        versions=found.versions,
        rounds={"ours": found.ours, "theirs": found.theirs},
        details=found.details,
        table=found.table,
    )
    if theirs is None:
        return result
    return replace(
        result,
        ratio=row.target.ratio(min(found.ours), theirs),
        ratio_of_medians=row.target.ratio(
            statistics.median(found.ours), statistics.median(found.theirs)
        ),
        spread_theirs=_spread(found.theirs),
    )


def _spread(seconds: list[float]) -> float:
    """Return how far the slowest round lies above the fastest, as a share of it."""
    return max(seconds) / min(seconds) - 1
