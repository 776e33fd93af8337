"""End the command line at once when it is interrupted or terminated, whatever it is doing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time

_SIGNALS = {
    getattr(signal, name): said
    for name, said in (("SIGINT", "Interrupted"), ("SIGTERM", "Terminated"), ("SIGHUP", "Hung up"))
    if hasattr(signal, name)
}
# and the number of the signal: the exit status by which shells recognise what ended a program
_CODE = 128
_PATIENCE = 0.4  # seconds for cleaning up
_watching, _heard = threading.Event(), threading.Event()


def end_at_once() -> None:
    """Let signals end the process at once: those of Ctrl-C, of batch systems, and of a terminal
    that is closed.

    One that the parent process made it ignore is ignored.

    Python handles signals in the main thread, between two of its instructions, and these may be
    seconds apart. So another thread waits at a socket, to which the system writes each signal at
    once.
    """
    by_default = [
        n for n in _SIGNALS if signal.getsignal(n) in (signal.SIG_DFL, signal.default_int_handler)
    ]
    if not by_default:
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    threading.Thread(target=_watch, args=(ours,), name="interrupts", daemon=True).start()
    _watching.set()
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    for number in by_default:
        signal.signal(number, lambda *_: None)


def leave_the_end_to_the_interrupt() -> None:
    """After an interrupt, wait for the thread that noticed it to end the process.

    The main thread calls this before it reports an error, as the interrupt may have caused it:
    files are no longer written, and polars, which handles signals before we do, raises
    KeyboardInterrupt.
    """
    if isinstance(sys.exc_info()[1], KeyboardInterrupt) and _watching.is_set():
        _heard.wait(_PATIENCE)
    if _heard.is_set():
        time.sleep(2 * _PATIENCE)


def _watch(ours: socket.socket) -> None:
    while (number := ours.recv(1)[0]) not in _SIGNALS:
        pass
    _heard.set()
    # It may wait for a lock, or for a reader of a pipe.
    cleaning = threading.Thread(
        target=_clean_up, args=(_SIGNALS[signal.Signals(number)],), daemon=True
    )
    cleaning.start()
    cleaning.join(_PATIENCE)
    if "fastfair._lib.whole_files" in sys.modules:
        sys.modules["fastfair._lib.whole_files"].abandon_folders()
    os._exit(_CODE + number)


def _clean_up(said: str) -> None:
    """Remove unfinished files, wait for a file that is being written, and print that the run was
    interrupted.
    """
    if "fastfair._lib.whole_files" in sys.modules:
        sys.modules["fastfair._lib.whole_files"].abandon()
    if "fastfair.kernels._aside" in sys.modules:
        sys.modules["fastfair.kernels._aside"].WRITING.acquire()
    cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # shown again, as a progress bar hides it
    os.write(2, f"{cursor}{said}\n".encode())
