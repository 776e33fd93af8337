"""Measure ratio benchmarks in this process: `python -m benchmarks._ratio_worker ROUNDS [NAME...]`.

Prints JSON: the seconds of every turn, and the folder of the library that was imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from fastfair.kernels import _jit

import fastfair as ff

from ._verdicts import Outcome
from .ratios import RATIOS, Sides, measure_all


def prepared(name: str) -> Sides | str:
    """Return what can be clocked, kernels compiled, or why there is none."""
    try:
        sides = RATIOS[name]()
        sides.ours()
    except Exception as error:  # an older commit may lack anything
        return f"{type(error).__name__}: {error}"
    return sides


def outcomes(names: Iterable[str], rounds: int) -> dict[str, Outcome]:
    """Return the seconds of every benchmark, or why there are none."""
    found = {name: prepared(name) for name in names}
    seconds = measure_all(
        {name: sides for name, sides in found.items() if not isinstance(sides, str)}, rounds
    )
    return {
        name: sides if isinstance(sides, str) else seconds[name] for name, sides in found.items()
    }


def main(rounds: str, *names: str) -> None:
    """Measure some benchmarks, or all where none is named."""
    # Else it would depend on earlier processes which kernels plain Python runs.
    getattr(_jit, "compile_all", lambda: None)()  # which older commits lack
    found = outcomes(names or RATIOS, int(rounds))
    json.dump({"library": str(Path(ff.__file__).parent), "outcomes": found}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
