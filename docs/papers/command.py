"""The command that makes the pages of the papers."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import click

from fastfair import read_embeddings
from fastfair.errors import FastfairError
from papers.all_pages import NAMES, write_pages
from papers.page_files import ready_folder
from papers.settings import Settings

_PROGRAM = "python docs/papers"
_FAILED, _INTERRUPTED = 2, 130  # exit codes; shells know an interrupted program by the second


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar=f"[{' | '.join(NAMES)}]...")
@click.option(
    "--quick",
    is_flag=True,
    help="Fewer replicates, seeds and data sets: in a minute and a half, not ten.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of all random numbers.",
)
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
    help="Write the pages there, with figures and tables below.",
)  # fmt: skip
@click.option(
    "--embeddings", type=click.Path(path_type=Path), metavar="FILE",
    help="Vectors of your own, as `fastfair embeddings` reads them with its defaults, for the page `uncertainty`.",
)  # fmt: skip
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    help="With --embeddings: its arrays of groups.",
)
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Tell the steps. [default: where a person is watching]",
)
def make_pages(
    names: tuple[str, ...],
    quick: bool,
    seed: int,
    output: Path,
    embeddings: Path | None,
    groups: tuple[str, ...],
    progress: bool | None,
) -> None:
    """Make the tables and figures of five papers anew, the printed ones beside them.

    The pages are named by the papers' subjects, and "choosing" is on which measure answers which
    question; all by default.
    """
    if embeddings is None and groups:
        raise click.UsageError(
            "--group names groups of vectors: give the file of these with --embeddings"
        )
    own = None if embeddings is None else read_embeddings(embeddings, groups=groups)
    ready_folder(output)
    begun = time.monotonic()

    def tell(step: str) -> None:
        click.echo(f"{time.monotonic() - begun:4.0f} s  {step}", err=True)

    watched = sys.stderr.isatty() if progress is None else progress
    settings = Settings.of(quick=quick, seed=seed, tell=tell if watched else None, embeddings=own)
    files = write_pages(output, names or NAMES, settings)
    click.echo(f"Written: {files[0]} and {len(files) - 1} more files in {output}", err=True)


def main() -> None:
    """Run the command: errors in a line, without a traceback."""
    warnings.showwarning = lambda message, *_, **__: click.secho(
        f"Warning: {message}", fg="yellow", err=True
    )
    try:
        sys.exit(make_pages.main(prog_name=_PROGRAM, standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:  # what click makes of an interrupt
        click.echo("Interrupted", err=True)
        sys.exit(_INTERRUPTED)
    except (FastfairError, OSError) as error:
        click.secho(f"Error: {error}", fg="red", err=True)
        sys.exit(_FAILED)
