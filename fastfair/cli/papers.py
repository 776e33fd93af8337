"""The verb `papers` of the command line."""

from __future__ import annotations

from pathlib import Path

import click

from fastfair._lib.progress import telling
from fastfair.errors import InputError
from fastfair.io.embeddings import read_embeddings
from fastfair.papers import PAGES, write_papers

from .options import Folder, watched
from .output import require_output


@click.command("papers")
@click.argument("pages", nargs=-1, type=click.Choice(list(PAGES)), metavar="[1-5 | choosing]...")
@click.option("--quick", is_flag=True, help="Fewer replicates, seeds and data sets: in a minute and a half, not ten.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all random numbers.")
@click.option(
    "--output", type=Folder(), metavar="DIR", default=Path("papers"),
    show_default=True, help="Write the pages there, with figures and tables below.",
)  # fmt: skip
@click.option(
    "--embeddings", type=click.Path(path_type=Path), metavar="FILE",
    help="Vectors of your own, as `fastfair embeddings` reads them with its defaults, for the page of paper 5.",
)  # fmt: skip
@click.option("--group", "groups", multiple=True, metavar="NAME", help="With --embeddings: its arrays of groups.")
@click.option("--progress/--no-progress", default=None, help="Tell the steps. [default: where a person is watching]")
def papers_command(
    pages: tuple[str, ...],
    quick: bool,
    seed: int,
    output: Path,
    embeddings: Path | None,
    groups: tuple[str, ...],
    progress: bool | None,
) -> None:
    """Make the tables and figures of five papers anew, the printed ones beside them.

    PAGES are the papers' numbers, and "choosing" for the page on which measure answers which question; all by default.
    """
    require_output(output)
    if embeddings is None and groups:
        raise InputError("--group names groups of vectors: give the file of these with --embeddings")
    own = None if embeddings is None else read_embeddings(embeddings, groups=groups)
    with telling(watched(progress)) as tell:
        files = write_papers(output, pages or None, quick=quick, seed=seed, embeddings=own, tell=tell)
    click.echo(f"Written: {files[0]} and {len(files) - 1} more files in {output}", err=True)
