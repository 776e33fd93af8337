"""How much data are behind each quantity, and the limits of rates at thresholds that few errors
hold.

Degrees of freedom of a rate are the number of units behind it minus the number of strata that they
are drawn in; where people share sessions, at most one fewer than there are sessions. Those of an
FMR are fewer where few subjects cause most of its variance, which is then less certain; and so are
those of an FNMR whose threshold holds such an FMR.

Upper limits of rates of failure allow for one more subject; see `rate_limits`, and
`resampling.dependence.typical_subject` for its attempts and failures.

A threshold that holds an FMR at which fewer than ten errors are expected lies at the edge of the
data. How far off it is, replicates do not tell. At the population's threshold the number of errors
in the data varies about that expected, by a gamma law with the standard error of the rate held. So
that threshold lies between two scores of the data: those beyond which the quantiles of this law
leave errors. A rate there has the limits of a rate at given thresholds: the upper one at the score
at which it is higher, the lower one at the other; half of the error probability belongs to the
threshold, and half to the rate. Where the lower quantile is below one error, the strictest
threshold may be beyond all scores, so that an FNMR has no upper limit but 1. Thresholds that hold
an FNMR are the mirror image.

A threshold that failures hold, as at an FNMR or an EER, knows of one more subject, too, however
many errors are behind it: at its lax end the upper limit of the FNMR still reaches what is held.
The upper limit of an FMR joins that at the data's threshold with the FMR at the lax end, as the
method of Zou and Donner does, and replicates' limit stays where it is higher.

At any threshold the EER lies between FMR and FNMR, so that the greater one of their upper limits
bounds it. Where fewer than ten errors of a kind are behind an EER, its upper limit is that at the
threshold where this bound is lowest. A minDCF is at most the cost at any threshold, and then has the limits
of the rates at its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from fastfair import intervals
from fastfair._lib.arrays import Flags, Floats
from fastfair._lib.bisection import least_whole
from fastfair.data import score_keys
from fastfair.data.comparisons import keys_of
from fastfair.data.score_keys import count_below
from fastfair.data.sorted_scores import ClassKeys, NotKeptError, not_kept
from fastfair.error_rates.operating_points import FEWEST_ERRORS
from fastfair.error_rates.score_metrics import Costs, least_cost, mean_cost
from fastfair.measures._registry import ACCURACY, MATED, METRICS
from fastfair.resampling.dependence import (
    ENOUGH_PAIRS,
    AddedSubject,
    AttemptSums,
    CountModel,
    count_models,
    two_way_freedom,
    typical_subject,
)
from fastfair.resampling.engine import Resampler
from fastfair.resampling.error_lists import ErrorLists

from .notes import CONCENTRATED, Code, Note
from .quantities import FITTED, RATES, Entry, base_metric_of_ratio
from .rate_limits import HeldRate, RateEvidence, joined_limits, may_be_equal, raised_rate
from .sessions import sessions_behind

Cell = tuple[int, int] | None
MOST_PER_ERROR = 1 / 3  # of the subjects whose share of the errors is looked at
_MOST_STEPS = 30  # errors by which thresholds for an EER's limits differ from its own
_LOOKED_AT = 300  # errors; of more, it is not computed how many independent ones they are
_LARGE = 0.3  # share of a rate's variance that comes from its threshold
# degrees of freedom of the FMR from which on no small group of subjects causes most false matches
_FREEDOM = 30.0


class Limits(NamedTuple):
    """Limits that an interval has to reach, NaN where there is none, and why it ends where the
    range of values does.
    """

    low: float
    high: float
    missing: Note | None = None


# the row of an entry, whether its FNMR or its FMR is asked for, the threshold's key, and the level
_Asked = tuple[int, bool, int, float]
_Search = Generator[list[_Asked], Floats, Limits | None]


def _both_rates(row: int, key: int, level: float) -> list[_Asked]:
    return [(row, True, key, level), (row, False, key, level)]


class FewHeldErrors:
    """The limits of an evaluation's quantities at thresholds that few errors hold.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of the evaluation.
    resampler : Resampler
        Its resampler.
    """

    def __init__(self, entries: Sequence[Entry], resampler: Resampler) -> None:
        self._entries, self._resampler = entries, resampler
        self._freedom = degrees_of_freedom(entries, resampler, of_held=False)
        self._errors: dict[tuple[bool, int, int], tuple[float, float, AttemptSums]] = {}
        self._known: dict[tuple[int, bool, int], tuple[float, ...]] = {}
        self._found: dict[float, dict[int, Limits | None]] = {}
        self._ends: dict[tuple[int, float], tuple[int | None, int | None]] = {}
        points = {k: at.rate for k, at in enumerate(resampler.points) if at.rate}
        freedom = degrees_of_freedom(
            [Entry(rate, None, k, None) for k, rate in points.items()], resampler
        )
        self._of_points = {
            k: self._held_rate(k, of_rate)
            for k, of_rate in zip(points, freedom.tolist(), strict=True)
        }
        self._held = {
            k: rate for k, rate in self._of_points.items() if rate.expected < FEWEST_ERRORS
        }

    def holds(self, point: int) -> bool:
        """Return whether the limits at an operating point allow for its few errors."""
        return point in self._held

    def limits(self, rows: Sequence[int], confidence_level: float) -> list[Limits | None]:
        """Return the limits of entries at a level; None where replicates tell them, and for row -1.

        Those of all entries that are asked for in one step are computed at once; those of an EER
        lead to further ones.
        """
        half = (1 + confidence_level) / 2
        limits_of_rows = self._found.setdefault(half, {-1: None})
        searches = {row: self._search(row, half) for row in rows if row not in limits_of_rows}
        ends: dict[int, Floats] = {}
        while searches:
            asked: dict[int, list[_Asked]] = {}
            for row, search in searches.items():
                try:
                    asked[row] = search.send(ends[row]) if ends else next(search)
                except StopIteration as end:
                    limits_of_rows[row] = end.value
            searches = {row: searches[row] for row in asked}
            limits = self._limits_at(list(itertools.chain(*asked.values())))
            after = np.cumsum([len(ends_asked) for ends_asked in asked.values()])
            ends = (
                dict(zip(asked, np.split(limits, after[:-1], axis=1), strict=True)) if asked else {}
            )
        return [limits_of_rows[row] for row in rows]

    def _search(self, row: int, half: float) -> _Search:
        """Look for the limits of an entry, as a generator.

        It yields the rates and thresholds whose limits it needs next, and is sent these, (2,
        asked): so those of all entries are computed in one call.
        """
        entry = self._entries[row]
        resampler = self._resampler
        if not math.isfinite(entry.value):
            return None
        if entry.name in RATES and entry.point is not None:
            at = resampler.points[entry.point]
            knows_failures = entry.name == "fmr" and self._knows_failures(entry.point)
            if knows_failures and not is_equal_error(entry, resampler):
                return (yield from self._at_lax_threshold(row, entry.point, half))
            if entry.point in self._held:
                is_held = entry.cell is None and entry.name == at.rate
                return (
                    None
                    if is_held
                    else (yield from self._at_held_threshold(row, entry.point, half))
                )
            if is_equal_error(entry, resampler):
                key = int(resampler.thresholds[entry.point])
                return (yield from self._between_rates(row, key, half))
        elif entry.name in ("eer", "min_dcf"):
            if 0 < entry.value < 1:
                keys = resampler.eer_keys if entry.name == "eer" else resampler.cost_keys
                key = int(keys[resampler.position(entry.cell)])
                return (yield from self._between_rates(row, key, half))
        elif entry.point is None:
            return None
        elif entry.name == "threshold" and self._knows_failures(entry.point):
            return self._limits_of_threshold(entry.point, half)
        elif entry.point in self._held:  # a threshold or a measure
            missing = self._missing(entry.point, half)
            return None if missing is None else Limits(math.nan, math.nan, missing)
        return None

    def _missing(self, point: int, half: float) -> Note | None:
        """Say that too few errors are expected at an operating point to judge rates there; else
        nothing.
        """
        if self._ends_of_threshold(point, half)[0] is not None:
            return None
        held = self._of_points[point]
        tail = (1 - half) / 2
        errors, comparisons = (
            ("false non-matches", "mated")
            if held.name == "fnmr"
            else ("false matches", "non-mated")
        )
        values: dict[str, float | str] = {"expected": held.rate * held.n, "errors": errors}
        if held.expected < 0.9 * held.rate * held.n:
            values["effective"] = held.expected
        needed = held.comparisons_needed(tail)
        if held.n < needed < math.inf:
            values |= {"needed": float(f"{needed:.2g}"), "comparisons": comparisons}
        return Note.of(Code.BELOW_RESOLUTION, **values)

    def _held_rate(self, point: int, freedom: float) -> HeldRate:
        """Return the rate that an operating point holds, as chance makes it vary at the
        population's threshold.
        """
        resampler = self._resampler
        at = self._resampler.points[point]
        mated = at.rate == "fnmr"
        lists = resampler.lists(mated)
        n = int(lists.sizes[0])
        errors = self._count(lists, 0, int(resampler.thresholds[point]))
        effective = resampler.effective_sample_size(mated) if errors < ENOUGH_PAIRS else None
        # Of more errors than are looked at, more than ten are independent.
        are_few = effective is None and errors <= _LOOKED_AT
        error = self._error(mated, lists, 0, errors)[0] if are_few else 0.0
        return HeldRate.of(at.value, n, freedom, error, effective, at.rate or "")

    @staticmethod
    def _count(lists: ErrorLists, k: int, key: int) -> int:
        """Count the errors of a list at a threshold key."""
        return int(np.searchsorted(lists.keys_of(k), key if lists.mated else -key))

    def _error(
        self, mated: bool, lists: ErrorLists, k: int, errors: int
    ) -> tuple[float, float, AttemptSums]:
        """Return the standard error of a rate with so many errors, its degrees of freedom if it is
        an FMR, and the sums over its subjects.
        """
        from fastfair.kernels import dyadic

        if (mated, k, errors) not in self._errors:
            n = int(lists.sizes[k])
            variances, sums = lists.variance(k, errors, from_the_end=False)
            error = (
                math.sqrt(max(min(variances[dyadic.ROBUST], variances[dyadic.PRODUCT]), 0.0)) / n
            )
            freedom = math.inf if mated else float(variances[dyadic.FREEDOM])
            self._errors[mated, k, errors] = error, freedom, AttemptSums.of_pairs(sums, n, errors)
        return self._errors[mated, k, errors]

    def _ends_of_threshold(self, point: int, half: float) -> tuple[int | None, int | None]:
        """Return keys between which the population's threshold lies; None beyond all scores.

        The first is on the side of few errors of the kind that is held.
        """
        if (point, half) not in self._ends:
            held = self._of_points[point]
            tail = (1 - half) / 2
            mated = held.name == "fnmr"
            few, many = (
                held.errors(tail, lambda errors: self.failures_at(errors, tail)[1])
                if mated and self._draws_subjects
                else held.errors(tail)
            )
            keys = self._resampler.lists(mated).keys_of(0)
            if keys.size <= many < held.n:
                keys = self._resampler.complete(mated).keys_of(0)
            if keys.size <= many < held.n:
                self._require_more()
                many = held.n
            near = None if few == 0 else int(keys[few - 1]) + mated
            far = None if many >= held.n else int(keys[many])
            # The threshold of few failures, or of any false matches, is above a score.
            if not mated:  # keys are inverted
                near, far = (None if key is None else ~key + 1 for key in (near, far))
            self._ends[point, half] = near, far
        return self._ends[point, half]

    def _at_held_threshold(self, row: int, point: int, half: float) -> _Search:
        """Look for the limits of a rate where another one is held."""
        held = self._held[point]
        is_fnmr = self._entries[row].name == "fnmr"
        near, far = self._ends_of_threshold(point, half)
        # The first has more errors.
        harm, other = (near, far) if is_fnmr != (held.name == "fnmr") else (far, near)
        ends = yield [(row, is_fnmr, key, half) for key in (other, harm) if key is not None]
        low = 0.0 if other is None else float(ends[0, 0])
        if harm is None:
            return Limits(low, 1.0, self._missing(point, half))
        return Limits(low, float(ends[1, -1]))

    @property
    def _draws_subjects(self) -> bool:
        return self._resampler.units.unit == "subject"

    def _knows_failures(self, point: int) -> bool:
        """Return whether the threshold of an operating point rests on failures of subjects."""
        at = self._resampler.points[point]
        return self._draws_subjects and (at.rate == "fnmr" or at.rule.eers == "all")

    @cached_property
    def _freedom_of_failures(self) -> float:
        return float(
            degrees_of_freedom([Entry("fnmr", None, 0, None)], self._resampler, of_held=False)[0]
        )

    def failures_at(self, errors: int, tail: float) -> tuple[float, float]:
        """Return the FNMR of all comparisons at a score with so many of them below, and its upper
        limit.
        """
        key = int(self._resampler.lists(True).keys_of(0)[errors])
        evidence = RateEvidence(*self._evidence_at(None, True, key, self._freedom_of_failures))
        return float(evidence.estimate), float(evidence.interval(1 - 2 * tail)[1])

    def _lax_threshold(self, point: int, tail: float) -> int | None:
        """Return the key of the lowest threshold that the population may have at a held FNMR or
        EER; None below all scores.
        """
        if self._resampler.points[point].rate:
            return self._ends_of_threshold(point, 1 - 2 * tail)[0]
        return self.lax_end_of_equal_errors(int(self._resampler.thresholds[point]), tail)

    def lax_end_of_equal_errors(self, key: int, tail: float) -> int | None:
        """Return the key of the lowest threshold at which the population's FMR and FNMR may be
        equal, given that of the data; None below all scores.

        The relative standard error of the FMR is that at the data's threshold.
        """
        keys = keys_of(self._resampler.comparisons)
        lists = self._resampler.lists(True)
        evidence = RateEvidence(*self._evidence_at(None, False, key, math.inf))
        rate = float(evidence.estimate)
        low = float(evidence.interval(1 - 2 * tail)[0])
        lower = low / rate if rate else 0.0

        def are_equal(errors: int) -> bool:
            key = int(lists.keys_of(0)[errors])
            if keys.limits is not None and key < keys.limits[0]:
                return False
            fmr = (keys.nonmated.size - count_below(keys.nonmated, key)) / keys.sizes[1]
            return may_be_equal(self.failures_at(errors, tail), (fmr, fmr * lower))

        fewest = least_whole(are_equal, -1, self._count(lists, 0, key))
        return None if fewest == 0 else int(lists.keys_of(0)[fewest - 1]) + 1

    def _below_all_scores(self, point: int, half: float) -> Note | None:
        """Say that the lax end of a threshold lies below all scores."""
        is_rate = self._resampler.points[point].rate
        return self._missing(point, 2 * half - 1) if is_rate else Note(Code.THRESHOLD_BEYOND_SCORES)

    def _at_lax_threshold(self, row: int, point: int, half: float) -> _Search:
        """Look for the limits of an FMR where failures hold the threshold."""
        lax = self._lax_threshold(point, 1 - half)
        given = int(self._resampler.thresholds[point])
        strict = self._ends_of_threshold(point, half)[1] if point in self._held else None
        at_given = [] if lax is None else [(row, False, given, 2 * half - 1)]
        at_strict = [] if strict is None else [(row, False, strict, half)]
        ends = yield [*at_given, *at_strict]
        low = float(ends[0, -1]) if at_strict else 0.0 if point in self._held else math.nan
        if lax is None:
            return Limits(low, 1.0, self._below_all_scores(point, half))
        rate = float(self._entries[row].value)
        given_ends = float(ends[0, 0]), float(ends[1, 0])
        return Limits(low, joined_limits(rate, given_ends, [rate, self._fmr_at(row, lax)])[1])

    def _limits_of_threshold(self, point: int, half: float) -> Limits:
        """Return the lax end of the interval of a threshold that failures hold."""
        key = self._lax_threshold(point, 1 - half)
        comparisons = self._resampler.comparisons
        if key is None:
            return Limits(math.nan, math.nan, self._below_all_scores(point, half))
        score = float(score_keys.decode(np.array([key - 1], comparisons.mated.keys.dtype))[0])
        if comparisons.score_kind == "distance":
            return Limits(math.nan, comparisons.to_scale(score))
        return Limits(score, math.nan)

    def _fmr_at(self, row: int, key: int) -> float:
        """Return the FMR of an entry's comparisons at another threshold.

        Raises
        ------
        NotKeptError
            Where a scan has not kept the comparisons there.
        """
        k = self._resampler.position(self._entries[row].cell)
        lists = self._resampler.lists(False)
        if not lists.reach(np.array([-key])):
            lists = self._resampler.complete(False)
        if not lists.reach(np.array([-key])):
            what = "the limit of an FMR where an FNMR or EER holds the threshold"
            raise not_kept(what, keys_of(self._resampler.comparisons))
        return self._count(lists, k, key) / int(lists.sizes[k])

    def _between_rates(self, row: int, key: int, half: float) -> _Search:
        """Look for the limits of an EER or minDCF with few errors of a kind at its threshold."""
        cell = self._entries[row].cell
        k = self._resampler.position(cell)
        few = [mated for mated in (True, False) if self._has_few(mated, k, key)]
        if not few:
            return None
        if self._entries[row].name == "min_dcf":
            ends = yield _both_rates(row, key, half)
            return Limits(
                math.nan, float(mean_cost(self._resampler.metrics.costs, *ends[1].tolist()))
            )
        low = yield from self._best_of_thresholds(row, few[0], key, half, upper=False)
        high = yield from self._best_of_thresholds(row, few[0], key, half, upper=True)
        return Limits(low, -high)

    def _best_of_thresholds(
        self, row: int, mated: bool, key: int, half: float, *, upper: bool
    ) -> Generator[list[_Asked], Floats, float]:
        """Return the greatest lower limit of both rates, or minus the lowest upper one (so that
        the best is the greatest), at thresholds near a key.

        They are those with one error of a kind more, or less, after the other. Where errors of the
        kind are as many, an upper limit is sought where the others are fewest, and a lower one
        where they are most.
        """

        def value(ends: Floats) -> float:
            return -float(ends[1].max()) if upper else float(ends[0].min())

        k = self._resampler.position(self._entries[row].cell)
        lists = self._resampler.lists(mated)
        keys = lists.keys_of(k)
        errors = self._count(lists, k, key)
        best = value((yield _both_rates(row, key, half)))
        for step in (-1, 1):
            for n in range(errors, max(errors + step * _MOST_STEPS, -1), step):
                position = n if upper else n - 1
                if not 0 <= position < keys.size:
                    continue
                other = int(keys[position]) + (
                    not upper
                )  # keys of non-mated comparisons are inverted
                cost = value((yield _both_rates(row, other if mated else -other, half)))
                if cost < best:
                    break
                best = cost
        return best

    def _has_few(self, mated: bool, k: int, key: int) -> bool:
        lists = self._resampler.lists(mated)
        errors = self._count(lists, k, key)
        n = int(lists.sizes[k])
        if not n or errors > _LOOKED_AT:
            return False
        # one more subject allows for few subjects behind many failures
        if errors < FEWEST_ERRORS or mated:
            return errors < FEWEST_ERRORS
        error = self._error(mated, lists, k, errors)[0]
        return error > 0 and (errors / n / error) ** 2 < FEWEST_ERRORS

    def _limits_at(self, asked: Sequence[_Asked]) -> Floats:
        """Compute the limits of rates at given thresholds, as evaluations have them: (2, asked)."""
        for row, mated, key, _ in asked:
            if (row, mated, key) not in self._known:
                cell = self._entries[row].cell
                freedom = float(self._freedom[row])
                self._known[row, mated, key] = self._evidence_at(cell, mated, key, freedom)
        evidence = np.array([self._known[question[:3]] for question in asked]).reshape(-1, 5).T
        low, high = RateEvidence(*evidence).interval(np.array([question[3] for question in asked]))
        return np.array([np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)])

    def _evidence_at(
        self, cell: Cell, mated: bool, key: int, most_freedom: float
    ) -> tuple[float, ...]:
        """Return the evidence of a rate of some comparisons at a threshold; NaN where it is not
        kept.
        """
        lists = self._resampler.lists(mated)
        k = self._resampler.position(cell)
        limit = np.array([key if mated else -key])
        if not lists.reach(limit):
            lists = self._resampler.complete(mated)
        if not lists.reach(limit):
            self._require_more()
            return (math.nan,) * 5
        errors = self._count(lists, k, key)
        n = int(lists.sizes[k])
        rate = errors / n
        effective = math.nan
        if min(errors, n - errors) < ENOUGH_PAIRS:
            effective = self._resampler.effective_sample_size(mated, cell, 2 * errors > n)
        if errors in (0, n):
            return rate, 0.0, 1.0, effective, math.nan
        error, freedom, sums = self._error(mated, lists, k, errors)
        raised = math.nan
        if mated and self._draws_subjects:
            of_all = self._error(mated, lists, 0, self._count(lists, 0, key))[2]
            raised = float(raised_rate(rate, n, typical_subject(sums, of_all)))
        by_session = self._resampler.raised_by_session(lists, k, errors)
        raised = float(raised_by_both(raised, by_session))
        return rate, error, max(1.0, min(most_freedom, freedom)), effective, raised

    def _require_more(self) -> None:
        """Raise an error where a scan could keep more comparisons than it has."""
        comparisons = self._resampler.comparisons
        if comparisons.may_keep_more:
            raise not_kept(
                "the limit of a rate at a threshold that few errors hold", keys_of(comparisons)
            )


def is_held_by_few_subjects(freedom: float, concentration: float) -> bool:
    """Return whether few subjects cause most of the false matches that hold a threshold.

    Parameters
    ----------
    freedom : float
        Degrees of freedom of the FMR of all comparisons.
    concentration : float
        The share of its errors that involve one of few subjects, at most `MOST_PER_ERROR` of them
        for each error.

    Returns
    -------
    bool
    """
    return freedom < _FREEDOM and concentration >= CONCENTRATED


def hangs_on_threshold(rates: Floats, thresholds: Floats) -> Flags:
    """Return where a good part of the variance of a rate's replicates is that of their thresholds.

    Where few subjects hold the threshold, intervals of the rate are then likely too narrow: whether
    such subjects are in the data is luck. In simulations, of the intervals that missed the true rate
    at FMRs at which fewer than 92 % hold it, 97 % were of this kind.

    Parameters
    ----------
    rates, thresholds : (rows, r) ndarray
        Replicates.

    Returns
    -------
    (rows,) ndarray of bool
    """
    finite = np.where(np.isfinite(thresholds), thresholds, np.nan)
    return np.asarray(intervals.correlations_of(np.array([finite, rates])) ** 2 > _LARGE)


_SIDES = {
    name: METRICS[name].sides for name in (*RATES, "eer", "act_dcf", "auc", ACCURACY, *FITTED)
}


@dataclass(frozen=True, eq=False)
class SampleSizes:
    """How much data are behind quantities.

    Attributes
    ----------
    degrees_of_freedom : (quantities,) ndarray
        Of rates, costs, and groups' ratios to the average; infinite for others.
    effective : (quantities,) ndarray
        Effective sample sizes of rates and EERs of 0 or 1, and of rates with one to four errors,
        or correct decisions; NaN for others.
    raised : (quantities,) ndarray
        By how much one more subject raises rates of failure, EERs and minDCFs; NaN for others.
    few_held : FewHeldErrors, optional
        The limits of quantities at thresholds that few errors hold.
    places : sequence of int
        The place of each quantity among the entries of `few_held`, -1 for none; of an FRR or FAR,
        that of the FNMR or FMR.
    unit : str
        The units that the data consist of, as in `evaluate`; may be empty.
    count_models : callable, optional
        Estimates how the numbers of errors of groups vary at each operating point.
    independent : (quantities,) ndarray, optional
        Numbers of comparisons behind rates, where these are taken for independent; else NaN.
    sessions : (quantities,) ndarray, optional
        Numbers of sessions behind quantities; infinite where these are not known.
    """

    degrees_of_freedom: Floats
    effective: Floats
    raised: Floats
    few_held: FewHeldErrors | None = None
    places: Sequence[int] = ()
    unit: str = ""
    count_models: Callable[[], list[dict[str, CountModel]]] | None = None
    independent: Floats | float = math.nan
    sessions: Floats | float = math.inf

    @classmethod
    def unknown(cls, n: int, unit: str = "") -> SampleSizes:
        """Return those of n quantities of which nothing is known but replicates."""
        return cls(np.full(n, np.inf), np.full(n, np.nan), np.full(n, np.nan), unit=unit)

    @classmethod
    def of(cls, entries: Sequence[Entry], resampler: Resampler) -> SampleSizes:
        """Compute those of the entries of an evaluation."""
        return cls(
            degrees_of_freedom(entries, resampler),
            effective_sample_sizes(entries, resampler),
            raised_by_one_more(entries, resampler),
            FewHeldErrors(entries, resampler),
            range(len(entries)),
            resampler.units.unit,
            resampler.count_models,
            independent_comparisons(entries, resampler),
            sessions_behind(entries, resampler),
        )

    def followed_by(self, other: SampleSizes) -> SampleSizes:
        """Return these and those of further quantities, whose limits are among `few_held` of
        these.
        """
        return replace(
            self,
            degrees_of_freedom=np.append(self.degrees_of_freedom, other.degrees_of_freedom),
            effective=np.append(self.effective, other.effective),
            raised=np.append(self.raised, other.raised),
            independent=np.append(
                np.broadcast_to(self.independent, self.effective.shape),
                np.broadcast_to(other.independent, other.effective.shape),
            ),
            sessions=np.append(
                np.broadcast_to(self.sessions, self.effective.shape),
                np.broadcast_to(other.sessions, other.effective.shape),
            ),
            places=[*self.places, *other.places],
        )


def independent_comparisons(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Count the comparisons behind each rate, where these are taken for independent; NaN for all
    else.
    """
    numbers = np.full(len(entries), np.nan)
    if resampler.comparisons.is_independent:
        for k, entry in enumerate(entries):
            if entry.name in RATES:
                is_mated = METRICS[entry.name].sides == (MATED,)
                numbers[k] = resampler.n_comparisons(is_mated, entry.cell)
    return numbers


