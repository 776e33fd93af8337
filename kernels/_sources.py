"""What the machine code of a kernel depends on: the file that defines it, and those of the kernels
that this calls.

And the folder that keeps machine code. Both are asked for before numba is imported, which takes a
third of a second.

numba takes machine code for current if the file that defines the function is unchanged, even if a
helper in another file has changed. So names of files of machine code contain a digest of all these
files, and an upgrade that leaves them as they are finds its kernels compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_IMPORT = re.compile(r"^from \.(\w*) import (\([^)]*\)|.*)", re.M)
_DECORATORS = "_jit"  # the file whose options make other code, and whose imports make none
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@cache
def digest_of(path: Path) -> str:
    """Return the digest of a file of kernels and of those beside it that it imports, and that these
    import.
    """
    digest = hashlib.sha256(repr(OPTIONS).encode())
    sources, waiting = dict[Path, bytes](), [path]
    while waiting:
        file = waiting.pop()
        if file not in sources and file.exists():
            sources[file], imported = _source_of(file)
            waiting += imported
    for file, source in sorted(sources.items()):
        digest.update(file.name.encode())
        digest.update(source)
    return digest.hexdigest()[:12]


@cache
def _source_of(path: Path) -> tuple[bytes, list[Path]]:
    """Return what a file holds, and the files beside it that it may import; parsing it would take
    10 milliseconds.
    """
    source = path.read_bytes()
    imports = [] if path.stem == _DECORATORS else _IMPORT.findall(source.decode())
    names = [
        name
        for module, listed in imports
        for name in ([module] if module else re.findall(r"\w+", listed))
    ]
    return source, [path.with_name(f"{name}.py") for name in names]


def is_set(name: str) -> bool:
    """Tell whether an environment variable switches something on."""
    return os.environ.get(name, "").strip() not in ("", "0")


def _candidates() -> list[Path]:
    chosen = os.environ.get("FASTFAIR_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    folders = [HERE / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # the user has no home
        folders.append(
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fastfair"
        )
    return folders


@cache
def cache_folder() -> str:
    """Return the first writable folder for machine code, or "" with a warning if there is none."""
    import tempfile  # and much besides; a process needs it once, if at all

    # numba's own key lacks the bounds check; code without it must not be used for code with it.
    name = "kernels-with-bounds-check" if is_set("NUMBA_BOUNDSCHECK") else "kernels"
    for root in _candidates():
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return str(folder)
    warnings.warn(
        "no folder to keep compiled kernels in is writable (tried"
        f" {', '.join(map(str, _candidates()))}): they are compiled anew in every process, some"
        " seconds each time; set FASTFAIR_CACHE_DIR to a writable folder",
        RuntimeWarning,
        stacklevel=2,
    )
    return ""
