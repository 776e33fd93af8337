"""No line of the library decides by words that people read: those of docstrings, messages and
reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from helpers.each import each

import fastfair

LIBRARY = Path(fastfair.__file__).parent
TEXTS = {"note", "reason", "doubt", "message", "doc", "docstring", "sentence", "advice", "__doc__"}
CUTS = frozenset(
    {
        "split",
        "rsplit",
        "splitlines",
        "partition",
        "rpartition",
        "startswith",
        "endswith",
        "find",
        "index",
        "count",
    }
    | {"replace", "strip", "removeprefix", "removesuffix"}
)
MATCHES = {"match", "fullmatch", "search", "sub", "subn", "findall", "finditer", "split"}

# Functions that may, and why.
ALLOWED = {
    "errors.py: _read": "the arguments that a message marks become its fields",
    "cli/signatures.py: _documented": (
        "options.json is written of the structure of docstrings: sections and paragraphs"
    ),
    "measures/_registry.py: formula": "a formula is shown as the docstring has it",
    "io/files.py: name_file": "no file is named twice in one message",
    # What other libraries say.
    "_lib/whole_files.py: _code": (
        "libraries written in Rust have the system's number of an error in the text alone"
    ),
    "_lib/warnings.py: raise_as": "the first line is shown",
    "_lib/frames.py: __init__": "lines become one",
    "io/embeddings.py: cut_subjects": "the first line is shown",
    "io/hdf5_program.py: ": "the first line is shown",
}


def _is_text(node: ast.AST, caught: set[str]) -> bool:
    """Whether an expression is text that people read, as its name says, or is that of an error or a
    docstring."""
    if isinstance(node, ast.Name):
        return node.id in TEXTS
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS
    if isinstance(node, ast.BoolOp):
        return any(_is_text(value, caught) for value in node.values)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        return node.args[1].value in TEXTS
    of = node.args[0] if node.args else None
    return name == "getdoc" or (name == "str" and isinstance(of, ast.Name) and of.id in caught)


def _reads(node: ast.AST, caught: set[str]) -> bool:
    """Whether a node looks for words in such text, cuts it, or compares it with some."""
    if isinstance(node, ast.Compare):
        for left, operator, right in zip(
            [node.left, *node.comparators], node.ops, node.comparators, strict=False
        ):
            if isinstance(operator, ast.In | ast.NotIn) and _is_text(right, caught):
                return True
            sides = (left, right) if isinstance(operator, ast.Eq | ast.NotEq) else ()
            words = any(
                isinstance(side, ast.JoinedStr) or getattr(side, "value", "")
                for side in sides
                if isinstance(side, ast.JoinedStr | ast.Constant)
            )
            if words and any(_is_text(side, caught) for side in sides):
                return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    cut = node.func.attr in CUTS and _is_text(node.func.value, caught)
    return cut or (
        node.func.attr in MATCHES and any(_is_text(given, caught) for given in node.args)
    )


def _readers(source: str) -> Iterator[tuple[str, int]]:
    """Yield functions that read words, and the line."""
    tree = ast.parse(source)
    caught = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name
    }

    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, function = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if _reads(node, caught):
            yield function, node.lineno
        waiting += [(child, function) for child in ast.iter_child_nodes(node)]


FILES = {str(path.relative_to(LIBRARY)): path for path in sorted(LIBRARY.rglob("*.py"))}


def test_nothing_is_decided_by_words():
    readers = [
        (f"{name}: {function}", line)
        for name, path in FILES.items()
        for function, line in _readers(path.read_text("utf-8"))
    ]
    assert [f"{reader}, line {line}" for reader, line in readers if reader not in ALLOWED] == []
    assert ALLOWED.keys() <= {reader for reader, _ in readers}, "what reads no words needs no leave"


@each(
    "source",
    [
        "if HELD in row.reason: pass",
        'row.reason.split("; ")',
        'doubt.endswith("too narrow")',
        're.sub(r"x", "y", message)',
        "_IN_PYTHON.sub('', inspect.getdoc(function))",
        "try: pass\nexcept ValueError as error: print(str(error).replace('a', 'b'))",
        "(function.__doc__ or '').partition('Returns')",
        "HELD in getattr(row, 'reason', '')",
        "row.reason == 'few errors'",
    ],
)
def test_lines_that_read_words_are_seen(source):
    assert list(_readers(source))


@each(
    "source",
    [
        "'held' in row.flags",
        "row.reason == ''",
        "note.code in notes",
        "text.split(',')",
        "str(value).split('=')",
    ],
)
def test_others_are_not(source):
    assert not list(_readers(source))
