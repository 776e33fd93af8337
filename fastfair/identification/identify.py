"""`identify`: error rates of one-to-many searches, by group, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import Natural, checked
from fastfair.data.exclusions import exclusions_of
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.measures import MEASURES
from fastfair.uncertainty.quantities import warn_of_narrow

from .estimator import Estimator, IdentifiedRate, estimate_rows, points_of
from .joint import largest, level_of_curves
from .result import FAIRNESS, Identification
from .searches import Searches

Gallery = Literal["drawn", "fixed"]


@checked
def identify(
    searches: Searches,
    at: OperatingPoint | Sequence[OperatingPoint],
    measures: Sequence[str] = (),
    *,
    rank: Natural | None = None,
    gallery: Gallery = "drawn",
    sizes: Sequence[int] | None = None,
    returned_group: Mapping[Any, str] | None = None,
    simultaneous: bool = False,
    confidence_level: float = 0.95,
) -> Identification:
    """Estimate how often searches of a gallery are wrong, of all and of each group of probes.

    Parameters
    ----------
    searches : Searches
        The searches. Rates of errors need mated or non-mated ones.
    at : OperatingPoint or sequence of OperatingPoint
        Of `at_fpir`, `at_fnir`, `at_threshold` and `at_rank`. Thresholds are the same for all
        groups.
    measures : sequence of str, optional
        Measures of how fair FPIR and FNIR are in the whole gallery: of "gini", "std",
        "max_min_ratio", "max_geomean_ratio" and "log_geomean_sum". Their intervals are the values
        that the intervals of all groups allow, and hold the truth at least as often as the level.
    rank : int, optional
        How many candidates, R, are looked at besides the threshold; all by default. `at_rank` has
        its own.
    gallery : {"drawn", "fixed"}
        What intervals are for: other galleries of as many such people (drawn), or this one and
        other probes (fixed).
    sizes : sequence of int, optional
        Numbers of enrolled people, at most as many as there are: the rates expected in galleries of
        so many of them, at the thresholds of the whole gallery. By default all.
    returned_group : dict, optional
        The group of each enrolled person: how often people of each group are returned by searches
        of people who are not enrolled. Of several candidates the first counts, so that the shares
        of groups add up to the FPIR.
    simultaneous : bool, default False
        Whether intervals of the points of a curve hold together: of TPIR over ranks (CMC), of FNIR
        over FPIRs (DET), and of rates over thresholds, each of all searches and of each group.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    Identification
        FPIR, FNIR, TPIR and selectivity at thresholds, FNIR and TPIR at ranks, and measures of FPIR
        and FNIR.

    Raises
    ------
    InputError
        For other operating points, galleries larger than that of the data, and rates that candidate
        lists do not reach.

    Warns
    -----
    NarrowIntervalsWarning
        Where enrolled people add more to a variance than those who search, so that it is luck who
        is enrolled.

    Notes
    -----
    Simultaneous intervals, and that of the largest FPIR of all groups, are of max-t: their level is
    that of the greatest of normal numbers with the correlations of what people add to the rates.

    In the terms of ISO/IEC 19795-1 [1]_: FPIR(N, t) is the share of non-mated searches with a
    candidate at or above the threshold t; FNIR(N, R, t) is the share of mated searches whose mate
    is not among the first R candidates or below t; TPIR is its complement, and at a rank the
    identification rate of the CMC. Selectivity is the mean number of candidates of non-mated
    searches. Ties count against the system: a score equal to the threshold makes a candidate, and
    another person with the mate's score outranks the mate. Intervals come from the influence of
    people on a rate, as probes and as enrolled; see "Identification" in the documentation.

    References
    ----------
    .. [1] ISO/IEC 19795-1, "Biometric performance testing and reporting - Part 1: Principles and framework".

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> people = np.arange(300)  # the first 200 are enrolled
    >>> scores = rng.normal(size=(300, 200)) + 5 * (people[:, None] == people[:200])
    >>> searches = ff.Searches.from_matrix(scores, people, people[:200], group=np.where(people % 2, "f", "m"))
    >>> identification = ff.identify(searches, [ff.at_threshold(4.0), ff.at_rank(1)])
    >>> identification.of("fnir", at=ff.at_rank(1)).estimate, identification.of("fpir").n_searches
    (0.02, 100)
    """
    points = points_of(at)
    n = searches.n_enrolled
    wanted = (
        [n] if sizes is None else sorted({validation.count("⟦sizes⟧", size, 1) for size in sizes})
    )
    if not wanted or wanted[-1] > n:
        raise InputError(
            f"sizes must be from 1 to {n}, the number of enrolled people: larger galleries have no"
            " data"
        )
    level = intervals.level(confidence_level)
    named = [MEASURES[validation.choice("⟦measures⟧", name, FAIRNESS)].name for name in measures]
    if named and len(searches.groups) < 2:
        raise InputError(
            "measures compare groups, and the searches have fewer than two: give group"
        )
    estimator = Estimator(searches, rank, gallery, level)
    rows = (
        _rows_together(estimator, points, wanted, named, returned_group)
        if simultaneous
        else estimate_rows(estimator, points, wanted, named, returned_group)
    )
    warn_of_narrow(rows)
    greatest = tuple(row for at in points for row in largest(estimator, at))
    left_out = exclusions_of(searches)
    return Identification(
        rows,
        searches.groups,
        n,
        rank,
        gallery,
        level,
        searches,
        simultaneous,
        greatest,
        left_out=left_out,
    )


def _rows_together(
    estimator: Estimator,
    points: list[OperatingPoint],
    sizes: list[int],
    measures: list[str],
    returned_group: Mapping[Any, str] | None,
) -> tuple[IdentifiedRate, ...]:
    """Return all rows, with intervals that hold together for the points of each kind."""
    rows_at: dict[OperatingPoint, tuple[IdentifiedRate, ...]] = {}
    for kind in dict.fromkeys(at.kind for at in points):
        of_kind = [at for at in points if at.kind == kind]
        wider = replace(estimator, level=level_of_curves(estimator, of_kind))
        for at in of_kind:
            rows_at[at] = estimate_rows(wider, [at], sizes, measures, returned_group)
    return tuple(row for at in points for row in rows_at[at])
