"""Make the golden results anew, and print what moved and by how much: `python
tests/golden/record.py`.

A number that moves on purpose is listed in CHANGES.md with the reason.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
NUMBERS, WORDS = (Path(__file__).with_name(name) for name in ("numbers.txt", "words.txt"))


def processor() -> str:
    """Say on what the last bits may depend: the processor, and libraries with machine code of their
    own."""
    from llvmlite import binding
    from numba import config
    from threadpoolctl import threadpool_info

    name = config.CPU_NAME or binding.get_host_cpu_name()
    products = {
        one.get("architecture", "") for one in threadpool_info() if one["user_api"] == "blas"
    }
    words = [platform.machine(), name, f"numpy {np.__version__}", *sorted(products)]
    if without := os.environ.get("NPY_DISABLE_CPU_FEATURES"):
        words.append(f"without {without}")
    return " ".join(words)


def recorded() -> tuple[str, dict[str, str]]:
    """Read the processor that made the records, and the records."""
    first, *lines = NUMBERS.read_text("utf-8").splitlines()
    return first, dict(line.split("\t") for line in lines)


def text_of(words: dict[str, str]) -> str:
    """Write texts one below the other."""
    return "".join(f"=== {name}\n{text}\n\n" for name, text in words.items())


def main() -> None:
    """Write the records, and the texts, anew."""
    from golden.cases import records, words
    from golden.written import moved

    old = recorded()[1] if NUMBERS.exists() else {}
    new = records()
    for place in dict.fromkeys((*old, *new)):
        if old.get(place) != new.get(place):
            print(f"{place}: {moved(old.get(place, 'nothing'), new.get(place, 'nothing'))}")
    lines = [processor(), *(f"{place}\t{value}" for place, value in new.items())]
    NUMBERS.write_text("\n".join(lines) + "\n", "utf-8")
    print(
        f"{len(new)} records, {NUMBERS.stat().st_size:,} bytes; for words see git diff {WORDS.name}"
    )
    WORDS.write_text(text_of(words()), "utf-8")


if __name__ == "__main__":
    main()