def degrees_of_freedom(
    entries: Sequence[Entry], resampler: Resampler, *, of_held: bool = True
) -> Floats:
    """Count the degrees of freedom of each rate, EER, minDCF and min Cllr, and of groups' ratios of
    these, at least 1.

    They are infinite for all other entries, and for all entries where samples are drawn.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        The resampler of the evaluation.
    of_held : bool
        Whether an FNMR has at most the degrees of freedom of the FMR that holds its threshold.

    Returns
    -------
    (entries,) ndarray
    """
    freedom = np.full(len(entries), np.inf)
    comparisons = resampler.comparisons
    if resampler.units.unit == "sample":
        return freedom
    # None where comparisons are drawn, in a stratum for each class
    stratum = resampler.units.stratum_of_subject
    n_all = 1 if stratum is None else int(stratum.max()) + 1
    has_some = None
    if stratum is not None and comparisons.group_of_subject is not None:
        # whether a group has subjects in a stratum
        has_some = np.zeros((len(comparisons.groups), n_all), np.bool_)
        has_some[comparisons.group_of_subject, stratum] = True

    @cache
    def count(mated: bool, cell: Cell) -> int:
        if stratum is None:
            return resampler.n_comparisons(mated, cell)
        if cell is None:
            return int(comparisons.subject_counts[0 if mated else 1] or 0)
        subjects = (comparisons.mated_by_group if mated else comparisons.nonmated_by_group).subjects
        assert subjects is not None
        return int(subjects[cell])

    @cache
    def count_strata(cell: Cell) -> int:
        if cell is None:
            return n_all
        if has_some is None:
            return len(set(cell))
        return int((has_some[cell[0]] | has_some[cell[1]]).sum())

    for k, entry in enumerate(entries):
        cell = entry.cell
        name = base_metric_of_ratio(entry.name) or entry.name
        if name not in _SIDES:
            continue
        sides = _SIDES["eer" if is_equal_error(entry, resampler) else name]
        by_units = min(count(side == MATED, cell) for side in sides) - count_strata(cell)
        of_sessions = min(resampler.n_sessions(side == MATED, cell) for side in sides)
        most = math.inf
        if _SIDES[name] == ("non-mated",):
            assert entry.point is not None
            most = resampler.freedom(entry.point, cell)
        elif (
            of_held
            and name == "fnmr"
            and entry.point is not None
            and resampler.points[entry.point].rate == "fmr"
        ):
            most = resampler.freedom(entry.point)
        freedom[k] = float(two_way_freedom(max(1, min(by_units, most)), of_sessions))
    return freedom


