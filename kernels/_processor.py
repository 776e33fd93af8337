"""What the processor can do, as far as the compiler may use it: code with other instructions ends
the process.
"""

from __future__ import annotations

import platform
from typing import Any

import numba
from numba.core.codegen import get_host_cpu_features

config: Any = numba.config  # its settings are made at run time, which type checkers cannot see


def features() -> frozenset[str]:
    """Return LLVM's names of what code is compiled for: of this processor, or what numba's settings
    say.
    """
    # They are part of the name of a file of machine code, see `_cache`.
    said = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return frozenset(feature[1:] for feature in said.split(",") if feature.startswith("+"))


def is_x86() -> bool:
    """Tell whether it is one of Intel's or AMD's, with 64 bits."""
    return platform.machine().lower() in ("x86_64", "amd64")
