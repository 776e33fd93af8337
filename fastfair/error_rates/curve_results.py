"""Results of `roc`, `det`, `eer`, `act_dcf`, `min_dcf` and `rates`, with the counts behind rates; none can change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.text import typed
from fastfair.errors import visible

from .operating_points import OperatingPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.floating[Any]]
Counts = NDArray[np.int64]
ErrorRate = Literal["fmr", "fnmr"]
ERROR_RATES: tuple[Any, ...] = get_args(ErrorRate)


@dataclass(frozen=True, eq=False)
class Roc:
    """Error rates at every distinct score, in ascending order of similarity.

    Attributes
    ----------
    threshold : (p,) ndarray of float
        Every distinct score, and last the next float beyond the most similar one, at which nothing is accepted.
    fmr, fnmr : (p,) ndarray of float
        False match rate at each threshold, falling to 0; false non-match rate, rising to 1.
    """

    threshold: Floats
    fmr: NDArray[np.float64]
    fnmr: NDArray[np.float64]

    def __len__(self) -> int:
        return self.threshold.size

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw FNMR over FMR, with FMR on a logarithmic axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_roc

        return draw_roc(self.fmr, self.fnmr, ax, **kwargs)


@dataclass(frozen=True, eq=False)
class Det:
    """A detection error trade-off curve: error rates and their normal deviates, the coordinates of a DET plot.

    Attributes
    ----------
    threshold, fmr, fnmr : (p,) ndarray of float
        As in `Roc`.
    fmr_deviate, fnmr_deviate : (p,) ndarray of float
        Standard normal quantiles of the rates; infinite at rates of 0 and 1.
    """

    threshold: Floats
    fmr: NDArray[np.float64]
    fnmr: NDArray[np.float64]
    fmr_deviate: NDArray[np.float64]
    fnmr_deviate: NDArray[np.float64]

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the curve on probit axes labelled in per cent.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_det

        return draw_det(self.fmr, self.fnmr, ax, **kwargs)


@dataclass(frozen=True)
class Eer:
    """An equal error rate.

    Attributes
    ----------
    value : float
        The equal error rate, a fraction.
    threshold : float
        The threshold that has this rate, on the scale of the scores; NaN for "convex-hull", which mixes two thresholds.
    method : str
        The method of `eer` that was used.
    """

    value: float
    threshold: float
    method: str


@dataclass(frozen=True)
class ActDcf:
    """An actual detection cost.

    Attributes
    ----------
    value : float
        The cost.
    threshold : float
        The Bayes threshold: comparisons are accepted whose log-likelihood ratio is at least so large.
    fmr, fnmr : float
        The error rates there.
    """

    value: float
    threshold: float
    fmr: float
    fnmr: float


@dataclass(frozen=True)
class MinDcf:
    """A minimum detection cost.

    Attributes
    ----------
    value : float
        The minimum cost.
    threshold : float
        The lowest similarity threshold, or the highest distance threshold, that reaches it.
    """

    value: float
    threshold: float


@dataclass(frozen=True, eq=False)
class RateCounts:
    """The numbers of comparisons, errors and distinct subjects behind error rates.

    Attributes
    ----------
    mated, nonmated : int
        Number of all comparisons, including those between groups.
    false_nonmatches, false_matches : int
        Number of errors among them.
    mated_subjects, nonmated_subjects : int or None
        Number of distinct subjects among references and probes; None where subjects are not known.
    group_mated, group_nonmated, group_false_nonmatches, group_false_matches : (g,) ndarray of int
        The same numbers for each group, counting comparisons whose reference and probe are both in it.
    group_mated_subjects, group_nonmated_subjects : (g,) ndarray of int or None
        Number of distinct subjects in these comparisons.
    matrix_nonmated, matrix_false_matches : (g, g) ndarray of int
        Non-mated comparisons and false matches by group of reference (rows) and group of probe (columns).
    matrix_subjects : (g, g) ndarray of int or None
        Number of distinct subjects, references and probes together, in each cell.
    """

    mated: int
    nonmated: int
    false_nonmatches: int
    false_matches: int
    mated_subjects: int | None
    nonmated_subjects: int | None
    group_mated: Counts
    group_nonmated: Counts
    group_false_nonmatches: Counts
    group_false_matches: Counts
    group_mated_subjects: Counts | None
    group_nonmated_subjects: Counts | None
    matrix_nonmated: Counts
    matrix_false_matches: Counts
    matrix_subjects: Counts | None


def counts_behind(counts: RateCounts, mated: bool, cell: tuple[int, int] | None = None) -> tuple[int, int, int | None]:
    """Return the numbers of comparisons, errors and subjects behind a rate, of all or of a cell of groups."""
    names: tuple[str, ...] = ("nonmated", "false_matches", "nonmated_subjects")
    at: tuple[int, ...] | None = cell
    if cell is not None and cell[0] != cell[1]:
        names = "matrix_nonmated", "matrix_false_matches", "matrix_subjects"
    else:
        names = ("mated", "false_nonmatches", "mated_subjects") if mated else names
        if cell is not None:
            names, at = tuple(f"group_{name}" for name in names), cell[:1]
    found = [getattr(counts, name) for name in names]
    size, errors, subjects = (None if one is None else int(one if at is None else one[at]) for one in found)
    assert size is not None
    assert errors is not None
    return size, errors, subjects


@dataclass(frozen=True, eq=False)
class Rates:
    """Error rates at one threshold.

    Attributes
    ----------
    at : OperatingPoint
        The operating point that fixed the threshold.
    threshold : float
        Similarities >= it, or distances <= it, are accepted.
    fmr, fnmr : float
        Overall rates, of all comparisons.
    groups : tuple of str
        The groups; empty where the comparisons have none.
    group_fmr, group_fnmr : (g,) ndarray of float
        Rates of the comparisons whose reference and probe are both in the group; NaN without such comparisons.
    fmr_matrix : (g, g) ndarray of float
        False match rate by group of reference (rows) and group of probe (columns); NaN without such comparisons.
    counts : RateCounts
        Numbers of comparisons, errors and subjects behind each rate.
    below_resolution : bool
        Whether the operating point fixes a rate so low that it amounts to fewer than 30 errors in these comparisons.
    few_false_matches, few_false_nonmatches : (g,) ndarray of bool
        Groups whose FMR, or FNMR, rests on fewer than 30 errors (Doddington's rule of 30).
    """

    at: OperatingPoint
    threshold: float
    fmr: float
    fnmr: float
    groups: tuple[str, ...]
    group_fmr: NDArray[np.float64]
    group_fnmr: NDArray[np.float64]
    fmr_matrix: NDArray[np.float64]
    counts: RateCounts
    below_resolution: bool

    @property
    def few_false_matches(self) -> NDArray[np.bool_]:
        """(g,) groups whose FMR rests on fewer than 30 errors (Doddington's rule of 30)."""
        return self.counts.group_false_matches < 30

    @property
    def few_false_nonmatches(self) -> NDArray[np.bool_]:
        """(g,) groups whose FNMR rests on fewer than 30 errors (Doddington's rule of 30)."""
        return self.counts.group_false_nonmatches < 30

    def __repr__(self) -> str:
        def written(fmr: float, fnmr: float) -> str:
            rates = zip(("FMR", "FNMR"), (fmr, fnmr), strict=True)
            return ", ".join(f"no {name}" if math.isnan(rate) else f"{name} {rate:.6g}" for name, rate in rates)

        lines = [f"Rates at {self.at}: threshold {typed(self.threshold)}, {written(self.fmr, self.fnmr)}"]
        for group, fmr, fnmr in zip(self.groups, self.group_fmr, self.group_fnmr, strict=True):
            lines.append(f"  {visible(group)}: {written(fmr, fnmr)}")
        return "\n".join(lines)
