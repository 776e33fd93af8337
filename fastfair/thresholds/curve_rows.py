"""Rows of curves over thresholds: a rate at one, and the error that the threshold of other data leads to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RateAtThreshold:
    """An error rate at a threshold.

    Attributes
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    group : str or None
        The group; None for all comparisons.
    threshold : float
        The threshold, on the scale of the scores.
    estimate, low, high : float
        The rate with its interval; NaN where there is none, and `note` says why.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    note : str
        Warnings for the reader.
    """

    name: str
    group: str | None
    threshold: float
    estimate: float
    low: float
    high: float
    n_comparisons: int
    n_errors: int
    note: str = ""


@dataclass(frozen=True)
class ExpectedError:
    """The half total error rate at the threshold that costs least on development data.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    weight : float
        The weight of false matches in the cost.
    threshold : float
        The threshold found on development data.
    estimate, low, high : float
        The mean of FMR and FNMR in the evaluation data, with its interval.
    fmr, fnmr : float
        The two rates.
    cost : float
        The least cost on development data, ``weight * FMR + (1 - weight) * FNMR``.
    note : str
        Warnings for the reader.
    """

    group: str | None
    weight: float
    threshold: float
    estimate: float
    low: float
    high: float
    fmr: float
    fnmr: float
    cost: float
    note: str = ""
