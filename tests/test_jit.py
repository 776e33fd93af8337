"""The compiler's decorator and its cache, and what kernels may import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import fastfair.kernels
import pytest

KERNELS = Path(fastfair.kernels.__path__[0])
LIBRARY = Path(fastfair.__path__[0])
SOURCES = sorted([*KERNELS.glob("*.py"), *(p for p in LIBRARY.rglob("*.py") if p.parent != KERNELS)])

CALLER = """
from ._jit import jit
from .helper import shift

@jit
def call(x):
    return shift(x)
"""
BARE_CALLER = CALLER.replace("from ._jit import jit", "import numba\njit = numba.njit(cache=True)")
HELPER = """
from ._jit import jit

@jit
def shift(x):
    return x + {amount}
"""
pytestmark = pytest.mark.jit


def run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = (
        {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | {"PYTHONPATH": str(folder)} | environment
    )
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300, check=False
    )


def make_package(folder: Path, caller: str) -> Path:
    package = folder / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_jit.py").write_text((KERNELS / "_jit.py").read_text())
    (package / "caller.py").write_text(caller)
    (package / "helper.py").write_text(HELPER.format(amount=1))
    return package


def answer(folder: Path) -> str:
    done = run("from toy.caller import call; print(call(10))", folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_changed_helper_in_another_file_changes_the_result(tmp_path):
    package = make_package(tmp_path, CALLER)
    assert answer(tmp_path) == "11"
    assert any((package / "__pycache__").rglob("*.nbc")), "nothing was cached, so nothing is shown"
    (package / "helper.py").write_text(HELPER.format(amount=2))
    assert answer(tmp_path) == "12"


def test_numba_alone_would_keep_the_old_result(tmp_path):
    package = make_package(tmp_path, BARE_CALLER)
    assert answer(tmp_path) == "11"
    (package / "helper.py").write_text(HELPER.format(amount=2))
    assert answer(tmp_path) == "11", "numba now sees changes in other files: the fingerprint can go"


def test_an_unwritable_cache_folder_warns_and_does_not_break_import(tmp_path):
    make_package(tmp_path, CALLER)
    blocked = tmp_path / "a_file"
    blocked.touch()  # no folder can be made below a file, whoever asks
    code = "from toy.caller import call; print(call(10))"
    done = run(code, tmp_path, NUMBA_CACHE_DIR=str(blocked))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "11"
    assert "compiled anew in every process" in done.stderr
    done = run(f"import warnings; warnings.simplefilter('error')\n{code}", tmp_path, NUMBA_CACHE_DIR=str(blocked))
    assert "RuntimeWarning" in done.stderr


def test_the_second_process_loads_what_the_first_compiled(tmp_path):
    make_package(tmp_path, CALLER)
    answer(tmp_path)
    code = "from toy.caller import call; call(10); print(sum(call.stats.cache_hits.values()))"
    assert run(code, tmp_path).stdout.strip() == "1"


def test_checked_and_unchecked_code_do_not_share_a_folder(tmp_path):
    make_package(tmp_path, CALLER)
    code = "from toy._jit import CACHE_FOLDER; print(CACHE_FOLDER)"
    assert run(code, tmp_path).stdout != run(code, tmp_path, NUMBA_BOUNDSCHECK="1").stdout


def names_in(tree: ast.AST) -> set[str]:
    return {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} | {
        alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names
    }


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_there_is_one_decorator(path):
    compilers = {"njit", "jit", "generated_jit", "vectorize", "guvectorize", "cfunc", "stencil"}
    used = names_in(ast.parse(path.read_text())) & compilers
    if path.name != "_jit.py":
        assert used <= {"jit"}, f"{path.name} uses numba's own {used}"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and "jit" in {a.name for a in node.names}:
                assert node.module == "_jit"


def test_a_bare_njit_is_seen():
    assert "njit" in names_in(ast.parse("import numba\n@numba.njit\ndef f(): pass"))
    assert "njit" in names_in(ast.parse("from numba import njit\n@njit\ndef f(): pass"))


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda p: p.name)
def test_kernels_import_numpy_numba_and_each_other_alone(path):
    allowed = {"numpy", "numba", "__future__"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            roots = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{path.name} reaches above kernels/"
            roots = set() if node.level else {str(node.module).split(".")[0]}
        else:
            continue
        if path.name == "_jit.py":
            roots -= set(sys.stdlib_module_names)
        assert roots <= allowed | {"typing"}, f"{path.name} imports {roots - allowed}"


LAYERS = {
    "_text": -1,
    "errors": 0, "_shown": 0.1, "_warning": 0, "_arrays": 0.3, "_labels": 0.6,
    "_files": 1, "_csv": 2, "_memory": 0.5, "_version": 0, "_keys": 0, "_results": 1.8, "_validation": 1,
    "_random": 1.2, "_kinds": 1.4, "_arguments": 1.6, "_sides": 2, "_frames": 2, "_plots": 2,
    "_blocks": 1, "_radix": 1, "_progress": 2, "intervals": 2, "_grouping": 2, "embeddings": 3,
    "simulators": 4, "binormal": 4, "synthesis": 4,
    "comparisons": 3, "measures": 3, "curves": 4, "operating_points": 5, "error_rates": 7, "_measuring": 7,
    "_units": 4, "_matching": 4, "_error_lists": 5, "_shrinks": 6, "resampling": 7, "_figures": 8,
    "_pairs": 4, "_pair_lists": 5, "_pair_replicates": 7, "_level_rates": 8, "_level_curves": 9, "_all_pairs": 5,
    "_failures": 7, "failure_counts": 8, "failure_files": 9, "_group_data": 9, "_group_replicates": 9,
    "group_test_result": 9, "group_tests": 10, "margins": 10, "_group_plots": 3,
    "bands": 10, "fairness_bands": 10, "coverage": 9,
    "quantities": 8, "_freedom": 9, "_inversion": 9, "_uncertainty": 10, "_asked": 11,
    "evaluation_result": 11, "_bands_of": 11, "contrasts": 12,
    "_failure_law": 0, "_studies": 1, "_planning_plots": 3, "_plans": 4, "planning": 11,
    "evaluation": 12, "_system_measures": 13, "systems": 14, "paired": 13, "_terminal": 14, "_cli_options": 14,
    "_cli_output": 14, "cli_embeddings": 15, "cli_group_tests": 15,
    "cli_plan": 15, "cli_synthesize": 15, "papers": 15, "cli_papers": 16, "cli": 17,
    "_attributes": 1.5, "_reading": 2, "_text_files": 3, "_array_files": 3, "_hdf5": 3, "_tables": 4,
    "_formats": 5, "_field_files": 6, "_subjects": 5, "io": 7, "score_files": 4, "vector_files": 6, "datasets": 8,
}  # fmt: skip


def test_imports_point_one_way():
    late = {
        ("comparisons", "_frames"),
        ("_results", "_plots"),
        ("_group_plots", "group_test_result"),
        ("_group_plots", "margins"),
        ("_plots", "bands"),
        ("_plots", "coverage"),
        ("_plots", "fairness_bands"),
        ("_plots", "synthesis"),
        ("embeddings", "_all_pairs"),
        ("embeddings", "comparisons"),
    }  # inside functions, where the need arises
    for path in LIBRARY.rglob("*.py"):
        module = path.relative_to(LIBRARY).parts[0].removesuffix(".py")
        if path.parent == KERNELS or module == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            inner = path.parent != LIBRARY and node.level == 1
            targets = [] if inner else [node.module.split(".")[0]] if node.module else [a.name for a in node.names]
            for target in targets:
                if target in LAYERS and (module, target) not in late:
                    assert LAYERS[target] < LAYERS[module], f"{module} imports {target}"


def test_calls_from_several_threads_give_the_same_numbers():
    code = textwrap.dedent("""
        import threading, numpy as np, fastfair as ff
        rng = np.random.default_rng(0)
        scores = rng.normal(size=200_000); mated = rng.random(200_000) < 0.5; group = rng.integers(0, 5, 200_000)
        found = []
        def work():
            c = ff.Comparisons(scores, mated, reference_group=group)
            ev = ff.evaluate(c, unit='comparison', n_resamples=200, rng=0)
            found.append((ff.eer(c).value, len(ff.roc(c)), ev.value('garbe'), ev.interval('garbe')))
        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(len(found), len(set(found)))
    """)
    done = run(code, Path.cwd())
    assert done.stdout.split() == ["8", "1"], done.stderr