def is_equal_error(entry: Entry, resampler: Resampler) -> bool:
    """Return whether a rate of all comparisons is an EER, which their threshold holds."""
    if entry.name not in RATES or entry.cell is not None or entry.point is None:
        return False
    return resampler.points[entry.point].rule.eers == "all"


def effective_sample_sizes(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Compute the effective sample size of rates and EERs of 0 or 1, and of rates with one to four
    errors, or correct decisions.

    So few have no design effect of their own. That of a group's FNMR is that with the
    intra-class correlation of all groups at this threshold, if five of their subjects fail there;
    else, and of other rates, that of a laxer threshold; with sessions the smaller of both, as the
    correlation is that of people alone. An EER of 0 means that both rates are 0 at
    the thresholds between all non-mated and all mated scores. It cannot lie above the larger of the
    two upper limits there, which is that of the smaller number.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        The resampler of the evaluation.

    Returns
    -------
    (entries,) ndarray
        Numbers of comparisons; NaN for other entries.
    """
    count = cache(resampler.effective_sample_size)
    of_failures = cache(partial(_of_correlated_failures, resampler))
    sizes = np.full(len(entries), np.nan)
    for k, entry in enumerate(entries):
        cell = entry.cell
        if entry.name not in (*RATES, "eer"):
            continue
        held = (
            cell is None
            and entry.point is not None
            and resampler.points[entry.point].rate == entry.name
        )
        few = not held and entry.name in RATES and 0 < entry.value < 1
        if few:
            n = resampler.n_comparisons(entry.name == "fnmr", cell)
            few = round(min(entry.value, 1 - entry.value) * n) < ENOUGH_PAIRS
        if few or entry.value in (0, 1):
            sizes[k] = (
                of_failures(entry.point)[cell[0]]
                if entry.name == "fnmr" and cell is not None
                else math.nan
            )
            if math.isnan(sizes[k]) or resampler.comparisons.sessions is not None:
                of_laxer = min(
                    count(side == "mated", cell, bool(entry.value > 0.5))
                    for side in _SIDES[entry.name]
                )
                sizes[k] = np.fmin(sizes[k], of_laxer)
    return sizes


def _of_correlated_failures(resampler: Resampler, point: int) -> Floats:
    """Return the effective sample sizes of groups' FNMRs, with one correlation; NaN where it is not
    known.
    """
    lists = resampler.lists(True)
    n_groups = resampler.n_groups
    n_errors = int(lists.errors_at(resampler.thresholds)[point, 0])
    failing = np.unique(lists.a[lists.start[0] : lists.start[0] + n_errors]).size
    model = count_models(lists, resampler.thresholds, n_groups)[point]
    some = (model.errors > 0) & (model.errors < model.comparisons)
    is_known = resampler.units.unit == "subject" and failing >= ENOUGH_PAIRS and bool(some.any())
    return np.where(is_known, model.comparisons / (1 + model.linear), np.nan)


def added_subjects(entries: Sequence[Entry], resampler: Resampler) -> AddedSubject:
    """Compute the attempts and failures of one more subject for each FNMR, EER and minDCF; see
    `rate_limits` for what it is added for.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        Its resampler.

    Returns
    -------
    AddedSubject
        (entries,) arrays; NaN for other entries, and where the units drawn are not subjects.
    """
    added = AddedSubject(*np.full((2, len(entries)), np.nan))
    if resampler.units.unit != "subject":
        return added
    lists = resampler.lists(True)
    keys = {"eer": resampler.eer_keys, "min_dcf": resampler.cost_keys}
    keys = {name: keys[name] for name in keys if name in resampler.metrics.names}
    errors = lists.errors_at(resampler.thresholds, tuple(keys.values()))
    sums = AttemptSums.of_pairs(lists.variances(errors)[1], lists.sizes, errors)
    typical = typical_subject(sums, AttemptSums(*(np.atleast_2d(part)[:, :1] for part in sums)))
    places = {name: row for row, name in enumerate(keys, resampler.thresholds.size)}
    for row, entry in enumerate(entries):
        at = places.get(entry.name)
        if entry.name == "fnmr" or is_equal_error(entry, resampler):
            at = entry.point
        if at is not None:
            place = at, 0 if entry.cell is None else 1 + entry.cell[0]
            added.attempts[row] = typical.attempts[place]
            added.failures[row] = typical.failures[place]
    return added


def raised_by_one_more(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Compute by how much one more subject raises each FNMR, EER and minDCF that rests on failures;
    NaN for others.

    entries, resampler: as `added_subjects` takes them. Returns (entries,).
    """
    raised_by = np.full(len(entries), np.nan)
    added = added_subjects(entries, resampler)
    for row, entry in enumerate(entries):
        more = AddedSubject(float(added.attempts[row]), float(added.failures[row]))
        value = float(entry.value)
        if math.isnan(more.attempts) or not value > 0:
            continue
        keys = keys_of(resampler.comparisons, None if entry.cell is None else entry.cell[0])
        if entry.name == "min_dcf":
            raised_by[row] = _of_least_cost(value, resampler.metrics.costs, keys, more)
            continue
        raised_by[row] = raised_rate(value, keys.sizes[0], more)
        # An EER rises by less than the FNMR at its threshold, as the new one is laxer.
        if entry.name == "eer" or is_equal_error(entry, resampler):
            raised = _crossing(keys, more) - _crossing(keys, AddedSubject(0.0, 0.0))
            raised_by[row] = raised_by[row] if math.isnan(raised) else max(0.0, raised)
    return raised_by_session(raised_by, entries, resampler)


def raised_by_session(raised: Floats, entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Add by how much one more session raises each FNMR and FMR at an operating point.

    raised: by how much one more subject does, (entries,), NaN for other rates. entries, resampler:
    as `added_subjects` takes them. Returns (entries,).
    """
    both = raised.copy()
    if resampler.comparisons.sessions is None:
        return both
    for row, entry in enumerate(entries):
        if entry.name not in RATES or entry.point is None or not 0 < entry.value < 1:
            continue
        lists, k = resampler.lists(entry.name == "fnmr"), resampler.position(entry.cell)
        errors = round(entry.value * int(lists.sizes[k]))
        both[row] = raised_by_both(raised[row], resampler.raised_by_session(lists, k, errors))
    return both


def raised_by_both(by_subject: Any, by_session: Any) -> Any:
    """Join by how much one more subject, NaN for rates that know of none, and one more session
    raise a rate: whether each is in the data is luck of its own.
    """
    return np.where(by_session > 0, np.hypot(np.nan_to_num(by_subject), by_session), by_subject)


def _crossing(keys: ClassKeys, added: AddedSubject) -> float:
    """Return the rate at which FMR and FNMR cross with one more subject; NaN if not kept."""
    m, n = keys.sizes

    def rates(key: int) -> tuple[float, float]:
        below = count_below(keys.mated, key), count_below(keys.nonmated, key)
        return (keys.nonmated.size - below[1]) / n, (
            (below[0] + added.failures) / (m + added.attempts)
        )

    def have_crossed(key: int) -> bool:
        fmr, fnmr = rates(key)
        return fmr <= fnmr

    low = int(min(keys.mated[0], keys.nonmated[0]))
    high = int(max(keys.mated[-1], keys.nonmated[-1])) + 1
    if keys.limits is not None:
        low, high = max(low, keys.limits[0]), min(high, keys.limits[1])
        fmr, fnmr = rates(low)
        if fmr < fnmr:
            return math.nan
    return sum(rates(least_whole(have_crossed, low - 1, high))) / 2


def _of_least_cost(value: float, costs: Costs, keys: ClassKeys, added: AddedSubject) -> float:
    """Return by how much a minDCF is raised: the FNMR behind it is less than that at another
    threshold.
    """
    n = keys.sizes[0]
    more = n + added.attempts
    of_added = costs.miss * added.failures / more / costs.unit
    try:
        least = least_cost(costs, keys, miss=costs.miss * n / more)[0]
    except NotKeptError:
        return of_added
    return max(0.0, least + of_added - value)
