"""Work done by other processes: peers that wait for their turn, and commands run from start to
end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from .clock import Clocked
from .rows import NotMeasuredError

_WORKERS = Path(__file__).resolve().parent / "workers"


class Worker:
    """A peer in its own environment, which loads its input once, does work when told to and clocks
    it itself.

    Parameters
    ----------
    python : Path
        The peer's interpreter.
    script : str
        A file of `workers/`.
    folder : Path
        Where its input lies and where it leaves answers.

    Attributes
    ----------
    versions : dict of str
        What the peer runs on.
    """

    def __init__(self, python: Path, script: str, folder: Path) -> None:
        self._errors = folder / "errors.txt"
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [python, _WORKERS / script, folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=folder,
            )
        self.versions: dict[str, str] = json.loads(self._read())

    def clocked(self, variant: str) -> Clocked:
        """Return one of the worker's variants as work to be clocked."""
        return lambda: float(self._ask("run", variant))

    def save(self, variant: str) -> None:
        """Let the worker write a variant's answer to `<variant>.npy`."""
        self._ask("save", variant)

    def _ask(self, verb: str, variant: str) -> str:
        assert self._process.stdin is not None
        print(verb, variant, file=self._process.stdin, flush=True)
        return self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise NotMeasuredError(f"its process ended: {_last_line(self._errors.read_text())}")
        return line

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()  # the end of its input is the end of its work


@dataclass(frozen=True)
class Usage:
    """What a command took."""

    seconds: float
    processor_seconds: float
    peak_bytes: int


def run_command(
    command: Sequence[str | Path], folder: Path, variables: Mapping[str, str] | None = None
) -> Usage:
    """Run a command from start to end in a folder, with environment variables besides ours.

    A bare interpreter starts it: a process counts into its peak memory what the process that
    started it held.

    Raises
    ------
    RuntimeError
        Where the command fails, with the last line of its complaint.
    """
    spawn = [sys.executable, "-I", "-S", _WORKERS / "spawn.py", *command]
    environment = os.environ | (variables or {})
    done = subprocess.run(
        spawn, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} failed: {_last_line(done.stderr)}")
    return Usage(**json.loads(done.stdout))


def _last_line(errors: str) -> str:
    lines = errors.strip().splitlines()
    return lines[-1] if lines else "no message"
