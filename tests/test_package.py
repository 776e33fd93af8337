"""The package as a whole: what it exports, how it documents itself, how lightly it imports."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import tomllib
from pathlib import Path

import pytest
from helpers.each import each
from helpers.public_api import FUNCTIONS as AT_THE_DOOR

import fastfair as ff
from fastfair.cli.verbs import VERBS

ROOT = Path(__file__).parents[1]
PUBLIC = {name: getattr(ff, name) for name in ff.__all__ if callable(getattr(ff, name))}
PUBLIC |= {f"measures.{name}": getattr(ff.measures, name) for name in ff.measures.__all__}
PUBLIC |= {
    f"{room.__name__[9:]}.{name}": getattr(room, name)
    for room in (ff.calibration, ff.synthesis)
    for name in room.__all__
}
FUNCTIONS = {name: f for name, f in PUBLIC.items() if inspect.isfunction(f)}


def test_every_name_is_there_and_listed():
    assert set(ff.__all__) <= set(dir(ff))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ff.nonsense


@each("name", [n for n, f in PUBLIC.items() if callable(f)])
def test_public_names_are_documented_with_an_example(name):
    text = inspect.getdoc(PUBLIC[name])
    assert text, name
    if name in FUNCTIONS or name == "Comparisons":
        assert ">>>" in text, f"{name} has no example"


@each("name", FUNCTIONS)
def test_docstrings_and_signatures_agree(name):
    text = inspect.getdoc(FUNCTIONS[name])
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n\w|\Z)", text + "\n", re.DOTALL)
    documented = []
    if section:
        for line in section.group(1).splitlines():
            if re.match(r"[\w*][\w, *]*( : |$)", line):
                documented += [n.strip().lstrip("*") for n in line.split(" : ")[0].split(",")]
    assert documented == list(inspect.signature(FUNCTIONS[name]).parameters), name


# In docstrings of one paragraph arguments stand as "first, second: (n,) int32".
DESCRIBED = re.compile(r"(?:[.;] |^)((?:[a-z_]\w*, )*[a-z_]\w*): ")
SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n\w|\Z)", re.DOTALL | re.MULTILINE
)
HEAD = re.compile(r"^([\w*][\w*, ]*)(?: : |$)", re.MULTILINE)


def names_described(text: str) -> set[str]:
    """Return the arguments or attributes that a docstring describes."""
    section = SECTION.search(text)
    lists = HEAD.findall(section[1]) if section else DESCRIBED.findall(" ".join(text.split()))
    return {name.lstrip("*") for names in lists for name in names.split(", ")}


def names_in(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """Return the arguments of a function; of a class also its fields and methods."""
    names = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    if isinstance(node, ast.ClassDef):
        names |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        names |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        names |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return names


def test_what_docstrings_describe_is_there():
    """Of functions and classes that inherit no fields, public or not, and of kernels."""
    strangers = []
    for path in [*ROOT.glob("fastfair/**/*.py"), *ROOT.glob("kernels/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) or (
                isinstance(node, ast.ClassDef)
                and not {ast.unparse(base) for base in node.bases} - {"NamedTuple"}
            ):
                missing = names_described(ast.get_docstring(node) or "") - names_in(node)
                if missing:
                    strangers.append(f"{path.relative_to(ROOT)}:{node.lineno}: {sorted(missing)}")
    assert strangers == []


def test_only_public_functions_and_commands_take_more_than_eight_arguments():
    public = {name.removesuffix(".__init__").rpartition(".")[2] for name in AT_THE_DOOR} | {
        "Comparisons"
    }
    with_many = set()
    for path in Path(ff.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.endswith("_command"):
                names = {
                    one.arg
                    for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                }
                if len(names - {"self", "cls"}) > 8:
                    with_many.add(
                        _class_of(path, node.lineno) if node.name == "__init__" else node.name
                    )
    assert with_many <= public
    assert len(with_many) > 10


def _class_of(path: Path, line: int) -> str:
    classes = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)
    ]
    return max((node for node in classes if node.lineno < line), key=lambda node: node.lineno).name


def loaded(code: str, *modules: str) -> str:
    """Run code in another process and return which of some modules it loads."""
    code += f"\nimport sys; print(sorted(set(sys.modules) & set({modules})))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_import_brings_in_nothing_heavy():
    assert loaded("import fastfair", "numba", "scipy", "narwhals", "polars", "numpy") == "[]"


@pytest.mark.slow
def test_the_command_line_starts_without_what_draws_and_computes():
    heavy = ("numba", "matplotlib", "jinja2", "pandas", "pyarrow")
    chapters = ", ".join({f"fastfair.cli.actions.{verb.chapter}" for verb in VERBS.values()})
    assert loaded(f"import {chapters}", *heavy) == "[]"
    assert loaded("import fastfair.cli.main", *heavy, "numpy", "scipy", "polars") == "[]"


@pytest.mark.slow
def test_verbs_start_without_what_others_do():
    of_others = ("fastfair.claims", "fastfair.io.comparisons", "fastfair.identification.searches")
    assert loaded("import fastfair.cli.actions.plan", *of_others) == "[]"
    assert loaded("import fastfair.cli.actions.check", of_others[-1], "fastfair.bands") == "[]"


@pytest.mark.slow
def test_evaluation_needs_no_scipy_stats():
    code = (
        "import fastfair as ff;ff.evaluate(ff.Comparisons([.9, .1, .8, .2], [1, 0, 1, 0],"
        " reference_group=list('aabb')), unit='comparison')"
    )
    assert loaded(code, "scipy.stats", "matplotlib") == "[]"


@pytest.mark.slow
@pytest.mark.jit
def test_a_compiled_evaluation_loads_none_of_what_compiles():
    code = (
        "import fastfair as ff;c = ff.Comparisons([.9, .1, .8, .2] * 2, [1, 0, 1, 0] * 2,"
        " list('abcdefgh'), list('abcdefgh'),                   *[list('xxxxyyyy')] * 2,"
        " policies=ff.Policies(label_conflicts='keep'));ff.evaluate(c, ff.at_fmr(0.5), n_threads=1,"
        " rng=0)"
    )
    loaded(code)  # it may compile
    assert loaded(code, "numba.np.arraymath") == "[]"


def test_every_folder_of_the_package_is_installed():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {
        ".".join(("fastfair", *path.parent.relative_to(ROOT / "fastfair").parts))
        for path in (ROOT / "fastfair").rglob("__init__.py")
    }
    assert set(listed) == folders | {"fastfair.kernels"}


def test_tests_are_named_after_the_file_that_they_test():
    """Where a folder of tests is that of a folder of code."""
    strangers = []
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        code = ROOT / (
            "kernels" if path.parent.name == "kernels" else f"fastfair/{path.parent.name}"
        )
        stems = [other.stem.removeprefix("_") for other in code.glob("*.py")]
        subject = path.stem.removeprefix("test_")
        if stems and not any(subject == stem or subject.startswith(f"{stem}_") for stem in stems):
            strangers.append(str(path.relative_to(ROOT)))
    assert strangers == []


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what of a clone is imported, and what must not be."""
    folder = tmp_path_factory.mktemp("a clone")
    for name in ("fastfair", "kernels"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()
    return folder


def run_beside(packages: Path, code: str, *options: str, cwd: Path) -> str:
    """Run code with the packages of a folder and those of this environment, but not with fastfair
    as installed here."""
    paths = [
        str(packages),
        *dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib")),
    ]
    done = subprocess.run(
        [sys.executable, "-S", *options, "-W", "error", "-c", textwrap.dedent(code)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


IN_A_CLONE = """
    import subprocess, sys
    import fastfair as ff
    from fastfair.first_run import FIND_THIS_LIBRARY
    from fastfair.kernels import row_sums

    print(ff.__file__, row_sums.__file__, ff.eer(ff.Comparisons([0.9, 0.1], [True, False])).value, sep="|")
    code = f"{FIND_THIS_LIBRARY}; import fastfair.first_run; print(fastfair.__file__)"
    print(subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True).stdout.strip())
    assert len(ff.__path__) == 1
    try:
        import fastfair.tests
    except ModuleNotFoundError:
        print("no tests")
"""


@pytest.mark.jit
@pytest.mark.parametrize(
    ("is_installed", "options"),
    [(False, ()), (True, ()), (True, ("-P",))],
    ids=["nowhere else", "elsewhere as well", "left out of Python's path"],
)
def test_a_clone_is_imported_where_python_is_started_in_it(clone, is_installed, options, tmp_path):
    if is_installed:
        shutil.copytree(clone / "fastfair", tmp_path / "fastfair")
        shutil.copytree(clone / "kernels", tmp_path / "fastfair" / "kernels")
    init, kernel = clone / "fastfair" / "__init__.py", clone / "kernels" / "row_sums.py"
    if options:
        init, kernel = (
            tmp_path / "fastfair" / "__init__.py",
            tmp_path / "fastfair" / "kernels" / "row_sums.py",
        )
    printed = run_beside(tmp_path, IN_A_CLONE, *options, cwd=clone).splitlines()
    assert printed == [f"{init}|{kernel}|0.0", str(init), "no tests"]


POSIX = ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty")


def test_nothing_that_only_posix_has_is_needed(tmp_path):
    """As on Windows: import, reading, evaluating and a page without modules and functions that only
    POSIX has."""
    code = f"""
        import os, sys
        for name in {POSIX!r}:
            sys.modules[name] = None
        for name in ("fork", "getuid", "geteuid", "sched_getaffinity", "sysconf"):
            vars(os).pop(name, None)
        os.process_cpu_count = os.cpu_count  # of Python 3.13, which asks sched_getaffinity here
        import fastfair as ff
        path = {str(tmp_path)!r}
        with open(path + "/s.csv", "w") as file:
            file.write("score,mated,reference,probe,group\\n")
            for k in range(40):
                file.write(f"{{0.5 + k % 7 / 10}},1,p{{k % 8}},p{{k % 8}},{{'fm'[k % 2]}}\\n")
                file.write(f"{{k % 7 / 10}},0,p{{k % 8}},p{{(k + 2) % 8}},{{'fm'[k % 2]}}\\n")
        c = ff.read_comparisons(path + "/s.csv", groups="group")
        ev = ff.evaluate(c, ff.at_threshold(0.55), n_resamples=0)
        ev.to_json(path + "/ev.json")
        ev.report(path + "/page.html")
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
