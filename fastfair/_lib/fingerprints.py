"""A number for data and settings: the same for equal values, in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def fingerprint(value: Any) -> str:
    """Return 32 characters that differ where anything in a value does.

    Parameters
    ----------
    value : object
        Made of what can be pickled. Values that are computed from others when they are first needed do not count.

    Returns
    -------
    str
    """
    digest = hashlib.blake2b(digest_size=16)
    _add(digest.update, value)
    return digest.hexdigest()


def _add(update: Callable[[Any], None], value: Any) -> None:
    if type(value) in _PLAIN:
        text = repr(value).encode("utf-8", "surrogatepass")
        update(f"{type(value).__name__} {len(text)} ".encode())
        update(text)
    elif isinstance(value, np.ndarray):
        update(f"array {value.dtype.str} {value.shape} ".encode())
        if value.dtype.hasobject:
            _add(update, value.tolist())
        else:
            update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    elif type(value) in (list, tuple):
        update(f"{type(value).__name__} {len(value)} ".encode())
        for one in value:
            _add(update, one)
    elif type(value) is dict:
        update(f"dict {len(value)} ".encode())
        for key in sorted(value, key=repr):
            _add(update, key)
            _add(update, value[key])
    elif isinstance(value, type | FunctionType | BuiltinFunctionType):
        update(f"name {value.__module__}.{value.__qualname__} ".encode())
    else:
        # What pickle would keep of it, in an order that is always the same.
        parts = list(value.__reduce_ex__(4))
        if len(parts) > 2 and type(parts[2]) is dict:
            kind = type(value)
            parts[2] = {k: v for k, v in parts[2].items() if not isinstance(getattr(kind, k, None), cached_property)}
        _add(update, [list(part) if hasattr(part, "__next__") else part for part in parts])
