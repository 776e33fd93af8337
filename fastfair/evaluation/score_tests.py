"""Score tests of decisions: do systems that scored the same comparisons differ in a rate?

With d_kl the first system's errors in the comparisons of subjects k and l minus the second's, and
T_k = sum_l d_kl, the difference of two FMRs at given thresholds has the dyadic-robust variance

    (sum_k T_k^2 - sum_{k<l} d_kl^2) / n^2,

where no difference is the hypothesis, and not below the sum of the squares. That of two FNMRs, of K
subjects, is K / (K - 1) sum_k d_k^2 / n^2. A threshold that holds a rate is an estimate: each
comparison then adds to d what it adds to the rate held, times minus the slope of the rate tested
over the rate held. Where people share sessions, the variance is the two-way one of
`resampling.dependence`. At given thresholds the normal approximation is poor where the systems
decide few comparisons differently: the p-value is then raised to that of McNemar's exact test,
provided that no unit has more than one such comparison.

Of many systems every two are tested at once: a variance is a quadratic form of what the errors and
the thresholds of both add, so it takes the products of these vectors of every two systems, and
these are matrices of systems by systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from fastfair._lib.arrays import Codes, Flags, Floats, Integers
from fastfair._lib.label_codes import in_use
from fastfair.data.comparisons import Comparisons
from fastfair.data.sessions import sessions_of
from fastfair.data.sorted_scores import SortedSide, pair_codes
from fastfair.error_rates.operating_points import Cell, HeldThreshold, OperatingPoint, cells_of
from fastfair.resampling.dependence import two_way_variance
from fastfair.resampling.units import Cells
from fastfair.uncertainty.quantities import RATES, Quantity

UNITS_TESTED = ("subject", "comparison")


class UnitCounts:
    """How often units, and pairs of units, occur among comparisons, whichever system scores
    them.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    unit : str
        What they depend on each other by: subjects, or nothing.

    Attributes
    ----------
    kinds : list of CountsInSessions
        Those of sessions, and of cells, persons in sessions; empty where sessions are not known.
    """

    def __init__(self, comparisons: Comparisons, unit: str) -> None:
        self.comparisons, self.unit = comparisons, unit
        self.n_units = (
            len(comparisons.subjects)
            if unit == "subject" and comparisons.subjects is not None
            else 0
        )
        self.kinds = (
            []
            if comparisons.sessions is None
            else [CountsInSessions(comparisons, unit, kind) for kind in ("session", "cell")]
        )

    @cached_property
    def _sides(self) -> tuple[Any, Any]:
        return self.comparisons.pairs

    @cached_property
    def occurrences(self) -> list[Floats]:
        """(units,) numbers of mated, and of non-mated, comparisons of each."""
        counts = [side.of_subjects().astype(np.float64) for side in self._sides]
        return [np.pad(count, (0, self.n_units - count.size)) for count in counts]

    def repeats(self, codes: Integers, side: int) -> Floats:
        """Return how often pairs of units of non-mated (1) comparisons occur, by their codes, and 1
        of mated (0) ones.
        """
        if not self.n_units or side == 0:
            return np.ones(codes.size)
        of_two: Integers = self._sides[side].of_two(*np.divmod(codes, self.n_units))
        return of_two.astype(np.float64)

    @cached_property
    def repeats_squared(self) -> float:
        """The squares of how often each pair of units of non-mated comparisons occurs, summed."""
        return float(
            self._sides[1].sum_of_squares if self.n_units else len(self.comparisons.nonmated)
        )

    def codes(self, comparisons: Comparisons, side: int, rows: slice) -> Integers:
        """Return one number for each pair of units that was compared; those of two systems
        agree.
        """
        of_side = (comparisons.mated, comparisons.nonmated)[side]
        if not self.n_units:
            assert of_side.rows is not None
            return of_side.rows[rows].astype(np.int64)
        return pair_codes(*of_side.compared(rows), self.n_units)


class CountsInSessions(UnitCounts):
    """How often sessions, or cells, and pairs of them, occur among comparisons.

    kind: "session" or "cell", a person in a session.
    """

    def __init__(self, comparisons: Comparisons, unit: str, kind: str) -> None:
        assert comparisons.sessions is not None
        self.comparisons, self.unit, self._kind = comparisons, unit, kind
        self._cells = Cells.of(comparisons)
        self.n_units = comparisons.sessions.size if kind == "session" else self._cells.codes.size
        self.kinds = []

    @cached_property
    def _sides(self) -> tuple[Any, Any]:
        sides = self.comparisons.mated, self.comparisons.nonmated
        of_units = [
            replace(side, reference=both[0], probe=both[1])
            for side, both in zip(
                sides, (self._of_side(side, k == 0) for k, side in enumerate(sides)), strict=True
            )
        ]
        return of_units[0], of_units[1]

    def _of_side(self, side: SortedSide, mated: bool) -> tuple[Codes, Codes]:
        both = sessions_of(side) if self._kind == "session" else self._cells.of_side(side, mated)
        assert both is not None
        return both

    def codes(self, comparisons: Comparisons, side: int, rows: slice) -> Integers:
        """As in `UnitCounts`."""
        of_side = (comparisons.mated, comparisons.nonmated)[side]
        first, second = self._of_side(of_side, side == 0)
        return pair_codes(first[rows], second[rows], self.n_units)

    def repeats(self, codes: Integers, side: int) -> Floats:
        """Return how often pairs of two units occur, by their codes; 0 for those of a unit alone."""
        first, second = np.divmod(codes, self.n_units)
        of_two: Integers = self._sides[side].of_two(first, second)
        return np.where(first == second, 0.0, of_two)

    @cached_property
    def squares(self) -> list[float]:
        """The squares of how often each pair of two units of mated, and of non-mated, comparisons
        occurs, summed.
        """
        sums = []
        for side in self._sides:
            first, second = side.compared()
            alone = np.bincount(first[first == second]).astype(np.float64)
            sums.append(side.sum_of_squares - float(alone @ alone))
        return sums

    @cache  # noqa: B019 - kept as long as the counts are
    def count_units(self, side: int, cell: Cell) -> int:
        """Count the units of mated (0) or non-mated (1) comparisons of a cell, or of all."""
        first, second = self._sides[side].compared()
        if cell is not None:
            by_group = (
                self.comparisons.nonmated_by_group if side else self.comparisons.mated_by_group
            )
            rows = (by_group.reference_group == cell[0]) & (by_group.probe_group == cell[1])
            first, second = first[rows], second[rows]
        return int(in_use(self.n_units, first, second)[0].sum())


class SystemAtThreshold(HeldThreshold):
    """What a system decides at its threshold, and near it."""

    def __init__(self, comparisons: Comparisons, point: OperatingPoint, counts: UnitCounts) -> None:
        super().__init__(comparisons, point)
        self.counts = counts

    def errors(self, side: int, counts: UnitCounts) -> tuple[Integers, Integers | None]:
        """Return the pairs of units of the false non-matches (0) or false matches (1), and their
        cells of groups; counts: of the units.
        """
        return self.pairs(side, counts, self.error_rows()[side])

    def pairs(self, side: int, counts: UnitCounts, rows: slice) -> tuple[Integers, Integers | None]:
        """Return the pairs of units of some mated (0) or non-mated (1) comparisons, and their cells
        of groups.
        """
        n_groups = len(self.comparisons.groups)
        by_group = None
        if n_groups:
            by_group = (
                self.comparisons.nonmated_by_group if side else self.comparisons.mated_by_group
            )
        codes = counts.codes(self.comparisons, side, rows)
        return codes, cells_of(by_group, rows, n_groups)

    @cached_property
    def missed(self) -> float:
        """By how much the rate held misses what the operating point asks for."""
        return self.held(self.key) - (self.at.value if self.at.rule.takes_value else 0.0)


_MOST_ERRORS_FOR_EXACT_TESTS = 200  # of decisions, by two systems together
_ROUNDING = 1e-12  # of a variance, relative to its parts: below it nothing is left


def score_pvalues(
    systems: Sequence[Mapping[OperatingPoint, SystemAtThreshold]],
    quantities: Sequence[Sequence[Quantity]],
    pairs: Sequence[tuple[int, int]],
) -> Floats:
    """Compute the p-values of the hypotheses that two systems have the same error rate, for pairs
    of systems.

    Parameters
    ----------
    systems : sequence of dict of SystemAtThreshold
        The decisions of each system on the same comparisons, by the operating points.
    quantities : sequence of sequences of Quantity
        The quantities of each system, in the same order.
    pairs : sequence of pairs of int
        The pairs, by positions of their systems.

    Returns
    -------
    (pairs, quantities) ndarray
        Two-sided p-values; NaN for all but rates, for other units and for operating points that fix
        no threshold in a way that is known here.

    References
    ----------
    Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political
    Analysis 23 (2015).
    """
    pvalues = np.full((len(pairs), len(quantities[0])), np.nan)
    positions = np.array(pairs, np.intp).reshape(-1, 2).T
    tests = {
        point: _ScoreTests([system[point] for system in systems], positions, at.counts)
        for point, at in systems[0].items()
    }
    for k, quantity in enumerate(quantities[0]):
        if quantity.name in RATES and quantity.at in tests and quantity.n_comparisons:
            counts = systems[0][quantity.at].counts
            groups = counts.comparisons.groups
            cell = cell_of(quantity, groups)
            strata = max(1, len(groups)) if cell is None else len(set(cell))
            size = (
                quantity.n_comparisons if counts.unit == "comparison" else quantity.n_subjects or 0
            )
            rates = np.array([each[k].estimate for each in quantities])
            pvalues[:, k] = tests[quantity.at].pvalues(
                quantity.name == "fnmr", cell, rates, quantity.n_comparisons, size, size - strata
            )
    return pvalues


def cell_of(quantity: Quantity, groups: Sequence[str]) -> Cell:
    """Return the groups of the reference and of the probe of a rate, by their positions; None for
    all comparisons.
    """
    return (
        None
        if quantity.group is None
        else (groups.index(quantity.group), groups.index(quantity.probe_group or quantity.group))
    )


class _Side:
    """The mated, or the non-mated, comparisons that any of the systems decides wrongly at an
    operating point.

    Attributes
    ----------
    place : list of ndarray
        For each system, where the pair of units of each error is among those of all systems.
    cells : list of ndarray or None
        The cell of each error.
    times : (pairs,) ndarray
        How often each pair of units occurs.
    """

    def __init__(self, systems: Sequence[SystemAtThreshold], side: int, counts: UnitCounts) -> None:
        each, self.cells = zip(*self._codes_and_cells(systems, side, counts), strict=True)
        codes, where = np.unique(np.concatenate(each), return_inverse=True)
        self.place = np.split(where.ravel(), np.cumsum([units.size for units in each])[:-1])
        self.n_codes = codes.size
        self._codes = codes
        self._n_units = counts.n_units
        self.times = counts.repeats(codes, side)

    def _codes_and_cells(
        self, systems: Sequence[SystemAtThreshold], side: int, counts: UnitCounts
    ) -> list[tuple[Integers, Integers | None]]:
        """Return the pairs of units of each system's errors, by their codes, and their cells."""
        return [system.errors(side, counts) for system in systems]

    @property
    def of_two(self) -> Flags:
        """(pairs,) whether each pair is of two units, and not of one with itself."""
        return np.not_equal(*np.divmod(self._codes, self._n_units))

    @cached_property
    def units(self) -> Any:
        """The (pairs, units) sparse matrix of who is behind each pair; one of a unit with itself
        counts once.
        """
        from scipy.sparse import csr_matrix

        low, high = np.divmod(self._codes, self._n_units)
        apart = np.flatnonzero(low != high)
        rows = np.concatenate((np.arange(low.size), apart))
        columns = np.concatenate((low, high[apart]))
        return csr_matrix(
            (np.ones(rows.size), (rows, columns)), shape=(self.n_codes, self._n_units)
        )

    def added(self, cell: int | None, each: Floats) -> Any:
        """Return the (systems, pairs) sparse matrix of what the errors of each system add, in a
        cell or in all.
        """
        from scipy.sparse import csr_matrix

        chosen = [
            positions if cell is None or cells is None else positions[cells == cell]
            for positions, cells in zip(self.place, self.cells, strict=True)
        ]
        sizes = [units.size for units in chosen]
        rows = np.repeat(np.arange(len(chosen)), sizes)
        columns = np.concatenate(chosen)
        return csr_matrix(
            (np.repeat(each, sizes), (rows, columns)), shape=(len(chosen), self.n_codes)
        )


