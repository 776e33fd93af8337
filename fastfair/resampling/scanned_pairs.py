"""Comparisons of a scan, in buckets in memory or in files: grouped once, and summed over bucket by
bucket.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from fastfair._lib import memory, packing, whole_files
from fastfair._lib.arrays import Bytes, Codes, Flags, Floats, Groups, Integers, RandomKey
from fastfair._lib.label_codes import look_up
from fastfair._lib.rounding import divide_up
from fastfair._lib.threads import count_threads, in_threads, run_in_order
from fastfair._lib.workers import Arrays, Report, Workers, do_job
from fastfair.data.scans import KeptComparisons, Reader, SpilledPairs
from fastfair.data.temporary_files import ArrayFile, Folder
from fastfair.error_rates.score_metrics import ExactCosts

from .pair_source import (
    CostedSide,
    CountedSide,
    Errors,
    Grouped,
    GroupedErrors,
    ListedComparisons,
    SortedComparisons,
    Totals,
    Walked,
    add_pair_costs,
    group_comparisons,
    pair_and_cost_sums,
    require_room,
    side_of,
)
from .units import BLOCK, Units

_BYTES_OF_COSTS = 112  # of a unit in a list: sums of comparisons and of costs
# Tasks that a pass is cut into for an executor: each returns sums over all units.
_MOST_TASKS = 16
_NUMBER = "comparisons done"  # beside the arrays of a task


Add = Callable[[Grouped, int, Arrays, threading.Lock], None]


class Pass(NamedTuple):
    """What is summed over the comparisons of all buckets, part by part, in whole numbers. It can be
    pickled.

    n_parts: how many parts, such as lists, there are, which several threads may sum at once;
    shapes: of the sums, with their types; begin: returns, once in a process, what adds part k of a
    bucket to the sums, under the part's lock.
    """

    n_parts: int
    shapes: Mapping[str, tuple[tuple[int, ...], Any]]
    begin: Callable[[], Add]

    def adding(self, add: Add, n_threads: int | None) -> tuple[Arrays, Callable[[Grouped], int]]:
        """Return sums of nothing, and what adds a bucket to them in several threads at once and
        counts it.

        add: what `begin` returned.
        """
        sums = {name: np.zeros(*shape) for name, shape in self.shapes.items()}
        locks = [threading.Lock() for _ in range(self.n_parts)]

        def add_all(grouped: Grouped) -> int:
            n = grouped.n_comparisons
            in_threads(n, lambda k: add(grouped, k, sums, locks[k]), range(len(locks)), n_threads)
            return n

        return sums, add_all


@dataclass(frozen=True, eq=False)
class _Grouping:
    """Reads and groups buckets, in this process or in others."""

    readers: Sequence[Reader]
    group_of: Groups  # (subjects,)
    list_of_cell: Codes | None  # the list of comparisons of two groups, as in `ListedComparisons`
    sizes: Integers  # (lists,) number of comparisons in each
    n_rows: int  # number of rows of weights
    exact: ExactCosts | None

    def group(self, k: int, n_threads: int | None) -> Grouped:
        from fastfair.kernels import scan as kernels

        reference, probe, keys = self.readers[k]()

        def rows_of(first: Integers, second: Integers) -> tuple[Codes, Codes]:
            a, b = np.empty((2, first.size), np.int32)
            kernels.rows_of_pairs(first, second, np.int32(self.n_rows - 1), a, b)
            return a, b

        def groups_of(part: slice) -> tuple[Groups, Groups]:
            return look_up(reference[part], self.group_of), look_up(probe[part], self.group_of)

        bucket = ListedComparisons(
            reference, probe, keys, rows_of, self.sizes.size, groups_of, self.list_of_cell
        )
        return group_comparisons(bucket, self.sizes, self.n_rows, n_threads, self.exact)


@dataclass(frozen=True, eq=False)
class _Passing:
    """A pass over buckets as a job, whose workers keep what they group in files that all of them
    read.
    """

    grouping: _Grouping
    folder: str
    work: Pass

    def run(self, steps: range, n_threads: int | None, report: Report | None) -> Arrays:
        """Sum over some buckets; as in `Job`."""
        arrays, add = self.work.adding(self._add, n_threads)
        n = sum(add(self._grouped(k, n_threads)) for k in steps)
        return arrays | {_NUMBER: np.array(n)}

    @cached_property
    def _add(self) -> Add:
        """What adds to the sums, which may draw the weights of all replicates: of all tasks of this
        process.
        """
        return self.work.begin()

    def _grouped(self, k: int, n_threads: int | None) -> Grouped:
        path = Path(self.folder) / f"shared-{k}"
        if path.exists():
            return cast(Grouped, packing.opened(path))
        grouped = self.grouping.group(k, n_threads)
        with whole_files.explained(path):
            # Another worker may be writing the same.
            part = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
            packing.save(grouped, part)
            part.replace(path)
        return grouped


class ScannedSide(CountedSide, CostedSide):
    """The mated, or the non-mated, comparisons of a scan, bucket by bucket, where they are grouped
    with their costs.

    Units are numbered as in `SpilledPairs`, where all pairs of the smaller number lie in one
    bucket. Threads of this process, or the workers of an executor, group and sum.
    """

    in_passes = True

    def __init__(
        self,
        pairs: SpilledPairs,
        kept: SortedComparisons,
        workers: Workers,
        exact: ExactCosts | None = None,
    ) -> None:
        super().__init__(kept.sizes, kept.units, workers.n_threads)
        self.exact = exact
        comparisons = cast(KeptComparisons, kept.comparisons)
        # The row of weights of each subject, as scans number subjects, and after them the row of
        # ones; and the reverse.
        self._row = np.append(
            kept.units.row[np.argsort(comparisons.numbers)], kept.units.n_rows - 1
        )
        self._number = np.argsort(self._row).astype(np.int32)
        if workers.executor is not None:
            pairs.spill()
        readers, self._n_buckets_at_once = pairs.buckets(count_threads(workers.n_threads))
        self._grouping = _Grouping(
            readers,
            comparisons.group_of_number,
            kept.list_of_cell,
            kept.sizes,
            kept.units.n_rows,
            exact,
        )
        self._workers = workers
        self._most_bytes = pairs.most_bytes
        self._n_bytes = 0
        self._lock = threading.Lock()
        # Files that are removed with this object.
        self._folder = Folder(pairs.folder)
        self._grouped: dict[int, Grouped | ArrayFile] = {}
        # Where a thread works on a bucket alone, it groups it alone.
        self._inner = 1 if self._n_buckets_at_once > 1 and len(readers) > 1 else workers.n_threads

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the comparisons, whose total weights are summed before others draw
        replicates.
        """
        return {"sizes": self.sizes, "n_threads": self.n_threads}

    def _sum(self, work: Pass, report: Callable[[int], None] = lambda _: None) -> Arrays:
        """Sum over the comparisons of all buckets; report: called with how many comparisons more
        are done.
        """
        n = len(self._grouping.readers)
        if self._workers.executor is not None:
            return self._sum_in_tasks(work, n, report)
        arrays, add = work.adding(work.begin(), self._workers.n_threads)
        for n_more in run_in_order(lambda k: add(self._get(k)), range(n), self._n_buckets_at_once):
            report(n_more)
        return arrays

    def _sum_in_tasks(self, work: Pass, n: int, report: Callable[[int], None]) -> Arrays:
        arrays: Arrays = {}

        def take(_: range, sums: Arrays) -> None:
            report(int(sums.pop(_NUMBER)))
            for name, array in sums.items():
                arrays[name] = arrays[name] + array if name in arrays else np.array(array)

        job = _Passing(self._grouping, str(self._folder.path), work)
        # Parts of sums are not worth a checkpoint: replicates, which take longer, have theirs.
        workers = replace(self._workers, progress=False, checkpoint=None)
        do_job(job, n, divide_up(n, _MOST_TASKS), workers, "comparisons", take)
        return arrays

    def _get(self, k: int) -> Grouped:
        kept = self._grouped.get(k)
        grouping = self._grouping
        if isinstance(kept, Grouped):
            return kept
        if kept is not None:
            from fastfair.kernels.partners import Runs

            *runs, words = kept
            return Grouped(Runs(*runs), grouping.sizes, words)
        grouped = grouping.group(k, self._inner)
        arrays = *grouped.runs, grouped.words
        n_bytes = sum(array.nbytes for array in arrays)
        with self._lock:
            in_memory = self._n_bytes + n_bytes <= self._most_bytes
            self._n_bytes += n_bytes if in_memory else 0
        if in_memory:
            self._grouped[k] = grouped
        else:
            file = ArrayFile(self._folder, f"grouped-{k}")
            file.append(*arrays)
            self._grouped[k] = file
        return grouped

    @cached_property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        from fastfair.kernels import partners as kernels

        varies = self.varies[self._row]
        return any(
            kernels.any_varies(self._get(k).runs, varies)
            for k in range(len(self._grouping.readers))
        )

    def totals(
        self,
        units: Units,
        starts: range,
        key: RandomKey,
        n_costs: int,
        report: Callable[[int], None],
    ) -> Totals:
        """As in `PairSide`; each bucket is read once."""
        from fastfair.kernels import cost_sums

        memory.require(
            len(starts) * BLOCK * units.n_rows,
            f"the weights of {units.n_units:,} subjects in {len(starts) * BLOCK:,} replicates",
            "use fewer resamples",
        )
        n = len(starts)
        totals = (n, self.sizes.size, BLOCK)
        costs = (n, n_costs, cost_sums.WORDS, BLOCK)
        shapes = {"totals": (totals, np.int64), "costs": (costs, np.int64)}
        n_threads = self._workers.n_threads if self._workers.executor is None else 1
        sums = self._sum(
            Pass(n, shapes, partial(_add_totals, units, starts, key, self._row, n_threads)), report
        )
        if not n_costs:
            return SummedBlocks(sums["totals"], None)
        for block in sums["costs"]:
            for words in block:
                cost_sums.carry(words)
        assert self.exact is not None
        return SummedBlocks(sums["totals"], self.exact.nats(np.moveaxis(sums["costs"], 2, 0)))

    def _walk(self, errors: Errors) -> Walked:
        from fastfair.kernels import pair_walk

        start, stops = errors.start, errors.stops
        n_lists, n_units = start.size, self.stratum.size
        require_room(n_lists, n_units)
        a, b = self._number[errors.a], self._number[errors.b]
        grouped = [GroupedErrors.of(a, b, start[k], stops[k], n_units) for k in range(n_lists)]
        shapes = {
            "comparisons": ((n_lists, n_units), np.float64),
            "repeats_squared": ((n_lists, n_units), np.float64),
            "inside": ((n_lists, self.stratum_size.size), np.float64),
            "of_pairs": ((n_lists, 1, pair_walk.N_SUMS), np.float64),
            # those of a pair are found in one bucket alone
            "repeats": ((int((stops - start).sum()),), np.int32),
        }
        add_pairs = partial(_add_pairs, grouped, self.stratum[self._row], self.varies[self._row])
        sums = self._sum(Pass(n_lists, shapes, add_pairs))
        comparisons, squared = (
            np.take(sums[name], self._number, 1) for name in ("comparisons", "repeats_squared")
        )
        repeats = np.split(sums["repeats"], np.cumsum(stops - start)[:-1])
        return Walked(errors, comparisons, squared, sums["inside"], sums["of_pairs"], repeats)

    def cost_words(self, n_lists: int) -> Integers:
        """As in `CostedSide`."""
        from fastfair.kernels import cost_sums

        shapes = {"words": ((cost_sums.WORDS, n_lists), np.int64)}
        words = self._sum(Pass(1, shapes, partial(_add_costs, n_lists)))["words"]
        cost_sums.carry(words)
        return words

    def cost_variances(self, means: Floats, scale: float) -> Floats:
        """As in `CostedSide`."""
        from fastfair.kernels import cost_sums, pair_walk

        memory.require(
            _BYTES_OF_COSTS * means.size * self.stratum.size,
            f"sums over the costs of {self.stratum.size:,} subjects in {means.size:,} groups",
            "use fewer groups, or leave Cllr out",
        )
        number = self._number
        n_units = self.stratum.size
        variances = np.empty((means.size, 3))
        of_list = (
            *pair_walk.new_sums(1, n_units, self.stratum_size.size),
            *cost_sums.new_costs(n_units),
        )
        shapes = {
            str(k): ((means.size, *array.shape), array.dtype) for k, array in enumerate(of_list)
        }
        begin = partial(
            _add_pair_costs, means, scale, self.stratum[self._row], self.varies[self._row]
        )
        arrays = self._sum(Pass(means.size, shapes, begin))
        for k in range(means.size):
            counts, costs = pair_and_cost_sums([array[k] for array in arrays.values()])
            in_rows = {
                name: getattr(counts, name)[number] for name in ("comparisons", "repeats_squared")
            }
            counts = counts._replace(**in_rows)
            costs = costs._replace(costs=costs.costs[number], squares=costs.squares[number])
            cost_sums.finish_costs(
                counts, costs, (means[k], scale), (self.stratum, self.stratum_size), variances[k]
            )
        return variances


