"""Files of vectors that are parts of one set: their vectors lie one after another in a temporary file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import arrays, validation
from fastfair.data.temporary_files import ArrayFile, Folder
from fastfair.errors import InputError

from . import vector_files
from .file_names import files_of, is_pattern, naming


class Parts:
    """The fields of several files, as those of one file with all their vectors.

    Parameters
    ----------
    files : sequence of Path
        The files, in the order of their vectors.
    wanted : list of str
        The fields that are wanted of each.

    Attributes
    ----------
    place : str
        What the files are, for messages.
    """

    def __init__(self, files: Sequence[Path], wanted: list[str]) -> None:
        self.place = f"{files[0]} and {len(files) - 1} more files"
        self._files, self._wanted = files, wanted
        self._sizes: dict[str, list[int]] = {}  # the number of rows of each file, by field

    def labels(self, role: str, name: str | None) -> validation.Coded:
        """Return the labels of a role, as `Fields.labels` does."""
        columns = []
        for file in self._files:
            with vector_files.opened(file, self._wanted) as fields:
                columns.append(fields.labels(role, name))
        self._sizes[role] = [column.codes.size for column in columns]
        labels, codes = validation.encode_together([role] * len(columns), columns)
        return validation.Coded(labels, np.concatenate(codes))

    def vectors(self, name: str | None) -> NDArray[Any]:
        """Return the vectors, as `Fields.vectors` does, mapped to a temporary file that stays as long as they do.

        Raises
        ------
        InputError
            For a file whose vectors have another type or length than those of the first, or are more or fewer than its
            labels.
        """
        gathered = ArrayFile(Folder(), "vectors")
        first: tuple[np.dtype[Any], int] | None = None
        sizes = self._sizes["vectors"] = []
        for k, file in enumerate(self._files):
            with vector_files.opened(file, self._wanted) as fields, naming(file):
                part = arrays.numbers_in("vectors", fields.vectors(name))
                if part.ndim != 2:
                    raise InputError(
                        f"vectors must be two-dimensional, one row for each sample, but its shape is {part.shape}"
                    )
                found = part.dtype, part.shape[1]
                first = first or found
                if found != first:
                    (kind, length), (kind_of_first, length_of_first) = found, first
                    raise InputError(
                        f"its vectors are {length} numbers of type {kind}, and those of {self._files[0]} are "
                        f"{length_of_first} of type {kind_of_first}; parts of a set must be alike"
                    )
                sizes.append(len(part))
                validation.same_length({field: of_files[k] for field, of_files in self._sizes.items()}, "vector")
                gathered.append(part)
        return gathered.mapped()

    def told(self, error: InputError, keep: NDArray[np.bool_] | None = None) -> InputError:
        """Return an error about vectors, as `Fields.told` does, with the name of the file and the row in it."""
        if error.row is None:
            return type(error)(f"{self.place}: {error}", error.row)
        row = error.row if keep is None else int(np.flatnonzero(keep)[error.row])
        start = np.cumsum([0, *self._sizes["vectors"]])
        part = int(np.searchsorted(start, row, side="right")) - 1
        among = "in all files" if keep is None else "of those with metadata, in all files"
        return type(error)(
            f"{self._files[part]}, row {row - start[part]} (counted from 0): {error} ({among})", error.row
        )


@contextmanager
def opened(source: Any, wanted: list[str]) -> Iterator[vector_files.Fields | Parts]:
    """Open one or more files of vectors, from which some fields are wanted, or take a data frame."""
    if isinstance(source, list) or (isinstance(source, str | Path) and is_pattern(source)):
        files = files_of(source, "vectors")
        if len(files) > 1:
            yield Parts(files, wanted)
            return
        source = files[0]
    with vector_files.opened(source, wanted) as fields:
        yield fields
