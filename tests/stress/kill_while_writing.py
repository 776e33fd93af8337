"""Kill a process that rewrites files, again and again, and look whether each file is the old or the
new one.

``python tests/stress/kill_while_writing.py 100 --seed 0`` does it a hundred times; it fails where a
file is in pieces.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

FILES = ("result.json", "result.csv", "scores.csv", "scores.parquet")
_ROWS = 3000
_LONGEST = 0.4  # seconds until the process is killed, once it writes

# Forks a writer for each number that it is given, as starting Python anew takes seconds. It never
# uses polars itself, whose threads no fork has.
_WRITERS = """
import itertools, os, sys
from pathlib import Path
import numpy as np, polars as pl
import fastfair as ff
from fastfair._lib import whole_files
import fastfair.io.comparisons
from fastfair._lib.tables import write_json

folder, rows = Path(sys.argv[1]), int(sys.argv[2])

def write(first):
    for version in itertools.count(first):
        write_json({"version": version, "values": [version] * rows}, folder / "result.json")
        whole_files.write_csv(pl.DataFrame({"version": [version] * rows}), folder / "result.csv")
        c = ff.Comparisons(np.full(rows, float(version)), np.arange(rows) % 2 == 0)
        ff.write_comparisons(c, folder / "scores.csv")
        ff.write_comparisons(c, folder / "scores.parquet")
        os.write(1, f"{os.getpid()} {version}\\n".encode())

ff.Comparisons(np.zeros(4), [1, 0, 1, 0])  # loads the kernels
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        write(int(line))
    _, status = os.waitpid(pid, 0)
    os.write(1, f"ended {status}\\n".encode())
"""


def version_in(path: Path) -> int:
    """Read a file and return the version that wrote all of it."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        found, values = content["version"], content["values"]
    else:
        frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
        values = frame[frame.columns[0]].to_list()
        found = int(values[0])
    if len(values) != _ROWS or set(values) != {found}:
        raise ValueError(
            f"{len(values)} of {_ROWS} rows, of the versions {sorted(set(values))[:5]}"
        )
    return int(found)


def kill_once(writers: subprocess.Popen[str], first: int, wait: float) -> int:
    """Let a process write versions from `first` on and kill it; return the last version that it
    says is complete."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    print(first, file=writers.stdin, flush=True)
    pid, complete = map(int, writers.stdout.readline().split())
    time.sleep(wait)
    os.kill(pid, signal.SIGKILL)
    while not (line := writers.stdout.readline()).startswith("ended"):
        complete = int(line.split()[1])
    if int(line.split()[1]) != signal.SIGKILL:
        raise RuntimeError(f"the writer ended by itself: {line}")
    return complete


def main() -> int:
    """Kill as often as is asked, print what was found, and return how many files were in pieces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    found = {"old": 0, "new": 0}
    wrong, left = [], 0
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(
            [sys.executable, "-c", _WRITERS, name, str(_ROWS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writers,
    ):
        folder = Path(name)
        first = 0
        for kill in range(options.kills):
            complete = kill_once(writers, first, chance.uniform(0, _LONGEST))
            for file in FILES:
                try:
                    version = version_in(folder / file)
                    if version not in (complete, complete + 1):
                        raise ValueError(f"version {version}, not {complete} or {complete + 1}")
                    found["old" if version == complete else "new"] += 1
                except Exception as error:
                    wrong.append(f"kill {kill}: {file}: {type(error).__name__}: {error}")
            temporary = list(folder.glob(".fastfair-*.tmp"))
            left += len(temporary)
            for path in temporary:
                path.unlink()
            if sorted(path.name for path in folder.iterdir()) != sorted(FILES):
                wrong.append(
                    f"kill {kill}: the folder holds"
                    f" {sorted(path.name for path in folder.iterdir())}"
                )
            first = complete + 2
    print(
        f"{options.kills} kills, {len(FILES) * options.kills} files: {found['old']} old,"
        f" {found['new']} new, {len(wrong)} wrong; {left} temporary files left, seed {options.seed}"
    )
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
