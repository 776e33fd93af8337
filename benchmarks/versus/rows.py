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

    def met(self, ratio: float) -> bool:
        return ratio <= self.bound

    def __str__(self) -> str:
        return f"<= {self.bound:g}"


@dataclass(frozen=True)
class AtLeast:
    """A target for theirs / ours: times faster."""

    bound: float
    ratio_of: str = "theirs / ours"

    def ratio(self, ours: float, theirs: float) -> float:
        return theirs / ours

    def met(self, ratio: float) -> bool:
        return ratio >= self.bound

    def __str__(self) -> str:
        return f">= {self.bound:g}"


@dataclass(frozen=True)
class Measurement:
    """Seconds of every round, taken in turns, and what the peer's answer was checked for.

    Attributes
    ----------
    ours, theirs : list of float
        Seconds, one a round.
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
    """

    ours: list[float]
    theirs: list[float]
    agreement: str
    versions: dict[str, str]
    also_met: bool = True
    remarks: str = ""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One comparison with one peer: what is done, by whom, and what is aimed at."""

    name: str
    task: str
    peer: str
    target: AtMost | AtLeast
    measure: Callable[[], Measurement]


@dataclass(frozen=True)
class Result:
    """One line of the table; None where nothing could be measured, and `remarks` says why."""

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
    ratio = row.target.ratio(min(found.ours), min(found.theirs))
    return replace(
        blank,
        ours_s=min(found.ours),
        theirs_s=min(found.theirs),
        ratio=ratio,
        ratio_of_medians=row.target.ratio(statistics.median(found.ours), statistics.median(found.theirs)),
        met=row.target.met(ratio) and found.also_met,
        spread_ours=_spread(found.ours),
        spread_theirs=_spread(found.theirs),
        agree=True,
        agreement=found.agreement,
        remarks=found.remarks,
        versions=found.versions,
        rounds={"ours": found.ours, "theirs": found.theirs},
        details=found.details,
    )


def _spread(seconds: list[float]) -> float:
    """Return how far the slowest round lies above the fastest, as a share of it."""
    return max(seconds) / min(seconds) - 1
