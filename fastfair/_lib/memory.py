"""Find how much memory is free, and refuse work that needs more before it begins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from fastfair.errors import InputError

_LITTLE = 2**24  # bytes that are never checked: looking takes as long as a small call
_ADDRESSABLE = 2**47  # bytes that a process can address, if nothing else is known
_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_NO_LIMIT = 2**60  # control groups of version 1 say about 2**63 if there is no limit


def require(n_bytes: int, what: str, would_do: str) -> None:
    """Raise an error if work needs more memory than is free.

    Parameters
    ----------
    n_bytes : int
        Memory needed at the peak, a Python int of any size.
    what : str
        What needs it, in the plural, for the message.
    would_do : str
        What to do instead, for the message.

    Raises
    ------
    InputError
        Says how much memory is needed, how much is free, and what to do instead.
    """
    if n_bytes <= _LITTLE:
        return
    there = available()
    if n_bytes > there:
        raise InputError(
            f"{what} would take {_written(n_bytes)} of memory, and {_written(there)} are free:"
            f" {would_do}"
        )


def bytes_of(name: str, amount: object) -> int:
    """Read an amount of memory: a number of bytes, or text such as "4 GB" or "512 MiB".

    Parameters
    ----------
    name : str
        The argument, for messages.
    amount : int or str
        The amount.

    Returns
    -------
    int
    """
    if isinstance(amount, int) and not isinstance(amount, bool) and amount > 0:
        return amount
    match = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGTP]?)(i?)B?\s*", amount, re.I)
        if isinstance(amount, str)
        else None
    )
    if match is None:
        raise InputError(
            f'{name} must be a number of bytes, or text such as "4 GB" or "512 MiB", not {amount!r}'
        )
    number, prefix, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** " KMGTP".index(prefix.upper() or " "))


Amount = Annotated[int | str, bytes_of]


def available() -> int:
    """Return the bytes of memory that this process can still use.

    Returns
    -------
    int
        On Linux the memory that is free or can be freed without swapping, in the computer and
        within the limits of the process's control groups and resources (`ulimit -v`); elsewhere all
        memory of the computer, if it is known.
    """
    return max(0, min([_free_in_computer(), *_free_in_groups(), *_free_in_limits()]))


def _free_in_computer() -> int:
    available = _fields(_PROC / "meminfo").get("MemAvailable:")
    if available is not None:
        return available * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _ADDRESSABLE


def _free_in_groups() -> Iterator[int]:
    """Yield the memory left in each control group with a limit, of version 2 or 1."""
    for line in _text(_PROC / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root = _CGROUPS
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = _CGROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        inner = Path(path.lstrip("/"))
        for folder in (root / inner, *(root / outer for outer in inner.parents)):
            limit, used = _number(folder / names[0]), _number(folder / names[1])
            if limit is not None and used is not None and limit < _NO_LIMIT:
                # cached files can be freed
                yield limit - used + _fields(folder / "memory.stat").get(names[2], 0)


def _free_in_limits() -> Iterator[int]:
    """Yield what the limits of resources leave of address space, and of data."""
    try:
        import resource

    except ImportError:  # on Windows
        return
    used = [
        int(pages) * resource.getpagesize() for pages in _text(_PROC / "self" / "statm").split()
    ]
    if not used:
        return
    for limit, column in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            yield most - used[column]


def _text(path: Path) -> str:
    """Return what a file holds, "" if there is no such file."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    """Return the number that a file holds, or None if there is no such file or number."""
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _fields(path: Path) -> dict[str, int]:
    """Return the numbers of a file by name, from lines with a name and a number."""
    pairs = (line.split()[:2] for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _written(n_bytes: int) -> str:
    return f"{min(n_bytes, 2**60) / 2**30:,.4g} GiB"
