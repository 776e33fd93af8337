"""How much data are behind each quantity: degrees of freedom, effective sample sizes, and what one more subject adds.

Degrees of freedom of a rate are the number of units behind it minus the number of strata that they are drawn in. Those
of an FMR are fewer where few subjects cause most of its variance, which is then less certain; and so are those of an
FNMR whose threshold holds such an FMR.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data.class_keys import ClassKeys, NotKeptError, keys_of
from fastfair.error_rates.score_metrics import Costs, least_cost
from fastfair.measures._registry import METRICS
from fastfair.resampling.dependence import ENOUGH_PAIRS, CountModel, typical_attempts
from fastfair.resampling.engine import Resampler

from .entries import Entry
from .few_errors import FewHeldErrors, raised_rate
from .quantities import FITTED, RATES, base_metric_of_ratio

Floats = NDArray[np.float64]
_SIDES = {name: METRICS[name].sides for name in (*RATES, "eer", "act_dcf", *FITTED)}


@dataclass(frozen=True, eq=False)
class SampleSizes:
    """How much data are behind quantities.

    Attributes
    ----------
    degrees_of_freedom : (quantities,) ndarray
        Of rates, costs, and groups' ratios to the average; infinite for others.
    effective : (quantities,) ndarray
        Effective sample sizes of rates and EERs of 0 or 1, and of rates with one to four errors; NaN for others.
    raised : (quantities,) ndarray
        By how much one more subject raises rates of failure, EERs and minDCFs; NaN for others.
    few_held : FewHeldErrors, optional
        The limits of quantities at thresholds that few errors hold.
    places : sequence of int
        The place of each quantity among the entries of `few_held`, -1 for none; of an FRR or FAR, that of the FNMR or
        FMR.
    unit : str
        The units that the data consist of, as in `evaluate`; may be empty.
    count_models : callable, optional
        Estimates how the numbers of errors of groups vary at each operating point.
    """

    degrees_of_freedom: Floats
    effective: Floats
    raised: Floats
    few_held: FewHeldErrors | None = None
    places: Sequence[int] = ()
    unit: str = ""
    count_models: Callable[[], list[dict[str, CountModel]]] | None = None

    @classmethod
    def unknown(cls, n: int) -> SampleSizes:
        """Return those of n quantities of which nothing is known but replicates."""
        return cls(np.full(n, np.inf), np.full(n, np.nan), np.full(n, np.nan))

    @classmethod
    def of(cls, entries: Sequence[Entry], resampler: Resampler, n: int | None = None) -> SampleSizes:
        """Compute those of the first n entries, by default of all; the others hold the thresholds of these."""
        some = slice(n)
        attempts = attempts_of_one_more(entries[some], resampler)
        at_given = degrees_of_freedom(entries, resampler, of_held=False)
        return cls(
            degrees_of_freedom(entries[some], resampler),
            effective_sample_sizes(entries[some], resampler),
            raised_by_one_more(entries[some], attempts, resampler),
            FewHeldErrors(entries, resampler, at_given),
            range(len(entries[some])),
            resampler.units.unit,
            resampler.count_models,
        )

    def followed_by(self, other: SampleSizes) -> SampleSizes:
        """Return these and those of further quantities, whose limits are among `few_held` of these."""
        return replace(
            self,
            degrees_of_freedom=np.append(self.degrees_of_freedom, other.degrees_of_freedom),
            effective=np.append(self.effective, other.effective),
            raised=np.append(self.raised, other.raised),
            places=[*self.places, *other.places],
        )


def degrees_of_freedom(entries: Sequence[Entry], resampler: Resampler, *, of_held: bool = True) -> Floats:
    """Count the degrees of freedom of each rate, EER, minDCF and min Cllr, and of groups' ratios of these, at least 1.

    They are infinite for all other entries, and for all entries where samples are drawn.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        The resampler of the evaluation.
    of_held : bool
        Whether an FNMR has at most the degrees of freedom of the FMR that holds its threshold.

    Returns
    -------
    (entries,) ndarray
    """
    found, units, comparisons = np.full(len(entries), np.inf), resampler.units, resampler.prepared.comparisons
    if units.unit == "sample":
        return found
    alone = units.unit == "comparison"  # drawn in a stratum for each class
    stratum, group_of_subject = units.stratum_of_subject, comparisons.group_of_subject
    n_all = 1 if stratum is None else int(stratum.max()) + 1
    has_some = None  # (groups, strata) whether a group has subjects in a stratum
    if stratum is not None and group_of_subject is not None:
        has_some = np.zeros((len(comparisons.groups), n_all), np.bool_)
        has_some[group_of_subject, stratum] = True
    overall: dict[str, Any] = dict(zip(("mated", "non-mated"), comparisons.subject_counts, strict=True))
    if alone:
        overall = {"mated": len(comparisons.mated), "non-mated": len(comparisons.nonmated)}
    cells: dict[str, Any] = {}
    if comparisons.groups:
        by_group = {"mated": comparisons.mated_by_group, "non-mated": comparisons.nonmated_by_group}
        cells = {side: grouped.cells if alone else grouped.subjects for side, grouped in by_group.items()}
    for k, entry in enumerate(entries):
        cell = entry.cell
        name = base_metric_of_ratio(entry.name) or entry.name
        if name not in _SIDES:
            continue
        size, n_strata = min(overall[side] for side in _SIDES[name]), n_all
        if cell is not None:
            size = min(int(cells[side][cell]) for side in _SIDES[name])
            n_strata = len(set(cell))
            if has_some is not None:
                n_strata = int((has_some[cell[0]] | has_some[cell[1]]).sum())
        found[k] = max(1, size - n_strata)
        if _SIDES[name] == ("non-mated",):
            assert entry.point is not None
            found[k] = max(1, min(found[k], resampler.freedom(entry.point, cell)))
        elif of_held and name == "fnmr" and entry.point is not None and resampler.points[entry.point].rate == "fmr":
            found[k] = max(1, min(found[k], resampler.freedom(entry.point)))
    return found


def effective_sample_sizes(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Compute the effective sample size of rates and EERs of 0 or 1, and of rates with one to four errors.

    So few errors have no design effect of their own: it is that of a laxer threshold. An EER of 0 means that both rates
    are 0 at the thresholds between all non-mated and all mated scores. It cannot lie above the larger of the two upper
    limits there, which is that of the smaller number.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        The resampler of the evaluation.

    Returns
    -------
    (entries,) ndarray
        Numbers of comparisons; NaN for other entries.
    """
    count = cache(resampler.effective_sample_size)
    found = np.full(len(entries), np.nan)
    for k, entry in enumerate(entries):
        cell = entry.cell
        if entry.name not in (*RATES, "eer"):
            continue
        held = cell is None and entry.point is not None and resampler.points[entry.point].rate == entry.name
        few = not held and entry.name in RATES and 0 < entry.value < 1
        if few:
            few = round(float(entry.value) * resampler.n_comparisons(entry.name == "fnmr", cell)) < ENOUGH_PAIRS
        if few or entry.value in (0, 1):
            found[k] = min(count(side == "mated", cell, bool(entry.value == 1)) for side in _SIDES[entry.name])
    return found


