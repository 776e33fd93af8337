"""Blocks of 64 replicates: thresholds, rates and metrics computed with resampled weights.

No resampled copy of the scores is made. They are sorted once, and a replicate is one weighted pass over as many of
them as its operating points need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys

from .counted_partners import Totals
from .partner_costs import PartnerCosts
from .partners import Partners
from .preparation import Preparation
from .units import BLOCK

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side

_EER_METHODS = {"nearest": 0, "nearest-max": 1, "interpolated": 2, "convex-hull": 0}  # whose hull is another kernel's
Floats = NDArray[np.float64]


class BlockSweep:
    """Computes blocks, one after another, in the working memory of one thread.

    Parameters
    ----------
    prepared : Preparation
        The comparisons.

    Attributes
    ----------
    weights : (rows, 64) ndarray of uint8
        The weights of units, to be written before each block.
    """

    def __init__(self, prepared: Preparation) -> None:
        self._prepared = prepared
        x, y = prepared.x, prepared.y
        n_points, n_metrics = len(prepared.points), 1 + prepared.n_groups
        self.weights = prepared.units.new_weights()
        self._take_lists()
        self._eer = np.full((n_metrics, BLOCK), np.nan)
        self._eer_keys = np.empty((n_metrics, BLOCK), np.int64)
        self._costs = np.empty((n_metrics, BLOCK))
        self._of_hull = np.empty((n_metrics, BLOCK))
        self._fmr = np.empty((n_points, x.end.size, BLOCK))
        self._fnmr = np.empty((n_points, y.end.size, BLOCK))

    def _take_lists(self) -> None:
        """Take the lists as they are now."""
        prepared = self._prepared
        self._lists = y, x = prepared.y, prepared.x
        self._x, self._y = (
            lists.side(self.weights, np.zeros((lists.end.size, BLOCK), np.int64), shrinkage)
            for lists, shrinkage in ((x, prepared.shrinkage.nonmated), (y, prepared.shrinkage.mated))
        )
        chunks = int(np.diff(x.end, prepend=0).max()) // BLOCK + 1 if prepared.need_eer else 0
        self._x_sums = np.empty((chunks, BLOCK), np.int64)
        self._y_sums = np.empty((chunks, BLOCK), np.int64)

    def compute(self, out: dict[str, Floats], totals: Totals | None = None) -> None:
        """Compute a block from the weights.

        Parameters
        ----------
        out : dict of (..., 64) ndarray
            The arrays of `Resampler.shapes` by name, to be filled.
        totals : Totals, optional
            Sums over all comparisons of the block, where they are known.
        """
        while not self._sweep(out, totals):
            self._prepared.keep_more(self._lists)
            self._take_lists()

    def _sweep(self, out: dict[str, Floats], totals: Totals | None) -> bool:
        """Compute a block of 64 replicates from their weights, and tell whether lists reach far enough."""
        from fastfair.kernels import replicated_cost, replicated_eer, sweep

        weights = self.weights
        largest = sweep.largest_weight(weights)
        x, y = self._x, self._y = tuple(side._replace(largest=largest) for side in (self._x, self._y))
        for k, (lists, side) in enumerate(zip(self._lists, (y, x), strict=True)):
            if totals is not None:
                side.totals[:] = totals.weights[k]
            elif isinstance(lists.partners, Partners):
                lists.partners.total_weights(weights, largest, side.totals)
        if self._prepared.need_eer:
            if not replicated_eer.equal_error_rates(
                *self._shrunk("eer"), self._prepared.guesses, _EER_METHODS[self._prepared.eer_method],
                self._x_sums, self._y_sums, self._eer, self._eer_keys,
            ):  # fmt: skip
                return False
            if "eer" in out:
                out["eer"][:] = self._eer
        if self._prepared.hull_eer:
            self._read_hull("eer", out["eer"])
        if "min_cllr" in out:
            self._read_hull("min_cllr", out["min_cllr"])
        if "min_dcf" in out:
            sides = self._shrunk("min_dcf")
            costs = self._prepared.costs
            if not replicated_cost.least_costs(
                *sides, costs.miss, costs.false_match, self._prepared.least_costs * costs.unit, self._costs
            ):
                return False
            out["min_dcf"][:] = self._costs / self._prepared.costs.unit
        if "cllr" in out:
            out["cllr"][:] = self._cllr(totals)
        if not self._prepared.points:
            return True
        thresholds = self._find_thresholds()
        if thresholds is None:
            return False
        missing = thresholds == sweep.NO_LIMIT
        found = score_keys.decode(np.where(missing, 0, thresholds).astype(x.keys.dtype)).astype(np.float64)
        sign = -1 if self._prepared.score_kind == "distance" else 1
        out["threshold"][:] = np.where(missing, np.nan, 0.0 + sign * found)
        for lists, side, shares in zip(self._lists, (y, x), (self._fnmr, self._fmr), strict=True):
            limits = np.where(missing, thresholds, lists.limits(thresholds))
            if not lists.reach(limits):
                return False
            order = np.argsort(limits, axis=None, kind="stable")
            sweep.shares_at(side, sweep.NONE_SUMMED, limits, order, shares)
        out["fmr"][:], out["fnmr"][:] = self._fmr, self._fnmr
        return True

    def _shrunk(self, name: str) -> tuple[Side, Side]:
        """Return the non-mated and the mated side with weights shrunk for a metric."""
        mated, nonmated = self._prepared.shrinkage.metrics[name]
        return self._x._replace(shrinkage=nonmated), self._y._replace(shrinkage=mated)

    def _find_thresholds(self) -> NDArray[np.int64] | None:
        """Find the (points, 64) threshold keys of a block; None where lists do not reach far enough."""
        from fastfair.kernels import sweep

        thresholds = np.empty((len(self._prepared.points), BLOCK), np.int64)
        kinds = np.array([point.kind for point in self._prepared.points])
        thresholds[kinds == "threshold"] = self._prepared.thresholds[kinds == "threshold", None]
        thresholds[kinds == "eer"] = self._eer_keys[0]
        if "mean group eer" in kinds:
            keys = self._eer_keys[1 + self._prepared.measured]
            missing = (keys <= score_keys.failed_key(self._prepared.x.keys)).any(axis=0)  # or there are no comparisons
            kind_of_keys = self._prepared.x.keys.dtype
            similarities = score_keys.decode(np.where(missing, 0, keys).astype(kind_of_keys)).astype(np.float64)
            means = score_keys.first_keys_at_least(similarities.mean(axis=0), self._prepared.x.keys).astype(np.int64)
            thresholds[kinds == "mean group eer"] = np.where(missing, sweep.NO_LIMIT, means)
        for mated, kind, side in ((False, "fmr", self._x), (True, "fnmr", self._y)):
            found = np.flatnonzero(kinds == kind)
            if found.size == 0:
                continue
            found = found[np.argsort(self._prepared.rates[found], kind="stable")]
            errors = side.first(found)
            positions = np.empty((found.size, BLOCK), np.int64)
            sweep.first_beyond(errors, sweep.NONE_SUMMED, self._prepared.rates[found], positions)
            if errors.keys.size < errors.size and (positions == errors.keys.size).any():
                return None
            at = np.minimum(positions, errors.keys.size - 1)  # at the end where shares round
            keys = errors.keys[at].astype(np.int64)
            # The non-mated score there is the first that must be rejected: the threshold is the next float above it.
            thresholds[found] = np.where(positions < 0, sweep.NO_LIMIT, keys if mated else -keys)
        if self._prepared.lowest_key is not None:  # no threshold accepts comparisons that failed
            above = np.maximum(thresholds, self._prepared.lowest_key)
            return np.where((thresholds == sweep.NO_LIMIT) | (kinds == "threshold")[:, None], thresholds, above)
        return thresholds

    def _read_hull(self, name: str, values: Floats) -> None:
        from fastfair.kernels import replicated_hull

        what = replicated_hull.EQUAL_ERROR if name == "eer" else replicated_hull.MIN_CLLR
        replicated_hull.hull_figures(*self._shrunk(name), *self._prepared.blocks, what, self._of_hull)
        values[:] = self._of_hull

    def _cllr(self, totals: Totals | None) -> Floats:
        prepared, means = self._prepared, []
        shrinkages = prepared.shrinkage.metrics["cllr"]
        for k, (side, shrinkage) in enumerate(zip((self._y, self._x), shrinkages, strict=True)):
            costs, mean = prepared.ratio_costs[k], prepared.mean_costs[k]
            if isinstance(costs, PartnerCosts):
                of_lists = costs.totals(self.weights)
            else:
                assert totals is not None  # where comparisons lie in buckets
                of_lists = totals.costs[k]
            with np.errstate(invalid="ignore"):
                weighted = of_lists / side.totals[: shrinkage.size]
            means.append(((1 - shrinkage) * mean)[:, None] + shrinkage[:, None] * weighted)
        return np.asarray(prepared.prior.combine(*means))
