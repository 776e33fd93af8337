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
    """A tool to be held against, what pip needs to install it, and what that forgets to ask for or
    is run beside; `alone` if nothing else that they ask for is to be installed."""

    name: str
    requirement: str
    beside: tuple[str, ...] = ()
    alone: bool = False

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
        requirements = (self.requirement, *self.beside)
        if installed.is_file() and installed.read_text().split() == [*requirements]:
            return python
        print(f"installing {' '.join(requirements)} into {folder}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        self._run(sys.executable, "-m", "venv", str(folder))
        self._run(
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *(["--no-deps"] if self.alone else []),
            *requirements,
        )
        installed.write_text(" ".join(requirements))
        return python

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            errors = [
                line for line in done.stderr.splitlines() if line.startswith("ERROR")
            ] or done.stderr.splitlines()
            raise NotMeasuredError(f"{self.requirement} cannot be installed: {errors[-1]}")


SCIKIT_LEARN = Peer("sklearn", "scikit-learn==1.9.1")
BOB_MEASURE = Peer("bob", "bob.measure==6.1.1")
BT4VT = Peer("bt4vt", "bt4vt==1.0.1")
CONFIDENCE_INTERVALS = Peer("confidence-intervals", "confidence_intervals==0.0.3")
FAIRLEARN = Peer("fairlearn", "fairlearn==0.15.0")
PYEER = Peer("pyeer", "pyeer==0.5.6", ("setuptools==80.9.0",))
STATSMODELS = Peer("statsmodels", "statsmodels==0.15.0")
LIR = Peer("lir", "lir==1.3.1")
LLREVAL = Peer("llreval", "llreval==0.0.3")
PYANNOTE = Peer("pyannote", "pyannote.metrics==4.2.0")
SCORE_ANALYSIS = Peer("score-analysis", "score-analysis==0.3.12")
# Tools for classifiers, their groups and their intervals, and for lists of candidates.
CLASSIFIERS = Peer(
    "classifiers",
    "aif360==0.6.1",
    (
        "confidenceinterval==1.0.5",
        "jurity==2.1.0",
        "MLstatkit==0.1.91",
        "numpy==2.4.6",
        "pandas==3.1.1",
        "pytrec-eval-terrier==0.5.11",
        "scikit-learn==1.9.1",
        "scipy==1.17.1",
    ),
)
# Likewise, with NumPy 1.
OLDER = Peer(
    "older",
    "aequitas==1.1.0",
    ("confidence_intervals==0.0.3", "eer==0.0.2", "numpy==1.26.4", "ranx==0.3.21"),
)
# What writes files of vectors.
WRITERS = Peer(
    "writers",
    "kaldiio==2.18.1",
    (
        "kaldi-native-io==1.23.0",
        "safetensors==0.8.0",
        "duckdb==2.0.1",
        "h5py==3.16.0",
        "pandas==3.1.1",
        "polars==2.1.0",
        "pyarrow==26.0.1",
    ),
)
# Its files of scores need nothing of PyTorch, which it asks for.
SIDEKIT = Peer(
    "sidekit", "sidekit==1.4.3.2", ("h5py==3.16.0", "numpy==2.4.6", "scipy==1.17.1"), alone=True
)
# Tools on top of PyTorch share its environment, which is large.
TORCH = Peer(
    "torch",
    "torch==2.13.0",
    (
        "torchmetrics==1.9.0",
        "speechbrain==1.1.2",
        "pytorch-metric-learning==2.9.0",
        "faiss-cpu==1.15.1",
    ),
)
PEERS = (
    SCIKIT_LEARN,
    BOB_MEASURE,
    BT4VT,
    CONFIDENCE_INTERVALS,
    FAIRLEARN,
    PYEER,
    STATSMODELS,
    LIR,
    LLREVAL,
    PYANNOTE,
    SCORE_ANALYSIS,
    CLASSIFIERS,
    OLDER,
    WRITERS,
    SIDEKIT,
    TORCH,
)

# What nothing here installs (Debian: apt-get install r-base-core r-cran-proc r-cran-rocr
# r-cran-cutpointr).
R_PACKAGES = {"pROC": "1.18.0", "ROCR": "1.0.11", "cutpointr": "1.1.2"}


def version_of(package: str) -> str:
    """Return the version of a package that is pinned here, or nothing."""
    pins = dict(pin.split("==") for peer in PEERS for pin in (peer.requirement, *peer.beside))
    return (pins | R_PACKAGES).get(package, "")