@dataclass(frozen=True, eq=False)
class SummedBlocks:
    """`Totals` that were summed beforehand: (blocks, lists, 64) weights, and (blocks, lists, 64)
    costs in nats.
    """

    weights: Integers
    costs: Floats | None

    def weigh(self, block: int, weights: Bytes, largest: int, totals: Integers) -> None:
        """As in `Totals`."""
        totals[:] = self.weights[block]

    def cost(self, block: int, weights: Bytes, n_lists: int) -> Floats:
        """As in `Totals`."""
        assert self.costs is not None
        return self.costs[block]


def _add_totals(
    units: Units, starts: range, key: RandomKey, row: Integers, n_threads: int | None
) -> Add:
    """Draw weights, and sum those of all comparisons, and their weighted costs, in blocks of
    replicates.

    row: that of the weights of each unit, as buckets number units.
    """
    from fastfair.kernels import cost_sums, row_sums

    def draw(start: int) -> tuple[Bytes, int]:
        drawn = units.new_weights()
        units.draw(start, key, drawn)
        return np.ascontiguousarray(drawn[row]), int(drawn.max(initial=1))

    blocks = in_threads(len(starts) * BLOCK * units.n_rows, draw, starts, n_threads)

    def add(grouped: Grouped, k: int, sums: Arrays, lock: threading.Lock) -> None:
        weights, largest = blocks[k]
        totals = np.empty_like(sums["totals"][k])
        costs = np.empty_like(sums["costs"][k])
        row_sums.total_weights(grouped.runs, weights, largest, totals)
        if costs.size:
            cost_sums.total_costs(grouped.runs, grouped.words, weights, costs)
        with lock:
            sums["totals"][k] += totals
            sums["costs"][k] += costs

    return add


