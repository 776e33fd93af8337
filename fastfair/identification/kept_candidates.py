"""What is kept of each search of a gallery, by blocks of its scores: of a matrix, or of products of
vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arrays import AnyArray, Codes, Floats, Indices, Integers
from fastfair._lib.executors import results
from fastfair._lib.threads import one_blas_thread, run_blocks
from fastfair._lib.workers import Executor
from fastfair.data.columns import Policies
from fastfair.data.pair_search import lengths, padded_for_products, products_apart
from fastfair.errors import InputError

# mates' scores and ranks, the best others' scores, and who
Kept = tuple[Floats, Integers, Floats, Codes]
# A tile is some searches of the whole gallery: its size depends on the gallery's alone, and tasks
# are whole tiles.
_TILE_SCORES = 2**23  # which take 32 MB
_TILE_ROWS = 512
_TASKS = 64  # of an executor, at most


@dataclass(frozen=True)
class MatrixScores:
    """The scores of a matrix, of which those that failed are NaN, or -inf where they count as no
    candidates.

    are_distances: whether similarities are the negative. order: of templates, None where they stay
    where they are.
    """

    scores: AnyArray
    policies: Policies
    are_distances: bool = False
    order: Indices | None = None

    def reorder(self, order: Indices) -> MatrixScores:
        """Return the same with templates in another order."""
        return replace(self, order=order)

    def keep(self, rows: slice, begin: Indices, mate: Codes, kept: Kept) -> None:
        """Write what is kept of some searches; begin, mate: as in `GallerySearch`.

        Raises
        ------
        InputError
            For scores that are NaN or infinite.
        """
        from fastfair.kernels.searches import keep_candidates

        scores = self._usable(rows)
        scores = _best_of_templates(scores if self.order is None else scores[:, self.order], begin)
        wrong = keep_candidates(scores, mate[rows], *kept)
        if wrong >= 0:
            row = rows.start + int(wrong)
            raise InputError(
                f"search {row} (counted from 0) has a score that is NaN or infinite, or the"
                " ⟦failure_score⟧: leave searches and templates that failed out, or give them the"
                " score -inf, with which nobody is a candidate; policies=ff.Policies(failures=...)"
                " does either",
                row=row,
            )

    def _usable(self, rows: slice) -> AnyArray:
        """Return the scores of some searches as floats."""
        block = self.scores[rows]
        if block.dtype not in (np.float16, np.float32):
            block = validation.floats("scores", block, rows.start)
        how, failed = self.policies, None
        if how.failures != "error" or how.failure_score is not None:
            failed = how._are_failed(block)
        block = -block if self.are_distances else block
        if failed is not None:
            block = np.where(
                failed, block.dtype.type(np.nan if how.failures == "error" else -np.inf), block
            )
        return block.astype(np.float32) if block.dtype == np.float16 else block


@dataclass(frozen=True)
class ProductScores:
    """The similarities of probes and templates.

    probes: (searches, d), as given; templates: (templates, d), as `padded_for_products` makes them;
    longest: the length of the longest template
    """

    probes: AnyArray
    templates: AnyArray
    similarity: str
    longest: float

    def reorder(self, order: Indices) -> ProductScores:
        """Return the same with templates in another order."""
        return replace(self, templates=self.templates[order])

    def keep(self, rows: slice, begin: Indices, mate: Codes, kept: Kept) -> None:
        """Do the same as `MatrixScores` does.

        The last bits of a product of matrices depend on the processor and on where a template
        stands. So it only finds the scores that decide, which are computed again.
        """
        from fastfair.kernels.searches import keep_by_products

        probes = padded_for_products(self.probes[rows], self.similarity)
        with one_blas_thread():
            scores = _best_of_templates(probes @ self.templates.T, begin)
        apart = products_apart(probes, lengths(probes) * self.longest)
        keep_by_products(scores, (probes, self.templates, begin), apart, mate[rows], kept)


def _best_of_templates(scores: AnyArray, begin: Indices) -> AnyArray:
    """Return (searches, enrolled) the highest score of each person's templates, which follow each
    other.
    """
    if begin.size == scores.shape[1] + 1:
        return validation.contiguous(scores)
    return np.asarray(np.maximum.reduceat(scores, begin[:-1], axis=1))


# Both put templates in another order (`reorder`), and write what is kept of some searches (`keep`).
Scores = MatrixScores | ProductScores


def search_gallery(
    scores: Scores,
    begin: Indices,
    mate: Codes,
    n_kept: int,
    n_threads: int | None,
    executor: Executor,
) -> Kept:
    """Return what is kept of all searches; scores, begin, mate, n_kept: as in `GallerySearch`."""
    n_rows = max(1, min(_TILE_ROWS, _TILE_SCORES // int(begin[-1])))
    work = GallerySearch(scores, begin, mate, n_kept, n_rows)
    if executor is None:
        return work.run((0, mate.size), n_threads)
    step = -(-mate.size // (_TASKS * n_rows)) * n_rows
    tasks = [(start, min(start + step, mate.size)) for start in range(0, mate.size, step)]
    done = dict(results(executor, work, tasks, n_threads or 1))
    parts = zip(*(done[task] for task in tasks), strict=True)
    mate_score, rank, best, who = map(np.concatenate, parts)
    return mate_score, rank, best, who


@dataclass(frozen=True)
class GallerySearch:
    """What is kept of each search, computed in threads or by workers.

    Attributes
    ----------
    scores : MatrixScores or ProductScores
        The scores, with templates sorted by person.
    begin : (enrolled + 1,) ndarray
        Where each person's templates begin, and the number of all.
    mate : (searches,) ndarray of int32
        Whose column the mate's is, -1 for none.
    n_kept, n_rows : int
        How many candidates are kept, and how many searches a tile has.
    """

    scores: Scores
    begin: Indices
    mate: Codes
    n_kept: int
    n_rows: int

    def run(self, task: tuple[int, int], n_threads: int | None, _: None = None) -> Kept:
        """Return what is kept of the searches from start to stop."""
        start, stop = task
        n = stop - start
        made = (
            np.empty(n),
            np.empty(n, np.int64),
            np.empty((n, self.n_kept)),
            np.empty((n, self.n_kept), np.int32),
        )

        def work(first: int) -> None:
            rows = slice(first, min(first + self.n_rows, stop))
            here = slice(rows.start - start, rows.stop - start)
            mate_score, rank, best, who = made
            self.scores.keep(
                rows, self.begin, self.mate, (mate_score[here], rank[here], best[here], who[here])
            )

        run_blocks(work, range(start, stop, self.n_rows), n, self.n_rows, n_threads, None)
        return made
