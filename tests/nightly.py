"""Run the complete checks one after the other, and record what became of each: `python
tests/nightly.py [STEP...]`.

A step is a target of the Makefile. docs/nightly.csv keeps the last result of each: date, commit,
outcome and minutes.
"""

from __future__ import annotations

import csv
import datetime
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "nightly.csv"
COLUMNS = ("Step", "Date", "Commit", "Outcome", "Minutes")


def commit() -> str:
    """Return the commit that is tested, with a plus where files differ from it."""
    words = ("git", "describe", "--always", "--abbrev=9", "--dirty=+", "--exclude=*")
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def record(*row: str) -> None:
    """Write the result of a step in the place of its last one."""
    with RECORD.open(newline="") as file:
        rows = {old[0]: old for old in list(csv.reader(file))[1:]} | {row[0]: list(row)}
    with RECORD.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows.values()])


def main(steps: list[str]) -> int:
    """Run steps, and those with compiled kernels on 200 examples of each property; return 1 where
    one failed."""
    tested, failed = commit(), []
    for step in steps:
        start = time.monotonic()
        examples = {"EXAMPLES": "nightly"} if step in ("test", "slow") else {}
        done = subprocess.run(["make", step], cwd=ROOT, env=os.environ | examples, check=False)
        if done.returncode:
            failed.append(step)
        outcome = "failed" if done.returncode else "passed"
        minutes = f"{(time.monotonic() - start) / 60:.1f}"
        record(step, datetime.date.today().isoformat(), tested, outcome, minutes)
    print("failed: " + ", ".join(failed) if failed else "all passed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
