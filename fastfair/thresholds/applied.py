"""`AppliedRate`: an error rate at a threshold that was found on other data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AppliedRate:
    """An error rate at a threshold found on development data, of all people or of a group.

    Attributes
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    group : str or None
        The group; None for all comparisons.
    estimate : float
        The rate in the evaluation data; NaN without comparisons.
    low, high : float
        Its interval with the uncertainty of the threshold: of the rate that finding a threshold so, on such development
        data, leads to.
    given_low, given_high : float
        Its interval for this very threshold, as `evaluate` gives it with `at_threshold`.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int
        Number of subjects.
    note : str
        Warnings for the reader.
    """

    name: str
    group: str | None
    estimate: float
    low: float
    high: float
    given_low: float
    given_high: float
    n_comparisons: int
    n_errors: int
    n_subjects: int
    note: str = ""
