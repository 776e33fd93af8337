"""Rates over embeddings at thresholds held by an FMR, in the data and in every replicate."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _keys
from ._blocks import run_blocks
from ._pair_lists import PairLists, Scale, VectorUnits, lists_of_groups, make_lists
from ._pairs import PairFinder
from ._units import LANES
from .embeddings import Embeddings
from .errors import InputError

Floats = NDArray[np.float64]
Report = Callable[[int, int], None]
ROUNDING = 1 + 1e-9  # a rate meets a level that it exceeds by no more than sums of floats may
_SPARE = 1.15  # times as many non-mated pairs are kept as the highest level has errors, and
_SPARE_DEVIATIONS = 6  # as many standard deviations of their number more
_MORE = 2.0  # times as many when a replicate needs pairs that are not kept
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True, eq=False)
class LevelRates:
    """Rates at every level.

    Attributes
    ----------
    threshold : (levels, ...) ndarray
        The lowest with an FMR of at most the level; NaN where there is none.
    fmr, fnmr : (levels, 1 + groups, ...) ndarray
        Of all comparisons and of each group at that threshold; NaN where not asked for.
    """

    threshold: Floats
    fmr: Floats
    fnmr: Floats


class _TooFewKeptError(Exception):
    """A replicate needs non-mated pairs below those that were kept."""


class PairResampler:
    """Computes rates over embeddings and draws replicates of them.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    levels : (levels,) ndarray
        False match rates to hold, ascending, in (0, 1).
    weighting : {"identity", "comparison"}
        What counts alike in a rate.
    unit : {"sample", "subject", "subject+sample"}
        What is drawn.
    with_groups, with_group_fmr, with_overall_fmr : bool
        Whether the FNMR of groups, their FMR, and the FMR of all pairs are wanted.
    n_threads, progress
        As in `roc_band`.

    Raises
    ------
    InputError
        For a level below the least FMR that the data can have.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        levels: Floats,
        *,
        weighting: str,
        unit: str,
        with_groups: bool,
        with_group_fmr: bool = True,
        with_overall_fmr: bool = False,
        n_threads: int | None = None,
        progress: Report | None = None,
    ) -> None:
        self.embeddings, self.levels, self.weighting = embeddings, levels, weighting
        self._n_threads, self._progress = n_threads, progress
        self._with_group_fmr, self._with_overall_fmr = with_group_fmr, with_overall_fmr
        self._n_groups = len(embeddings.groups) if with_groups else 0
        self.units = VectorUnits(embeddings, unit)
        self._require_resolution()
        self._finder = PairFinder(embeddings, n_threads)
        expected = float(levels[-1]) * embeddings.n_nonmated
        self._share = (_SPARE * expected + _SPARE_DEVIATIONS * expected**0.5 + LANES) / embeddings.n_nonmated
        self._find_pairs()

    def _require_resolution(self) -> None:
        n = self.units.n_samples
        if self.weighting == "identity":
            most = np.sort(n)[-2:]
            least = 2 / (n.size * (n.size - 1) * float(most[0]) * float(most[1]))
        else:
            least = 1 / self.embeddings.n_nonmated
        if self.levels[0] * ROUNDING < least:
            raise InputError(
                f"fmr: {self.levels[0]:g} is below the data's resolution, where one false match makes an FMR of "
                f"{least:.3g}: that is the lowest level that can be answered"
            )

    def _find_pairs(self) -> None:
        self._lists: dict[tuple[str, bool], PairLists] = {}  # by rate and whether of groups
        for name, pairs in zip(("fnmr", "fmr"), self._finder.find(self._share, self._progress), strict=True):
            of_all = make_lists(pairs, self.units, mated=name == "fnmr", weighting=self.weighting)
            self._lists[name, False] = of_all
            if self._n_groups and (name == "fnmr" or self._with_group_fmr):
                self._lists[name, True] = lists_of_groups(pairs, self.units, of_all, self._n_groups)

    @property
    def lists(self) -> tuple[PairLists, PairLists]:
        """The mated pairs, and the most similar non-mated ones."""
        return self._lists["fnmr", False], self._lists["fmr", False]

    def find_more(self) -> None:
        """Keep more non-mated pairs."""
        self._share *= _MORE
        self._find_pairs()

    def estimate(self) -> tuple[LevelRates, Floats]:
        """Return the rates in the data, and the (levels, 1 + groups) FNMR that replicates scatter about."""
        out = self._room(LANES)
        weights = self.units.new_weights()
        self._until_enough_pairs(lambda: self._sweep(weights, out, 0))
        rates = LevelRates(out.threshold[:, 0], out.fmr[..., 0], out.fnmr[..., 0])
        return rates, self._expected_fnmr(rates.threshold)

    def replicate(self, n_resamples: int, key: NDArray[np.uint32], progress: Report | None = None) -> LevelRates:
        """Draw replicates, each a function of the key and its number alone.

        Parameters
        ----------
        n_resamples : int
            How many.
        key : (2,) ndarray of uint32
            Of the random stream.
        progress : callable or None
            Called with replicates done and wanted.

        Returns
        -------
        LevelRates
            Replicates on the last axis.
        """
        padded = -(-n_resamples // LANES) * LANES
        size = 8 * padded * self.levels.size * (2 + 2 * self._n_groups)
        if size > _MOST_BYTES:
            raise InputError(
                f"{n_resamples} replicates of all rates would take {size / 2**30:.0f} GiB: use fewer resamples, "
                "levels or groups"
            )
        out = self._room(padded)
        local = threading.local()

        def block(first: int) -> None:
            if not hasattr(local, "weights"):
                local.weights = self.units.new_weights()
            self.units.draw(first, key, local.weights)
            self._sweep(local.weights, out, first)

        starts = range(0, padded, LANES)
        self._until_enough_pairs(lambda: run_blocks(block, starts, n_resamples, LANES, self._n_threads, progress))
        return LevelRates(out.threshold[:, :n_resamples], out.fmr[..., :n_resamples], out.fnmr[..., :n_resamples])

    def _room(self, n: int) -> LevelRates:
        shape = self.levels.size, 1 + self._n_groups, n
        return LevelRates(np.empty((shape[0], n)), np.full(shape, np.nan), np.empty(shape))

    def _until_enough_pairs(self, work: Callable[[], None]) -> None:
        while True:
            try:
                return work()
            except _TooFewKeptError:
                self.find_more()

    def _sweep(self, weights: NDArray[np.uint8], out: LevelRates, first: int) -> None:
        """Compute one block from its weights."""
        from .kernels import sweep

        x = self._lists["fmr", False]
        largest = sweep.largest_weight(weights)
        subjects = self.units.subject_weights(weights)
        stored = int(x.end[0])
        positions = np.empty((self.levels.size, LANES), np.int64)
        sweep.first_beyond(
            x.a, x.b, x.scale, stored, x.sizes[0], weights, largest, _lanes(x.totals(subjects))[0],
            np.ones(self.levels.size), self.levels * ROUNDING, positions,
        )  # fmt: skip
        if not x.complete and (positions == stored).any():
            raise _TooFewKeptError
        missing = positions < 0
        # The score there is the first that must be rejected: the threshold is the next float above it.
        keys = -x.keys[np.minimum(positions, stored - 1)].astype(np.int64)
        lanes = slice(first, first + LANES)
        found = _keys.decode(np.where(missing, 0, keys).astype(x.keys.dtype)).astype(np.float64)
        out.threshold[:, lanes] = np.where(missing, np.nan, found)
        keys[missing] = sweep.NO_LIMIT
        for (name, of_groups), lists in self._lists.items():
            if name == "fmr" and not of_groups and not self._with_overall_fmr:
                continue
            limits = keys if name == "fnmr" else np.where(missing, keys, -keys)
            shares = self._shares(lists, lists.scale, lists.sizes, weights, largest, lists.totals(subjects), limits)
            getattr(out, name)[:, slice(1, None) if of_groups else slice(0, 1), lanes] = shares

    def _shares(
        self,
        lists: PairLists,
        scale: Scale,
        sizes: NDArray[np.int64] | Floats,
        weights: NDArray[np.uint8],
        largest: int,
        totals: NDArray[np.int64] | Floats,
        limits: NDArray[np.int64],
    ) -> Floats:
        from .kernels import sweep

        shares = np.empty((self.levels.size, lists.end.size, LANES))
        order = np.argsort(limits, axis=None, kind="stable")
        sweep.shares_at(
            lists.keys, lists.a, lists.b, scale, lists.end, sizes, weights, largest, _lanes(totals), limits, order,
            np.ones((lists.end.size, self.levels.size)), shares,
        )  # fmt: skip
        return shares

    def _expected_fnmr(self, thresholds: Floats) -> Floats:
        """Compute the V-statistic: a mean over all pairs of draws, in which a vector may meet itself."""
        from .kernels import sweep

        n = self.units.n_samples
        weights = self.units.new_weights()
        one = self.units.per_row(np.ones(n.size))
        apart = self.units.per_row(1 - 1 / n) if self.units.unit != "subject" else one
        known = ~np.isnan(thresholds)
        keys = _keys.first_keys_at_least(np.where(known, thresholds, 0), self._lists["fnmr", False].keys)
        limits = np.repeat(np.where(known, keys.astype(np.int64), sweep.NO_LIMIT)[:, None], LANES, axis=1)
        found = []
        for of_groups in (False, True) if self._n_groups else (False,):
            y = self._lists["fnmr", of_groups]
            scale = (apart * y.scale[0], y.scale[1]) if y.scale else (apart, one)
            sizes = y.sizes.astype(np.float64)
            found.append(self._shares(y, scale, sizes, weights, 1, sizes[:, None], limits)[..., 0])
        return np.concatenate(found, axis=1)


def _lanes(totals: NDArray[Any]) -> NDArray[Any]:
    """Give every replicate a total of its own where they share one."""
    return np.ascontiguousarray(np.broadcast_to(totals, (totals.shape[0], LANES)))
