"""Check a file in another process first, as libraries that read it can crash or never return if it is damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastfair.errors import FileFormatError

from .reading import reading

_SECONDS = 3.0  # time limit of the check to come further
_BYTES_A_SECOND = 1e7  # the limit grows with the size of the file
_FURTHER = b"further"  # what the check says when it has come further


def check_in_other_process(program: Path, path: Path, wanted: Sequence[str], library: str) -> dict[str, Any]:
    """Run a program that reads a file, and return what it found.

    Parameters
    ----------
    program : path
        It prints a line when it begins, "further" now and then, and at the end JSON; it imports nothing of fastfair.
    path : path
        The file, its first argument.
    wanted : sequence of str
        Its other arguments.
    library : str
        What reads the file, for messages.

    Raises
    ------
    FileFormatError
        Where the program ends early, says nothing for too long, or says that there is an error.
    """
    command = [sys.executable, "-P", str(program), str(path.absolute()), *wanted]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    seconds = _SECONDS + path.stat().st_size / _BYTES_A_SECOND
    with (
        reading(path),
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
    ):
        try:
            begun = process.stdout.readline() if process.stdout else b""
            answer = _answer(process, seconds)
        finally:
            process.kill()
        if not begun:
            raise FileFormatError(f"{path} cannot be checked: {program.name} does not start")
        if answer is None:
            raise FileFormatError(f"{path} cannot be read: {library} does not finish reading it, so it is damaged")
        if not answer:
            raise FileFormatError(f"{path} cannot be read: {library} crashes with it, so it is damaged")
        found: dict[str, Any] = json.loads(answer)
    if "error" in found:
        raise FileFormatError(f"{path} cannot be read: {found['error']}")
    return found


def _answer(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """Return the last line of the check, empty where it ended without; None where it says nothing for too long."""
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    line = _FURTHER
    while line.rstrip() == _FURTHER and process.stdout:
        timer = threading.Timer(seconds, end)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
    if late.is_set():
        return None
    return line if line.endswith(b"\n") else b""
