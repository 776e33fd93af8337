"""Run every fuzzer and stress test with its number and seed, and print one table of what became of
them.

The exit code is 1 where one of them met what is not allowed, or could not run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# What is done, by which program, how many in all, how many of a sample, and how the number is
# given.
PROGRAMS = (
    ("calls", "fuzz/calls.py", 20_000, 500, ("--number",)),
    ("searches", "fuzz/searches.py", 20_000, 500, ("--number",)),
    ("files", "fuzz/files.py", 20_000, 200, ("--number",)),
    ("command lines", "fuzz/command_lines.py", 2_500, 100, ("--number",)),
    ("surroundings", "fuzz/surroundings.py", 4_000, 40, ("--number",)),
    ("interrupts", "stress/interrupts.py", 500, 3, ()),
    ("kills while writing", "stress/kill_while_writing.py", 100, 5, ()),
)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sample", action="store_true", help="a small part of each, in about a minute"
    )
    parser.add_argument(
        "--scale",
        type=float,
        default=float(os.environ.get("FUZZ_SCALE", 1)),
        help="times the numbers",
    )
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    table, failed = [], False
    for what, program, everything, part, flag in PROGRAMS:
        number = max(1, round((part if asked.sample else everything) * asked.scale))
        command = [
            sys.executable,
            str(TESTS / program),
            *flag,
            str(number),
            "--seed",
            str(asked.seed),
        ]
        print(f"\n--- {what}: {' '.join(command)}", flush=True)
        start = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as running:
            assert running.stdout is not None
            last = ""
            for printed in running.stdout:
                print(printed, end="", flush=True)
                last = printed.strip() or last
        failed |= running.returncode != 0
        seconds = f"{time.perf_counter() - start:.0f}"
        table.append(
            (what, f"{number:,}", seconds, "allowed" if running.returncode == 0 else "FAULTS", last)
        )
    print()
    for row in (("what", "number", "seconds", "found", "counts"), *table):
        print(f"{row[0]:<20} {row[1]:>8} {row[2]:>8}  {row[3]:<8} {row[4]}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
