"""Calls that must be refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fastfair.errors import InputError


def refused(says: str, call: Callable[..., object], /, *arguments: object, **options: object) -> InputError:
    """Make a call that must be refused for what it is given, with an error that says this, and return the error."""
    with pytest.raises(InputError, match=says) as told:
        call(*arguments, **options)
    return told.value
