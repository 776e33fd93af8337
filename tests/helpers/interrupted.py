"""Processes that are interrupted once they say that they are ready."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

SOON = 15.0  # seconds, on however busy a machine: what is interrupted would take 30 or more


def interrupted(code: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run code until it prints something, interrupt it, and tell how long it then takes to end."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.2)
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            printed, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    return (
        subprocess.CompletedProcess([], process.returncode, printed, errors),
        time.perf_counter() - start,
    )
