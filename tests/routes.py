"""How many files of the library a call passes, and how large it is: `python tests/routes.py` prints
a table.

Counted are the files of `fastfair/` whose code runs in a warm call, without kernels and `_lib`; and
lines of code, which are not blank, comment or docstring.
"""

from __future__ import annotations

import ast
import io
import sys
import tempfile
import threading
import tokenize
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from golden.cases import FEW, POINTS, comparisons, people, vectors

import fastfair as ff

ROOT = Path(__file__).resolve().parents[1]
_SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def passed(call: Callable[[], Any]) -> set[str]:
    """Return the files whose functions run in a call, in any thread; the call has run before."""
    call()
    found: set[str] = set()

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    inside = (Path(name) for name in found if Path(name).is_relative_to(ROOT / "fastfair"))
    return {str(path.relative_to(ROOT)) for path in inside if "_lib" not in path.parts}


def lines_of_code(path: Path) -> int:
    """Count the lines of a file that are not blank, comment or docstring."""
    text = path.read_text("utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SKIPPED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        ):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines - {k for k, line in enumerate(text.split("\n"), 1) if not line.strip()})


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the calls that are followed."""
    c, e, given = comparisons().by("age"), vectors(), people()
    rows = zip(given["scores"], given["reference"], given["probe"], strict=True)
    (folder / "s.csv").write_text("score,a,b\n" + "".join(f"{s},{a},{b}\n" for s, a, b in rows))
    labels = zip(range(40), given["reference_group"]["age"], strict=False)
    (folder / "who.csv").write_text("id,age\n" + "".join(f"{k},{age}\n" for k, age in labels))
    names = {"score": "score", "reference": "a", "probe": "b", "groups": "age"}
    return {
        "evaluate scores": lambda: ff.evaluate(c, POINTS, **FEW),
        "evaluate to a page": lambda: ff.evaluate(c, POINTS, **FEW).report(folder / "page.html"),
        "evaluate vectors": lambda: ff.evaluate(e, POINTS, **FEW),
        "roc_band of vectors": lambda: ff.roc_band(e, [0.01, 0.1], **FEW),
        "fmr_test": lambda: ff.fmr_test(c, POINTS[0], n_resamples=200, rng=0, n_threads=1),
        "read with metadata": lambda: ff.read_comparisons(
            folder / "s.csv", metadata=folder / "who.csv", **names
        ),
    }


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call in calls(Path(folder)).items():
            print(f"{name:24}{len(passed(call)):4} files")
    for place in ("fastfair", "kernels", "tests"):
        files = [path for path in (ROOT / place).rglob("*.py") if "__pycache__" not in path.parts]
        print(f"{place:24}{len(files):4} files {sum(map(lines_of_code, files)):7,} lines of code")


if __name__ == "__main__":
    main()
