"""What a fresh interpreter pays: the import, and the first result with kernels compiled before."""

from __future__ import annotations

import subprocess
import sys

_IMPORT = "import fastfair as ff"
_FIRST_CURVE = "ff.roc(ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0]))"


class FreshInterpreter:
    def setup(self) -> None:
        subprocess.run([sys.executable, "-c", f"{_IMPORT}; {_FIRST_CURVE}"], check=True)  # compiles into the cache

    def timeraw_import(self) -> str:
        return _IMPORT

    def timeraw_import_numpy(self) -> str:
        return "import numpy"

    def timeraw_first_curve(self) -> tuple[str, str]:
        return _FIRST_CURVE, _IMPORT
