"""What verbs read: comparisons with scores, or vectors all of whose pairs are compared."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.templates import TEMPLATE_SCORES
from fastfair.io.comparisons import read_comparisons
from fastfair.io.embeddings import read_embeddings

from .options import read_with, with_options
from .trial_vectors import VECTORS_OF_TRIALS

SCORES, VECTORS = "scores", "vectors"
_OF_VECTORS = [name for name in inspect.signature(read_embeddings).parameters if name != "path"]
_OF_SCORES = [name for name in inspect.signature(read_comparisons).parameters if name != "path"]
# Options that belong to some kinds of input only; --group belongs to all.
OPTIONS_OF_INPUT: dict[str, Sequence[str]] = {
    SCORES: (
        *VECTORS_OF_TRIALS, "reference_group", "probe_group", "second_score", "second_score_kind", "second_embeddings",
        *(name for name in _OF_SCORES if name != "groups"),
    ),
    VECTORS: [name for name in _OF_VECTORS if name != "groups"],
}  # fmt: skip
SUBJECT_OF_VECTORS = "Vectors: array or column of subjects or paths. [default: subject]"
ROLE_AND_TEMPLATE = [
    click.option(
        "--role", metavar="NAME",
        help='Vectors: array or column that says which are a "reference" and which a "probe": references are compared '
        "with probes alone. [default: every two are compared]",
    ),
    click.option(
        "--template", metavar="NAME",
        help="Vectors, with --role: array or column that says which template each reference is part of. "
        "[default: each reference alone]",
    ),
    click.option(
        "--template-score", type=click.Choice(TEMPLATE_SCORES),
        help="Vectors, with --template: the score of a template with a probe is that of the mean of its vectors, or "
        "the highest that one of them has. [default: mean]",
    ),
]  # fmt: skip
_INPUT = [
    click.option(
        "--input", "kind", type=click.Choice([SCORES, VECTORS]), default=SCORES, show_default=True,
        help="What files hold: scores, or lists of trials to score with --embeddings; or vectors, as `fastfair "
        "embeddings` reads them, every two of which are compared.",
    ),
    click.option("--subject", metavar="NAME", help=SUBJECT_OF_VECTORS),
    *ROLE_AND_TEMPLATE,
]  # fmt: skip


def vectors_too(command: Any) -> Any:
    """Add the options that say that files hold vectors, and how these are read."""
    return with_options(command, _INPUT)


def read_input(path: Path, options: dict[str, Any]) -> Comparisons | Embeddings:
    """Read comparisons or vectors, and remove from `options` all that say how.

    Parameters
    ----------
    path : Path
        The file.
    options : dict
        Those of the verb, of which `kind` says what the file holds.
    """
    kind = options.pop("kind")
    refuse_options_of_others(kind, OPTIONS_OF_INPUT)
    others = {name for names in OPTIONS_OF_INPUT.values() for name in names} - set(OPTIONS_OF_INPUT[kind])
    for name in others:
        options.pop(name, None)
    if kind == SCORES:
        return read_with(read_comparisons, path, options)
    for name in OPTIONS_OF_INPUT[VECTORS]:
        if options.get(name, "") is None:  # not given
            del options[name]
    ids = options.pop("metadata_id", ())
    if len(ids) > 1:
        raise click.UsageError("--metadata-id names one column of ids with --input vectors")
    if ids:
        options["metadata_id"] = ids[0]
    return read_with(read_embeddings, path, options)


def refuse_options_of_others(kind: str, of_input: Mapping[str, Sequence[str]]) -> None:
    """Refuse options that were given and go with other kinds of input than the one chosen."""
    context = click.get_current_context()
    for option in context.command.params:
        others = [other for other, names in of_input.items() if option.name in names]
        source = context.get_parameter_source(option.name or "")
        given = source in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
        if given and others and kind not in others:
            raise click.UsageError(f"{option.opts[0]} goes with --input {' or '.join(others)}, but --input is {kind}")
