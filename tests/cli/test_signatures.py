"""One home for each idea of the command line: a verb and a parameter are written once, and appear
everywhere."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
from click.testing import CliRunner
from command_tables import lines_of

import fastfair
from fastfair.cli import commands, main, signatures
from fastfair.cli.actions import single_calls
from fastfair.cli.verbs import TABLE, VERBS, Verb, table
from fastfair.results.result import Result

EXAMPLES = ("fastfair toy a.csv --sweetness 2", "fastfair toy a.csv --colour red")


@dataclass(frozen=True)
class Costs:
    """What is rare.

    Attributes
    ----------
    c_toy : float, default 1
        Cost of a toy.
    c_box : float, default 2
        Cost of its box.
    """

    c_toy: float = 1
    c_box: float = 2


@dataclass(frozen=True)
class ToyResult(Result):
    rows: tuple[Costs, ...]
    settings: dict[str, object] = field(default_factory=dict)

    def summary(self) -> str:
        return f"A toy of {self.settings}."


def toy(
    sweetness: float = 0.5,
    *,
    colour: Literal["blue", "red"] = "blue",
    costs: Costs | None = None,
    rng: object = None,
) -> ToyResult:
    """Make a toy.

    Parameters
    ----------
    sweetness : float, default 0.5
        How sweet it is. With `colour`, what children like.
    colour : {"blue", "red"}
        The colour.
    costs : Costs, optional
        What it costs.
    rng : None or int
        Seed.
    """
    costs = costs or Costs()
    return ToyResult((costs,), {"sweetness": sweetness, "colour": colour, "c_box": costs.c_box})


@pytest.fixture
def verbs(monkeypatch):
    """Add a verb: its entry, its action, and the function, which are all that there is."""
    module = ModuleType("fastfair.toys")
    module.toy = toy
    monkeypatch.setitem(sys.modules, "fastfair.toys", module)
    monkeypatch.setattr(
        single_calls, "toy", lambda run: run.deliver({"toy": run.call(toy)}), raising=False
    )
    verb = Verb(
        "Make a toy. It is one of SCORES.",
        "\n".join(EXAMPLES),
        "sweetness c_box output",
        "toys.toy",
    )
    return VERBS | {"toy": verb}


@pytest.fixture
def of_functions(verbs):
    return signatures.table_of(verbs)


def run(verbs, of_functions, *words: object):
    return CliRunner().invoke(
        main.command_line(verbs, of_functions), list(map(str, words)), catch_exceptions=False
    )


def test_the_table_is_that_of_the_signatures():
    wanted = json.dumps(signatures.table_of(VERBS), indent=1, ensure_ascii=False) + "\n"
    assert TABLE.read_text("utf-8") == wanted, "write it anew: python -m fastfair.cli.signatures"


def test_help_does_not_speak_of_python():
    python = re.compile(
        r"ndarray|numpy|scipy|callable|`|\b(dict|None|Embeddings)\b|\w\.\w+\(|fastfair\.\w"
    )
    for function, options in table().items():
        for name, option in options.items():
            assert not python.search(option.get("text", "")), f"{function} {name}: {option['text']}"


def test_a_verb_and_its_parameters_are_in_every_help(verbs, of_functions):
    assert "Make a toy." in run(verbs, of_functions, "--help").output
    brief = run(verbs, of_functions, "toy", "--help").output
    for said in (
        "--sweetness NUMBER  How sweet it is. [default: 0.5]",
        "--c-box NUMBER",
        *EXAMPLES,
    ):
        assert said in brief
    assert "--colour [" not in brief
    shown = run(verbs, of_functions, "toy", "--help-all").output
    for said in (
        "--colour [blue|red]",
        "How sweet it is. With --colour, what children like.",
        "--c-toy",
        "--config",
    ):
        assert said in " ".join(shown.split())


def test_they_are_in_files_of_options_and_results(verbs, of_functions, tmp_path):
    (tmp_path / "c.toml").write_text("sweetness = 2\nc-box = 3.5\n")
    done = run(
        verbs,
        of_functions,
        "toy",
        "a.csv",
        "--config",
        tmp_path / "c.toml",
        "--colour",
        "red",
        "--output",
        tmp_path,
    )
    assert "A toy of {'sweetness': 2.0, 'colour': 'red', 'c_box': 3.5}." in done.output
    assert "c toy  c box\n1        3.5" in done.output
    assert json.loads((tmp_path / "toy.json").read_text())["settings"]["colour"] == "red"
    written = tomllib.loads((tmp_path / "config.toml").read_text())
    assert int(written.pop("seed")) >= 0
    assert written == {
        "verb": "toy",
        "scores": "a.csv",
        "sweetness": "2",
        "colour": "red",
        "c-box": "3.5",
    }
    again = run(verbs, of_functions, "toy", "--config", tmp_path / "config.toml")
    assert "'c_box': 3.5" in again.output
    (tmp_path / "c.toml").write_text("swetness = 2\n")
    refused = run(verbs, of_functions, "toy", "a.csv", "--config", tmp_path / "c.toml").output
    assert "no option 'swetness' (did you mean 'sweetness'" in " ".join(refused.split())


def test_they_are_in_the_documentation(verbs, of_functions):
    page = "\n".join(lines_of(verbs, of_functions))
    assert "## fastfair toy" in page
    assert (
        "* - **`--sweetness`**\n  - How sweet it is. With `--colour`, what children like. Default:"
        " `0.5`." in page
    )
    assert "* - `--colour`\n  - The colour. One of `blue`, `red`." in page


def test_a_parameter_is_where_its_function_has_it(monkeypatch):
    def apply_threshold(comparisons: fastfair.Comparisons, at: str, *, sugar: int = 3) -> None:
        """Do as before.

        Parameters
        ----------
        comparisons : Comparisons
            The data.
        at : str
            The point.
        sugar : int, default 3
            Lumps of it.
        """

    monkeypatch.setattr(fastfair, "apply_threshold", apply_threshold, raising=False)
    of_functions = signatures.table_of(VERBS)
    assert "--sugar INTEGER" in run(VERBS, of_functions, "apply", "--help-all").output
    assert "sugar" in commands.names_of(main.command_line(VERBS, of_functions).commands["apply"])
    assert "`--sugar`\n  - Lumps of it. Default: `3`." in "\n".join(lines_of(VERBS, of_functions))


# Written by the verbs before options came from signatures.
BEFORE = {
    "evaluate": (
        'scores = "scores.csv"\ngroup = ["group"]\nn-resamples = "0"\nat = ["fmr=0.1",'
        ' "eer"]\nalpha = "0.25"\nseed = "3"\nmeasure = ["garbe"]\nzero-policy = "0.01"\nscore-kind'
        ' = "similarity"\nincomplete-groups = "nan"\n'
    ),
    "calibration": (
        'scores = "ratios.csv"\nscore-kind = "log-likelihood-ratio"\napplication = ["0.05,1,10"]\n'
        'n-resamples = "20"\nnormalize = false\nseed = "1"\n'
    ),
    "plan": (
        'groups = "3,10"\nsubjects = "100"\nattempts = "2"\nfnmr = "0.05"\ncorrelation = "0.25"\n'
        'method = "exact"\n'
    ),
    "model": (
        'scores = "scores.csv"\nat = "fmr=0.3"\ngroup = "group"\nbaseline = ["group=f"]\nunit ='
        ' "comparison"\n'
    ),
    "group-test": (
        'data = "failures.csv"\ninput = "counts"\nn-resamples = "100"\nseed = "0"\nstatistic ='
        ' "f"\n'
    ),
}


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of the few errors of these files
@pytest.mark.parametrize("verb", BEFORE)
def test_a_file_written_before_is_still_read(verb, tmp_path, monkeypatch):
    from fuzz import command_lines

    monkeypatch.chdir(tmp_path)
    command_lines.make_files()
    Path("c.toml").write_text(f'verb = "{verb}"\n{BEFORE[verb]}')
    done = CliRunner().invoke(
        main.cli, [verb, "--config", "c.toml", "--json"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)


@pytest.mark.slow
def test_help_and_version_import_nothing_of_the_library():
    code = (
        "import sys, time, click; before = set(sys.modules); start = time.process_time()\nfrom"
        " fastfair.__main__ import main\nimport fastfair.cli.main\nsys.argv = ['fastfair',"
        " {!r}]\ntry: main()\nexcept SystemExit: pass\ntook = time.process_time() - start\nroots ="
        " 'fastfair', 'numpy', 'numba', 'scipy', 'polars'\nnew = {{name for name in"
        " set(sys.modules) - before if name.partition('.')[0] in roots}}\nprint(sorted(name for"
        " name in new if not name.startswith('fastfair.cli')), took, sep='|', file=sys.stderr)"
    )
    for word in ("--version", "--help"):
        done = subprocess.run(
            [sys.executable, "-c", code.format(word)], capture_output=True, text=True, check=True
        )
        modules, took = done.stderr.strip().split("|")
        # The package of kernels, which in a clone stands elsewhere, is set up; it imports none.
        names = set(ast.literal_eval(modules)) - {"fastfair.kernels"}
        assert names == {"fastfair", "fastfair.__main__", "fastfair._version", "fastfair.errors"}
        assert float(took) < 0.15
