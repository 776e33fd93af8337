"""Rows of a discard curve: the rate after discarding a share, and the area under the curve."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DiscardedRate:
    """An error rate after discarding the comparisons of low quality, of all people or of a group.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    fraction : float
        The share that was to be discarded.
    cut : float
        The quality below which comparisons are discarded, in all groups alike.
    estimate, low, high : float
        The rate of those left, with its interval; NaN where none is left, or there is no interval, and `note` says why.
    n_comparisons, n_errors : int
        Numbers of comparisons left, and of errors among them.
    n_subjects : int
        Number of subjects in these.
    discarded, discarded_low, discarded_high : float
        The share of the group's own comparisons that is discarded, with its interval. That of all is at most
        `fraction`.
    note : str
        Warnings for the reader.
    """

    group: str | None
    fraction: float
    cut: float
    estimate: float
    low: float
    high: float
    n_comparisons: int
    n_errors: int
    n_subjects: int
    discarded: float
    discarded_low: float
    discarded_high: float
    note: str = ""


@dataclass(frozen=True)
class DiscardArea:
    """The partial area under an error rate over the share discarded, of all people or of a group.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    area, low, high : float
        The area under the rate from no comparisons discarded to the largest share, with its interval. Divided by this
        share it is the mean rate. NaN where nothing is left of a group.
    standard_error : float
        Its standard error; 0 without errors.
    note : str
        Warnings for the reader.
    """

    group: str | None
    area: float
    low: float
    high: float
    standard_error: float
    note: str = ""
