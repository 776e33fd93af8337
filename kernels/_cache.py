"""Cache files of machine code, one for each kernel and types of arguments, which are checked before
they are used.

numba's own cache runs whatever it reads: a damaged file raises some exception or crashes, and a
full disk ends the program. Here each file begins with a digest of its content and purpose. If the
digest differs, or a file cannot be read or written, there is a warning and the kernel is compiled.
"""

from __future__ import annotations

import hashlib
import pickle
import secrets
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from ._aside import WRITING
from ._sources import digest_of

_VERSIONS = (numba.__version__, sys.implementation.cache_tag)
_SIZE = hashlib.sha256().digest_size
_warned = False
on_compiling: Callable[[], None] | None = (
    None  # called when a kernel that has no file is about to be compiled
)


def _prefix(function: Callable[..., Any]) -> str:
    """Return how the names of a kernel's files begin, for this version of its source."""
    return f"{function.__name__}-{digest_of(Path(function.__code__.co_filename))}"


def files_of(function: Callable[..., Any], folder: Path) -> Iterator[Path]:
    """Return the files of a kernel, one for each of the types that it was compiled for."""
    return folder.glob(f"{_prefix(function)}-*.nbc")


class KernelCache(_Cache):
    """The cache files of one kernel. `function`: the Python function; `folder`: of all kernels."""

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        self._folder = Path(folder)
        self._kernel = function
        self._name = _prefix(function)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        # Machine code finds its module by name, and a file may define several functions of one
        # name.
        self._function = (
            function.__module__,
            self._name,
            function.__code__.co_firstlineno,
            dumps(cells),
        )
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def enable(self) -> None:
        """Read and write files again, after `disable`."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write files."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the files of the kernel."""
        for path in files_of(self._kernel, self._folder):
            path.unlink(missing_ok=True)

    def has_file(self, sig: Any, target_context: Any) -> bool:
        """Return whether the kernel was compiled for types of arguments before."""
        return self._enabled and self._place(sig, target_context.codegen())[1].exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for types of arguments, or None if it has no undamaged
        file.
        """
        if not self._enabled:
            return None
        # Machine code needs numba's memory manager alone, not all that can be compiled: that takes
        # half a second.
        rtsys.initialize(target_context)
        key, path = self._place(sig, target_context.codegen())
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            if on_compiling is not None:
                on_compiling()
            return None
        except OSError as error:
            _warn(f"{path} cannot be read ({error.strerror})")
            return None
        digest, data = content[:_SIZE], content[_SIZE:]
        if digest != _digest(key, data):
            _warn(f"{path} is damaged")
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel to its file, whole or not at all."""
        if not self._enabled or data.lifted or data.library.has_dynamic_globals:
            return
        key, path = self._place(sig, data.codegen)
        content = dumps(data._reduce())
        temporary = path.with_name(f"{path.name}.tmp.{secrets.token_hex(8)}")
        try:
            with WRITING:
                try:
                    temporary.write_bytes(_digest(key, content) + content)
                    temporary.replace(path)
                finally:
                    temporary.unlink(missing_ok=True)
        except OSError as error:
            _warn(f"{path} cannot be written ({error.strerror})")

    def _place(self, sig: Any, codegen: Any) -> tuple[bytes, Path]:
        key = repr((*self._function, str(sig), codegen.magic_tuple(), _VERSIONS)).encode()
        return key, self._folder / f"{self._name}-{hashlib.sha256(key).hexdigest()[:16]}.nbc"


def _digest(key: bytes, data: bytes) -> bytes:
    return hashlib.sha256(key + data).digest()


def _warn(what: str) -> None:
    """Warn once, as a folder with one damaged file often has many."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"{what}: kernels are compiled instead, which takes some seconds; if this warning comes"
            " again, remove the folder, make room on its disk, or set NUMBA_CACHE_DIR to another"
            " folder",
            RuntimeWarning,
            stacklevel=2,
        )
