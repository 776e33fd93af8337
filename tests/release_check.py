"""Build what is released, and use it as people do who have not got the sources: `make
release-check`.

The wheel is built out of the sdist twice and must be the same bytes; twine and check-wheel-contents
look at them. Then it is installed in an empty environment with the oldest and the newest Python
that are here, where the examples of the README, its commands and some tests run without the
checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "build" / "dist"
_TESTS = ("test_intervals.py", "measures", "oracles", "helpers", "conftest.py")
_NEWEST = ("3.15", "3.14", "3.13", "3.12")


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command; its output is shown where it fails."""
    named = " ".join(map(str, command))
    print(f"$ {named}", flush=True)
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        | environment,
    )
    if done.returncode:
        sys.exit(f"{named}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def built(folder: Path, source: Path) -> dict[str, bytes]:
    """Build sdist and wheel, the wheel out of the sdist; return their bytes."""
    python = Path(sys.executable)
    epoch = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    run(python, "-m", "build", "--outdir", folder, source, SOURCE_DATE_EPOCH=epoch)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def copied(folder: Path) -> Path:
    """Copy what is committed, so that nothing else is built in."""
    archive = folder / "sources.tar"
    run("git", "archive", "--output", archive, "HEAD", cwd=ROOT)
    shutil.unpack_archive(archive, folder / "sources")
    return folder / "sources"


def pythons() -> list[str]:
    """Return the oldest Python that is supported, and the newest that is here."""
    uv = Path(sys.executable).with_name("uv")
    found = []
    for version in _NEWEST:
        done = subprocess.run(
            [uv, "python", "find", "--no-project", "--system", version],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"UV_PYTHON_DOWNLOADS": "never"},
        )
        if done.returncode == 0:
            found.append(done.stdout.strip())
            break
    return [sys.executable, *found]


def use(python: str, wheel: Path, folder: Path) -> None:
    """Install the wheel in an empty environment, and run examples, commands and tests there."""
    run(python, "-m", "venv", folder / "env")
    binaries = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(binaries / "python", "-m", "pip", "install", "-q", f"{wheel}[test,demo]")
    place = folder / "elsewhere"
    place.mkdir()
    where = run(
        binaries / "python", "-c", "import fastfair; print(fastfair.__file__)", cwd=place
    ).strip()
    if ROOT in Path(where).parents:
        sys.exit(f"the package is that of the checkout: {where}")
    shutil.copy(ROOT / "README.md", place)
    shutil.copytree(ROOT / "docs" / "samples", place / "docs" / "samples")
    run(binaries / "python", "-m", "doctest", "README.md", cwd=place)
    (place / "scores.csv").write_text(
        "score,label,first,second,sex\n"
        + "".join(f"{s},{y},{a},{b},{g}\n" for s, y, a, b, g in _rows())
    )
    run(binaries / "fastfair", "--version", cwd=place)
    columns = ("--mated", "label", "--reference", "first", "--probe", "second", "--group", "sex")
    run(
        binaries / "fastfair",
        "evaluate",
        "scores.csv",
        *columns,
        "--at",
        "fmr=0.1",
        "--seed",
        "0",
        "--report",
        "page.html",
        cwd=place,
    )
    tests = place / "tests"
    tests.mkdir()
    for name in _TESTS:
        copy = shutil.copytree if (ROOT / "tests" / name).is_dir() else shutil.copy
        copy(ROOT / "tests" / name, tests / name)
    shutil.copy(ROOT / "pyproject.toml", place)
    run(binaries / "python", "-m", "pytest", "-q", "-m", "not slow", "tests", cwd=place)


def _rows() -> list[tuple[float, str, str, str, str]]:
    """Return scores of a few people, with labels Y and N."""
    people = [(f"p{k}", "f" if k % 2 else "m") for k in range(12)]
    rows = []
    for k, (who, sex) in enumerate(people):
        rows += [(0.9 - 0.01 * (k + n), "Y", who, who, sex) for n in range(4)]
        other = people[(k + 2) % len(people)][0]
        rows += [(0.3 + 0.02 * (k + n), "N", who, other, sex) for n in range(4)]
    return rows


def main() -> None:
    """Build, compare and use."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = copied(folder)
        first, again = built(DIST, source), built(folder / "again", source)
        if any(first[file] != again.get(file) for file in first if file.endswith(".whl")):
            sys.exit("the wheel differs when it is built a second time")
        files = sorted(DIST.iterdir())
        run(sys.executable, "-m", "twine", "check", "--strict", *files)
        (wheel,) = DIST.glob("*.whl")
        run(Path(sys.executable).with_name("check-wheel-contents"), wheel)
        version = re.search(
            r"[\x27\"](\d[^\x27\"]*)", (ROOT / "fastfair" / "_version.py").read_text()
        )
        if version is None or version.group(1) not in wheel.name:
            sys.exit(f"{wheel.name} has not the version of fastfair/_version.py")
        for k, python in enumerate(pythons()):
            use(python, wheel, folder / f"python {k}")
    print("\n".join(str(path.relative_to(ROOT)) for path in files))


if __name__ == "__main__":
    main()
