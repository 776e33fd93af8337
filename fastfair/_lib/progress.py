"""Progress bars, or calls to the caller's own function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import validation

Report = Callable[[int, int], None]


@contextmanager
def reporting(progress: bool | Report, label: str) -> Iterator[Report | None]:
    """Give a function to call with what is done and what there is to do, or None where nobody listens."""
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
