"""Rates of values of one attribute in strata of others, and what contradicts what, from counts of cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import validation

from .cells import Cells, Floats
from .contrasts import Estimate, estimate, of_function
from .designs import DIFFERENT
from .fitting import Fit, fit

ENOUGH_ERRORS = 10  # of two values in a stratum, for their order to count
_PAIRS_OF_LIMIT = 5  # of subjects that err, where the variance stands for that of a rate without errors


@dataclass(frozen=True)
class StratifiedRate:
    """A rate of errors of one value of an attribute.

    Attributes
    ----------
    value : str
        The value, which of non-mated comparisons both sides have.
    stratum : str or None
        The stratum; None for all comparisons of the value.
    standardised : bool
        Whether it is the mean over strata with the mix that all values share.
    estimate, low, high : float
        The rate and its interval.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    note : str
        Warnings for the reader.
    """

    value: str
    stratum: str | None
    standardised: bool
    estimate: float
    low: float
    high: float
    n_comparisons: int
    n_errors: int
    note: str = ""


@dataclass(frozen=True)
class StratifiedDifference:
    """How the rates of two values of an attribute compare, in the margin and within strata of others.

    Attributes
    ----------
    by, strata : str
        The attribute, and those that make the strata.
    value, baseline : str
        The two values.
    margin_ratio, margin_low, margin_high : float
        The rate of the value over that of the baseline, each of all of its comparisons, and its interval.
    margin_pvalue : float
        The p-value of the two being alike, adjusted for the number of pairs of values by Holm's procedure.
    ratio, low, high, pvalue : float
        The same of standardised rates.
    higher_in, lower_in : tuple of str
        Strata in which the rate of the value is higher, and lower.
    contradicts : bool
        Whether margin and strata say different things: the ratio in the margin is outside the interval of that of
        standardised rates, and either only one of them tells detectably which rate is higher (or they tell the
        opposite), or the order in the margin is the opposite of that in every stratum with errors enough.
    """

    by: str
    strata: str
    value: str
    baseline: str
    margin_ratio: float
    margin_low: float
    margin_high: float
    margin_pvalue: float
    ratio: float
    low: float
    high: float
    pvalue: float
    higher_in: tuple[str, ...]
    lower_in: tuple[str, ...]
    contradicts: bool


def in_words(one: StratifiedDifference, rate: str) -> str:
    """Say how two rates compare."""
    n = len(one.higher_in) + len(one.lower_in)
    return (
        f"{rate.upper()} of {one.value} over that of {one.baseline}: {one.margin_ratio:.3g} overall "
        f"[{one.margin_low:.3g}, {one.margin_high:.3g}], but {one.ratio:.3g} with the same mix of {one.strata} "
        f"[{one.low:.3g}, {one.high:.3g}]; it is higher in {len(one.higher_in)} and lower in "
        f"{len(one.lower_in)} of {n} strata"
    )


@dataclass(frozen=True, eq=False)
class Stratification:
    """Cells of one attribute and others that make strata, with fits of a rate for each value and stratum.

    Attributes
    ----------
    by, strata : str
        The attribute, and those that make the strata.
    cells : Cells
        Those in which both sides have the same value.
    values : tuple of str
        The values of the attribute.
    names : tuple of str
        The strata.
    value, stratum : (cells,) ndarray of int
        The value and the stratum of each cell.
    n, errors : (values, strata) ndarray of int
        Numbers of comparisons and of errors.
    mix : (strata,) ndarray
        The share of each stratum; 0 for those in which some value has no comparisons.
    """

    by: str
    strata: str
    cells: Cells
    values: tuple[str, ...]
    names: tuple[str, ...]
    value: NDArray[np.intp]
    stratum: NDArray[np.intp]
    n: NDArray[np.int64]
    errors: NDArray[np.int64]
    mix: Floats

    @property
    def left_out(self) -> tuple[str, ...]:
        """The strata in which some value has no comparisons."""
        return tuple(name for name, share in zip(self.names, self.mix, strict=True) if not share)

    def rates(self, level: float) -> list[StratifiedRate]:
        """Return the rates of each value: of all its comparisons, standardised, and in each stratum."""
        margins, inside = self._fits
        rows = []
        for v, value in enumerate(self.values):
            of_value = self.value == v
            n, errors = int(self.n[v].sum()), int(self.errors[v].sum())
            limits = self._limits(_indicator(v, len(self.values)), margins, of_value, level)
            rows.append(StratifiedRate(value, None, False, errors / n, *limits, n, errors))
            shared = self.mix > 0
            rates = self.errors[v, shared] / self.n[v, shared]
            mean, limits, note = math.nan, (math.nan, math.nan), ""
            if shared.any():
                mean = float(rates @ self.mix[shared])
                found = self._standardised(inside, v)
                counted = of_value & shared[self.stratum]
                limits = found.rate_interval(level) if mean else self._upper_limit(counted, level)
                empty = [name for name, e, s in zip(self.names, self.errors[v], shared, strict=True) if s and not e]
                if empty:
                    note = f"no errors in {', '.join(empty)}, so the interval is likely too narrow"
            counts = int(self.n[v, shared].sum()), int(self.errors[v, shared].sum())
            rows.append(StratifiedRate(value, None, True, mean, *limits, *counts, note))
            for s, name in enumerate(self.names):
                n, errors = int(self.n[v, s]), int(self.errors[v, s])
                if n:
                    which = of_value & (self.stratum == s)
                    contrast = _indicator(v * len(self.names) + s, self.n.size)
                    limits = self._limits(contrast, inside, which, level)
                    rows.append(StratifiedRate(value, name, False, errors / n, *limits, n, errors))
        return rows

    def differences(self, level: float) -> list[StratifiedDifference]:
        """Compare each two values."""
        margins, inside = self._fits
        pairs = list(itertools.combinations(range(len(self.values)), 2))
        both = []
        for v, w in pairs:
            margin = _log_ratio(margins, *(_mean_of_one(margins, _indicator(k, len(self.values))) for k in (v, w)))
            within = _log_ratio(inside, *(self._mean(inside, k) for k in (v, w)))
            both.append((margin, within))
        adjusted = [intervals.holm([row[k].pvalue for row in both]) for k in (0, 1)]
        return [
            self._difference(v, w, estimates, (float(p), float(q)), level)
            for (v, w), estimates, p, q in zip(pairs, both, *adjusted, strict=True)
        ]

    def _difference(
        self, v: int, w: int, both: tuple[Estimate, Estimate], pvalues: tuple[float, float], level: float
    ) -> StratifiedDifference:
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = self.errors / self.n
        shared = np.flatnonzero((self.n[v] > 0) & (self.n[w] > 0))
        order = {s: float(np.sign(rates[v, s] - rates[w, s])) for s in shared}
        enough = [order[s] for s in shared if self.errors[v, s] + self.errors[w, s] >= ENOUGH_ERRORS]
        margin = float(np.sign(self.errors[v].sum() / self.n[v].sum() - self.errors[w].sum() / self.n[w].sum()))
        reversed_in_all = len(enough) > 1 and margin != 0 and all(one == -margin for one in enough)
        verdicts = [float(np.sign(one.value)) if p <= 1 - level else 0.0 for one, p in zip(both, pvalues, strict=True)]
        ends = [one.ratio_interval(level) for one in both]
        ratios = [one.exponential for one in both]
        apart = not ends[1][0] <= ratios[0] <= ends[1][1] and not math.isnan(ratios[0] + ratios[1])
        return StratifiedDifference(
            self.by, self.strata, self.values[v], self.values[w],
            ratios[0], *ends[0], pvalues[0], ratios[1], *ends[1], pvalues[1],
            tuple(self.names[s] for s in shared if order[s] > 0), tuple(self.names[s] for s in shared if order[s] < 0),
            bool(apart and (reversed_in_all or verdicts[0] != verdicts[1])),
        )  # fmt: skip

    @cached_property
    def _fits(self) -> tuple[Fit, Fit]:
        """Fit a rate for each value, and one for each value and stratum."""
        codes = self.value, self.value * len(self.names) + self.stratum
        sizes = len(self.values), self.n.size
        return tuple(  # type: ignore[return-value]
            fit(self.cells, np.eye(size)[code]) for code, size in zip(codes, sizes, strict=True)
        )

    def _mean(self, inside: Fit, v: int) -> tuple[float, Floats]:
        """Return the standardised rate of a value, and its gradient."""
        mean, gradient = 0.0, np.zeros(self.n.size)
        for s in np.flatnonzero(self.mix).tolist():
            part, slope = _mean_of_one(inside, _indicator(v * len(self.names) + s, self.n.size))
            if math.isnan(part):  # nothing but errors, or none
                part = float(self.errors[v, s] > 0)
            mean, gradient = mean + self.mix[s] * part, gradient + self.mix[s] * slope
        return mean, gradient

    def _standardised(self, inside: Fit, v: int) -> Estimate:
        mean, gradient = self._mean(inside, v)
        return (
            of_function(inside, math.log(mean / (1 - mean)), gradient / (mean * (1 - mean)))
            if 0 < mean < 1
            else Estimate()
        )

    def _limits(self, contrast: Floats, fitted: Fit, which: NDArray[np.bool_], level: float) -> tuple[float, float]:
        """Return the interval of one rate, whose log odds are a coefficient."""
        found = estimate(fitted, contrast)
        return self._upper_limit(which, level) if math.isnan(found.value) else found.rate_interval(level)

    def _upper_limit(self, which: NDArray[np.bool_], level: float) -> tuple[float, float]:
        """Return the interval of a rate without errors, or with nothing else, whose errors come together by subject.

        The number of comparisons is divided by the design effect at the strictest threshold with a few errors.
        """
        cells = self.cells.only(which)
        n = float(cells.n.sum())
        if cells.errors.any():
            return 0.0, 1.0  # nothing but errors: whoever wants a limit of those may ask for the opposite rate
        laxer = cells.with_errors(_PAIRS_OF_LIMIT)
        one = np.ones((laxer.n.size, 1))
        fitted = fit(laxer, one)
        variance = 0.0 if math.isnan(fitted.value(one[0])) else float(fitted.covariance_of(one[:1])[0, 0])
        if variance > 0:
            chance = float(laxer.errors.sum() / n)
            n = min(n, 1 / (chance * (1 - chance) * variance))
        elif laxer.n_subjects is not None:
            n = min(n, laxer.n_subjects / (2 if laxer.rate == "fmr" else 1))
        return 0.0, intervals.upper_limit_without_errors(max(1.0, n), level)


def stratify(
    cells: Cells, attributes: Sequence[str], by: str, strata: Sequence[str], mix: str = "pooled"
) -> Stratification:
    """Divide cells by the values of one attribute and of others.

    Parameters
    ----------
    cells : Cells
        The cells of some attributes.
    attributes : sequence of str
        These attributes.
    by : str
        The attribute whose values are compared.
    strata : sequence of str
        Those that make the strata. Non-mated comparisons of different strata are one more stratum.
    mix : {"pooled", "equal"}
        What share strata have: of the comparisons of all values together, or all the same.

    Returns
    -------
    Stratification
    """
    a, others = attributes.index(by), [attributes.index(name) for name in strata]
    cells = cells.only(cells.first[:, a] == cells.second[:, a])
    same = (cells.first[:, others] == cells.second[:, others]).all(axis=1)
    labels = [cells.labels[k] for k in others]
    of_cell = [
        validation.INTERSECTION.join(one[k] for one, k in zip(labels, row, strict=True)) if is_same else None
        for row, is_same in zip(cells.first[:, others], same, strict=True)
    ]
    known = sorted({name for name in of_cell if name is not None})
    names = (*known, f"{DIFFERENT} {validation.INTERSECTION.join(strata)}") if not same.all() else tuple(known)
    position = {name: k for k, name in enumerate(known)} | {None: len(known)}
    used, value = np.unique(cells.first[:, a], return_inverse=True)
    stratum = np.array([position[name] for name in of_cell], np.intp)
    n, errors = np.zeros((2, used.size, len(names)), np.int64)
    np.add.at(n, (value, stratum), cells.n)
    np.add.at(errors, (value, stratum), cells.errors)
    shared = (n > 0).all(axis=0)
    weights = np.where(shared, n.sum(axis=0) if mix == "pooled" else 1, 0).astype(np.float64)
    total = weights.sum()
    return Stratification(
        by, validation.INTERSECTION.join(strata), cells, tuple(cells.labels[a][k] for k in used), names,
        value, stratum, n, errors, weights / total if total else weights,
    )  # fmt: skip


def _indicator(k: int, size: int) -> Floats:
    found = np.zeros(size)
    found[k] = 1.0
    return found


def _mean_of_one(fitted: Fit, contrast: Floats) -> tuple[float, Floats]:
    """Return the chance whose log odds are a coefficient, and its gradient."""
    value = fitted.value(contrast)
    if math.isnan(value):
        return math.nan, np.zeros(contrast.size)
    chance = 1 / (1 + math.exp(-value))
    return chance, chance * (1 - chance) * contrast


def _log_ratio(fitted: Fit, one: tuple[float, Floats], other: tuple[float, Floats]) -> Estimate:
    if not (one[0] > 0 and other[0] > 0):
        return Estimate()
    return of_function(fitted, math.log(one[0] / other[0]), one[1] / one[0] - other[1] / other[0])
