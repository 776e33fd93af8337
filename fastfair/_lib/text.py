"""What callers and files gave, as messages and plots show it."""

from __future__ import annotations

import reprlib

import numpy as np

from fastfair.errors import visible

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


def per_cent(rate: float, digits: int = 3) -> str:
    """Write a rate for people."""
    return f"{100 * rate:.{digits}g} %"


def drawn(label: str) -> str:
    """Write a label for matplotlib, which would take dollars for formulas and hide what begins with an underscore."""
    text = visible(label).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
