"""End the command line at once when it is interrupted, whatever it is doing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time

_CODE = 130  # exit status by which shells recognise an interrupted program
_PATIENCE = 0.4  # seconds for cleaning up
_watching, _heard = threading.Event(), threading.Event()


def end_at_once() -> None:
    """Let an interrupt end the process at once, unless the parent process made it ignore interrupts.

    Python handles signals in the main thread, between two of its instructions, and these may be seconds apart. So
    another thread waits at a socket, to which the system writes each signal at once.
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
    """After an interrupt, wait for the thread that noticed it to end the process.

    The main thread calls this before it reports an error, as the interrupt may have caused it: files are no longer
    written, and polars, which handles signals before we do, raises KeyboardInterrupt.
    """
    if isinstance(sys.exc_info()[1], KeyboardInterrupt) and _watching.is_set():
        _heard.wait(_PATIENCE)
    if _heard.is_set():
        time.sleep(2 * _PATIENCE)


def _watch(ours: socket.socket) -> None:
    while signal.SIGINT not in ours.recv(1):
        pass
    _heard.set()
    cleaning = threading.Thread(target=_clean_up, daemon=True)  # may wait for a lock, or for a reader of a pipe
    cleaning.start()
    cleaning.join(_PATIENCE)
    os._exit(_CODE)


def _clean_up() -> None:
    """Remove unfinished files, wait for a file that is being written, and print that the run was interrupted."""
    if "fastfair._lib.whole_files" in sys.modules:
        sys.modules["fastfair._lib.whole_files"].abandon()
    if "fastfair.kernels._aside" in sys.modules:
        sys.modules["fastfair.kernels._aside"].WRITING.acquire()
    cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # shown again, as a progress bar hides it
    os.write(2, f"{cursor}Interrupted\n".encode())
