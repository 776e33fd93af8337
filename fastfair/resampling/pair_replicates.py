"""Bootstrap replicates of embeddings: FNMR and FMR at the thresholds that hold given FMRs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.embeddings import Embeddings
from fastfair.data.pair_store import FoundPairs
from fastfair.data.pairing import pairs_of_two_subjects
from fastfair.data.typed_thresholds import typed_threshold
from fastfair.errors import InputError

from .blocks import Replicates, compute_blocks
from .comparison_lists import shrinkage_of
from .pair_lists import PairLists, Scale, VectorUnits, lists_of_groups, make_lists, weights_in_rates
from .pair_variances import variances
from .parted_pairs import PairParting, SummedPairs
from .units import BLOCK

Floats = NDArray[np.float64]
ROUNDING = 1 + 1e-9  # a rate meets a level that it exceeds by no more than sums of floats may
# Times as many non-mated pairs are kept as the highest level has errors, and
_SPARE = {"sample": 1.08, "subject": 1.3, "subject+sample": 1.3}
_SPARE_DEVIATIONS = 6  # as many standard deviations of their number more
_MORE = 2.0  # times as many when a replicate needs pairs that are not kept
_OF_THE_SEARCH = ("embeddings", "_finder", "_workers")


class _TooFewKeptError(Exception):
    """A replicate needs non-mated pairs that are not listed, or less similar than those kept."""


class Draws(NamedTuple):
    """What is drawn with replacement, and what counts alike in a rate.

    Attributes
    ----------
    weighting : {"identity", "comparison"}
        Whether all subjects, and all pairs of them, have the same weight in a rate, or all pairs of vectors.
    unit : {"sample", "subject", "subject+sample"}
        The units drawn with replacement.
    scheme : {"dyadic", "product"}
        Whether the weights of pairs of subjects are shrunk until replicates have the dyadic-robust variance; only
        those of the unit "subject" are.
    """

    weighting: str
    unit: str
    scheme: str = "product"


class PairResampler:
    """Computes rates over embeddings and draws replicates of them.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    levels : (levels,) ndarray
        False match rates to hold, ascending, in (0, 1).
    draws : Draws
        What is drawn, and what counts alike.
    with_groups, with_overall_fmr : bool
        Whether to compute the rates of groups, and the FMR of all pairs.
    all_listed : bool
        Whether `lists` must hold all pairs that are kept, even those that replicates do not need one by one.
    workers : Workers
        Who computes similarities and replicates.

    Attributes
    ----------
    freedom : (levels, 1 + groups) ndarray
        Degrees of freedom of the FMRs' dyadic-robust variances; infinite for plain products of weights.

    Raises
    ------
    InputError
        For a level below the lowest FMR above 0 that the data can have.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        levels: Floats,
        draws: Draws,
        *,
        with_groups: bool,
        with_overall_fmr: bool = False,
        all_listed: bool = False,
        workers: Workers = Workers(),  # noqa: B008 - frozen
    ) -> None:
        self.embeddings, self.levels, self.weighting = embeddings, levels, draws.weighting
        self._workers, self._all_listed = workers, all_listed
        self._with_overall_fmr = with_overall_fmr
        self._n_groups = len(embeddings.groups) if with_groups else 0
        self.units = VectorUnits(embeddings, draws.unit)
        self._scheme = draws.scheme
        self._require_resolution()
        self._finder = embeddings._finder(workers)
        expected = float(levels[-1]) * embeddings.n_nonmated
        self._share = (
            _SPARE[draws.unit] * expected + _SPARE_DEVIATIONS * expected**0.5 + BLOCK
        ) / embeddings.n_nonmated
        self._find_pairs()
        self._shrinkage, self.freedom = self._find_shrinkage()

    def _require_resolution(self) -> None:
        references, probes = self.units.references, self.units.probes
        if self.weighting == "identity":
            # A false match weighs least where its two subjects have most vectors.
            first = np.argsort(references)[-2:]
            most = max(int(np.delete(probes, k).max()) * int(references[k]) for k in first)
            n_pairs = pairs_of_two_subjects(references > 0, probes > 0, self.units.two_sets)
            least = 1 / (int(n_pairs) * most)
        else:
            least = 1 / self.embeddings.n_nonmated
        if self.levels[0] * ROUNDING < least:
            raise InputError(
                f"fmr={self.levels[0]:g} is too low for these data, in which a single false match makes an FMR of "
                f"{least:.3g}: give that or more"
            )

    def _find_pairs(self) -> None:
        self._lists: dict[tuple[str, bool], PairLists] = {}  # by rate and whether of groups
        n_threads = count_threads(self._workers.n_threads)
        mated, found = self._finder.find_unsorted(self._share)
        found, self._summed = self._part(found, n_threads)
        for name, pairs in (("fnmr", mated), ("fmr", found.sorted(n_threads))):
            of_all = make_lists(pairs, self.units, mated=name == "fnmr", weighting=self.weighting)
            self._lists[name, False] = of_all
            if self._n_groups:
                self._lists[name, True] = lists_of_groups(pairs, self.units, of_all, self._n_groups, n_threads)
        if self._summed is not None:
            for of_groups in (False, True)[: 1 + bool(self._n_groups)]:
                lists = self._lists["fmr", of_groups]
                self._lists["fmr", of_groups] = replace(lists, ranges=self._summed.ranges(of_groups=of_groups))

    def _part(self, found: FoundPairs, n_threads: int) -> tuple[FoundPairs, SummedPairs | None]:
        """Part the non-mated pairs into those to sort and those to sum."""
        scale, of_subject = weights_in_rates(self.units, mated=False, weighting=self.weighting)
        if self._all_listed or scale or not found.packing.fits:
            return found, None
        total = pairs_of_two_subjects(of_subject[0], of_subject[1], self.units.two_sets)
        positions = (self.levels * ROUNDING * total).astype(np.int64)
        return PairParting(found, self.units, self._n_groups, positions, n_threads).parted() or (found, None)

    @property
    def lists(self) -> tuple[PairLists, PairLists]:
        """The mated pairs, and the most similar non-mated ones."""
        return self._lists["fnmr", False], self._lists["fmr", False]

    def find_more(self) -> None:
        """List all non-mated pairs that are kept, or keep more where all are listed."""
        if self._summed is None:
            self._share *= _MORE
        self._all_listed = True
        self._find_pairs()

    def estimate(self) -> tuple[Replicates, Floats]:
        """Return the rates in the data, and the (levels, 1 + groups) V-statistics around which FNMR replicates vary."""
        while (keys := self._threshold_keys()) is None:
            self.find_more()
        thresholds = score_keys.decode(keys).astype(np.float64)
        rates = Replicates(thresholds, np.full(self._shape, np.nan), np.empty(self._shape))
        expected = np.empty_like(rates.fnmr)
        for (name, of_groups), lists in self._lists.items():
            at = slice(1, None) if of_groups else slice(0, 1)
            getattr(rates, name)[:, at] = _shares_below(lists, lists.scale, keys if name == "fnmr" else -keys)
            if name == "fnmr":
                expected[:, at] = _shares_below(lists, self._scale_of_draws(lists), keys)
        return rates, expected

    def _threshold_keys(self) -> score_keys.Keys | None:
        """Find the threshold of each level in the data; None where one lies below the non-mated pairs that are kept."""
        x = self._lists["fmr", False]
        allowed = self.levels * ROUNDING * x.sizes[0]
        if x.scale:
            positions = np.searchsorted(_running_sums(x, x.scale, slice(None)), allowed, side="right")
        else:
            positions = x.ranges.positions(allowed.astype(np.int64), x.keys)
        if (positions < 0).any() or (not x.complete and positions[-1] >= x.keys.size):
            return None
        # The score there is the first that must be rejected: the threshold is the next float above it.
        return -x.keys[np.minimum(positions, x.keys.size - 1)]

    def typed(self, thresholds: Floats) -> Floats:
        """Return short decimals between the highest rejected pair, just above which a threshold is, and the next."""
        y, x = self.lists
        kind, found = score_keys.float_type(x.keys).type, []
        for key in score_keys.first_keys_at_least(thresholds, x.keys):
            nonmated, mated = np.searchsorted(x.keys, ~(key - 1)), np.searchsorted(y.keys, key)
            above = [~of_pair for of_pair in x.keys[max(nonmated - 1, 0) : nonmated]] + list(y.keys[mated : mated + 1])
            rejected, *accepted = (
                score_keys.decode(np.array([key - 1, *above], x.keys.dtype)).astype(np.float64).tolist()
            )
            found.append(typed_threshold(rejected, min(accepted, default=None), kind))
        return np.array(found)

    def _scale_of_draws(self, y: PairLists) -> Scale:
        """Return the mean weights of mated pairs over replicates, in which a vector may be paired with itself."""
        if self.units.unit == "subject" or self.units.two_sets:
            return y.scale
        apart = self.units.per_row(1 - 1 / self.units.references)
        return (apart * y.scale[0], y.scale[1]) if y.scale else (apart, np.ones_like(apart))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others do not need to draw replicates."""
        return {name: value for name, value in vars(self).items() if name not in _OF_THE_SEARCH}

    def replicate(self, n_resamples: int, key: NDArray[np.uint32]) -> Replicates:
        """Draw replicates; each depends only on the key and on its number.

        Parameters
        ----------
        n_resamples : int
            Number of replicates.
        key : (2,) ndarray of uint32
            Key of the random stream.

        Returns
        -------
        Replicates
            The operating points are the levels.
        """
        would_do = "use fewer resamples, levels or groups"
        found = self._until_enough_pairs(
            lambda: compute_blocks(n_resamples, _Drawn(self, key), would_do, self._workers)
        )
        return Replicates(found["threshold"], found["fmr"], found["fnmr"])

    def _find_shrinkage(self) -> tuple[dict[tuple[str, bool], Floats], Floats]:
        """Find what the weights of each list are shrunk by at each level, and FMRs' degrees of freedom.

        Weights of mated pairs, and of pairs of samples, are not shrunk.
        """
        found = {which: np.ones((lists.end.size, self.levels.size)) for which, lists in self._lists.items()}
        from fastfair.kernels import dyadic

        freedom = np.full(self._shape, np.inf)
        if self._scheme != "dyadic" or self.units.unit != "subject":
            return found, freedom
        while (keys := self._threshold_keys()) is None:
            self.find_more()
        nonmated = {of_groups: lists for (name, of_groups), lists in self._lists.items() if name == "fmr"}
        of_lists = variances([*nonmated.values()], self._summed, -keys, self.units)
        for of_groups, of_some in zip(nonmated, of_lists, strict=True):
            found["fmr", of_groups] = np.stack([shrinkage_of(of_list) for of_list in of_some])
            freedom[:, slice(1, None) if of_groups else slice(0, 1)] = of_some[..., dyadic.FREEDOM].T
        return found, freedom

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names of the arrays in which replicates are computed, with the shape that each has in one replicate."""
        return {"threshold": self._shape[:1], "fmr": self._shape, "fnmr": self._shape}

    @property
    def _shape(self) -> tuple[int, int]:
        return self.levels.size, 1 + self._n_groups

    def _until_enough_pairs(self, work: Callable[[], dict[str, Floats]]) -> dict[str, Floats]:
        while True:
            try:
                return work()
            except _TooFewKeptError:
                self.find_more()

    def _sweep(self, weights: NDArray[np.uint8], out: dict[str, Floats]) -> None:
        """Compute a block of 64 replicates from their weights."""
        from fastfair.kernels import sweep

        largest = sweep.largest_weight(weights)
        subjects = self.units.subject_weights(weights)
        sides = {
            which: lists.side(weights, largest, lists.totals(subjects), self._shrinkage[which])
            for which, lists in self._lists.items()
        }
        x = self._lists["fmr", False]
        stored = int(x.end[0])
        summed = {} if self._summed is None else self._summed.in_replicates(weights, largest)
        positions = np.empty((self.levels.size, BLOCK), np.int64)
        errors = sides["fmr", False].first(slice(None))
        sweep.first_beyond(errors, summed.get(False, sweep.NONE_SUMMED), self.levels * ROUNDING, positions)
        if (positions == sweep.INSIDE_RANGE).any() or (not x.complete and (positions == stored).any()):
            raise _TooFewKeptError
        missing = positions < 0
        # The score there is the first that must be rejected: the threshold is the next float above it.
        keys = -x.keys[np.minimum(positions, stored - 1)].astype(np.int64)
        found = score_keys.decode(np.where(missing, 0, keys).astype(x.keys.dtype)).astype(np.float64)
        out["threshold"][:] = np.where(missing, np.nan, found)
        keys[missing] = sweep.NO_LIMIT
        for (name, of_groups), side in sides.items():
            if name == "fmr" and not of_groups and not self._with_overall_fmr:
                continue
            limits = keys if name == "fnmr" else np.where(missing, keys, -keys)
            order = np.argsort(limits, axis=None, kind="stable")
            shares = np.empty((self.levels.size, side.end.size, BLOCK))
            ranges = summed.get(of_groups, sweep.NONE_SUMMED) if name == "fmr" else sweep.NONE_SUMMED
            sweep.shares_at(side, ranges, limits, order, shares)
            out[name][:, slice(1, None) if of_groups else slice(0, 1)] = shares


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Replicates of drawn units."""

    resampler: PairResampler
    key: NDArray[np.uint32]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.resampler.shapes

    def new_scratch(self) -> NDArray[np.uint8]:
        return self.resampler.units.new_weights()

    def compute(self, weights: NDArray[np.uint8], first: int, out: dict[str, Floats]) -> None:
        self.resampler.units.draw(first, self.key, weights)
        self.resampler._sweep(weights, out)


def _running_sums(lists: PairLists, scale: tuple[Floats, Floats], part: slice) -> Floats:
    """Return the running sums of the pairs' weights, from the first pair on."""
    return np.asarray(np.cumsum(scale[0][lists.a[part]] * scale[1][lists.b[part]]))


def _shares_below(lists: PairLists, scale: Scale, limits: score_keys.Keys) -> Floats:
    """Return the (levels, lists) weight of errors, under a scale, over the total weight under the lists' own scale."""
    from fastfair.kernels import curves as kernels

    shares = np.empty((limits.size, lists.end.size))
    for k, stop in enumerate(lists.end.tolist()):
        part = slice(int(lists.end[k - 1]) if k else 0, stop)
        counts = np.array([kernels.count_below(lists.keys[part], limit) for limit in limits])
        counts += [lists.ranges.below(limit)[k] for limit in limits] if lists.ranges.key.size else 0
        if scale:
            shares[:, k] = np.append(0, _running_sums(lists, scale, part))[counts]
        else:
            shares[:, k] = counts
    with np.errstate(invalid="ignore"):  # a group may have no such pairs
        return np.asarray(shares / lists.sizes)
