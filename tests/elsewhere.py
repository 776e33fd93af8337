"""Run tests of what rests on the processor as other machines would: `python tests/elsewhere.py
[--at-once N]`.

Matrix products have other last bits with other kernels of OpenBLAS, and kernels and NumPy's loops
with other instructions. Each surrounding runs the same tests in a process of its own; those that
this processor cannot be are named and passed over.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).resolve().parents[1]
# Vectors, searches, bands, kernels and golden results.
TESTS = (
    "golden", "kernels", "bands", "identification", "data/test_embeddings.py", "data/test_embeddings_named.py",
    "data/test_pair_search.py", "data/test_pair_search_prefilter.py", "data/test_vector_pairs.py",
    "data/test_pair_search_templates.py", "evaluation/test_evaluate_vectors.py", "evaluation/test_compare_vectors.py",
    "group_tests/test_equal_rates_of_vectors.py", "oracles/test_naive_embeddings.py", "_lib/test_workers_same_bits.py",
)  # fmt: skip


@dataclass(frozen=True)
class Surrounding:
    """A machine to be.

    Attributes
    ----------
    name : str
        How it is called.
    n_processors : int
        How many processors its process may use, and so how many threads fastfair has by default.
    environment : mapping of str to str
        Variables that libraries read when they are imported.
    needs : str
        The instructions that its code has, as NumPy calls them.
    """

    name: str
    n_processors: int
    environment: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""


def surroundings() -> list[Surrounding]:
    """List the machines to be: kernels of OpenBLAS by their names, and the plainest processor."""
    dispatched = " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
    plain = {
        "NUMBA_CPU_NAME": "generic",
        "FASTFAIR_CACHE_DIR": str(ROOT / "build" / "kernels-elsewhere"),
        "NPY_DISABLE_CPU_FEATURES": dispatched,
    }
    return [
        Surrounding("generic code of numba, plain loops of NumPy", 2, plain),
        Surrounding("Haswell's products", 2, {"OPENBLAS_CORETYPE": "Haswell"}, "AVX2"),
        Surrounding("Sandybridge's products", 1, {"OPENBLAS_CORETYPE": "Sandybridge"}, "AVX"),
        Surrounding("SkylakeX's products", 1, {"OPENBLAS_CORETYPE": "SkylakeX"}, "AVX512_SKX"),
    ]


def run(one: Surrounding) -> bool:
    """Run the tests in a surrounding, and print what they say in one piece; return whether they
    passed."""
    if one.needs and not __cpu_features__.get(one.needs, False):
        print(f"=== {one.name}: skipped, as this processor has no {one.needs}", flush=True)
        return True
    start = time.monotonic()
    inherited = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    done = subprocess.run(
        [sys.executable, __file__, "--processors", str(one.n_processors)],
        cwd=ROOT,
        env=inherited | one.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    said = done.stdout if done.returncode else done.stdout.strip().rpartition("\n")[2]
    print(
        f"=== {one.name}, {one.n_processors} processors, {time.monotonic() - start:.0f} s\n{said}",
        flush=True,
    )
    return done.returncode == 0


def become_tests(n_processors: int) -> None:
    """Become the process of the tests, on so many processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-n_processors:])
    paths = [str(ROOT / "tests" / name) for name in TESTS]
    words = ["-q", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider"]
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *words, *paths])


def main() -> int:
    """Run all surroundings, several at once; return 1 where tests of one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--processors", type=int, help="run the tests themselves, on so many")
    asked = parser.parse_args()
    if asked.processors:
        become_tests(asked.processors)
    with ThreadPoolExecutor(asked.at_once) as pool:
        passed = list(pool.map(run, surroundings()))
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
