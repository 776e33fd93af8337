"""The decorators of kernels, which Python calls, and of helpers, which kernels call."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import register_jitable

from ._aside import free_in_forks, run_aside
from ._cache import KernelCache
from ._sources import OPTIONS, cache_folder

config: Any = numba.config  # its settings are made at run time, which type checkers cannot see

CACHE_FOLDER = cache_folder()
# entries of the largest array up to which running plain Python is quicker than compiling
SMALL = 40_000
# entries of the arguments of all calls, from which on a kernel is compiled: plain Python takes about
# a microsecond for each, and compiling some tenths of a second
_PATIENCE = 1_000_000
_compiles_all = False
_compiling = threading.Lock()  # held by the thread that compiles a kernel
free_in_forks(global_compiler_lock)  # while it is held, files are written
free_in_forks(_compiling)

# A helper is linked into the kernels that call it; called from Python, it runs as plain Python.
helper: Any = register_jitable(**OPTIONS)
# A part of a kernel, called at one place of it: it is compiled as if it stood there, which takes less
# time.
part: Any = numba.njit(**OPTIONS, inline="always")


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel: cached, without the interpreter's lock, and dividing by zero as NumPy does.

    An interrupt while a kernel is compiled, or while Python makes the arrays that it returns, is a
    KeyboardInterrupt.
    """
    return _jit(function)


def jit_in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that makes no arrays, but writes to those that it is given.

    It needs no memory manager, so that it is sooner compiled, and quicker; numba refuses to compile
    one that makes an array.
    """
    return _jit(function, _nrt=False)


def _jit(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if config.DISABLE_JIT:
        return function
    kernel: Any = numba.njit(**OPTIONS, **options)(function)
    if CACHE_FOLDER:
        kernel._cache = KernelCache(function, CACHE_FOLDER)
    compiled = set[tuple[Any, ...]]()

    @functools.wraps(kernel, updated=())
    def call(*arguments: Any) -> Any:
        kinds = _kinds(arguments)
        if kinds not in compiled:
            types = tuple(map(numba.typeof, arguments))
            if threading.current_thread() is threading.main_thread():
                run_aside(lambda: _compile(kernel, types))
            else:
                _compile(kernel, types)
            compiled.add(kinds)
        try:
            return kernel(*arguments)
        except SystemError as error:
            if _is_an_interrupt(error):
                raise KeyboardInterrupt from None
            raise

    return call


def _kinds(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what stands for numba's types, which take longer to make.

    Arguments that differ only in dimensions, or inside tuples, are the same here: numba then
    compiles in the calling thread.
    """
    return tuple([getattr(argument, "dtype", None) or type(argument) for argument in arguments])


def _compile(kernel: Any, types: tuple[Any, ...]) -> None:
    """Compile or load a kernel; meanwhile the garbage collector would look at all that compiling
    makes.
    """
    with _compiling:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            kernel.compile(types)
        finally:
            if was_enabled:
                gc.enable()


def jit_if_large(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel as `jit` does when data are large, or were so in all its calls together:
    until then plain Python is quicker than compiling it for these types of arguments.
    """
    kernel: Any = jit(function)
    entries = 0
    cached = dict[tuple[Any, ...], bool]()

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        nonlocal entries
        compiles = entries > _PATIENCE or _compiles_all or is_cached(arguments)
        if not compiles:
            size = _size(arguments)
            entries += size
            compiles = size > SMALL or entries > _PATIENCE
        return kernel(*arguments) if compiles else function(*arguments)

    def is_cached(arguments: tuple[Any, ...]) -> bool:
        if not CACHE_FOLDER or config.DISABLE_JIT:
            return False
        kinds = _kinds(arguments)
        if kinds not in cached:
            compiled = kernel.__wrapped__
            types = tuple(map(numba.typeof, arguments))
            cached[kinds] = compiled._cache.has_file(types, compiled.targetctx)
        return cached[kinds]

    return call


def _size(argument: Any) -> int:
    return (
        max(map(_size, argument), default=0)
        if isinstance(argument, tuple)
        else getattr(argument, "size", 0)
    )


def compile_all() -> None:
    """From now on compile each kernel at its first call, also where data are small."""
    global _compiles_all
    _compiles_all = True


def _is_an_interrupt(error: BaseException | None) -> bool:
    return error is not None and (
        isinstance(error, KeyboardInterrupt) or _is_an_interrupt(error.__cause__)
    )
