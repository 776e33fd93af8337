"""Degrees of freedom of a rate: the number of units behind it minus the number of strata that they are drawn in.

Those of an FMR are fewer where few subjects cause most of its variance, which is then less certain; and so are those of
an FNMR whose threshold holds such an FMR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.resampling.comparison_replicates import Resampler

from .entries import Entry
from .interval_notes import FITTED
from .ratios_to_average import ratio_of

SIDES = {"fnmr": ("mated",), "fmr": ("non-mated",), "fmr_matrix": ("non-mated",), "eer": ("mated", "non-mated")}
SIDES |= dict.fromkeys((*FITTED, "act_dcf"), SIDES["eer"])


def degrees_of_freedom(
    entries: Sequence[Entry], comparisons: Comparisons, resampler: Resampler, *, of_held: bool = True
) -> NDArray[np.float64]:
    """Count the degrees of freedom of each rate, EER, minDCF and min Cllr, and of groups' ratios of these, at least 1.

    They are infinite for all other entries, and for all entries where samples are drawn.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    comparisons : Comparisons
        The comparisons that were evaluated.
    resampler : Resampler
        The resampler of the evaluation.
    of_held : bool
        Whether an FNMR has at most the degrees of freedom of the FMR that holds its threshold.

    Returns
    -------
    (entries,) ndarray
    """
    found, units = np.full(len(entries), np.inf), resampler.units
    if units.unit == "sample":
        return found
    alone = units.unit == "comparison"  # drawn in a stratum for each class
    stratum, group_of_subject = units.stratum_of_subject, comparisons.group_of_subject
    n_all = 1 if stratum is None else int(stratum.max()) + 1
    has_some = None  # (groups, strata) whether a group has subjects in a stratum
    if stratum is not None and group_of_subject is not None:
        has_some = np.zeros((len(comparisons.groups), n_all), np.bool_)
        has_some[group_of_subject, stratum] = True
    overall: dict[str, Any] = dict(zip(("mated", "non-mated"), comparisons.subject_counts, strict=True))
    if alone:
        overall = {"mated": len(comparisons.mated), "non-mated": len(comparisons.nonmated)}
    cells: dict[str, Any] = {}
    if comparisons.groups:
        by_group = {"mated": comparisons.mated_by_group, "non-mated": comparisons.nonmated_by_group}
        cells = {side: grouped.cells if alone else grouped.subjects for side, grouped in by_group.items()}
    own = {group: (k, k) for k, group in enumerate(comparisons.groups)}
    for k, entry in enumerate(entries):
        ratio = ratio_of(entry.name)
        name = entry.name[len(ratio) + 1 : -1] if ratio else entry.name
        if name not in SIDES:
            continue
        size, n_strata = min(overall[side] for side in SIDES[name]), n_all
        if entry.group is not None:
            cell = entry.cell or own[entry.group]
            size = min(int(cells[side][cell]) for side in SIDES[name])
            n_strata = len(set(cell))
            if has_some is not None:
                n_strata = int((has_some[cell[0]] | has_some[cell[1]]).sum())
        found[k] = max(1, size - n_strata)
        if SIDES[name] == ("non-mated",):
            assert entry.point is not None
            found[k] = max(1, min(found[k], resampler.freedom(entry.point, entry.cell or own.get(entry.group or ""))))
        elif of_held and name == "fnmr" and entry.point is not None and resampler.points[entry.point].kind == "fmr":
            found[k] = max(1, min(found[k], resampler.freedom(entry.point)))
    return found
