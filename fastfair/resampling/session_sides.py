"""Comparisons whose errors depend on each other as they share people, or sessions, or both.

Replicates draw people and sessions, and weight a comparison by the product. Its variance has what
people add, what sessions add, and what cells add, a person in a session: the sum of the three
variances that product weights have where one of these is drawn alone, and more where comparisons
are of the same two cells, in two sessions. The variance that it is
shrunk to is the two-way one of `dependence.two_way_variance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from fastfair._lib.arrays import AnyIntegers, Bytes, Codes, Floats, Integers
from fastfair._lib.workers import Workers
from fastfair.error_rates.score_metrics import ExactCosts

from .dependence import two_way_freedom, two_way_variance
from .pair_source import (
    CostedSide,
    Errors,
    ListedComparisons,
    ListedSide,
    PairSide,
    SideInMemory,
    SortedComparisons,
)
from .units import SessionUnits, Units, persons_in_sessions

PEOPLE, SESSIONS, CELLS = range(3)  # places in `SessionUnits.kinds`
OF_PEOPLE, OF_SESSIONS = 3, 4  # columns of variances, behind those of `kernels.dyadic`


class SessionSide(SideInMemory, CostedSide):
    """Comparisons in memory, in sessions.

    Attributes
    ----------
    sides : list of ListedSide
        The same comparisons where people, sessions or cells are drawn alone.
    """

    # the product of both weights varies even where that of each of them does not
    two_way = True

    def __init__(
        self, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None
    ) -> None:
        units = kept.units
        assert isinstance(units, SessionUnits)
        super().__init__(kept.sizes, units, workers.n_threads)
        self.exact = exact
        self._mated, self._units = kept.mated, units

        def listed(comparisons: ListedComparisons, of: Units) -> ListedSide:
            return ListedSide(comparisons, kept.sizes, of, workers.n_threads, exact)

        self._weighed = listed(kept.listed, units)
        cells = units.cells.of_side(kept.side, kept.mated)
        of_kinds = *persons_in_sessions(kept.side, kept.mated), cells
        self.sides = []
        for kind, (of, (first, second)) in enumerate(zip(units.kinds, of_kinds, strict=True)):
            rows_of = partial(of.rows_of, kept.mated and kind == PEOPLE)
            comparisons = replace(kept.listed, first=first, second=second, rows_of=rows_of)
            self.sides.append(listed(comparisons, of))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what replicates do not need."""
        return {**vars(self), "sides": []}

    @property
    def kinds(self) -> Sequence[PairSide]:
        """As in `PairSide`."""
        return self.sides

    def weigh(self, block: int, weights: Bytes, largest: int, totals: Integers) -> None:
        """As in `Totals`."""
        # cells have the largest weights, and are seldom partners
        largest = int(weights[self._first_partner :].max(initial=1))
        self._weighed.weigh(block, weights, largest, totals)

    @cached_property
    def _first_partner(self) -> int:
        """The first row of weights that is the second one of a comparison."""
        return int(self._weighed.grouped.runs.partner.min(initial=self.stratum.size - 1))

    def cost(self, block: int, weights: Bytes, n_lists: int) -> Floats:
        """As in `Totals`."""
        return self._weighed.cost(block, weights, n_lists)

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`, by sessions, too; sums are those over pairs of people."""
        of_kinds = [
            side.variances(of_kind)
            for side, of_kind in zip(self.sides, self.errors_of_kinds(errors), strict=True)
        ]
        combined = self.combined([variances for variances, _ in of_kinds])
        self._add_repeats(combined, errors, of_kinds[CELLS][1], slice(None))
        return combined, of_kinds[PEOPLE][1]

    def variances_of_list(self, k: int, errors: Errors) -> tuple[Floats, Floats]:
        """As in `SummedSide`."""
        of_kinds = [
            side.variances_of_list(k, of_kind)
            for side, of_kind in zip(self.sides, self.errors_of_kinds(errors), strict=True)
        ]
        combined = self.combined([variances[:, None] for variances, _ in of_kinds], slice(k, k + 1))
        of_list = Errors(errors.a, errors.b, errors.start, np.reshape(errors.stops, (-1, 1)))
        self._add_repeats(combined, of_list, of_kinds[CELLS][1][:, None], slice(k, k + 1))
        return combined[:, 0], of_kinds[PEOPLE][1]

    def _add_repeats(
        self, combined: Floats, errors: Errors, of_cells: Floats, lists: slice
    ) -> None:
        """Add, in place, what variances of product weights have besides those of the three kinds.

        A non-mated comparison of two sessions has the product of four weights, whose variance is
        15, of which people, sessions and cells have 3 each. Comparisons of the same two cells share
        the other 6, or somewhat less where few units are drawn.

        errors: of (points, lists) stops; of_cells: (points, lists, sums) over pairs of cells.
        """
        from fastfair.kernels import dyadic, pair_walk

        if self._mated or not self._in_two_sessions[lists].any():
            return
        n = np.maximum(self.sizes[lists], 1)
        rates = (errors.stops - errors.start) / n
        squared = (
            of_cells[..., pair_walk.S_SQUARED]
            - 2 * rates * of_cells[..., pair_walk.S_TIMES_M]
            + rates**2 * of_cells[..., pair_walk.REPEATS_SQUARED]
        )
        added = self._of_four_weights * self._in_two_sessions[lists] * np.maximum(squared, 0.0)
        combined[..., dyadic.PRODUCT] += added

    def errors_of_kinds(self, errors: Errors) -> list[Errors]:
        """As in `PairSide`."""
        start = np.atleast_1d(errors.start)
        stops = np.reshape(errors.stops, (-1, start.size)).max(axis=0, initial=0)
        rows = [(np.zeros_like(errors.a), np.zeros_like(errors.b)) for _ in self.sides]
        for first, stop in zip(start.tolist(), stops.tolist(), strict=True):
            part = slice(first, stop)
            of_part = self.rows_of_kinds(errors.a[part], errors.b[part])
            for (a, b), of_kind in zip(rows, of_part, strict=True):
                a[part], b[part] = of_kind
        return [Errors(a, b, errors.start, errors.stops) for a, b in rows]

    def rows_of_kinds(self, a: AnyIntegers, b: AnyIntegers) -> list[tuple[Codes, Codes]]:
        """As in `PairSide`."""
        return self._units.rows_of_kinds(self._mated, *self._units.cells_of_rows(a, b))

    def combined(self, of_kinds: Sequence[Floats], lists: slice = slice(None)) -> Floats:
        """As in `PairSide`: the two-way variances, those of product weights, and robust ones as
        comparisons share people, and as they share sessions: (..., lists, 5).
        """
        from fastfair.kernels import dyadic as kernels

        robust, product, freedom = (
            [variances[..., column] for variances in of_kinds]
            for column in (kernels.ROBUST, kernels.PRODUCT, kernels.FREEDOM)
        )
        for kind in (SESSIONS, CELLS):
            robust[kind] = robust[kind] * self.few_units[kind, lists]
        combined = np.empty((*freedom[PEOPLE].shape, 5))
        combined[..., kernels.ROBUST] = two_way_variance(*robust)
        combined[..., kernels.PRODUCT] = sum(product)
        combined[..., kernels.FREEDOM] = two_way_freedom(freedom[PEOPLE], self.n_sessions[lists])
        combined[..., OF_PEOPLE], combined[..., OF_SESSIONS] = robust[PEOPLE], robust[SESSIONS]
        return combined

    @cached_property
    def _of_four_weights(self) -> float:
        """Variance of the product of four weights, of two people and of two sessions, besides what
        each of the three kinds has.
        """
        # a weight's mean square, of the smallest stratum
        people, sessions, cells = (2 - 1 / int(side.stratum_size[:-1].min()) for side in self.sides)
        return max(0.0, (people * sessions) ** 2 - people**2 - sessions**2 - cells**2 + 2)

    @cached_property
    def _in_two_sessions(self) -> Floats:
        """(lists,) shares of comparisons whose reference and probe are of different sessions."""
        side = self.sides[SESSIONS]
        of_one = np.array([side.unit_counts(k)[-1] for k in range(self.sizes.size)])
        return 1 - of_one / np.maximum(self.sizes, 1)

    @cached_property
    def n_sessions(self) -> Integers:
        """(lists,) number of sessions that the comparisons of each list are of."""
        return self._n_units(SESSIONS)

    def _n_units(self, kind: int) -> Integers:
        side = self.sides[kind]
        return np.array(
            [np.count_nonzero(side.unit_counts(k)[:-1]) for k in range(self.sizes.size)]
        )

    @cached_property
    def few_units(self) -> Floats:
        """(kinds, lists) factors of one-way variances, whose K / (K - 1) is that of all K units: a
        list has as many sessions as its comparisons are of.
        """
        factors = np.ones((len(self.sides), self.sizes.size))
        for kind in (SESSIONS, CELLS):
            side = self.sides[kind]
            n = np.maximum(self._n_units(kind), 2)
            n_all = max(int(side.stratum_size[0]), 2)
            if not side.two_way:
                factors[kind] = n / (n - 1) * (n_all - 1) / n_all
        return factors

    def unit_counts(self, k: int) -> AnyIntegers:
        """Return the number of comparisons of each row of weights of people in list k."""
        return self.sides[PEOPLE].unit_counts(k)

    def cost_words(self, n_lists: int) -> Integers:
        """As in `CostedSide`."""
        return self._weighed.cost_words(n_lists)

    def cost_variances(self, means: Floats, scale: float) -> Floats:
        """As in `CostedSide`."""
        of_kinds = [side.cost_variances(means, scale) for side in self.sides]
        return self.combined(of_kinds, slice(means.size))
