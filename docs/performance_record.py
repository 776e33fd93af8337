"""The recorded figures of `python -m benchmarks.versus`, and the machines they are from."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from benchmarks.versus.targets import in_units

Row = dict[str, Any]


class Record:
    """Rows by their names, and a letter for each of their machines: A for that of the most rows."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = {row["name"]: row for row in rows}
        counts = Counter(map(_machine, self.rows.values()))
        self._letters = {
            machine: ascii_uppercase[k] for k, (machine, _) in enumerate(counts.most_common())
        }

    def letter(self, row: Row) -> str:
        """Return the letter of the row's machine."""
        return self._letters[_machine(row)]

    def by_letter(self) -> dict[str, list[Row]]:
        """Return the rows of each machine."""
        return {
            letter: [row for row in self.rows.values() if self.letter(row) == letter]
            for letter in self._letters.values()
        }

    def elsewhere(self, name: str) -> str:
        """Name the machine of a row where it is not that of the most rows; else return nothing."""
        letter = self.letter(self.rows[name])
        return "" if letter == "A" else f"machine {letter}"


def _machine(row: Row) -> tuple[str, int]:
    """Return what tells machines apart; an update of the system makes no new one."""
    return row["machine"]["processor"], row["machine"]["cpus"]


PATH = Path(__file__).parent / "performance.json"
RECORD = Record(json.loads(PATH.read_text(encoding="utf-8"))["rows"])


def seconds(value: float) -> str:
    """Write seconds for readers, never broken across lines."""
    return in_units(value).replace(" ", "\N{NO-BREAK SPACE}")
