"""What a caller gave, written for a message."""

from __future__ import annotations

import reprlib

import numpy as np

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


def shown(value: object) -> str:
    """Write what was found for a message: short, and whatever its own methods do."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape} and type {value.dtype}"
    library = type(value).__module__.partition(".")[0]
    if library in ("fastfair", "pandas", "polars", "pyarrow"):
        return f"{kind}" if library == "fastfair" else f"a {library} {kind}"
    try:
        return _short.repr(value)
    except Exception:  # a value's own, or of a number of too many digits
        return f"a value of type {kind}"
