"""What the machine code of a kernel depends on: the file that defines it, and those of the kernels that this calls.

numba takes machine code for current if the file that defines the function is unchanged, even if a helper in another
file has changed. So names of files of machine code contain a digest of all these files, and an upgrade that leaves them
as they are finds its kernels compiled.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
_IMPORT = re.compile(r"^from \.(\w*) import (\([^)]*\)|.*)", re.M)
_NO_CODE = frozenset({"_jit"})  # the decorator, whose options are part of the digest by themselves
OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@cache
def digest_of(path: Path) -> str:
    """Return the digest of a file of kernels and of those beside it that it imports, and that these import."""
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
    """Return what a file holds, and the files beside it that it may import; parsing it would take 10 milliseconds."""
    source = path.read_bytes()
    imports = _IMPORT.findall(source.decode())
    names = [name for module, listed in imports for name in ([module] if module else re.findall(r"\w+", listed))]
    return source, [path.with_name(f"{name}.py") for name in names if name not in _NO_CODE]
