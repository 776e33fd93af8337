"""Report progress with a bar, or to a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import validation

Report = Callable[[int, int], None]


@contextmanager
def reporting(progress: bool | Report, label: str) -> Iterator[Report | None]:
    """Give a function to call with the work done and all the work, or None if no progress is wanted."""
    if callable(progress) or not progress:
        yield progress or None
        return
    rich = validation.require("rich.progress", "cli", "progress=True")
    console = validation.require("rich.console", "cli", "progress=True").Console(stderr=True)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)
