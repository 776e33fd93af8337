"""Tell that kernels are being compiled, which takes long and happens once on a machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .terminal import say


def told_of_compiling() -> AbstractContextManager[Any]:
    """Tell on standard error when the first kernel is compiled."""
    from numba.core import event as events  # not before a verb runs: the command line would start later

    event: Any = events  # without types

    class Listener(event.Listener):  # type: ignore[misc]
        """Hears of kernels that are compiled, some of them for others, and in several threads."""

        is_told = False

        def on_start(self, event: Any) -> None:
            if not self.is_told:
                self.is_told = True
                say("Compiling kernels, once on this machine (`fastfair warm-up` compiles all of them)", err=True)

        def on_end(self, event: Any) -> None:
            pass

    listening: AbstractContextManager[Any] = event.install_listener("numba:compile", Listener())
    return listening
