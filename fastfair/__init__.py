"""Error rates and fairness of biometric verification systems, with confidence intervals and tests.

Public names stand in `__init__.pyi` and are imported when first used, so that `import fastfair` costs next to nothing.
Classes of results and their rows stand in the folders whose functions return them.
"""

from __future__ import annotations

import importlib
from typing import Any

with open(f"{__file__}i", encoding="utf-8") as _stub:  # noqa: PTH123 - importing pathlib takes longer than all this
    _IMPORTS = [line.split() for line in _stub]
_HOMES = {words[3]: words[1] for words in _IMPORTS if words[:1] == ["from"]}  # ".data.comparisons" of Comparisons

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    value = importlib.import_module(f".{name}" if home == "." else home, __name__)
    if home != ".":
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__.copy()
