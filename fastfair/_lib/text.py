"""Format values and labels for messages and plots."""

from __future__ import annotations

import math
import reprlib

import numpy as np

from fastfair.errors import visible

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


def shown(value: object) -> str:
    """Format any value for a message: short, and even if its own methods raise."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape} and type {value.dtype}"
    library = type(value).__module__.partition(".")[0]
    if library in ("fastfair", "pandas", "polars", "pyarrow"):
        return f"{kind}" if library == "fastfair" else f"a {library} {kind}"
    try:
        return _short.repr(value)
    except Exception:  # raised by the value, or by a number with too many digits
        return f"a value of type {kind}"


def typed(threshold: float) -> str:
    """Format a threshold with all its digits, as it is typed."""
    return repr(float(threshold)).removesuffix(".0")


def per_cent(rate: float, digits: int = 3) -> str:
    """Format a rate in per cent."""
    return f"{100 * rate:.{digits}g} %"


def rate_with_interval(value: float, low: float | None = None, high: float | None = None) -> str:
    """Format a rate in per cent, with its interval where there is one."""
    if math.isnan(value):
        return "–"
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return per_cent(value)
    return f"{per_cent(value)} [{100 * low:.3g}, {100 * high:.3g}]"


def interval_of_rate(low: float | None, high: float | None) -> str:
    """Format the interval of a rate in per cent, or say that there is none."""
    return "–" if low is None or high is None or math.isnan(low) else f"[{100 * low:.3g}, {100 * high:.3g}] %"


def shortened(label: str, most: int) -> str:
    """Cut the middle out of a label that is longer than `most` characters: labels often share their beginnings."""
    kept = (most - 1) // 2
    return label if len(label) <= most else f"{label[:kept].rstrip()}…{label[-kept:].lstrip()}"


def drawn(label: str) -> str:
    """Format a label for matplotlib, which would read $ as a formula and hide labels that begin with "_"."""
    text = visible(label).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
