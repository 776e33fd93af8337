"""`NamedVectors`: vectors with the names by which lists of trials ask for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import Array, checked
from fastfair._lib.threads import run_blocks
from fastfair._lib.workers import Workers
from fastfair.errors import InputError

from . import checks
from .embeddings import mean_vectors
from .sorted_scores import read_only

FailedVectors = Literal["error", "nan"]
SameName = Literal["raise", "max", "mean"]
_PAIRS_AT_ONCE = 2**15
_ROWS_AT_ONCE = 4096
_SHORTEST, _LONGEST = 1e-150, 1e150  # lengths whose squares, and the squares of their inverses, are float64 numbers


@dataclass(frozen=True, init=False, eq=False, repr=False)
class NamedVectors:
    """Vectors with names, from which the pairs that a list of trials names are scored.

    Parameters
    ----------
    vectors : (n, d) array_like
        One row for each sample. float32 and float64 arrays, memory-mapped ones included, are not copied; others are
        copied once.
    name : (n,) array_like
        The name of each vector, of any label type, as lists of trials have it: that of a file, or of a template.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        The score of two vectors.
    same_name : {"raise", "max", "mean"}
        What several vectors of one name are: an error; a template, whose score is the highest that one of its vectors
        has; or a template that is the mean of its vectors, which with the cosine have length 1 before.

    failures : {"error", "nan"}
        What a vector is that is zero, if the similarity is the cosine, or not finite: an error; or that of a sample
        that failed. Scores of names all of whose vectors failed are NaN.

    Attributes
    ----------
    vectors : (m, d) ndarray
        The vectors that have a similarity; under ``same_name="mean"`` one for each name.
    names : (k,) ndarray
        The distinct names, sorted.
    similarity, same_name : str
        As given.
    n_failed : int
        Number of vectors that are zero or not finite.

    Raises
    ------
    InputError
        For vectors that are not finite or have no similarity, and two vectors of one name, unless `same_name` says what
        they are. Messages count rows from 0.

    See Also
    --------
    read_named_vectors : Read such vectors from a file.
    read_comparisons : Score a list of trials with them.

    Examples
    --------
    >>> import fastfair as ff
    >>> v = ff.NamedVectors([[3, 4], [0, 1], [1, 0]], name=["ann/1", "ann/2", "bob/1"])
    >>> v
    NamedVectors(3 x 2 float32, cosine, 3 names)
    >>> v.scores(["ann/1", "ann/1"], ["ann/2", "bob/1"])
    array([0.8, 0.6], dtype=float32)
    """

    vectors: NDArray[np.floating[Any]]
    names: NDArray[Any]
    similarity: str
    same_name: str
    n_failed: int
    _scale: NDArray[np.float64]  # (m,) factors of inner products
    _members: tuple[NDArray[np.int64], NDArray[np.int64]]  # where the vectors of each name begin, and their rows

    @checked
    def __init__(
        self,
        vectors: Array,
        name: validation.Labels,
        similarity: validation.Similarity = "cosine",
        same_name: SameName = "raise",
        failures: FailedVectors = "error",
    ) -> None:
        array = checks.vectors(vectors)
        coded = validation.encode("name", name)
        checks.same_length({"vectors": len(array), "name": coded.codes.size}, "vector")
        codes = coded.codes.astype(np.int64)
        size = np.bincount(codes, minlength=coded.labels.size)
        if same_name == "raise" and (size > 1).any():
            _refuse_same(coded, size)
        failed = np.zeros(codes.size, np.bool_)
        if failures == "nan":
            failed = checks.unusable(array, similarity)
        if failed.any():
            array, codes = array[~failed], codes[~failed]
            size = np.bincount(codes, minlength=coded.labels.size)
            if not codes.size:
                raise InputError(f"all {failed.size} vectors failed: they are zero, or not finite")
        checks.require_usable(array, similarity)
        scale = _scale_of(array, similarity)
        if same_name == "mean" and (size > 1).any():
            present, codes = np.unique(codes, return_inverse=True)
            array = mean_vectors(array, similarity, np.arange(codes.size), codes)
            codes, size = present, (size > 0).astype(size.dtype)
            try:
                scale = _scale_of(array, similarity)
            except InputError as error:
                template = coded.labels.tolist()[codes[error.row]]
                raise InputError(f"the vectors of {template!r} have a mean without direction") from None
        self.__dict__.update(
            vectors=read_only(array.view()),
            names=read_only(coded.labels),
            similarity=similarity,
            same_name=same_name,
            n_failed=int(failed.sum()),
            _scale=scale,
            _members=(np.concatenate(([0], np.cumsum(size))), np.argsort(codes, kind="stable")),
        )

    @checked
    def scores(
        self,
        reference: validation.Labels,
        probe: validation.Labels,
        *,
        n_threads: int | None = None,
        progress: bool | Callable[[int, int], None] = False,
    ) -> NDArray[np.floating[Any]]:
        """Score pairs of names.

        Parameters
        ----------
        reference, probe : (m,) array_like
            The names of each pair.
        n_threads : int, optional
            All processors by default; scores do not depend on it.
        progress : bool or callable, default False
            Whether to show a progress bar; or a function to call with the amounts of work done and in all.

        Returns
        -------
        (m,) ndarray
            Similarities, summed in float64 and rounded to the type of `vectors`. No pairs but these are computed.

        Raises
        ------
        InputError
            For names without a vector; the message has the row of the first, counted from 0.

        Examples
        --------
        >>> import fastfair as ff
        >>> v = ff.NamedVectors([[1, 0], [0, 1], [3, 4]], name=["ann", "ann", "x.wav"], same_name="max")
        >>> v.scores(["ann"], ["x.wav"])
        array([0.8], dtype=float32)
        """
        from fastfair.kernels import listed_pairs as kernels

        sides = self._positions(reference, probe)
        size = sides[0].size
        out = np.empty(size, self.vectors.dtype)
        euclidean = self.similarity == "negative_euclidean"

        def score(start: int) -> None:
            part = slice(start, min(start + _PAIRS_AT_ONCE, size))
            found = np.empty(part.stop - start)
            kernels.highest_similarities(
                self.vectors, self._scale, self._members, sides[0][part], sides[1][part], euclidean, found
            )
            out[part] = found

        workers = Workers(n_threads, progress)
        with workers.reporting("trials") as told:
            run_blocks(score, range(0, size, _PAIRS_AT_ONCE), size, _PAIRS_AT_ONCE, n_threads, told)
        failed = np.diff(self._members[0]) == 0
        out[failed[sides[0]] | failed[sides[1]]] = np.nan
        return out

    def _positions(self, reference: validation.Labels, probe: validation.Labels) -> list[NDArray[np.int64]]:
        """Return the positions in `names` of both names of each pair."""
        own = validation.Coded(self.names, np.arange(self.names.size))
        labels, codes = validation.encode_together(("name", "reference", "probe"), (own, reference, probe))
        checks.same_length({"reference": codes[1].size, "probe": codes[2].size}, "pair")
        position = np.full(labels.size, -1, np.int64)
        position[codes[0]] = np.arange(self.names.size)
        unknown = np.flatnonzero(position < 0)
        if unknown.size:
            missing = [np.flatnonzero(position[of_side] < 0) for of_side in codes[1:]]
            rows = [int(of_side[0]) if of_side.size else np.inf for of_side in missing]
            side = int(rows[1] < rows[0])
            row = int(rows[side])
            raise InputError(
                f"{('reference', 'probe')[side]} {labels[codes[1 + side][row]]!r} in row {row} (counted from 0) has no "
                f"vector ({unknown.size:,} such names); names of vectors are such as {self.names.item(0)!r}",
                row=row,
            )
        return [position[of_side] for of_side in codes[1:]]

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        n, d = self.vectors.shape
        return f"NamedVectors({n} x {d} {self.vectors.dtype.name}, {self.similarity}, {self.names.size} names)"


def _scale_of(vectors: NDArray[np.floating[Any]], similarity: str) -> NDArray[np.float64]:
    """Return the factor of each vector in inner products: with the cosine, one divided by its length."""
    scale = np.ones(len(vectors))
    if similarity != "cosine":
        return scale
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        wide = vectors[part].astype(np.float64)
        with np.errstate(over="ignore", under="ignore"):
            length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        wrong = np.flatnonzero((length < _SHORTEST) | (length > _LONGEST))
        if wrong.size:
            row = start + int(wrong[0])
            raise InputError(
                f"the length of the vector in row {row} (counted from 0) is not between {_SHORTEST:g} and "
                f"{_LONGEST:g}; scale all vectors by one number, which changes no cosine",
                row=row,
            )
        scale[part] = 1 / length
    return scale


def _refuse_same(coded: validation.Coded, size: NDArray[np.int64]) -> None:
    several = size > 1
    rows = np.flatnonzero(several[coded.codes])
    code = coded.codes[rows[0]]
    second = rows[coded.codes[rows] == code][1]
    raise InputError(
        f"the vectors of rows {rows[0]} and {second} (counted from 0) have the same name {coded.labels[code]!r}, and "
        f"{int(several.sum()):,} names have several vectors; if these are templates, choose "
        'same_name="max" or same_name="mean"',
        row=int(second),
    )
