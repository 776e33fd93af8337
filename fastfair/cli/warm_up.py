"""The verb `warm-up` of the command line."""

from __future__ import annotations

import time

import click

from fastfair.first_run import warm_up

from .terminal import say
from .verbs import Verb, watched


@click.command(
    "warm-up",
    cls=Verb,
    summary="Compile all kernels now, so that no later run has to.",
    examples="""
    fastfair warm-up
    fastfair warm-up --n-processes 2 --no-progress
    """,
)
@click.option(
    "--n-processes", type=click.IntRange(min=1), help="Number of processes. [default: one for each processor]"
)
@click.option(
    "--progress/--no-progress", default=None, help="Show a progress bar. [default: if standard error is a terminal]"
)
def warm_up_command(n_processes: int | None, progress: bool | None) -> None:
    """Compile all kernels in parallel processes, once on this machine, so that no later run has to."""
    begun = time.monotonic()
    compiled = warm_up(n_processes, progress=watched(progress))
    took = f"{compiled:,} kernels were compiled in {time.monotonic() - begun:.0f} s"
    say(f"{took}; later runs find them." if compiled else "All kernels are compiled.")
