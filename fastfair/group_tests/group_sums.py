"""Subjects of every group drawn with replacement, and the sums over those drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.progress import Report
from fastfair._lib.threads import run_blocks

AT_ONCE = 512  # replicates drawn in one call of the kernel


def draw_groups(
    kinds: Any,
    n_subjects: NDArray[np.int64],
    purpose: int,
    n: int,
    key: NDArray[np.uint32],
    use: Callable[[slice, NDArray[np.int64]], None],
    n_threads: int | None = 1,
    progress: Report | None = None,
) -> None:
    """Draw replicates, `AT_ONCE` at a time, and pass on the sums over the subjects drawn in each group.

    Parameters
    ----------
    kinds : fastfair.kernels.clusters.Kinds
        Kinds of subjects, those of a group side by side.
    n_subjects : (g,) ndarray of int
        Number of subjects drawn in each group.
    purpose : int
        Number of the kind of draw, so that different kinds use different random numbers.
    n : int
        Number of replicates.
    key : (2,) ndarray of uint32
        Key of the random stream.
    use : callable
        Called, in several threads, with the positions of some replicates and their (5, replicates, g) sums, in the
        order that `fastfair.kernels.clusters` names.
    n_threads, progress
        As in `evaluate`.
    """
    from fastfair.kernels import clusters

    def block(first: int) -> None:
        place = slice(first, min(first + AT_ONCE, n))
        sums = np.empty((5, place.stop - first, n_subjects.size), np.int64)
        clusters.draw_sums(kinds, n_subjects, purpose, first, key, sums)
        use(place, sums)

    run_blocks(block, range(0, n, AT_ONCE), n, AT_ONCE, n_threads, progress)
