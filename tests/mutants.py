"""Plant faults one by one in a copy of the library, and see that the tests find them.

`python tests/mutants.py [NUMBER...]` looks at golden results first, and then at all quick tests. A
fault that no test finds is told; the exit code is 1 where more than one is not found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LIMIT = 1200  # seconds of one run of tests: a fault may never end
# The file, what stands there once, and the fault in its place.
MUTANTS = (
    # A comparison sign, a tie rule, and the same one score further.
    ("kernels/replicated_eer.py", "y_keys[above] < score:", "y_keys[above] <= score:"),
    ("kernels/curves.py", "nonmated[j - 1] >= mated[i]:", "nonmated[j - 1] > mated[i]:"),
    ("kernels/curves.py", "if cost <= best:", "if cost < best:"),
    ("fastfair/error_rates/rates.py", "count_below(nonmated.keys, key)", "count_below(nonmated.keys, key + 1)"),
    # A weight that is dropped, taken twice, or not left out.
    ("kernels/cost_sums.py", "weights[partners[p + 3]]", "weights[partners[p + 2]]"),
    ("kernels/weights.py", "weights[first_unit + r, r] = np.uint8(0)", "weights[first_unit + r, r] = np.uint8(1)"),
    ("kernels/dyadic.py", "(size - 2) / (size - 1) * spread", "(size - 1) / (size - 1) * spread"),
    # A divisor, an index, two rates that are exchanged.
    ("fastfair/measures/_fairness.py", 'np.std(group_array("x", x), axis=-1)', 'np.std(x, axis=-1, ddof=1)'),
    ("fastfair/measures/_fairness.py", "k = np.arange(1, n_groups)", "k = np.arange(0, n_groups - 1)"),
    ("fastfair/measures/_fairness.py", "(alpha * np.ptp(a, axis=-1) + (1", "(alpha * np.ptp(a, axis=-1) + (alpha + 1"),
    # Degrees of freedom, a clip, a limit of few errors, one more subject.
    ("fastfair/intervals.py", "(1 + 1 / np.asarray(freedom))", "(1 + 1 / (1 + np.asarray(freedom)))"),
    ("fastfair/uncertainty/interval_maker.py", "(min(max(end, least), most) for", "(max(end, least) for"),
    ("fastfair/uncertainty/few_errors.py", "low = min(low, intervals.", "low = max(low, intervals."),
    ("fastfair/uncertainty/few_errors.py", "(0.5 - rate) / (n + attempts))", "(0.5 - rate) / n)"),
    ("fastfair/intervals.py", "+ 1, (1 - confidence_level) / 2)", "+ 1, 1 - confidence_level)"),
    # Kinds of scores, whose they are, and who is in error.
    ("fastfair/data/sorted_scores.py", 'score_kind == "distance" else b', 'score_kind != "distance" else b'),
    ("fastfair/data/columns.py", "flags = subjects[1] == subjects[2]", "flags = subjects[1] != subjects[2]"),
    ("kernels/climb.py", "if is_error == (missing < 0):", "if is_error != (missing < 0):"),
    # Reading and writing.
    ("fastfair/io/tables.py", ".slice(first, n).collect()", ".slice(first + (first > 0), n).collect()"),
    ("fastfair/_lib/whole_files.py", "'*[=+\\-@", "'*[=+@"),
)  # fmt: skip


def copied(folder: Path) -> Path:
    """Copy the library, as it is installed, and the tests."""
    package = folder / "package"
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "fastfair", package / "fastfair", ignore=leave)
    shutil.copytree(ROOT / "kernels", package / "fastfair" / "kernels", ignore=leave)
    for name in ("tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return package


def finds(folder: Path, package: Path, *tests: str) -> list[str]:
    """Run tests; return those that fail."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        *tests,
    ]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(package)},
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return ["no end"]
    if done.returncode == 0:
        return []
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return [line.partition(" ")[2].partition(" - ")[0] for line in failed] or [
        f"exit {done.returncode}"
    ]


def main(numbers: list[int]) -> int:
    """Plant each fault, or those of some numbers; return 1 where more than one is not found."""
    missed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = copied(folder)
        everything = ["-n", "2", "-x", "tests"]
        # Some tests look at what a copy has not.
        for without in finds(folder, package, "-n", "2", "tests"):
            everything += ["--deselect", without]
            print(f"without a fault: {without}", flush=True)
        for number in numbers or range(len(MUTANTS)):
            place, before, after = MUTANTS[number]
            path = package / (f"fastfair/{place}" if place.startswith("kernels") else place)
            text = path.read_text()
            if text.count(before) != 1:
                print(f"{number}: {place} has {text.count(before)} times {before!r}")
                missed.append(number)
                continue
            path.write_text(text.replace(before, after))
            start = time.perf_counter()
            found = finds(folder, package, "-x", "tests/golden") or finds(
                folder, package, *everything
            )
            path.write_text(text)
            print(
                f"{number}: {place}: {found[0] if found else 'not found'}"
                f" ({time.perf_counter() - start:.0f} s)",
                flush=True,
            )
            if not found:
                missed.append(number)
    print(f"not found: {missed}" if missed else "all found")
    return int(len(missed) > 1)


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]]))
