"""What the sources of kernels may say."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

import fastfair.kernels
import pytest
from fastfair.kernels import _sources
from helpers.each import each

pytestmark = pytest.mark.jit
KERNELS = sorted(Path(fastfair.kernels.__path__[0]).glob("*.py"))
SOURCES = sorted({*KERNELS, *Path(fastfair.__path__[0]).rglob("*.py")})

MOST_ARGUMENTS = 8  # what belongs together is a named tuple


def names_in(tree: ast.AST) -> set[str]:
    return {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} | {
        alias.name
        for n in ast.walk(tree)
        if isinstance(n, ast.ImportFrom) and n.module != "typing"  # which has an `overload`, too
        for alias in n.names
    }


@each("path", SOURCES)
def test_there_is_one_decorator(path):
    compilers = {"njit", "jit", "generated_jit", "vectorize", "guvectorize", "cfunc", "stencil"}
    compilers |= {"register_jitable", "overload"}
    text = path.read_text()
    if path.name != "_jit.py" and any(name in text for name in compilers):
        tree = ast.parse(text)
        used = names_in(tree) & compilers
        assert used <= {"jit"}, f"{path.name} uses numba's own {used}"
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and "jit" in {a.name for a in node.names}:
                assert node.module == "_jit"


def decorated(path: Path) -> dict[str, set[str]]:
    """Return the names that each function of a file calls, by the name of its decorator and its
    own."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                calls = {
                    c.func.id
                    for c in ast.walk(node)
                    if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)
                }
                found[f"{getattr(decorator, 'id', '')} {node.name}"] = calls
    return found


def test_kernels_call_helpers_and_no_kernel():
    functions: dict[str, set[str]] = {}
    for path in KERNELS:
        functions |= decorated(path)
    kernels = {name.split()[1] for name in functions if name.startswith("jit")}
    helpers = {name.split()[1] for name in functions if name.startswith(("helper", "part"))}
    assert len(kernels) > 80
    assert len(helpers) > 50
    assert not any(name.startswith("_") for name in kernels), (
        "what Python does not call is a helper"
    )
    for name, called in functions.items():
        if name.startswith(("jit", "helper")):
            assert not called & (kernels - helpers), f"{name} calls a kernel"


def test_parts_are_called_at_one_place_of_a_file():
    """At several they would be compiled several times, which takes longer than a helper does."""
    parts = {
        name.split()[1] for path in KERNELS for name in decorated(path) if name.startswith("part ")
    }
    assert len(parts) > 10
    for path in KERNELS:
        called = Counter(
            call.func.id
            for call in ast.walk(ast.parse(path.read_text()))
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        )
        assert {name: called[name] for name in parts if called[name] > 1} == {}, path.name


@each("path", KERNELS)
def test_kernels_import_numpy_numba_and_each_other_alone(path):
    allowed = {"numpy", "numba", "llvmlite", "__future__"}  # llvmlite is what numba compiles with
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            roots = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{path.name} reaches above kernels/"
            roots = set() if node.level else {str(node.module).split(".")[0]}
        else:
            continue
        if path.name.startswith("_"):
            roots -= set(sys.stdlib_module_names)
        assert roots <= allowed | {"typing"}, f"{path.name} imports {roots - allowed}"


@each("path", KERNELS)
def test_kernels_take_arguments_that_one_can_hold_in_mind(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert len(node.args.args) <= MOST_ARGUMENTS, (
                f"{node.name} takes {len(node.args.args)} arguments"
            )


def digest_of(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    _sources.digest_of.cache_clear()
    _sources._source_of.cache_clear()
    return _sources.digest_of(folder / "kernel.py")


def test_machine_code_depends_on_helpers_and_on_options_of_decorators(tmp_path):
    kernel, decorators = "from ._jit import jit\nfrom .other import a\n", "from ._aside import b\n"
    first = digest_of(tmp_path, kernel=kernel, other="a = 1\n", _jit=decorators, _aside="b = 1\n")
    assert digest_of(tmp_path, _aside="b = 2\n") == first  # which makes no code
    assert digest_of(tmp_path, other="a = 2\n") != first
    assert digest_of(tmp_path, other="a = 1\n") == first
    assert digest_of(tmp_path, _jit=f"{decorators}helper = 2\n") != first
