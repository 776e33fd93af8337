"""What the machine code of a kernel depends on: the file that defines it, and those of the kernels that this calls.

numba takes machine code for current if the file that defines the function is unchanged, even if a helper in another
file has changed. So names of files of machine code contain a digest of all these files, and an upgrade that leaves them
as they are finds its kernels compiled.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
_NO_CODE = frozenset({"_jit"})  # the decorator, whose options are part of the digest by themselves
OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@cache
def digest_of(path: Path) -> str:
    """Return the digest of a file of kernels and of those beside it that it imports, and that these import."""
    digest = hashlib.sha256(repr(OPTIONS).encode())
    for file in sorted(_with_imported(path)):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _with_imported(path: Path) -> set[Path]:
    """Return a file and the files beside it that it imports, directly or not."""
    files, waiting = set[Path](), [path]
    while waiting:
        file = waiting.pop()
        if file in files or not file.exists():
            continue
        files.add(file)
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = [node.module] if node.module else [alias.name for alias in node.names]
                waiting += [file.with_name(f"{name}.py") for name in names if name not in _NO_CODE]
    return files
