"""A toy pair source: trials, row by row. Registering its side is all that the library needs to know
of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fastfair.resampling.pair_source import ListedComparisons, ListedSide, side_of


@dataclass
class Trials:
    """A toy source: who is compared with whom, row by row."""

    a: np.ndarray
    b: np.ndarray
    lacks: ClassVar = {
        "costs": "trials have no scores",
        "lists of pairs": "trials do not say which score is whose",
    }

    def count(self, group, n_groups):
        cells, seen = np.zeros((n_groups, n_groups), np.int64), set()
        np.add.at(cells, (group[self.a], group[self.b]), 1)
        for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True):
            seen |= {(a, group[a], group[b]), (b, group[a], group[b])}
        subjects = np.array(
            [
                [len([s for s in seen if s[1:] == (g, h)]) for h in range(n_groups)]
                for g in range(n_groups)
            ]
        )
        return cells, subjects, len({s[0] for s in seen})


@side_of.register
def _(pairs: Trials, kept, workers, exact=None):
    row, group = kept.units.row, kept.comparisons.group_of_number

    def rows_of(first, second):
        return row[first], np.where(first == second, kept.units.n_rows - 1, row[second]).astype(
            np.int32
        )

    def groups_of(part):
        return group[pairs.a[part]], group[pairs.b[part]]

    keys = np.empty(0, np.int32)
    trials = ListedComparisons(
        pairs.a, pairs.b, keys, rows_of, kept.sizes.size, groups_of, kept.list_of_cell
    )
    return ListedSide(trials, kept.sizes, kept.units, workers.n_threads)


def as_trials(kept, whole):
    """Return comparisons that a scan keeps, with trials in place of all pairs."""
    trials = [Trials(side.reference, side.probe) for side in (whole.mated, whole.nonmated)]
    return kept._with_parts(pairs=tuple(trials), left_out=())
