"""Rules that decide on the claims of paper 5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import BandSettings
from papers.verdict_rules import Outcome

# What the paper draws with replacement, images of the same people, and its intervals.
OF_PAPER: dict[str, Any] = {"unit": "sample", "settings": BandSettings("recentered")}
ENOUGH_ERRORS = 30  # Doddington's rule of 30: fewer errors than that say little about a rate
SLACK = 0.03  # of coverages, beside chance: three points
ENOUGH_DATASETS = 400  # two binomial standard errors are then five points at most


def judged(share: float, holds: float, part: float) -> Outcome:
    """Judge a claim by the share of cases in which it is true."""
    if np.isnan(share):
        return "open"
    return "holds" if share >= holds else "in part" if share >= part else "fails"


def chance(nominal: ArrayLike, n_datasets: int) -> NDArray[np.float64]:
    """Return two binomial standard errors of a coverage."""
    p = np.asarray(nominal, np.float64)
    return np.asarray(2 * np.sqrt(p * (1 - p) / n_datasets))


def near(
    coverage: ArrayLike, reference: ArrayLike, nominal: ArrayLike, n_datasets: int
) -> NDArray[np.bool_]:
    """Tell the coverages within three points and two binomial standard errors of others."""
    distance = np.abs(np.asarray(coverage, np.float64) - np.asarray(reference, np.float64))
    return np.asarray(distance <= SLACK + chance(nominal, n_datasets))


def settled(outcome: Outcome, n_datasets: int) -> Outcome:
    """Leave open what holds only because data sets are too few for a miss to show."""
    return "open" if outcome == "holds" and n_datasets < ENOUGH_DATASETS else outcome
