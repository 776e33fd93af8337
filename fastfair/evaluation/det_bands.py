"""How certain DET curves are: FNMR at a few FMRs, with intervals and bands, of all comparisons and of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib.text import interval_of_rate, per_cent, rate_with_interval
from fastfair.bands.plots import fill_band
from fastfair.bands.roc import roc_band
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import visible
from fastfair.pages.parts import Table

from .evaluated import Evaluated, comparisons_of
from .traces import DetBand, Traces
from .tracing import curve_of, distributions_of, edges_of, rounded, score_kind_of, sorted_keys_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARED = ("unit", "scheme", "confidence_level", "rng")  # settings that bands have, too
_LEVELS = 12  # FMRs; straight lines between them are hardly off, on the scales of a DET plot
_EVERY = 3  # of these FMRs, those that a table has
_HIGHEST = 0.5
_MOST_REPLICATES = 500  # enough for a picture; `roc_band` draws more by default


def band_of(evaluation: Evaluated, group: str | None) -> DetBand | None:
    """Compute the band of a DET curve, of all comparisons or of those within a group.

    The thresholds hold FMRs of the comparisons of the curve itself. There is no band without replicates, without mated
    comparisons, and where even the highest FMR would be fewer than 30 false matches.
    """
    if evaluation.traces is not None:
        return evaluation.traces.bands.get(group)
    comparisons, settings = comparisons_of(evaluation), evaluation.settings
    mated, nonmated = sorted_keys_of(comparisons, group)
    if not settings["n_resamples"] or not mated.size or nonmated.size * _HIGHEST <= ENOUGH_ERRORS:
        return None
    levels = np.geomspace(ENOUGH_ERRORS / nonmated.size, _HIGHEST, _LEVELS)
    comparisons = comparisons if group is None else comparisons.within_group(group)
    band = roc_band(
        comparisons, levels, n_resamples=min(_MOST_REPLICATES, settings["n_resamples"]),
        **{name: settings[name] for name in _SHARED},
    )  # fmt: skip
    arrays = {field.name: rounded(getattr(band, field.name)) for field in fields(DetBand) if field.name != "note"}
    return DetBand(**arrays, note=band.note)


def traces_of(evaluation: Evaluated, *, with_bands: bool = True) -> Traces:
    """Gather all that a page draws of comparisons; bands take most of the time."""
    if evaluation.traces is not None:
        return evaluation.traces
    edges, groups = edges_of(evaluation), (None, *evaluation.groups)
    return Traces(
        score_kind_of(evaluation), edges, {group: curve_of(evaluation, group) for group in groups},
        {group: distributions_of(evaluation, group, edges) for group in groups},
        {group: band_of(evaluation, group) for group in groups if with_bands},
    )  # fmt: skip


def has_bands(evaluation: Evaluated) -> bool:
    """Return whether curves have bands where there are comparisons enough."""
    return bool(evaluation.settings["n_resamples"]) and (evaluation.traces is None or bool(evaluation.traces.bands))


def curve_table(bands: Mapping[str | None, DetBand | None]) -> Table:
    """Write the FNMR at some of the FMRs of each curve, with its interval and its band."""
    rows = []
    for group, band in bands.items():
        for k in range(0, 0 if band is None else band.fmr.size, _EVERY):
            assert band is not None
            ends = (float(array[k]) for array in (band.low, band.high, band.band_low, band.band_high))
            low, high, band_low, band_high = ends
            fnmr = rate_with_interval(float(band.fnmr[k]), low, high)
            rows.append([visible(group or "all"), per_cent(band.fmr[k]), fnmr, interval_of_rate(band_low, band_high)])
    columns = ["Group", "FMR", "FNMR, with interval", "Band of the whole curve"]
    return Table("FNMR at FMRs of the group's own comparisons", columns, rows)


def add_band(ax: Axes, band: DetBand | None, color: str) -> None:
    """Draw a band behind a curve that is there, whose axes stay as they are."""
    if band is None:
        return
    ax.autoscale(False)
    fill_band(band.fmr, (band.low, band.high), (band.band_low, band.band_high), ax, det=True, color=color)
