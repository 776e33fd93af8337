"""`bands_of`: thresholds, groups' rates and fairness measures at many FMRs, all from one pass over the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib.text import per_cent, rate_with_interval
from fastfair._lib.warnings import warn
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, at_fmr
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.errors import FairValueOutsideWarning, InputError, visible
from fastfair.measures import MEASURES
from fastfair.measures._registry import at_any_threshold, measure_name, measure_of
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.results.result import Printed, Result, measures_table, printed
from fastfair.uncertainty.quantities import Quantity, table_of

from .curve import BandQuantity, curve_by_quantiles, rate_curve
from .fairness import FAIR_OUTSIDE, FairnessBand, check_measure, measure_curve
from .rates_at_levels import BandOptions, BandRequest, BandSettings, RatesOverLevels, over_levels
from .roc import RocBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
DEFAULT_MEASURES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")
FEW = f"fewer than {ENOUGH_ERRORS} errors"
_SETTINGS = ("alpha", "zero_policy", "weighting", "unit", "scheme", "n_resamples", "confidence_level", "method", "rng")


@dataclass(frozen=True, eq=False, repr=False)
class Bands(Result):
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
    left_out : tuple of str
        What was left out of the data, and why.
    asked : tuple of float
        The FMRs that pages show in tables; empty for all.
    """

    quantities: tuple[BandQuantity, ...]
    roc: RocBand
    group_roc: dict[str, RocBand]
    fairness: tuple[FairnessBand, ...]
    groups: tuple[str, ...]
    settings: dict[str, Any]
    description: str
    left_out: tuple[str, ...] = ()
    asked: tuple[float, ...] = ()

    _page_title = "Error rates and fairness of vectors"
    _rows = "quantities"

    def _columns(self) -> dict[str, list[Any]]:
        return table_of(self.quantities)

    def _tables(self) -> list[Printed]:
        points = [at_fmr(level) for level in self._levels()]
        shown = [q for q in self.quantities if q.at in points and measure_of(q.name) is None]
        star = [replace(q, group=f"{q.group or 'all'}{'*' * (FEW in q.note)}") for q in shown]
        tables = []
        for name, title in (("threshold", "Thresholds"), ("fnmr", "FNMR"), ("fmr", "FMR inside groups")):
            rows = [q for q in star if q.name == name]
            if rows:
                names = "group operating_point estimate uncertainty n_comparisons n_errors n_subjects"
                tables.append((title, *printed(table_of(rows), names.split())[1:]))
        if any(FEW in q.note for q in shown):
            tables.append((f"* {FEW} behind the number (Doddington's rule of {ENOUGH_ERRORS})", [], []))
        if self.fairness:
            headings, rows_of_measures = measures_table(self.quantities, points)
            tables.append((f"Fairness over {len(self.groups)} groups", headings, rows_of_measures))
        return tables

    def _figures(self) -> Mapping[str, Axes | Figure]:
        from .plots import figures_of

        return figures_of(self)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the FNMR of all pairs over the FMR, as `RocBand.plot` does."""
        return self.roc.plot(ax, **kwargs)

    def _levels(self) -> list[float]:
        """Return the FMRs that pages show in tables."""
        return [level for level in self.roc.fmr.tolist() if level in (self.asked or self.roc.fmr)]

    def summary(self) -> str:
        """Describe the rates at the FMRs asked in sentences."""
        said = [self.description]
        for level in self._levels():
            rows = [q for q in self.quantities if q.name == "fnmr" and q.at == at_fmr(level)]
            known = [q for q in rows if q.group is not None and (q.n_errors or 0) >= ENOUGH_ERRORS]
            told = f"At FMR {per_cent(level)} the FNMR is {_rate(rows[0])}"
            if len(known) > 1:
                least, most = (end(known, key=lambda q: q.estimate) for end in (min, max))
                told += f"; of groups with {ENOUGH_ERRORS} errors or more it is lowest in {visible(str(least.group))}, "
                told += f"{_rate(least)}, and highest in {visible(str(most.group))}, {_rate(most)}"
            said.append(f"{told}.")
        return "\n".join(said)

    @drawing()
    def _chapter(self) -> Chapter:
        """Return what a page says of all curves, with tables of the FMRs asked."""
        levels = self._levels()
        left_out = [visible(f"Left out: {text}.") for text in self.left_out]
        sections = [Section("Data", left_out)] if left_out else []
        sections += [replace(self.roc._section(levels), title="Trade-off of the two errors")]
        if self.groups:
            sections.append(self._of_groups(levels))
        sections += [band._section(levels) for band in self.fairness if np.isfinite(band.value).any()]
        nothing = [band._section(levels).title for band in self.fairness if not np.isfinite(band.value).any()]
        if nothing:
            sections.append(Section("Not computable", [f"{title}: a group has no errors." for title in nothing]))
        remarks: dict[str, list[str]] = {}
        for q in self.quantities:
            for note in filter(None, q.note.split("; ")):
                remarks.setdefault(note, []).append(f"{q.name} at {q.at}: {visible(q.group or 'all')}")
        return Chapter("Vectors", self.summary().splitlines(), sections, self.settings, self.to_json(), remarks)

    def _of_groups(self, levels: Sequence[float]) -> Section:
        from .plots import draw_roc_panels

        figure = draw_roc_panels(self.roc, self.group_roc)
        alt = "A small plot of each group's FNMR over the FMR of all pairs, with its band. The table below has numbers."
        caption = "Each group (blue) with its interval and band, before all pairs (grey)."
        rows = []
        for group in (None, *self.groups):
            found = [
                next(q for q in self.quantities if (q.name, q.group, q.at) == (name, group, at_fmr(level)))
                for name in ("fnmr", "fmr") if group is not None or name == "fnmr"
                for level in levels
            ]  # fmt: skip
            cells = [_rate(q) + ("*" if FEW in q.note else "") for q in found]
            cells += ["–"] * (len(levels) if group is None else 0)
            rows.append([visible(group or "all"), f"{found[0].n_comparisons or 0:,}", *cells])
        columns = ["Group", "Mated pairs"]
        columns += [f"{name} at FMR {per_cent(level)} of all" for name in ("FNMR", "FMR inside") for level in levels]
        level = f"{100 * self.roc.confidence_level:g} %"
        table = Table(f"Rates of groups at the same thresholds, with {level} intervals; * {FEW}", columns, rows)
        return Section("Rates of groups", (), [Picture(svg_of(figure), alt, caption)], [table])


def bands_of(
    embeddings: Embeddings,
    fmr: ArrayLike,
    measures: Sequence[str] = (),
    *,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
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
    settings : BandSettings
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
    named = measures or (DEFAULT_MEASURES if len(groups) > 1 else ())
    names = [measure_name(name, at_any_threshold()) for name in named]
    asked = [(name, rate) for name in names for rate in _rates_of(name)]
    needs_average = [check_measure(name, rate) for name, rate in asked]
    request = BandRequest.checked(embeddings, settings, options)

    def made(found: RatesOverLevels) -> Bands:
        n = embeddings.n_nonmated
        thresholds = [
            Quantity(
                "threshold", None, point, x, method=request.method, n_comparisons=n, note=_few(int(point.value * n))
            )
            for point, x in zip(found.points, found.estimate.threshold.tolist(), strict=True)
        ]
        columns = [curve_by_quantiles(found, thresholds, lambda rates: rates.threshold)[0]]
        of_groups = [(1 + k, group) for k, group in enumerate(groups)]
        rocs: dict[str | None, RocBand] = {}
        for rate, rows in (("fnmr", [(0, None), *of_groups]), ("fmr", of_groups)):
            for row, group in rows:
                quantities, value, curve = rate_curve(found, rate, row, group)
                if rate == "fnmr":
                    rocs[group] = RocBand(fnmr=value, **curve)
                columns.append([_with_few(q) for q in quantities])
        fairness = []
        for name, rate in asked:
            quantities, band = measure_curve(found, groups, name, rate)
            fairness.append(band)
            n_each = len(quantities) // found.levels.size
            columns += [quantities[k::n_each] for k in range(n_each)]
        return Bands(
            quantities=tuple(quantity for at_level in zip(*columns, strict=True) for quantity in at_level),
            roc=rocs[None],
            group_roc={group: rocs[group] for group in groups},
            fairness=tuple(fairness),
            groups=groups,
            settings={
                "fmr": found.levels.tolist(),
                "measures": list(names),
                **{name: getattr(request, name) for name in _SETTINGS},
            },
            description=repr(embeddings),
            left_out=embeddings.left_out,
        )

    bands = over_levels(embeddings, fmr, request, made, with_groups=True, with_overall_fmr=any(needs_average))
    if any(FAIR_OUTSIDE in band.note for band in bands.fairness):
        warn(f"fairness measures: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    return bands


def _rate(quantity: Quantity) -> str:
    return rate_with_interval(quantity.estimate, quantity.low, quantity.high)


def _with_few(quantity: BandQuantity) -> BandQuantity:
    """Note that few errors are behind a rate."""
    few = _few(quantity.n_errors) if quantity.n_comparisons and quantity.n_errors is not None else ""
    return replace(quantity, note="; ".join(filter(None, (few, quantity.note))))


def _few(n_errors: int) -> str:
    return FEW if n_errors < ENOUGH_ERRORS else ""


def _rates_of(measure: str) -> tuple[str, ...]:
    """Return the rates that a measure of one rate is computed for; a single entry for a measure of both."""
    facts = MEASURES[measure]
    return tuple(rate for rate in ERROR_RATES if rate in facts.of) or ERROR_RATES[:1]
