"""Helpers of kernels are linked into the kernels that call them, and optimised there alone.

numba optimises each helper by itself and makes machine code of it, which nobody runs, and does so again in every
kernel that the helper is linked into. Here the code of a helper waits; it becomes machine code only if Python calls
it. Kernels are the same to the last bit. This depends on how numba is made inside, so with versions that were not
tried all is left to numba.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numba
from numba.core import dispatcher, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock

IS_TRIED = numba.version_info.short == (0, 68)
_compiler: Any = dispatcher  # type checkers cannot see what is private
_state = threading.local()
_NUMBERS = types.Number, types.Boolean
_signatures = dict[Any, Any]()  # of operators of numbers


class Helper:
    """Stands for the compiled function of a helper that has no machine code."""


class _WaitingCode(JITCodeLibrary):
    """Code that is linked into what calls it, and optimised and made executable when its address is asked for."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimise what the module defines; numba takes as long for each function that it only declares."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized, self._waits = True, True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if getattr(self, "_waits", False):
            self._waits = False
            self._shared_module = None
            self._optimize_final_module()
            self._final_module.verify()
            self._finalize_final_module()
        return int(super().get_pointer_to_function(name))


class KernelCompiler(_compiler._FunctionCompiler):  # type: ignore[misc]
    """Compiles a kernel, or a helper while a kernel that calls it is being compiled."""

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_compile = flags.no_cpython_wrapper = depth() > 1
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        result = super()._compile_core(args, return_type)
        if result.entry_point is None:
            result = result._replace(entry_point=Helper())
            target = self.targetdescr.target_context
            target.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


def depth() -> int:
    """Return how many kernels are being compiled in this thread, each for the one before."""
    return getattr(_state, "depth", 0)


@contextmanager
def compiling(typing: Any, target: Any) -> Iterator[None]:
    """Compile a kernel, with its helpers as waiting code."""
    codegen = target.codegen()
    with global_compiler_lock:
        usual = codegen._library_class
        codegen._library_class, _state.depth = _WaitingCode, depth() + 1
        try:
            with nullcontext() if depth() > 1 else _keeping_answers(typing, target):
                yield
        finally:
            codegen._library_class, _state.depth = usual, depth() - 1


@contextmanager
def _keeping_answers(typing: Any, target: Any) -> Iterator[None]:
    """Keep what numba would find out anew for each variable and operator of a kernel and its helpers."""
    resolve = typing.resolve_function_type

    def resolve_function_type(function: Any, arguments: Any, keywords: Any) -> Any:
        is_known = getattr(function, "__module__", "") == "_operator" and not keywords
        if not is_known or not all(isinstance(one, _NUMBERS) for one in arguments):
            return resolve(function, arguments, keywords)
        if (function, arguments) not in _signatures:
            _signatures[function, arguments] = resolve(function, arguments, keywords)
        return _signatures[function, arguments]

    target.get_abi_sizeof = cache(target.get_abi_sizeof)
    typing.resolve_function_type = resolve_function_type
    try:
        yield
    finally:
        del target.get_abi_sizeof, typing.resolve_function_type


def place_environments(result: Any) -> None:
    """Give machine code the objects that its helpers refer to, which numba does for code read from a file only."""
    for environment in result._find_referenced_environments():
        result.codegen.set_env(environment.env_name, environment)
