"""`bands_of`: thresholds, groups' rates and fairness measures at many FMRs, all from one pass over the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.tables import columns_of, records, write_json
from fastfair._lib.warnings import warn
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, at_fmr
from fastfair.errors import FairValueOutsideWarning, InputError
from fastfair.measures import MEASURES
from fastfair.uncertainty.quantities import Quantity

from .curve import Curve, curve_of
from .fairness import (
    BAND_MEASURES,
    FAIR_OUTSIDE,
    RATES,
    FairnessBand,
    check_measure,
    fairness_of_rates,
)
from .rates_at_levels import BandOptions, BandSettings, rates_over_levels
from .roc import RocBand, roc_of_rates

Floats = NDArray[np.float64]
DEFAULT_MEASURES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")
FEW = f"about {ENOUGH_ERRORS} errors or fewer"
_SETTINGS = ("weighting", "unit", "n_resamples", "confidence_level", "method")
_NUMBERS = ("low", "high", "band_low", "band_high", "uncertainty", "v_statistic")
NO_ERRORS = "no interval: there are no errors in the data or in any replicate"


@dataclass(frozen=True)
class BandQuantity(Quantity):
    """A quantity at one FMR, with its simultaneous band.

    Attributes
    ----------
    uncertainty : float
        Standard deviation of the replicates divided by the estimate.
    v_statistic : float
        The value around which the replicates vary.
    band_low, band_high : float
        Simultaneous band, which holds the quantity at all FMRs of the call together.
    """

    uncertainty: float = float("nan")
    v_statistic: float = float("nan")
    band_low: float = float("nan")
    band_high: float = float("nan")


@dataclass(frozen=True, eq=False)
class Bands:
    """The result of `bands_of`: rates and fairness measures at many FMRs.

    Attributes
    ----------
    quantities : tuple of BandQuantity
        All numbers, FMR by FMR.
    roc : RocBand
        FNMR of all pairs.
    group_roc : dict of str to RocBand
        FNMR of each group, at the same thresholds.
    fairness : tuple of FairnessBand
        Fairness measures, one band for each measure and rate.
    groups : tuple of str
        All groups.
    settings : dict
        The arguments of the call.
    description : str
        A short description of the embeddings.
    """

    quantities: tuple[BandQuantity, ...]
    roc: RocBand
    group_roc: dict[str, RocBand]
    fairness: tuple[FairnessBand, ...]
    groups: tuple[str, ...]
    settings: dict[str, Any]
    description: str

    def to_json(self, path: Path | None = None) -> str:
        """Write everything as strict JSON, with null for values that are not computable."""
        return write_json(
            {
                "description": self.description,
                "settings": self.settings,
                "groups": list(self.groups),
                "quantities": records(columns_of(self.quantities)),
            },
            path,
        )


def bands_of(
    embeddings: Embeddings,
    fmr: ArrayLike,
    measures: Sequence[str] = (),
    *,
    alpha: float = 0.5,
    zero_policy: str | float = "keep",
    **options: Unpack[BandOptions],
) -> Bands:
    """Compute `roc_band` of all pairs and of every group, and `fairness_band` of several measures, in one pass.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    fmr : (levels,) array_like
        False match rates to hold.
    measures : sequence of str
        Fairness measures; those of one rate are computed for FMR and for FNMR. By default `DEFAULT_MEASURES` if there
        are groups to compare.
    alpha, zero_policy
        As in `fairness_band`.
    **options
        Those that all bands have, as in `roc_band`.

    Returns
    -------
    Bands

    Warns
    -----
    FairValueOutsideWarning
        As `fairness_band` does, once.
    """
    groups = embeddings.groups
    if measures and len(groups) < 2:
        raise InputError(f"fairness measures compare groups, but the embeddings have {len(groups)}: give groups=")
    names = measures or (DEFAULT_MEASURES if len(groups) > 1 else ())
    asked = [(name, rate) for name in names for rate in _rates_of(name)]
    needs_average = [check_measure(name, rate, zero_policy) for name, rate in asked]
    options["rng"] = rng = seeds.fixed(options.get("rng"))
    settings = BandSettings.check(embeddings, options)
    found = rates_over_levels(embeddings, fmr, settings, with_groups=True, with_overall_fmr=any(needs_average))
    roc = roc_of_rates(found, settings)
    group_roc = {group: roc_of_rates(found, settings, 1 + k) for k, group in enumerate(groups)}
    fairness = tuple(fairness_of_rates(found, settings, groups, name, rate, alpha, zero_policy) for name, rate in asked)
    if any(band.note for band in fairness):
        warn(f"fairness measures: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    thresholds, curve = curve_of(lambda rates: rates.threshold, found, settings, (-np.inf, np.inf))
    columns = [_Column("threshold", None, thresholds, Curve(**curve), n_comparisons=embeddings.n_nonmated)]
    n_all, n_subjects = (
        embeddings.subjects.size,
        [int((embeddings.subject_group == k).sum()) for k in range(len(groups))],
    )
    columns.append(_Column("fnmr", None, roc.fnmr, roc, n_comparisons=embeddings.n_mated, n_subjects=n_all))
    for (group, band), n, m in zip(group_roc.items(), found.n_mated.tolist(), n_subjects, strict=True):
        columns.append(_Column("fnmr", group, band.fnmr, band, n_comparisons=n, n_subjects=m))
    fmr, curve = curve_of(lambda rates: rates.fmr[:, 1:], found, settings)
    for k, (group, n, m) in enumerate(zip(groups, found.n_nonmated.tolist(), n_subjects, strict=True)):
        columns.append(_Column("fmr", group, fmr, Curve(**curve), k, n_comparisons=n, n_subjects=m))
    for fair in fairness:
        name = fair.measure + (f"({fair.rate})" if fair.rate else "")
        of_each = [(group, k) for k, group in enumerate(groups)] if fair.value.ndim > 1 else [(None, None)]
        columns += [_Column(name, group, fair.value, fair, k, note=fair.note) for group, k in of_each]
    return Bands(
        quantities=tuple(
            _quantity(column, at, level, settings.method)
            for at, level in enumerate(found.levels.tolist())
            for column in columns
        ),
        roc=roc,
        group_roc=group_roc,
        fairness=fairness,
        groups=groups,
        settings={
            "fmr": found.levels.tolist(),
            "measures": list(names),
            "alpha": alpha,
            "zero_policy": zero_policy,
            **{name: getattr(settings, name) for name in _SETTINGS},
            "rng": rng,
        },
        description=repr(embeddings),
    )


@dataclass(frozen=True, eq=False)
class _Column:
    """A quantity over FMR with its name and the counts behind it."""

    name: str
    group: str | None
    value: Floats
    curve: Curve
    k: int | None = None  # which of those on the last axis
    n_comparisons: int | None = None
    n_subjects: int | None = None
    note: str = ""

    def at(self, level: int) -> tuple[float, dict[str, Any], NDArray[Any]]:
        """Return the value at a level, with its interval and band, and its replicates."""
        place = (level,) if self.k is None else (level, self.k)
        numbers = {name: float(getattr(self.curve, name)[place]) for name in _NUMBERS}
        return float(self.value[place]), numbers, self.curve.replicates[:, *place]


def _rates_of(measure: str) -> tuple[str, ...]:
    """Return the rates that a measure of one rate is computed for; a single entry for a measure of both."""
    facts = MEASURES[validation.choice("measures", measure, BAND_MEASURES)]
    return tuple(rate for rate in RATES if rate in facts.metrics) or RATES[:1]


def _quantity(column: _Column, at: int, level: float, method: str) -> BandQuantity:
    value, numbers, replicates = column.at(at)
    note = column.note
    if column.n_comparisons is not None:
        rate = level if column.name == "threshold" else value
        if rate == 0 and not replicates.any():
            note = NO_ERRORS
            numbers |= dict.fromkeys(("low", "high", "band_low", "band_high"), math.nan)
        elif rate * column.n_comparisons < ENOUGH_ERRORS:
            note = FEW
    return BandQuantity(
        name=column.name,
        group=column.group,
        at=at_fmr(level),
        estimate=value,
        method=method,
        standard_error=float(intervals.standard_error(replicates)),
        not_computable=float(1 - np.isfinite(replicates).mean()),
        n_comparisons=column.n_comparisons,
        n_subjects=column.n_subjects,
        note=note,
        **numbers,
    )
