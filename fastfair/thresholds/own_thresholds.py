"""A threshold for each group: `own_thresholds` finds them, `with_own_thresholds` applies them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair.data.comparisons import Comparisons
from fastfair.data.derived import shifted
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.errors import InputError

SIDES = ("probe", "reference")


@checked
def own_thresholds(comparisons: Comparisons, at: OperatingPoint) -> dict[str, float]:
    """Find the threshold of each group that holds a rate within it.

    Parameters
    ----------
    comparisons : Comparisons
        With groups, each with mated and non-mated comparisons of its own.
    at : OperatingPoint
        What holds in each group: `at_fmr`, `at_fnmr` or `at_eer`.

    Returns
    -------
    dict of str to float
        The threshold of each group, on the scale of the scores, for `with_own_thresholds`.

    Raises
    ------
    InputError
        Without groups, for groups that lack comparisons, and for other operating points.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.8, 0.1, 0.6], [1, 0, 1, 1, 0, 0], reference_group=list("ffmfmm"))
    >>> ff.own_thresholds(c, ff.at_fnmr(0))
    {'f': 0.8, 'm': 0.7}
    """
    comparisons.require_groups()
    if not at.rule.is_looked_for:
        raise InputError(f"at={at} is no rate that each group could hold: use at_fmr, at_fnmr or at_eer")
    found = {}
    for group in comparisons.groups:
        inside = comparisons.within_group(group)
        found[group] = inside.to_threshold(threshold_key(inside, at))
    return found


@checked
def with_own_thresholds(
    comparisons: Comparisons, thresholds: Mapping[str, float], *, side: Literal["probe", "reference"] = "probe"
) -> Comparisons:
    """Give each group its own threshold: scores are made relative to it, so that all groups' threshold is 0.

    Whatever takes comparisons then tells what own thresholds do: `evaluate` at ``at_threshold(0)`` gives rates of
    groups at their thresholds, rates of all, and fairness measures with intervals; `compare` with the same comparisons
    at one common threshold tells whether it makes a difference.

    Parameters
    ----------
    comparisons : Comparisons
        With groups.
    thresholds : dict of str to float
        A threshold for each group, on the scale of the scores.
    side : {"probe", "reference"}
        Whose group decides in comparisons between two groups. It is the probe's by default, as who wants to be
        recognised is there, and known to the system by the claim made.

    Returns
    -------
    Comparisons
        With scores minus the threshold; a comparison is accepted at the threshold 0 exactly where it was at its own.

    Raises
    ------
    InputError
        Without groups, for a group without a threshold, and for names that are no group.

    Notes
    -----
    Intervals take the thresholds as they are, which is right where these come from other people, as by
    ``own_thresholds(development, at)``. Thresholds found on the same comparisons are estimates, and fit these better
    than others: FMRs are then what was held, and 95 % intervals of FNMRs hold the truth in some 75 % of data sets. Each
    ``evaluate(comparisons.within_group(group), at)`` has right ones.

    Only FMR, FNMR and what is made of them mean what they did: an EER or a minDCF of such scores is that of a system
    whose threshold is moved by the same amount in all groups.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.8, 0.1, 0.6], [1, 0, 1, 1, 0, 0], reference_group=list("ffmfmm"))
    >>> own = ff.with_own_thresholds(c, {"f": 0.85, "m": 0.5})
    >>> r = ff.rates(own, ff.at_threshold(0))
    >>> r.group_fnmr, r.group_fmr
    (array([0.5, 0. ]), array([0. , 0.5]))
    """
    comparisons.require_groups()
    for group in thresholds:
        validation.choice("a group of thresholds", group, comparisons.groups)
    missing = [group for group in comparisons.groups if group not in thresholds]
    if missing:
        raise InputError(f"thresholds has none for {', '.join(map(repr, missing))}: each group needs one")
    values = np.array([thresholds[group] for group in comparisons.groups], np.float64)
    return shifted(comparisons, values, of_probe=side == "probe")
