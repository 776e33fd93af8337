"""Options of vectors with names, with which a list of trials is scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fastfair._lib.validation import SIMILARITIES
from fastfair.data.named_vectors import SAME_NAME, NamedVectors
from fastfair.io.embeddings import read_named_vectors

_HOW = ("vectors", "name", "samples", "similarity", "same_name")
VECTORS_OF_TRIALS = ("embeddings", *_HOW)
VECTOR_OPTIONS = [
    click.option(
        "--embeddings", type=click.Path(path_type=Path), metavar="FILE",
        help="Vectors with names (.npz, .npy, Parquet, HDF5), to score the pairs with that the file of comparisons "
        "lists by these names, without scores.",
    ),
    click.option("--vectors", metavar="NAME", help="Array or column of vectors. [default: vectors]"),
    click.option(
        "--vector-name", "name", metavar="NAME",
        help="--embeddings: array or column of the vectors' names. [default: name]",
    ),
    click.option(
        "--vector-table", "samples", type=click.Path(path_type=Path), metavar="FILE",
        help="Table with one row for each vector, where their file does not hold their names, or subjects.",
    ),
    click.option(
        "--similarity", type=click.Choice(SIMILARITIES),
        help="The score of two vectors. [default: cosine]",
    ),
    click.option(
        "--same-name", type=click.Choice(SAME_NAME),
        help="--embeddings: several vectors of one name are refused, or a template: of the highest score of its "
        "vectors, or their mean. [default: raise]",
    ),
]  # fmt: skip


def take_vectors(options: dict[str, Any]) -> NamedVectors | None:
    """Read the vectors that options name, if they do, and remove these options from `options`."""
    path = options.pop("embeddings")
    how = {name: value for name in _HOW if (value := options.pop(name)) is not None}
    if path is not None:
        failures = "error" if options.get("failures", "error") == "error" else "nan"
        return read_named_vectors(path, **how, failures=failures)
    if how:
        flag = next(option for option in click.get_current_context().command.params if option.name in how).opts[0]
        raise click.UsageError(f"{flag} goes with --embeddings, the file of the vectors")
    return None
