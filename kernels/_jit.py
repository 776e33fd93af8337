"""The one decorator of every kernel, and the folder that keeps its machine code.

numba decides whether cached machine code is stale by the file that defines a function, so a changed helper in
another file would leave old results behind. The folder's name therefore carries a fingerprint of all kernel files.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.registry import CPUDispatcher

from ._aside import aside, end_if_the_process_does
from ._cache import KernelCache

_HERE = Path(__file__).resolve().parent
config: Any = numba.config  # its settings are made at run time, which type checkers cannot see


def _fingerprint() -> str:
    digest = hashlib.sha256(__name__.encode())  # cached code finds its module again by name
    for path in sorted(_HERE.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    # numba's own key leaves the bounds check out, and code without it must not stand in for code with it.
    digest.update(repr(config.BOUNDSCHECK).encode())
    return digest.hexdigest()[:16]


def _candidates() -> list[Path]:
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR)]
    folders = [_HERE / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # a user without a home
        folders.append(Path.home() / ".cache" / "fastfair")
    return folders


def _writable_folder() -> str:
    """Return the first folder that takes files, or "" with a warning where there is none."""
    name = f"kernels-{_fingerprint()}"
    for root in _candidates():
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return str(folder)
    warnings.warn(
        f"no folder to keep compiled kernels in is writable (tried {', '.join(map(str, _candidates()))}): they are "
        "compiled anew in every process, some seconds each time; set NUMBA_CACHE_DIR to a writable folder",
        RuntimeWarning,
        stacklevel=2,
    )
    return ""


CACHE_FOLDER = _writable_folder()


class _BetweenPasses(event.Listener):
    """Ends compiling, of which a kernel takes up to five seconds, after half a second or so where the process ends."""

    def on_start(self, event: Any) -> None:
        end_if_the_process_does()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:run_pass", _BetweenPasses())


def _is_an_interrupt(error: BaseException | None) -> bool:
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_an_interrupt(error.__cause__))


_call: Any = CPUDispatcher.__call__


class _Kernel(CPUDispatcher):
    """A kernel that is compiled, or loaded, aside, and whose calls end as interrupted where they are."""

    def __call__(self, *args: Any, **kws: Any) -> Any:
        try:
            return _call(self, *args, **kws)
        except SystemError as error:
            # Python code makes the arrays that a kernel returns: interrupted there, machine code goes on with an error.
            if _is_an_interrupt(error):
                raise KeyboardInterrupt from None
            raise

    def enable_caching(self) -> None:
        self._cache = KernelCache(self.py_func, CACHE_FOLDER)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        kernel: Any = super()  # its methods are hidden from type checkers
        kernel._compilation_chain_init_hook()  # imports what extends numba, which may be just what this thread imports
        return aside(partial(kernel._compile_for_args, *args, **kws))


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel: cached, without the GIL, with NumPy's division."""
    if config.DISABLE_JIT:
        return function
    kernel = _Kernel(function, targetoptions={"nopython": True, "nogil": True, "error_model": "numpy"})
    if CACHE_FOLDER:
        kernel.enable_caching()
    return kernel
