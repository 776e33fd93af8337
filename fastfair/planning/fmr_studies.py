"""`FmrStudy`: what studies of so many subjects find of a claimed FMR."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FmrStudy:
    """What studies with so many subjects find.

    Attributes
    ----------
    n_subjects, n_pairs, n_comparisons : int
        Numbers of subjects, of pairs of subjects who are compared, and of comparisons.
    expected_errors : float
        Number of false matches to be expected.
    limit : float
        The upper limit of the FMR, the median over simulated studies.
    limit_assured : float
        The limit that the wanted share of studies stays within.
    assurance : float
        The share of studies that support the claim.
    independent_limit : float
        Clopper and Pearson's limit for the expected number of false matches, rounded, if comparisons were independent.
    """

    n_subjects: int
    n_pairs: int
    n_comparisons: int
    expected_errors: float
    limit: float
    limit_assured: float
    assurance: float
    independent_limit: float
