"""Virtual environments of the peers, one each, so that their requirements never meet ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .rows import NotMeasuredError

_ROOT = Path(__file__).resolve().parents[2] / ".peers"


@dataclass(frozen=True)
class Peer:
    """A tool to be held against and what pip needs to install it."""

    name: str
    requirement: str

    def python(self) -> Path:
        """Return the interpreter of the peer's environment, made on first use.

        Raises
        ------
        NotMeasuredError
            Where the environment cannot be made.
        """
        folder = _ROOT / self.name
        python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        # Written last, so that an installation broken off, or one of another version, is made anew.
        installed = folder / "installed.txt"
        if installed.is_file() and installed.read_text() == self.requirement:
            return python
        print(f"installing {self.requirement} into {folder}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        self._run(sys.executable, "-m", "venv", str(folder))
        self._run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", self.requirement)
        installed.write_text(self.requirement)
        return python

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
            raise NotMeasuredError(f"{self.requirement} cannot be installed: {errors[-1]}")


SCIKIT_LEARN = Peer("sklearn", "scikit-learn==1.9.1")
BOB_MEASURE = Peer("bob", "bob.measure==6.1.1")
BT4VT = Peer("bt4vt", "bt4vt==1.0.1")
CONFIDENCE_INTERVALS = Peer("confidence-intervals", "confidence_intervals==0.0.3")
FAIRLEARN = Peer("fairlearn", "fairlearn==0.15.0")
PYEER = Peer("pyeer", "pyeer==0.5.6")
STATSMODELS = Peer("statsmodels", "statsmodels==0.15.0")
