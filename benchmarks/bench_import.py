"""What a fresh interpreter pays: the import, first results with kernels compiled before and with
none, and commands from start to end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from .versus import runs

_IMPORT = "import fastfair as ff"
_NO_KERNELS = """
import os, tempfile
folder = tempfile.TemporaryDirectory()
os.environ["FASTFAIR_CACHE_DIR"] = folder.name
"""
_COLUMNS = """
import numpy as np
mated = np.arange(4000) % 2 == 0
scores = np.random.default_rng(0).normal(size=4000) + 2 * mated
subject = np.arange(4000) // 20
columns = scores, mated, subject, np.where(mated, subject, (subject + 2) % 200), subject % 2
"""
_CALLS = {
    "roc": "ff.roc(ff.Comparisons(*columns))",
    "evaluate": "ff.evaluate(ff.Comparisons(*columns), at=ff.at_fmr(0.05), n_resamples=64, rng=0)",
}


class Import:
    def timeraw_import(self) -> str:
        return _IMPORT

    def timeraw_import_numpy(self) -> str:
        return "import numpy"


class FirstCall:
    """Small comparisons of 200 subjects in 2 groups."""

    params = list(_CALLS)
    param_names = ["call"]
    repeat = (1, 3, 10.0)
    warmup_time = 0
    timeout = 300

    def setup(self, call: str) -> None:
        subprocess.run(
            [sys.executable, "-c", f"{_IMPORT}\n{_COLUMNS}\n{_CALLS[call]}"], check=True
        )  # into the cache

    def timeraw_cold(self, call: str) -> tuple[str, str]:
        return _CALLS[call], f"{_NO_KERNELS}\n{_IMPORT}\n{_COLUMNS}"

    def timeraw_cached(self, call: str) -> tuple[str, str]:
        return _CALLS[call], f"{_IMPORT}\n{_COLUMNS}"


class Commands:
    """Commands from start to end, with kernels compiled: `check` of 20,000 rows, `evaluate` of
    550,894, and the demo.
    """

    params = ["check", "evaluate", "demo"]
    param_names = ["verb"]
    timeout = 300

    def setup(self, verb: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fastfair-bench-")
        folder = Path(self._folder.name)
        if verb == "check":
            self._command = runs.check_command(folder)
        else:
            scores = runs.evaluation_command() if verb == "evaluate" else runs.demo_command()[0]
            self._command = [*scores, "--output", folder]
        self.time_command(verb)  # compiles

    def teardown(self, verb: str) -> None:
        self._folder.cleanup()

    def time_command(self, verb: str) -> None:
        subprocess.run(self._command, cwd=self._folder.name, check=True, capture_output=True)
