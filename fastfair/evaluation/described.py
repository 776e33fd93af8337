"""The counts behind an evaluation's numbers, and the notes that do not depend on their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.concentration import concentration
from fastfair.error_rates.curve_results import Rates, counts_behind
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.measures._registry import measure_of
from fastfair.resampling.engine import Resampler
from fastfair.uncertainty.entries import Entry
from fastfair.uncertainty.few_errors import (
    MOST_PER_ERROR,
    OF_FEW_SUBJECTS,
    hangs_on_threshold,
    is_held_by_few_subjects,
)
from fastfair.uncertainty.quantities import HELD, NARROW, Quantity, noted
from fastfair.uncertainty.sample_sizes import SampleSizes

Floats = NDArray[np.float64]


def concentrations(comparisons: Comparisons, at_points: Sequence[Rates]) -> list[dict[bool, tuple[float, Floats]]]:
    """Compute how concentrated the errors of both kinds are at each operating point; empty without subjects."""
    if comparisons.subjects is None:
        return []
    return [{mated: concentration(comparisons, rates, mated) for mated in (False, True)} for rates in at_points]


def described(entry: Entry, at_points: Sequence[Rates], shares: Sequence[dict[bool, tuple[float, Floats]]]) -> Quantity:
    """Make a quantity of a number by adding the counts behind it and its notes."""
    value = float(entry.value)
    if entry.point is None:
        return Quantity(entry.name, entry.group, None, value, note=_not_computable(value))
    result = at_points[entry.point]
    point = result.at
    if entry.name == "threshold":
        low = (
            f"too few data for this operating point: it allows fewer than {ENOUGH_ERRORS} errors"
            if result.below_resolution
            else ""
        )
        return Quantity(entry.name, None, point, value, note=low)
    if measure_of(entry.name) is not None:
        return Quantity(entry.name, entry.group, point, value, note=_not_computable(value))
    size, errors, subjects = counts_behind(result.counts, entry.name == "fnmr", entry.cell)
    concentrated = None
    if shares and errors:
        overall, of_cells = shares[entry.point][entry.name == "fnmr"]
        concentrated = overall if entry.cell is None else float(of_cells[entry.cell])
    notes = [f"fewer than {ENOUGH_ERRORS} errors"] if errors < ENOUGH_ERRORS else []
    if entry.cell is None and entry.name == result.at.rate:
        notes.append(HELD)
    return Quantity(
        entry.name,
        entry.group,
        point,
        value,
        n_comparisons=size,
        n_errors=errors,
        n_subjects=subjects,
        note="; ".join(notes) if size else "no comparisons",
        probe_group=entry.probe_group,
        concentration=concentrated,
    )


def _not_computable(value: float) -> str:
    if math.isnan(value):
        return "not computable: 0/0 or a group without comparisons"
    return "not computable: a group has no errors" if math.isinf(value) else ""


def noted_few_subjects(
    quantities: Sequence[Quantity],
    at_points: Sequence[Rates],
    replicates: Floats,
    resampler: Resampler,
    sizes: SampleSizes,
) -> tuple[Quantity, ...]:
    """Note at which FNMRs few subjects cause most of the false matches that hold the threshold.

    Parameters
    ----------
    quantities : sequence of Quantity
        All quantities.
    at_points : sequence of Rates
        The rates at each operating point.
    replicates : (quantities, r) ndarray
        Each quantity in every replicate.
    resampler : Resampler
        What drew the replicates.
    sizes : SampleSizes
        Of the quantities, with the limits at points that few errors hold, which need no such note.

    Returns
    -------
    tuple of Quantity
    """
    found, comparisons = list(quantities), resampler.prepared.comparisons
    if comparisons.subjects is None:
        return tuple(found)
    threshold = {quantity.at: row for row, quantity in enumerate(quantities) if quantity.name == "threshold"}
    for point, rates in enumerate(at_points):
        if rates.at.rate != "fmr" or (sizes.few_held and sizes.few_held.holds(point)):
            continue
        rows = [k for k, quantity in enumerate(quantities) if quantity.name == "fnmr" and quantity.at == rates.at]
        hanging = hangs_on_threshold(replicates[rows], replicates[[threshold[rates.at]] * len(rows)])
        share = concentration(comparisons, rates, False, MOST_PER_ERROR)[0] if hanging.any() else 0.0
        if is_held_by_few_subjects(resampler.freedom(point), share):
            for k in np.array(rows)[hanging].tolist():
                found[k] = noted(found[k], OF_FEW_SUBJECTS, NARROW)
    return tuple(found)