def _add_pairs(errors: list[GroupedErrors], stratum: Integers, varies: Flags) -> Add:
    """Sum over the pairs of units of each list, as `kernels.pair_walk` does.

    errors: those of each list, but for the numbers of comparisons of their pairs; stratum, varies:
    of each unit.
    """
    from fastfair.kernels import pair_walk

    ends = np.cumsum([of_list.at.size for of_list in errors])
    no_errors = np.empty((0, 3, stratum.size))

    def add(grouped: Grouped, k: int, sums: Arrays, lock: threading.Lock) -> None:
        comparisons, squared, inside = (
            sums[name][k] for name in ("comparisons", "repeats_squared", "inside")
        )
        of_list = pair_walk.Sums(comparisons, squared, inside, no_errors, sums["of_pairs"][k])
        repeats = sums["repeats"][ends[k] - errors[k].at.size : ends[k]]
        counted = errors[k]._replace(repeats=repeats)
        runs = grouped.runs_of_list(k)
        with lock:
            pair_walk.add_runs(grouped.runs, runs, tuple(counted), stratum, varies, of_list)

    return add


def _add_costs(n_lists: int) -> Add:
    """Sum the costs of lists, in words."""
    from fastfair.kernels import cost_sums

    def add(grouped: Grouped, k: int, sums: Arrays, lock: threading.Lock) -> None:
        words = np.empty((cost_sums.WORDS, n_lists), np.int64)
        cost_sums.sum_costs(grouped.runs, grouped.words, words)
        with lock:
            sums["words"] += words

    return add


def _add_pair_costs(means: Floats, scale: float, stratum: Integers, varies: Flags) -> Add:
    """Sum the costs of the pairs of units of each list, as `kernels.cost_sums` does."""

    def add(grouped: Grouped, k: int, sums: Arrays, lock: threading.Lock) -> None:
        of_list = pair_and_cost_sums([array[k] for array in sums.values()])
        with lock:
            add_pair_costs(
                grouped, grouped.runs_of_list(k), (means[k], scale), stratum, varies, of_list
            )

    return add


@side_of.register(SpilledPairs)
def _(
    pairs: SpilledPairs, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None
) -> ScannedSide:
    return ScannedSide(pairs, kept, workers, exact)
