"""`read_named_vectors`: read `NamedVectors` from files, to score lists of trials with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair.data.named_vectors import NamedVectors
from fastfair.errors import InputError

from . import reading, tables, vector_files, vector_parts

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@reading.from_unchanged_files
@checked(path=argument_kinds.sources, vectors=argument_kinds.text, name=argument_kinds.text_or_labels)
def read_named_vectors(
    path: str | Path | Sequence[str | Path] | IntoDataFrame,
    vectors: str | None = None,
    name: str | validation.Labels | None = None,
    *,
    samples: str | Path | IntoDataFrame | None = None,
    similarity: str = "cosine",
    same_name: str = "raise",
    failures: str = "error",
) -> NamedVectors:
    """Read a file of vectors and the names by which lists of trials ask for them.

    Parameters
    ----------
    path : path, sequence of paths, or data frame
        As in `read_embeddings`.
    vectors : str, optional
        The array or column with one vector for each sample; by default the one called "vectors". A ``.npy`` has no
        names.
    name : str or (n,) array_like, optional
        The array or column with the name of each vector, by default the one called "name"; or the names themselves.
    samples : path or data frame, optional
        A table with one row for each vector, in the same order, if the file itself does not hold the names.
    similarity, same_name, failures : str
        As in `NamedVectors`.

    Returns
    -------
    NamedVectors
        Names are text, as they are in lists of trials.

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, or not what its suffix says, for vectors of different lengths, and for
        pickled objects, which are never loaded.
    InputError
        For arrays or columns that do not exist (the message suggests the nearest names), and as `NamedVectors` does.
    MissingDependencyError
        Where the package that reads the file is not installed.

    Examples
    --------
    >>> import fastfair as ff
    >>> import numpy as np
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "faces.npz"
    >>> np.savez(path, vectors=np.float32([[3, 4], [0, 1], [1, 0]]), name=["ann/1", "ann/2", "bob/1"])
    >>> ff.read_named_vectors(path)
    NamedVectors(3 x 2 float32, cosine, 3 names)
    """
    wanted = [vectors or "vectors"]
    if samples is None and (name is None or isinstance(name, str)):
        wanted.append(name or "name")
    with vector_parts.opened(path, wanted) as file:
        fields = file if samples is None else vector_files.of_table(tables.table(samples, "samples", "samples"))
        coded = (
            fields.labels("name", name) if name is None or isinstance(name, str) else validation.encode("name", name)
        )
        array = file.vectors(vectors)
    try:
        return NamedVectors(array, as_text(coded), similarity, same_name, failures)
    except InputError as error:
        raise file.told(error) from None


def as_text(names: validation.Coded) -> validation.Coded:
    """Return names as text, so that those of files that know numbers equal those of files that do not."""
    if all(isinstance(label, str) for label in names.labels.tolist()):
        return names
    texts, codes = np.unique([str(label) for label in names.labels.tolist()], return_inverse=True)
    return validation.Coded(texts.astype(object), codes[names.codes])
