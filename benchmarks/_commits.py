"""Commits of this repository as installed libraries, each with its own folder of compiled
kernels."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ._verdicts import Outcome

ROOT = Path(__file__).resolve().parents[1]
_BUILD_SECONDS = 300
_RUN_SECONDS = 1200  # most of it compiling, on a machine that others use


class CheckError(Exception):
    """Why two commits cannot be compared."""


def _run(
    command: Sequence[str | Path],
    what: str,
    seconds: int,
    cwd: Path,
    environment: dict[str, str] | None = None,
) -> bytes:
    try:
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CheckError(f"{what} took more than {seconds} s") from error
    if done.returncode:
        raise CheckError(
            f"{what} ended with {done.returncode}:\n{done.stderr.decode(errors='replace').strip()}"
        )
    return done.stdout


def git(*arguments: str, repository: Path = ROOT) -> str:
    """Return what git prints."""
    return _run(["git", *arguments], f"git {arguments[0]}", 60, repository).decode().strip()


def commit_of(revision: str, repository: Path = ROOT) -> str | None:
    """Return the full name of a commit, None where there is no such."""
    try:
        return git(
            "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", repository=repository
        )
    except CheckError:
        return None


def default_base(repository: Path = ROOT) -> str | None:
    """Return the last release before HEAD, else the commit before it, else None."""
    if commit_of("HEAD~1", repository) is None:
        return None
    try:
        return git(
            "describe",
            "--tags",
            "--abbrev=0",
            "--match",
            "v[0-9]*",
            "HEAD~1",
            repository=repository,
        )
    except CheckError:
        return "HEAD~1"


def unpack(commit: str, folder: Path, *paths: str) -> None:
    """Write a commit's files, or those below some paths, to a folder."""
    packed = _run(["git", "archive", "--format=tar", commit, *paths], "git archive", 60, ROOT)
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


@dataclass(frozen=True)
class Library:
    """The library as it is at a commit.

    Parameters
    ----------
    commit : str
        The commit.
    folder : Path
        A new folder for all that belongs to it.
    benchmarks : Path
        Where the package `benchmarks` lies, which is the same for all commits.
    """

    commit: str
    folder: Path
    benchmarks: Path

    def install(self) -> None:
        """Build a wheel and install it; dependencies are those of the interpreter that runs
        this."""
        source = self.folder / "source"
        source.mkdir(parents=True)
        unpack(self.commit, source)
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        ]
        what = f"building {self.commit}"
        _run([*command, "--target", self._packages, source], what, _BUILD_SECONDS, self.folder)

    @property
    def _packages(self) -> Path:
        return self.folder / "packages"

    def measure(self, rounds: int, names: Iterable[str]) -> dict[str, Outcome]:
        """Let a process take turns at benchmarks, at all where none is named."""
        settings = {
            "PYTHONPATH": str(self._packages),
            "FASTFAIR_CACHE_DIR": str(self.folder / "kernels"),
        }
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PYTHON"))}
        command = [sys.executable, "-m", "benchmarks._ratio_worker", str(rounds), *names]
        what = f"measuring {self.commit}"
        found = json.loads(_run(command, what, _RUN_SECONDS, self.benchmarks, inherited | settings))
        if not Path(found["library"]).is_relative_to(self._packages):
            raise CheckError(f"{what} ran {found['library']}, which is another library")
        return found["outcomes"]
