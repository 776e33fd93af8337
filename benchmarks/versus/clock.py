"""Taking turns at the clock, so that a busy spell of the machine hits every side alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

Side = TypeVar("Side", bound=Hashable)
Clocked = Callable[[], float]  # does the work once and returns the seconds it took


def clocked(work: Callable[[], object]) -> Clocked:
    """Wrap work done in this process."""

    def run() -> float:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        del result  # giving memory back is nobody's work
        return seconds

    return run


def take_turns(sides: Mapping[Side, Clocked], rounds: int) -> dict[Side, list[float]]:
    """Return the seconds of every side in every round; each is run once before, unclocked."""
    for run in sides.values():
        run()
    seconds: dict[Side, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            seconds[name].append(run())
    return seconds
