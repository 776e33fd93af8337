"""An interrupt of the command line ends it at once, whatever it is doing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time

_CODE = 130  # what shells know an interrupted program by
_PATIENCE = 0.4  # seconds for putting things in order
_watching, _heard = threading.Event(), threading.Event()


def end_at_once() -> None:
    """Let an interrupt end the process, unless whoever started it had interrupts ignored.

    Python acts on signals in the main thread, between two of its instructions, which may be seconds apart. The system
    tells another thread at once, through a socket.
    """
    if signal.getsignal(signal.SIGINT) != signal.default_int_handler:
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    threading.Thread(target=_watch, args=(ours,), name="interrupts", daemon=True).start()
    _watching.set()
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, lambda *_: None)


def leave_the_end_to_the_interrupt() -> None:
    """Where an interrupt was heard, wait for the thread that heard it to end the process.

    For the main thread, before it ends by an error that the interrupt caused: nothing is written any more, say, or
    polars, which puts a handler of its own before ours, has raised KeyboardInterrupt.
    """
    if isinstance(sys.exc_info()[1], KeyboardInterrupt) and _watching.is_set():
        _heard.wait(_PATIENCE)
    if _heard.is_set():
        time.sleep(2 * _PATIENCE)


def _watch(ours: socket.socket) -> None:
    while signal.SIGINT not in ours.recv(1):
        pass
    _heard.set()
    in_order = threading.Thread(target=_put_in_order, daemon=True)  # may wait for a lock, or for a reader of a pipe
    in_order.start()
    in_order.join(_PATIENCE)
    os._exit(_CODE)


def _put_in_order() -> None:
    if "fastfair._lib.whole_files" in sys.modules:
        sys.modules["fastfair._lib.whole_files"].abandon()
    if "fastfair.kernels._aside" in sys.modules:
        sys.modules["fastfair.kernels._aside"].WRITING.acquire()
    shown_again = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # the cursor, which a bar hides
    os.write(2, f"{shown_again}Interrupted\n".encode())