class _SideInSessions(_Side):
    """The comparisons of a side in pairs of sessions, or of cells: those that are decided wrongly,
    and behind those of the systems all of them, as if one more system erred everywhere.
    """

    def _codes_and_cells(
        self, systems: Sequence[SystemAtThreshold], side: int, counts: UnitCounts
    ) -> list[tuple[Integers, Integers | None]]:
        """As in `_Side`."""
        everywhere = systems[0].pairs(side, counts, slice(None))
        return [*super()._codes_and_cells(systems, side, counts), everywhere]

    def added(self, cell: int | None, each: Floats) -> Any:
        """As in `_Side`, of the systems."""
        return super().added(cell, np.append(each, 0.0))[:-1]

    def centred(self, cell: int | None, n: int, rates: Floats) -> tuple[Any, float]:
        """Return what errors of a cell of n comparisons add, less what they add in the mean, and
        the factor of variances of such sums.

        That is 1 / (1 - s) with the share s of pairs of comparisons that have a unit in common,
        which is K / (K - 1) for K units, each as often, and K (K - 1) / ((K - 2) (K - 3)) for all
        pairs of K units.
        """
        from scipy.sparse import csr_matrix

        added = super().added(cell, np.full(rates.size + 1, 1 / n))
        everywhere = added[-1]
        of_units = np.asarray((everywhere @ self.units).sum(axis=0)).ravel()
        of_pairs = everywhere[:, self.of_two]
        alike = float(of_units @ of_units) - float(of_pairs.power(2).sum())
        in_mean = csr_matrix(rates[:, None]) @ everywhere
        return added[:-1] - in_mean, 1 / (1 - alike) if alike < 1 else 1.0


