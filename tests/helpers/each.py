"""Cases of a test in a loop: an item for each case would take longer to collect than to run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(
    names: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with each of some values, as `pytest.mark.parametrize` but in one item; an error
    names its case."""
    several = not isinstance(names, str)
    values = list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            for value in values:
                case = dict(zip(names, value, strict=True)) if several else {names: value}
                try:
                    test(**case, **fixtures)
                except BaseException as error:
                    error.add_note(
                        "case: "
                        + ", ".join(f"{name} = {given!r:.200}" for name, given in case.items())
                    )
                    raise

        others = [
            one
            for name, one in signature.parameters.items()
            if name not in (names if several else (names,))
        ]
        run_all.__signature__ = signature.replace(parameters=others)
        del run_all.__wrapped__
        return run_all

    return decorate
