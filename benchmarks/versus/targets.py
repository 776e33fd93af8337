"""What is aimed at: bounds of a ratio or of seconds, and how a ratio is read."""

from __future__ import annotations

import math
from dataclasses import dataclass


def in_units(seconds: float) -> str:
    """Write seconds for readers."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


_FASTER, _LONGER = "theirs / ours", "ours / theirs"


class _Ratio:
    """Says which way round a ratio is read."""

    ratio_of: str

    def ratio(self, ours: float, theirs: float) -> float:
        return theirs / ours if self.ratio_of == _FASTER else ours / theirs


@dataclass(frozen=True)
class AtMost(_Ratio):
    """A target for ours / theirs."""

    bound: float
    ratio_of: str = _LONGER

    def met(self, ours: float, theirs: float) -> bool:
        return self.ratio(ours, theirs) <= self.bound

    def __str__(self) -> str:
        return f"{self.ratio_of} <= {self.bound:g}"


@dataclass(frozen=True)
class AtMostOrQuick(AtMost):
    """A target for ours / theirs that is wider where theirs takes less than some seconds."""

    quick: float = 0.0
    wider: float = math.inf

    def met(self, ours: float, theirs: float) -> bool:
        return self.ratio(ours, theirs) <= (self.wider if theirs < self.quick else self.bound)

    def __str__(self) -> str:
        return (
            f"{self.ratio_of} <= {self.bound:g}, or {self.wider:g} where theirs takes under"
            f" {in_units(self.quick)}"
        )


@dataclass(frozen=True)
class AtLeast(_Ratio):
    """A target for theirs / ours: times faster."""

    bound: float
    ratio_of: str = _FASTER

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
class Stated(_Ratio):
    """A target that the row itself judges, in words; seconds do not miss it."""

    aim: str
    ratio_of: str = _LONGER

    def met(self, ours: float, theirs: float) -> bool:
        return True

    def __str__(self) -> str:
        return self.aim


@dataclass(frozen=True)
class NoTarget(_Ratio):
    """Nothing was aimed at: a figure to know, read as times faster or as times as long."""

    faster: bool = True

    @property
    def ratio_of(self) -> str:
        return _FASTER if self.faster else _LONGER

    def met(self, ours: float, theirs: float) -> None:
        return None

    def __str__(self) -> str:
        return "none"


Target = AtMost | AtLeast | Stated | NoTarget
