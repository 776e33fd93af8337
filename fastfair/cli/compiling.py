"""Tell that kernels are being compiled, which takes long and happens once on a machine."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager
from typing import Any

_ERASE = "\r\x1b[2K"
_SAID = "Compiling kernels, once on this machine (`fastfair warm-up` compiles all of them)"


def told_of_compiling() -> AbstractContextManager[Any]:
    """Tell on standard error when a kernel is compiled: a count that comes and goes on a terminal, else one line."""
    from numba.core import event as events  # not before a verb runs: the command line would start later

    event: Any = events  # without types

    class Listener(event.Listener):  # type: ignore[misc]
        """Counts the kernels that are compiled; some are compiled for others, and in several threads."""

        def __init__(self) -> None:
            self._lock = threading.Lock()
            self._count = self._under_way = 0

        def on_start(self, event: Any) -> None:
            with self._lock:
                self._count += 1
                self._under_way += 1
                if sys.stderr.isatty():
                    _write(f"{_ERASE}{_SAID}: {self._count} ...")
                elif self._count == 1:
                    _write(f"{_SAID}\n")

        def on_end(self, event: Any) -> None:
            with self._lock:
                self._under_way -= 1
                if self._under_way == 0 and sys.stderr.isatty():
                    _write(_ERASE)

    listening: AbstractContextManager[Any] = event.install_listener("numba:compile", Listener())
    return listening


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
