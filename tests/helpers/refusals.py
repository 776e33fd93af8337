"""Calls that must be refused."""

from __future__ import annotations

import re
from collections.abc import Callable

from fastfair.errors import InputError


def refused(
    says: str, call: Callable[..., object], /, *arguments: object, **options: object
) -> InputError:
    """Make a call that must be refused for what it is given, with an error that says this, and
    return the error."""
    try:
        call(*arguments, **options)
    except InputError as error:
        found = error
    else:
        raise AssertionError(f"not refused with {says!r}: {arguments!r:.200} {options!r:.200}")
    assert re.search(says, str(found)), f"refused, but not with {says!r}: {found}"
    return found
