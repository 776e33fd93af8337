"""Error rates of groups in bootstrap replicates, and the statistics that measure how much they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import memory
from fastfair._lib.progress import Report

from .failure_counts import FailureCounts
from .group_sums import draw_groups
from .subject_kinds import design_effect

Floats = NDArray[np.float64]
STATISTICS = ("f", "max-difference", "max-ratio")
_SUBJECTS_OF_GROUPS = 3  # kind of draws, told apart in the random stream from those of `units`
_ROUNDING = 1e-9  # statistics that are equal may differ by this share of them,
_EQUAL = 1e-12  # and rates, and statistics that are 0, by this much


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates of groups in the data, with (...,) = (), or in replicates, with (...,) = (r,).

    Attributes
    ----------
    rate : (..., g) ndarray
        The rate of each group.
    size : (..., g) ndarray
        Number of trials of each group, by which groups are weighted.
    effect : (..., g) ndarray
        Design effects: variances of the rates divided by those of as many independent trials.
    """

    rate: Floats
    size: NDArray[Any]
    effect: Floats

    @property
    def overall(self) -> Floats:
        """(...) mean of the rates, weighted by size."""
        return np.asarray((self.size * self.rate).sum(axis=-1) / self.size.sum(axis=-1))

    def difference_from_rest(self) -> Floats:
        """(..., g) each rate minus that of all other groups together."""
        errors = self.size * self.rate
        rest = self.size.sum(axis=-1, keepdims=True) - self.size
        return np.asarray(self.rate - (errors.sum(axis=-1, keepdims=True) - errors) / rest)

    def shifted(self, data: GroupRates) -> GroupRates:
        """Shift the rates of replicates as if all groups had the overall rate of the data."""
        return GroupRates(self.rate - data.rate + data.overall, self.size, self.effect)

    def statistic(self, name: str, size: NDArray[Any]) -> Floats:
        """Measure how much the rates differ.

        Parameters
        ----------
        name : {"f", "max-difference", "max-ratio"}
            Which statistic.
        size : (g,) ndarray
            Number of trials of each group in the data, by which "f" weights groups.

        Returns
        -------
        (...) ndarray
            Infinite where rates do not vary within groups, or where a ratio lacks positive rates.
        """
        center = self.overall[..., None]
        if name == "max-difference":
            return np.asarray(np.abs(self.rate - center).max(axis=-1))
        with np.errstate(divide="ignore", invalid="ignore"):
            if name == "max-ratio":
                ratio = np.maximum(self.rate / center, center / self.rate).max(axis=-1)
                return np.where((self.rate > _EQUAL).all(axis=-1), ratio, np.inf)
            between = (size * (self.rate - center) ** 2).sum(axis=-1) / (size.size - 1)
            within = (size * self.rate * (1 - self.rate) * self.effect).sum(axis=-1) / (size.sum() - size.size)
            return np.where(within > _EQUAL, between / within, np.inf)


def of_counts(counts: FailureCounts) -> GroupRates:
    """Return the rates of the data."""
    return GroupRates(counts.group_rate, counts.n_attempts, counts.design_effect)


def replicate(
    counts: FailureCounts,
    n_resamples: int,
    key: NDArray[np.uint32],
    n_threads: int | None = None,
    progress: Report | None = None,
) -> GroupRates:
    """Draw the subjects of each group with replacement.

    Parameters
    ----------
    counts : FailureCounts
        Failure counts in which every group has subjects.
    n_resamples : int
        Number of replicates; each depends only on the key and on its own number.
    key : (2,) ndarray of uint32
        Key of the random stream.
    n_threads, progress
        As in `evaluate`.

    Returns
    -------
    GroupRates
        With arrays of shape (n_resamples, g), not shifted.
    """
    from fastfair.kernels import clusters

    of_groups, sizes = counts.kinds, counts.n_subjects
    kinds = clusters.Kinds(of_groups.failures, of_groups.attempts, of_groups.subjects.astype(np.float64), of_groups.end)
    shape = (n_resamples, sizes.size)
    memory.require(
        48 * n_resamples * sizes.size,  # three numbers of each, and what is made of them
        f"{n_resamples:,} replicates of {sizes.size:,} groups",
        "use fewer resamples",
    )
    rate, effect, size = np.empty(shape), np.empty(shape), np.empty(shape, np.int64)

    def use(at: slice, sums: NDArray[np.int64]) -> None:
        size[at], effect[at] = sums[clusters.ATTEMPTS], design_effect(sums)
        rate[at] = sums[clusters.FAILURES] / sums[clusters.ATTEMPTS]

    draw_groups(kinds, sizes, _SUBJECTS_OF_GROUPS, n_resamples, key, use, n_threads, progress)
    return GroupRates(rate, size, effect)


def exceedances(observed: ArrayLike, replicated: Floats) -> NDArray[np.int64]:
    """Count the replicates, along the first axis, that are at least as large as the observed value, up to rounding."""
    seen = np.asarray(observed, np.float64)
    with np.errstate(invalid="ignore"):
        least = np.where(np.isfinite(seen), seen - _ROUNDING * np.abs(seen) - _EQUAL, seen)
    return np.asarray((replicated >= least).sum(axis=0))


def pvalue(observed: ArrayLike, replicated: Floats) -> Any:
    """Compute (1 + the number of replicates, along the first axis, at least as large as observed) / (1 + all)."""
    share = (1 + exceedances(observed, replicated)) / (1 + len(replicated))
    return np.where(np.isnan(observed), np.nan, share)[()]
