"""The recorded figures of `python -m benchmarks.versus`."""

import json
from pathlib import Path
from typing import Any

RECORD: dict[str, Any] = json.loads((Path(__file__).parent / "performance.json").read_text(encoding="utf-8"))
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in RECORD["rows"]}


def seconds(value: float) -> str:
    """Write seconds for readers, never broken across lines."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g}\N{NO-BREAK SPACE}{unit}"
    return f"{value / 1e-9:.3g}\N{NO-BREAK SPACE}ns"
