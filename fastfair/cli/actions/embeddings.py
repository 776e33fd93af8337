"""`embeddings`: rates and measures of vectors over false match rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import fastfair as ff
from fastfair.bands.curve import bands_of
from fastfair.cli.run import Run
from fastfair.cli.signatures import arguments_for
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import InputError

_LEVELS = np.array([1e-4, 1e-3, 1e-2])
# the FMR for few pairs: the highest one that bands over embeddings have by default
_LAST_RESORT = np.array([0.1])
# FMRs at which a plot draws a curve, and at which a page does, which holds their numbers
_DRAWN, _ON_PAGE = (
    50,
    20,
)


def embeddings(run: Run) -> None:
    """Measure vectors at false match rates."""
    data = run.call(ff.read_embeddings, *run.arguments)
    given = run.take("fmr")
    enough = _LEVELS[_LEVELS * data.n_nonmated >= ENOUGH_ERRORS]
    asked = np.unique(np.concatenate(given)) if given else enough if enough.size else _LAST_RESORT
    levels = asked
    if run.options.get("plots") or "report" in run.options:
        levels = _curve_to(asked, data, _DRAWN if run.options.get("plots") else _ON_PAGE)
    bands = run.call(bands_of, data, levels, **arguments_for(ff.roc_band, run.options))
    run.deliver({name: replace(band, asked=tuple(asked.tolist())) for name, band in bands.items()})


def _curve_to(asked: Any, data: Any, n: int) -> Any:
    """Add FMRs below the highest one asked for, so that a curve can be drawn; this needs no further
    pairs.
    """
    least = min(asked[0], ENOUGH_ERRORS / data.n_nonmated)
    if least == asked[-1]:
        raise InputError(
            f"there is no curve to draw: an FMR below {least:g} would be fewer than {ENOUGH_ERRORS}"
            f" of {data.n_nonmated:,} non-mated pairs; add a higher --fmr, or leave --plots and"
            " --report out"
        )
    return np.union1d(asked, np.geomspace(least, asked[-1], n))
