"""What is drawn of comparisons: DET curves and distributions of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BINS = 60


@dataclass(frozen=True)
class DetCurve:
    """Points of a DET curve, with lines between them that are off by less than one sees.

    Attributes
    ----------
    n_mated, n_nonmated : int
        Numbers of comparisons.
    false_matches, false_nonmatches : (points,) ndarray of int64
        Numbers of errors where neither rate is 0 or 1; empty where there is no such threshold.
    """

    n_mated: int
    n_nonmated: int
    false_matches: Integers
    false_nonmatches: Integers

    @property
    def deviates(self) -> tuple[Floats, Floats]:
        """(points,) FMR and FNMR as normal deviates."""
        return ndtri(self.false_matches / self.n_nonmated), ndtri(self.false_nonmatches / self.n_mated)


@dataclass(frozen=True)
class Distributions:
    """Distributions of mated and of non-mated scores.

    Attributes
    ----------
    bins : (2, bins) ndarray of int64
        Numbers of mated and of non-mated scores between the edges; the bins at the ends gather what lies beyond.
    quantiles : tuple of tuple of float
        Of mated and of non-mated scores, from low to high; empty without scores.
    """

    bins: Integers
    quantiles: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Traces:
    """All that a page draws of comparisons, by group; None is all comparisons.

    Attributes
    ----------
    score_kind : str
        As that of `Comparisons`.
    edges : (bins + 1,) ndarray
        Edges of the histograms, on the scale of the scores.
    curves, distributions : mapping
        For each group.
    """

    score_kind: str
    edges: Floats
    curves: dict[str | None, DetCurve]
    distributions: dict[str | None, Distributions]