def attempts_of_one_more(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Compute how many attempts one more subject has for each FNMR, EER and minDCF.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        Its resampler.

    Returns
    -------
    (entries,) ndarray
        NaN for other entries, and where the units drawn are not subjects.
    """
    found, prepared = np.full(len(entries), np.nan), resampler.prepared
    if resampler.units.unit != "subject":
        return found
    lists, n_points = prepared.y, prepared.thresholds.size
    errors = np.zeros((n_points + 2, lists.end.size), np.int64)
    errors[:n_points] = lists.count_errors(np.repeat(prepared.thresholds[:, None], lists.end.size, axis=1))
    for row, keys in ((n_points, prepared.eer_keys), (n_points + 1, prepared.cost_keys)):
        errors[row, : keys.size] = lists.count_errors(keys)
    attempts = typical_attempts(lists.variances(errors)[1], lists.sizes, errors)
    places = {"eer": n_points, "min_dcf": n_points + 1}
    for row, entry in enumerate(entries):
        if entry.name in ("fnmr", *places):
            at = places.get(entry.name, entry.point)
            found[row] = attempts[at, 0 if entry.cell is None else 1 + entry.cell[0]]
    return found


def raised_by_one_more(entries: Sequence[Entry], attempts: Floats, resampler: Resampler) -> Floats:
    """Compute by how much one more subject raises each FNMR, EER and minDCF that rests on failures.

    Parameters
    ----------
    entries, resampler
        As `attempts_of_one_more` takes them.
    attempts : (entries,) ndarray
        As it returns them.

    Returns
    -------
    (entries,) ndarray
        NaN for other entries.
    """
    found, comparisons = np.full(len(entries), np.nan), resampler.prepared.comparisons
    for row, (entry, more) in enumerate(zip(entries, attempts.tolist(), strict=True)):
        value = float(entry.value)
        if math.isnan(more) or not value > 0:
            continue
        keys = keys_of(comparisons, None if entry.cell is None else entry.cell[0])
        if entry.name == "fnmr":
            found[row] = raised_rate(value, keys.sizes[0], more)
        elif entry.name == "eer":
            found[row] = _of_equal_error(value, keys, more)
        else:
            found[row] = _of_least_cost(value, resampler.prepared.costs, keys, more)
    return found


def _of_equal_error(value: float, keys: ClassKeys, attempts: float) -> float:
    """Return by how much an EER is raised: by less than the FNMR at its threshold, as the new one is laxer."""
    raised = _crossing(keys, attempts) - _crossing(keys, 0.0)
    return raised_rate(value, keys.sizes[0], attempts) if math.isnan(raised) else max(0.0, raised)


def _crossing(keys: ClassKeys, attempts: float) -> float:
    """Return the rate at which FMR and FNMR cross with so many attempts more, half of which fail; NaN if not kept."""
    m, n = keys.sizes

    def rates(key: int) -> tuple[float, float]:
        below = int(np.searchsorted(keys.mated, key)), int(np.searchsorted(keys.nonmated, key))
        return (keys.nonmated.size - below[1]) / n, (below[0] + attempts / 2) / (m + attempts)

    low, high = int(min(keys.mated[0], keys.nonmated[0])), int(max(keys.mated[-1], keys.nonmated[-1])) + 1
    if keys.limits is not None:
        low, high = max(low, keys.limits[0]), min(high, keys.limits[1])
        fmr, fnmr = rates(low)
        if fmr < fnmr:
            return math.nan
    while low < high:
        middle = (low + high) // 2
        fmr, fnmr = rates(middle)
        low, high = (low, middle) if fmr <= fnmr else (middle + 1, high)
    return sum(rates(low)) / 2


def _of_least_cost(value: float, costs: Costs, keys: ClassKeys, attempts: float) -> float:
    """Return by how much a minDCF is raised: the FNMR behind it is less than that at another threshold."""
    n = keys.sizes[0]
    of_half = costs.miss * attempts / 2 / (n + attempts) / costs.unit
    try:
        return max(0.0, least_cost(costs, keys, miss=costs.miss * n / (n + attempts))[0] + of_half - value)
    except NotKeptError:
        return of_half
