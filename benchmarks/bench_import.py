"""What a fresh interpreter pays: the import, and first results with kernels compiled before and
with none."""

from __future__ import annotations

import subprocess
import sys

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
