"""Run the comparisons: `python -m benchmarks.versus [--output DIR] [--record FILE] [--only
NAME]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .provenance import machine
from .record import to_json, update_record
from .rows import Result, measure
from .table import to_markdown
from .tasks import ROWS


def main() -> int:
    """Measure, print and write; 1 where a peer's answer is not ours, as a missed target is a figure
    and no failure."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.versus", description="The same work done by other tools."
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="write versus.md and versus.json there"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="update the rows that are run in this record"
    )
    names = [row.name for row in ROWS]
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="NAME",
        help=f"one of {', '.join(names)}; repeatable",
    )
    options = parser.parse_args()
    results = []
    for row in ROWS:
        if options.only is None or row.name in options.only:
            against = f" against {row.peer}" if row.peer else ""
            print(f"{row.name}: {row.task}{against}", file=sys.stderr, flush=True)
            results.append(measure(row))
            if (
                options.output is not None
            ):  # after each, so that a run broken off leaves what it has
                _write(results, options.output)
    print(to_markdown(results, machine()))
    if options.record is not None:
        update_record(options.record, results, names)
    return int(any(result.agree is False for result in results))


def _write(results: Sequence[Result], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "versus.md").write_text(to_markdown(results, machine()))
    (folder / "versus.json").write_text(to_json(results))


if __name__ == "__main__":
    sys.exit(main())