@dataclass(frozen=True, eq=False)
class _Part:
    """What each system adds to a sum over the mated, or the non-mated, comparisons.

    Attributes
    ----------
    of_pairs : sparse (systems, pairs) matrix
        What errors add.
    constants : (systems,) ndarray
        What every comparison adds besides.
    times : (systems,) ndarray
        What errors add, times how often their pairs of units occur.
    of_units : (systems, units) ndarray
        The sums over the comparisons of each unit.
    """

    of_pairs: Any
    constants: Floats
    times: Floats
    of_units: Floats


_Added = list[_Part | None]  # of mated and non-mated comparisons; None where nothing is added


class _Forms(NamedTuple):
    """What the variances of differences of a rate are made of."""

    of_both: Floats  # (forms, pairs), of which the larger counts
    of_held: Floats  # (pairs,) the part of what operating points hold
    errors: _Added


class _ScoreTests:
    """Tests of all rates of pairs of systems at one operating point."""

    _kind_of_side = _Side

    def __init__(
        self, systems: Sequence[SystemAtThreshold], positions: Integers, counts: UnitCounts
    ) -> None:
        self._systems, self._place = systems, positions
        self._counts = counts
        self._sides = [self._kind_of_side(systems, side, counts) for side in (0, 1)]
        self._kinds = [_TestsInSessions(systems, positions, kind) for kind in counts.kinds]

    @cached_property
    def _held(self) -> _Added:
        """What each system's comparisons add to what the operating point holds."""
        each = np.zeros((2, len(self._systems)))
        constants = np.zeros((2, len(self._systems)))
        for k, system in enumerate(self._systems):
            for side, (sign, rate) in enumerate(
                zip(system.signs, system.rates_at(system.key), strict=True)
            ):
                each[side, k] = sign / system.sizes[side]
                constants[side, k] = -each[side, k] * rate
        return self._added(
            [(None, constants_of) if constants_of.any() else None for constants_of in each],
            constants,
        )

    def _added(self, what: Sequence[tuple[int | None, Floats] | None], constants: Floats) -> _Added:
        """Put together what mated and non-mated errors of a cell add, and what every comparison
        does.
        """
        parts: _Added = []
        for k, (side, asked) in enumerate(zip(self._sides, what, strict=True)):
            if asked is None:
                parts.append(None)
                continue
            added = side.added(*asked)
            sums = np.zeros((len(self._systems), 0))
            if self._counts.n_units:
                sums = (added @ side.units).toarray()
                if constants[k].any():
                    sums += np.multiply.outer(constants[k], self._counts.occurrences[k])
            parts.append(_Part(added, constants[k], np.asarray(added @ side.times), sums))
        return parts

    def _forms(self, first: _Added, second: _Added) -> Floats:
        """Return (2, systems, systems) covariances of what systems add, by both forms, of which the
        larger counts.
        """
        counts = self._counts
        nothing = np.zeros((len(self._systems), len(self._systems)))

        def over_pairs(side: int, squared: float) -> Floats:
            """Sum over the pairs of units of a side; `squared`: how often they occur, squared."""
            a, b = first[side], second[side]
            if a is None or b is None:
                return nothing
            forms = np.multiply.outer(a.constants, b.times) + np.multiply.outer(
                a.times, b.constants
            )
            forms += squared * np.multiply.outer(a.constants, b.constants)
            return np.asarray(forms + (a.of_pairs @ b.of_pairs.T).toarray())

        of_pairs = over_pairs(1, counts.repeats_squared)
        if not counts.n_units:  # every comparison on its own
            both = over_pairs(0, len(counts.comparisons.mated)) + of_pairs
            return np.array([both, both])
        of_all, of_mated = (self._over_units(first, second, slice(0, stop)) for stop in (2, 1))
        return np.array([of_all - of_pairs, of_pairs + of_mated])

    def _over_units(self, first: _Added, second: _Added, sides: slice) -> Floats:
        """Sum in this thread: libraries of matrix products wake others, which takes longer for few
        systems.
        """
        sums = [
            [part.of_units for part in added[sides] if part is not None]
            for added in (first, second)
        ]
        if not all(sums):
            return np.zeros((len(self._systems), len(self._systems)))
        a, b = (sum(terms[1:], terms[0]) for terms in sums)
        return np.einsum("iu,ju->ij", a, b)

    @cached_property
    def _held_forms(self) -> Floats:
        return self._forms(self._held, self._held)

    @cached_property
    def _slopes(self) -> list[Any]:
        """The slopes of the rates of each system over what is held."""
        spreads = np.sqrt(np.diagonal(self._held_forms, axis1=1, axis2=2).max(axis=0).clip(0))
        return [
            cache(system.slopes(spread))
            for system, spread in zip(self._systems, spreads.tolist(), strict=True)
        ]

    def pvalues(
        self, mated: bool, cell: Cell, rates: Floats, n: int, size: int, freedom: float
    ) -> Floats:
        """Return the two-sided p-values of one rate, of n comparisons and so many units, for all
        pairs.
        """
        from scipy.special import stdtr

        i, j = self._place
        difference = rates[i] - rates[j]
        errors_held = np.full(i.size, np.inf)
        slopes = None
        if not self._systems[0].at.is_given:
            of_systems = np.array([slope(mated, cell) for slope in self._slopes])
            s, t = slopes = _shrink_slopes(of_systems[i], of_systems[j])
            behind = np.array([system.errors_held() for system in self._systems], np.float64)
            errors_held = np.minimum(behind[i], behind[j])
            # Among ties no threshold may hold the rate aimed at: where rates moved to it differ
            # less, they count.
            missed = np.array([system.missed for system in self._systems])
            at_aim = difference - s * missed[i] + t * missed[j]
            difference = np.minimum(np.abs(difference), np.abs(at_aim))
        forms = self._forms_of_differences(self._errors(mated, cell, n), slopes)
        of_held = forms.of_held
        few = size / (size - 1) if mated and size > 1 else 1.0
        variance = few * forms.of_both.max(axis=0)
        if self._kinds:
            side = 0 if mated else 1
            sessions, cells = (
                kind.variances(mated, cell, rates, n, slopes) for kind in self._kinds
            )
            variance = two_way_variance(variance, sessions, cells)
            n_sessions = self._kinds[0].count_units(side, cell)
            freedom = min(freedom, n_sessions - 1)
        if freedom < 1:
            return np.full(i.size, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            # The variance of what x errors hold is known with a relative variance of 1 / x only, as
            # with 2 x degrees of freedom; it counts as far as it makes up the variance of the
            # difference (Satterthwaite).
            share = np.minimum(of_held / variance, 1.0)
            both = 1 / (share**2 / (2 * errors_held) + (1 - share) ** 2 / freedom)
            by_normal = 2 * stdtr(
                np.where(share > 0, np.minimum(freedom, both), freedom),
                -np.abs(difference / np.sqrt(variance)),
            )
        by_normal = np.where(variance > 0, by_normal, 1.0)  # no decision differs
        if self._systems[0].at.is_given:
            by_normal = np.fmax(by_normal, self._exact_pvalues(forms.errors, n, rates))
        return np.where(errors_held > 0, by_normal, np.nan)

    def _code(self, cell: Cell) -> int | None:
        """Return the code of a cell of groups."""
        groups = len(self._counts.comparisons.groups)
        return None if cell is None else cell[0] * groups + cell[1]

    def _errors(self, mated: bool, cell: Cell, n: int) -> _Added:
        """Return what the errors of each system add to a rate of n comparisons."""
        each = np.full(len(self._systems), 1 / n)
        asked = self._code(cell), each
        what = [asked, None] if mated else [None, asked]
        return self._added(what, np.zeros((2, each.size)))

    def _forms_of_differences(self, errors: _Added, slopes: tuple[Floats, Floats] | None) -> _Forms:
        """Return the variances of the differences of a rate, for all pairs, by what errors add.

        slopes: those of both systems' rates over what is held; None at given thresholds.
        """
        i, j = self._place
        forms_of_errors = self._forms(errors, errors)
        parts = forms_of_errors[:, i, i] + forms_of_errors[:, j, j]
        forms = parts - 2 * forms_of_errors[:, i, j]
        of_held = np.zeros(i.size)
        if slopes is not None:
            s, t = slopes
            held = self._held_forms
            squares = s**2 * held[:, i, i] + t**2 * held[:, j, j]
            among_held = squares - 2 * s * t * held[:, i, j]
            of_held = among_held.max(axis=0).clip(0)
            crossed = self._forms(errors, self._held)
            forms = forms + among_held - 2 * s * (crossed[:, i, i] - crossed[:, j, i])
            forms += 2 * t * (crossed[:, i, j] - crossed[:, j, j])
            parts = parts + squares
        forms[forms < _ROUNDING * np.abs(parts)] = 0.0
        return _Forms(forms, of_held, errors)

    def _exact_pvalues(self, errors: _Added, n: int, rates: Floats) -> Floats:
        """Return McNemar's exact p-values; NaN for many errors, and where a unit has several
        decisions that differ.
        """
        from scipy.special import bdtr

        exact = np.full(self._place.shape[1], np.nan)
        for side, part in zip(self._sides, errors, strict=True):
            few = (
                np.flatnonzero(n * rates[self._place].sum(axis=0) <= _MOST_ERRORS_FOR_EXACT_TESTS)
                if part is not None
                else ()
            )
            for k in few:
                first, second = self._place[:, k]
                apart = n * (part.of_pairs[first] - part.of_pairs[second])  # type: ignore[union-attr]  # few are of a part
                of_units = abs(apart) @ side.units if self._counts.n_units else abs(apart)
                if np.rint(of_units.data).max(initial=0) <= 1:
                    worse = np.rint(apart.data)
                    less = min((worse > 0).sum(), (worse < 0).sum())
                    exact[k] = min(1.0, 2 * bdtr(less, np.count_nonzero(worse), 0.5))
        return exact


class _TestsInSessions(_ScoreTests):
    """What sessions, or cells, add to the variances of differences."""

    _counts: CountsInSessions

    _kind_of_side = _SideInSessions
    _sides: list[_SideInSessions]  # type: ignore[assignment]

    def variances(
        self,
        mated: bool,
        cell: Cell,
        rates: Floats,
        n: int,
        slopes: tuple[Floats, Floats] | None,
    ) -> Floats:
        """Return the variances of the differences of a rate, about these: units are so few that a
        difference itself would add much to sums of squares about 0.
        """
        side = 0 if mated else 1
        added, factor = self._sides[side].centred(self._code(cell), n, rates)
        units, times = self._sides[side].units, self._sides[side].times
        sums = (added @ units).toarray()
        errors: _Added = [None, None]
        errors[side] = _Part(added, np.zeros(rates.size), np.asarray(added @ times), sums)
        return factor * self._forms_of_differences(errors, slopes).of_both[0].clip(0)

    def count_units(self, side: int, cell: Cell) -> int:
        """As in `CountsInSessions`."""
        return self._counts.count_units(side, cell)

    def _forms(self, first: _Added, second: _Added) -> Floats:
        """Return (1, systems, systems) covariances of what systems add: over units, less what pairs
        of two of them have twice.
        """
        forms = self._over_units(first, second, slice(0, 2))
        for side, squared in enumerate(self._counts.squares):
            a, b = first[side], second[side]
            if a is None or b is None:
                continue
            of_two = self._sides[side].of_two
            forms = forms - (a.of_pairs[:, of_two] @ b.of_pairs[:, of_two].T).toarray()
            forms -= np.multiply.outer(a.constants, b.times)
            forms -= np.multiply.outer(a.times, b.constants)
            forms -= squared * np.multiply.outer(a.constants, b.constants)
        return forms[None]


def _shrink_slopes(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Move two systems' slopes towards their mean by what counting errors makes them differ, as
    James and Stein do.

    Errors that both systems make cancel in a difference, but for what slopes that differ by chance
    leave of them.
    """
    values, other_values = first[:, 0], second[:, 0]
    mean = (values + other_values) / 2
    half = (values - other_values) / 2
    chance = values**2 * first[:, 1] + other_values**2 * second[:, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.where(half != 0, np.maximum(0.0, 1 - chance / (4 * half**2)), 0.0)
    return mean + kept * half, mean - kept * half
