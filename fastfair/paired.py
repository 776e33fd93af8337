"""`compare`: two systems on the same comparisons, with the same replicates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _frames, _matching, _random, _validation, intervals
from ._measuring import measure_of
from .comparisons import Comparisons
from .errors import InputError
from .evaluation import evaluate
from .evaluation_result import Evaluation
from .operating_points import OperatingPoint, at_fmr
from .quantities import HELD, Group, Quantity, TakenAt, columns_of, find, records, write_json

Floats = NDArray[np.float64]
_LOWER_IS_BETTER = ("fmr", "fnmr", "fmr_matrix", "eer", "min_dcf", "cllr", "min_cllr")


@dataclass(frozen=True)
class Contrast(TakenAt):
    """One quantity of two systems, and how they differ.

    Attributes
    ----------
    name, group, at, probe_group
        As in `Quantity`.
    first, second : float
        The two estimates.
    difference, low, high : float
        First minus second, with its interval; NaN where not computable.
    pvalue : float
        Two-sided, of no difference.
    pvalue_adjusted : float
        The same after Holm's adjustment for the groups that the quantity has.
    ratio, ratio_low, ratio_high : float
        First divided by second, with its interval.
    not_computable : float
        Share of replicates in which the difference was not computable.
    verdict : str
        "first" or "second", whichever is fairer (measures) or has the lower error (rates, EER, costs), where the
        interval says so; "undecided"; empty where neither way is better.
    note : str
        What to beware of.
    """

    name: str
    group: str | None
    at: OperatingPoint | None
    first: float
    second: float
    difference: float
    low: float
    high: float
    pvalue: float
    pvalue_adjusted: float
    ratio: float
    ratio_low: float
    ratio_high: float
    not_computable: float
    verdict: str
    note: str = ""
    probe_group: str | None = None


@dataclass(frozen=True, eq=False)
class PairedEvaluation:
    """What `compare` found, one contrast a row.

    Attributes
    ----------
    contrasts : tuple of Contrast
        In the order of the evaluations.
    first, second : Evaluation
        The two systems, with the same replicates.
    settings : dict
        What was asked.
    """

    contrasts: tuple[Contrast, ...]
    first: Evaluation
    second: Evaluation
    settings: dict[str, Any] = field(repr=False)

    def contrast(self, name: str, group: Group = None, at: OperatingPoint | None = None) -> Contrast:
        """Return one contrast.

        Parameters
        ----------
        name, group, at
            As in `Evaluation.quantity`.

        Returns
        -------
        Contrast

        Raises
        ------
        InputError
            Where there is no such contrast, or several.

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> mated = [1] * 6 + [0] * 6
        >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
        >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
        >>> ff.compare(bad, good, rng=0).contrast("eer").difference
        0.3333333333333333
        """
        return find(self.contrasts, name, group, at)

    def with_intervals(self, confidence_level: float | None = None, method: str | None = None) -> PairedEvaluation:
        """Make other intervals of the same replicates.

        Parameters
        ----------
        confidence_level : float, optional
            As in `compare`; by default as it was.
        method : str, optional
            As in `compare`; by default as it was.

        Returns
        -------
        PairedEvaluation

        Raises
        ------
        InputError
            For an unknown method and a level outside (0, 1).

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> ff.compare(c, c, rng=0).with_intervals(0.5).contrast("fnmr").low
        0.0
        """
        level = intervals.level(self.settings["confidence_level"] if confidence_level is None else confidence_level)
        method = _validation.choice(
            "method", self.settings["method"] if method is None else method, intervals.METHODS_FOR_ANYTHING
        )
        first, second = (evaluation.with_intervals(level, method) for evaluation in (self.first, self.second))
        settings = self.settings | {"confidence_level": level, "method": method}
        return PairedEvaluation(_contrasts(first, second, level, method), first, second, settings)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row a contrast, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            Columns as the attributes of `Contrast`.

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> ff.compare(c, c, rng=0).to_frame("polars").columns[3:6]
        ['first', 'second', 'difference']
        """
        return _frames.build(columns_of(self.contrasts), backend)

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything as JSON.

        Parameters
        ----------
        path : path, optional
            A file to write to as well.

        Returns
        -------
        str
            Strict JSON: what is not computable is null.

        Examples
        --------
        >>> import fastfair as ff
        >>> import json
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> json.loads(ff.compare(c, c, rng=0).to_json())["contrasts"][0]["name"]
        'fnmr'
        """
        content = {
            "descriptions": [self.first.description, self.second.description],
            "settings": self.settings,
            "thresholds": [evaluation.settings["thresholds"] for evaluation in (self.first, self.second)],
            "contrasts": records(columns_of(self.contrasts)),
        }
        return write_json(content, path)

    def __repr__(self) -> str:
        return f"PairedEvaluation({self.first.description} against {self.second.description})"


def compare(
    first: Comparisons,
    second: Comparisons,
    at: OperatingPoint | Sequence[OperatingPoint] = (at_fmr(1e-3),),  # noqa: B008 - frozen
    measures: str | Sequence[str] = "all",
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    method: str = "percentile",
    rng: _random.Seed = None,
    **options: Any,
) -> PairedEvaluation:
    """Compare two systems that scored the same comparisons, replicate by replicate.

    Parameters
    ----------
    first, second : Comparisons
        The same comparisons, in any order, matched by reference and probe: samples where both have them, else
        subjects. Scores may be on different scales.
    at : OperatingPoint or sequence of OperatingPoint
        As in `evaluate`; each system has its own threshold.
    measures : "all" or sequence of str
        As in `evaluate`.
    n_resamples : int, default 2000
        Replicates, the same for both systems.
    confidence_level : float, default 0.95
        In (0, 1).
    method : {"percentile", "basic", "normal", "bca"}
        How intervals of differences and ratios are made.
    rng : None, int, SeedSequence or Generator
        Seed.
    options
        Further keyword arguments of `evaluate`.

    Returns
    -------
    PairedEvaluation
        Differences and ratios of every quantity but thresholds and held rates, with intervals and p-values.

    Raises
    ------
    InputError
        Where the comparisons or the groups are not the same, and as `evaluate` does.

    Notes
    -----
    A difference varies less than its parts, as what is hard for one system is often hard for the other. The p-values
    are those of `intervals.bootstrap_pvalue`; over groups they are adjusted by Holm's procedure, one family for each
    quantity and operating point.

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> mated = [1] * 6 + [0] * 6
    >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> found = ff.compare(bad, good, at=ff.at_fmr(0.1), rng=0).contrast("fnmr")
    >>> found.first, found.second, found.difference
    (0.5, 0.0, 0.5)
    """
    if _validation.count("n_resamples", n_resamples) < 2:
        raise InputError("compare needs replicates: n_resamples must be at least 2")
    _validation.choice("method", method, intervals.METHODS_FOR_ANYTHING)
    seed = _random.fixed(rng)
    second = _matching.match(first, second, one_by_one=options.get("unit") == "comparison")
    options |= {"n_resamples": n_resamples, "confidence_level": confidence_level, "method": method, "rng": seed}
    one, other = (evaluate(system, at, measures, **options) for system in (first, second))
    settings = {name: value for name, value in one.settings.items() if name not in ("thresholds", "score_kind")}
    settings["score_kinds"] = [first.score_kind, second.score_kind]
    found = _contrasts(one, other, settings["confidence_level"], method)
    return PairedEvaluation(found, one, other, settings)


def _contrasts(first: Evaluation, second: Evaluation, level: float, method: str) -> tuple[Contrast, ...]:
    rows = [
        k
        for k, (one, other) in enumerate(zip(first.quantities, second.quantities, strict=True))
        if one.name != "threshold" and HELD not in one.note and one.key == other.key
    ]
    pair = [first, second]
    estimates = np.array([[evaluation.quantities[k].estimate for k in rows] for evaluation in pair])
    sets = [_need(evaluation).replicates[rows] for evaluation in pair]
    left_out = [_need(evaluation).left_out()[rows] for evaluation in pair] if method == "bca" else None
    limits, replicates = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for combine in (np.subtract, np.divide):
            drawn = combine(*sets)
            drawn[~np.isfinite(sets).all(axis=0)] = np.nan  # nothing is known of infinity minus infinity
            jackknife = None if left_out is None else combine(*left_out)
            low, high = intervals.confidence_interval(drawn, combine(*estimates), level, method, jackknife=jackknife)
            limits.append((low, high))
            replicates.append(drawn)
        differences, ratios = estimates[0] - estimates[1], estimates[0] / estimates[1]
    pvalues = intervals.bootstrap_pvalue(replicates[0])
    better = _better(first.quantities, rows, estimates, sets, level, method, left_out)
    not_computable = np.isnan(replicates[0]).mean(axis=1)
    contrasts = []
    for n, k in enumerate(rows):
        one, other = first.quantities[k], second.quantities[k]
        known = bool(np.isfinite(differences[n]))
        unknown = math.nan
        notes = dict.fromkeys(note for quantity in (one, other) for note in quantity.note.split("; ") if note)
        contrasts.append(
            Contrast(
                one.name,
                one.group,
                one.at,
                one.estimate,
                other.estimate,
                float(differences[n]) if np.isfinite(differences[n]) else unknown,
                float(limits[0][0][n]) if known else unknown,
                float(limits[0][1][n]) if known else unknown,
                float(pvalues[n]) if known else unknown,
                float(pvalues[n]) if known else unknown,
                float(ratios[n]),
                float(limits[1][0][n]) if known and np.isfinite(ratios[n]) else unknown,
                float(limits[1][1][n]) if known and np.isfinite(ratios[n]) else unknown,
                float(not_computable[n]),
                better[n] if known else "",
                "; ".join(notes),
                one.probe_group,
            )
        )
    return _adjusted(contrasts)


def _adjusted(contrasts: list[Contrast]) -> tuple[Contrast, ...]:
    """Adjust the p-values of groups, one family a quantity and operating point."""
    families: dict[Any, list[int]] = {}
    for n, contrast in enumerate(contrasts):
        if contrast.group is not None:
            families.setdefault((contrast.name, contrast.at), []).append(n)
    for family in families.values():
        adjusted = intervals.holm([contrasts[n].pvalue for n in family])
        for n, pvalue in zip(family, adjusted, strict=True):
            contrasts[n] = replace(contrasts[n], pvalue_adjusted=float(pvalue))
    return tuple(contrasts)


def _better(
    quantities: Sequence[Quantity],
    rows: Sequence[int],
    estimates: Floats,
    sets: Sequence[Floats],
    level: float,
    method: str,
    left_out: Sequence[Floats] | None,
) -> list[str]:
    """Say which system is better where the interval of the difference in what counts as worse excludes zero."""
    badness = []
    for k in rows:
        measure = measure_of(quantities[k].name)
        fairest = measure.fairest if measure is not None else 0.0
        kind = measure.fairer if measure is not None else "lower" if quantities[k].name in _LOWER_IS_BETTER else None
        badness.append((kind, fairest))

    def worse(values: Floats) -> Floats:
        found = np.full(values.shape, np.nan)
        for row, (value, (kind, fairest)) in enumerate(zip(values, badness, strict=True)):
            if kind is not None:
                found[row] = np.abs(value - fairest) if kind == "nearer" else value if kind == "lower" else -value
        return found

    with np.errstate(invalid="ignore"):
        drawn = worse(sets[0]) - worse(sets[1])
        difference = worse(estimates[0]) - worse(estimates[1])
        jackknife = None if left_out is None else worse(left_out[0]) - worse(left_out[1])
    low, high = intervals.confidence_interval(drawn, difference, level, method, jackknife=jackknife)
    verdicts = []
    for n, (kind, _) in enumerate(badness):
        if kind is None:
            verdicts.append("")
        else:
            verdicts.append("second" if low[n] > 0 else "first" if high[n] < 0 else "undecided")
    return verdicts


def _need(evaluation: Evaluation) -> Any:
    assert evaluation.uncertainty is not None
    return evaluation.uncertainty
