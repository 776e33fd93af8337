"""The recorded figures of `python -m benchmarks.versus`."""

import json
from pathlib import Path
from typing import Any

from benchmarks.versus.targets import in_units

RECORD: dict[str, Any] = json.loads((Path(__file__).parent / "performance.json").read_text(encoding="utf-8"))
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in RECORD["rows"]}


def seconds(value: float) -> str:
    """Write seconds for readers, never broken across lines."""
    return in_units(value).replace(" ", "\N{NO-BREAK SPACE}")
