"""Where figures come from: the machine, the time and the state of the code."""

from __future__ import annotations

import datetime
import functools
import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_CODE = ("fastfair", "kernels", "benchmarks")
_ADDITIONS = 1_000_000


def machine() -> dict[str, Any]:
    """Describe the machine, and how fast it is now: shared processors take up to twice as long in
    some hours as in others.
    """
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "million_additions_s": min(_seconds_of_additions() for _ in range(5)),
    }


def _seconds_of_additions() -> float:
    """Clock a million additions in plain Python."""
    start, total = time.perf_counter(), 0
    for number in range(_ADDITIONS):
        total += number
    return time.perf_counter() - start


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def now() -> str:
    """Return the time, UTC, to the minute."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


@functools.cache  # of the code that was loaded, whatever is committed since
def commit() -> str:
    """Name the commit, and say where the code differs from it; "unknown" where there is no
    repository."""
    try:
        name = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", *_CODE)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} with changes" if changed else name


def _git(*command: str) -> str:
    return subprocess.run(
        ["git", *command], cwd=_ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
