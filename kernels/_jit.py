"""The decorator of all kernels."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numba
from numba.core import event, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from . import _ahead, _linking
from ._aside import aside, end_if_the_process_does, free_in_forks
from ._cache import KernelCache, files_of
from ._sources import OPTIONS, cache_folder

config: Any = numba.config  # its settings are made at run time, which type checkers cannot see


CACHE_FOLDER = cache_folder()
free_in_forks(global_compiler_lock)  # while it is held, files are written


class _BetweenPasses(event.Listener):
    """Stops compiling between two passes when the process ends, as a kernel can take five seconds to compile."""

    def on_start(self, event: Any) -> None:
        end_if_the_process_does()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:run_pass", _BetweenPasses())


def _is_an_interrupt(error: BaseException | None) -> bool:
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_an_interrupt(error.__cause__))


_call: Any = CPUDispatcher.__call__


class _WithoutCollections:
    """Keeps the garbage collector from looking, again and again, at all that is made while kernels are compiled."""

    def __init__(self) -> None:
        self._lock, self._inside, self._was_enabled = threading.Lock(), 0, False

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._was_enabled = gc.isenabled()
                gc.disable()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._was_enabled:
                gc.enable()


_without_collections = _WithoutCollections()


class _Kernel(CPUDispatcher):
    """A kernel that is compiled, or loaded, in another thread; an interrupted call raises KeyboardInterrupt."""

    _kept: bool | None = None
    _has_machine_code = False  # but perhaps code that other kernels were linked with
    _seconds = 0.0  # that it ran as plain Python

    def __call__(self, *args: Any, **kws: Any) -> Any:
        function = self.py_func
        name = function.__module__.rpartition(".")[2], function.__name__
        if not self._has_machine_code and _ahead.runs_as_python(*name, args, self._seconds) and not self._is_kept():
            before = time.thread_time()
            try:
                return function(*args, **kws)
            finally:
                self._seconds += time.thread_time() - before
        try:
            return _call(self, *args, **kws)
        except SystemError as error:
            # Python code makes the arrays that a kernel returns; if it is interrupted, numba raises SystemError.
            if _is_an_interrupt(error):
                raise KeyboardInterrupt from None
            raise

    @property
    def _results(self) -> dict[Any, Any]:
        """What was compiled, by the types of the arguments."""
        return cast("dict[Any, Any]", self.overloads)

    def _is_kept(self) -> bool:
        """Tell whether the kernel was compiled before; looked for once."""
        if self._kept is None:
            self._kept = any(files_of(self.py_func, Path(CACHE_FOLDER))) if CACHE_FOLDER else False
        return self._kept

    def enable_caching(self) -> None:
        self._cache = KernelCache(self.py_func, CACHE_FOLDER)

    def compile(self, sig: Any) -> Any:
        kernel: Any = super()
        if not _linking.IS_TRIED:
            return kernel.compile(sig)
        with _linking.compiling(self.typingctx, self.targetctx):
            types = tuple(sig)
            if _linking.depth() > 1:
                return kernel.compile(sig)
            if types in self._results and isinstance(self._results[types].entry_point, _linking.Helper):
                del self._results[types]  # it was compiled as a helper, and is now called from Python
            found = kernel.compile(sig)
            _linking.place_environments(self._results[types])
            return found

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Let callers that write a number share what is compiled for any number."""
        kernel: Any = super()
        return kernel.get_call_template(tuple(map(types.unliteral, args)), kws)

    def add_overload(self, result: Any) -> None:
        if isinstance(result.entry_point, _linking.Helper):
            self._results[tuple(result.signature.args)] = result
        else:
            super().add_overload(result)
            self._has_machine_code = True

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        kernel: Any = super()  # type checkers cannot see its methods
        # Imports extensions of numba; in the other thread this could wait for an import in this one.
        kernel._compilation_chain_init_hook()

        def compile_for_args() -> Any:
            with _without_collections:
                return kernel._compile_for_args(*args, **kws)

        return aside(compile_for_args)


_MADE_OF = ("py_func", "targetdescr", "targetoptions", "locals", "pipeline_class")


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel: cached, without the interpreter's lock, and dividing by zero as NumPy does."""
    if config.DISABLE_JIT:
        return function
    kernel: Any = _Kernel(function, targetoptions=dict(OPTIONS))
    kernel._compiler = _linking.KernelCompiler(*(getattr(kernel._compiler, name) for name in _MADE_OF))
    if CACHE_FOLDER:
        kernel.enable_caching()
    return kernel
