"""The words that people read: sentences that had to be read twice do not come back."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Each stood in messages, pages or the documentation, and was replaced by a plain sentence.
RETIRED = (
    "is the FMR 0", "would, in place of", "to find a threshold so", "have to be set aside", "So chance alone",
    "others cannot be told", "make others seem to differ", "which is not <=", "enough errors to tell",
    "These two intervals, which hold", "it extends to", "nothing else has any", "hardly varies: every replicate",
    "is for people to say", "people like these would be expected", "rest on errors of which",
    "know that comparisons share", "every two make a comparison", "What a scan has not", "would tell as much",
    "whom intervals need", "of which rates measures", "with whom rates", "the more the less", "whom they befall",
    ">Words<", ">Origin<", "leave open",
)  # fmt: skip


def test_sentences_are_plain():
    files = [
        *ROOT.glob("fastfair/**/*.py"),
        *ROOT.glob("fastfair/**/*.html"),
        *ROOT.glob("fastfair/cli/*.json"),
    ]
    files += [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/examples/*.py"), ROOT / "README.md"]
    assert len(files) > 100
    found = []
    for path in files:
        text = re.sub(r"\s+(# )?", " ", path.read_text("utf-8"))
        found += [f"{path.relative_to(ROOT)}: {words}" for words in RETIRED if words in text]
    assert found == []


# They say how a value was come by, not what it is.
VAGUE = {"one", "found", "told", "own", "known"}


def test_names_say_what_they_hold():
    vague = []
    for path in [*ROOT.glob("fastfair/**/*.py"), *ROOT.glob("kernels/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.ExceptHandler | ast.FunctionDef):
                name = node.name
            if name in VAGUE:
                vague.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert vague == []


def test_examples_are_short():
    for path in ROOT.glob("docs/examples/plot_*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        lines = {
            line
            for node in tree.body[1:]
            for line in range(node.lineno, (node.end_lineno or 0) + 1)
        }
        assert len(lines) <= 40, path.name
