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
from pathlib import Path
from typing import Any

import numba

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


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel: cached, without the GIL, with NumPy's division."""
    before = config.CACHE_DIR
    config.CACHE_DIR = CACHE_FOLDER
    try:
        return numba.njit(cache=bool(CACHE_FOLDER), nogil=True, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
