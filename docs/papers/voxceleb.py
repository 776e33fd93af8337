"""VoxCeleb1-H, read once however many pages use it."""

from __future__ import annotations

from functools import cache
from typing import Literal

from fastfair import Comparisons
from fastfair.datasets import voxceleb1_h

System = Literal["resnetse34v2", "resnetse34l"]
SYSTEMS: tuple[System, ...] = ("resnetse34v2", "resnetse34l")


@cache
def scores(system: System, groups: tuple[str, ...]) -> Comparisons:
    """Return a system's comparisons grouped by attributes of speakers: Gender, Nationality or
    both.
    """
    if len(groups) == 2:
        return voxceleb1_h(system, groups=groups)
    return scores(system, ("Gender", "Nationality")).by(*groups)
