"""Error rates and fairness of biometric verification systems, with confidence intervals and tests.

Public names stand in `__init__.pyi` and are imported when first used, so that `import fastfair`
costs next to nothing. Simulators, curves of log-likelihood ratios and thresholds from elsewhere
stand in `synthesis`, `calibration` and `thresholds`; classes of results and their rows in the
folders whose functions return them.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any


def _lazily(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose public names stand in the
    stub of its file.
    """
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123 - importing pathlib takes longer than all this
        imports = [line.split() for line in stub]
    homes = {
        words[3]: words[1] for words in imports if words[:1] == ["from"]
    }  # ".data.comparisons" of Comparisons
    listed = sorted(homes)

    def import_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = importlib.import_module(f".{name}" if home == "." else home, package)
        if home != ".":
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    return import_name, listed.copy, listed


__getattr__, __dir__, __all__ = _lazily(__name__, __file__)

if not os.path.isdir(os.path.join(__path__[0], "kernels")):  # noqa: PTH112, PTH118 - as above
    # In a clone, kernels/ stands beside this folder, which hides an installed fastfair from Python
    # started there. Only kernels are looked for beside it: tests/ and docs/ are no parts of
    # fastfair.
    __path__.append(os.path.dirname(__path__[0]))  # noqa: PTH120
    importlib.import_module("fastfair.kernels")
    __path__.pop()
