"""An interrupt of the command line ends it at once, whatever it is doing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time

_NAME = "interrupts"
_CODE = 130  # what shells know an interrupted program by
_PATIENCE = 0.4  # seconds for putting things in order


def end_at_once() -> None:
    """Let an interrupt end the process, unless whoever started it had interrupts ignored.

    Python acts on signals in the main thread, between two of its instructions, which may be seconds apart. The system
    tells another thread at once, through a socket.
    """
    if signal.getsignal(signal.SIGINT) != signal.default_int_handler:
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    threading.Thread(target=_watch, args=(ours,), name=_NAME, daemon=True).start()
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, lambda *_: None)


def wait_for_the_end() -> None:
    """Leave it to that thread to end the process; return where it does not run.

    For KeyboardInterrupts that others raise nevertheless: polars does, and the main thread would be first to end.
    """
    if any(thread.name == _NAME for thread in threading.enumerate()):
        time.sleep(2 * _PATIENCE)


def _watch(ours: socket.socket) -> None:
    while signal.SIGINT not in ours.recv(1):
        pass
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
