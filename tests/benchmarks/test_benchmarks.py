"""The guard against slower commits, and that asv measures the commit that it names."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from helpers.toy_kernels import CALLER, HELPER

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # benchmarks are not installed

commits, verdicts, worker, check, ratios = (
    import_module(f"benchmarks.{name}")
    for name in ("_commits", "_verdicts", "_ratio_worker", "check", "ratios")
)


def seconds(ours, baseline=(1.0,)):
    return {"ours": list(ours), "baseline": list(baseline)}


def status(base, head):
    (verdict,) = verdicts.judge({"a": base}, {"a": head})
    return verdict.status


class TestVerdicts:
    def test_the_limit_itself_is_no_slowdown(self):
        assert status(seconds([1]), seconds([1.15])) == "same"
        assert status(seconds([1]), seconds([1.16])) == "slower"
        assert status(seconds([1.16]), seconds([1])) == "faster"

    def test_minima_count_and_not_the_rest(self):
        assert status(seconds([9, 1, 9]), seconds([1, 50, 50], [1, 1, 1])) == "same"
        assert status(seconds([1, 1, 9]), seconds([2, 2, 1.3])) == "slower"

    def test_a_machine_that_is_slower_throughout_is_no_slowdown(self):
        assert status(seconds([1], [2]), seconds([3], [6])) == "same"

    def test_what_the_base_lacks_is_new_and_what_head_lacks_fails(self):
        assert status("AttributeError: no such name", seconds([1])) == "new"
        assert status(seconds([1]), "ValueError: no") == "fails"
        assert status("AttributeError: no such name", "ValueError: no") == "fails"

    def test_turns_of_processes_are_pooled(self):
        assert verdicts.pooled(seconds([1, 2]), seconds([3], [4])) == seconds([1, 2, 3], [1, 4])

    def test_the_table_names_everything(self):
        found = verdicts.judge(
            {"a": seconds([1]), "b": "KeyError: 1"}, {"a": seconds([1.5]), "b": seconds([1])}
        )
        header, first, second = verdicts.table(found).splitlines()
        assert header.split() == ["benchmark", "base", "HEAD", "HEAD", "/", "base"]
        assert first.split() == ["a", "1.000", "1.500", "1.500", "slower"]
        assert second.split() == ["b", "-", "-", "-", "new:", "KeyError:", "1"]


class Measured:
    """A library whose benchmarks take what is written here, one figure a process and the last one
    for good."""

    def __init__(self, **taken):
        self._taken = {
            name: value if isinstance(value, str) else iter(value) for name, value in taken.items()
        }
        self.asked = []

    def measure(self, rounds, names):
        self.asked.append((rounds, tuple(names)))
        if rounds == 0:
            return {
                name: taken if isinstance(taken, str) else seconds([], [])
                for name, taken in self._taken.items()
                if not names or name in names
            }
        return {name: seconds([next(self._taken[name])]) for name in names}


def forever(value, *first):
    yield from first
    while True:
        yield value


class TestCompare:
    def test_nothing_is_measured_twice_where_nothing_seems_slower(self):
        base, head = (
            Measured(a=forever(1.0), b=forever(1.0)),
            Measured(a=forever(1.1), b=forever(0.5)),
        )
        found = check.compare(lambda attempt: (base, head), [], processes=2, rounds=5)
        assert [verdict.status for verdict in found] == ["same", "faster"]
        assert base.asked == head.asked == [(0, ()), (5, ("a", "b")), (5, ("a", "b"))]

    def test_an_unlucky_try_is_outvoted_by_new_ones(self, capsys):
        installs = [
            Measured(a=forever(1.0), b=forever(value)) for value in (1.4, 1.0, 1.3, 1.1, 1.0)
        ]
        base, used = Measured(a=forever(1.0), b=forever(1.0)), []

        def install(attempt):
            used.append(attempt)
            return base, installs[attempt]

        found = check.compare(install, [], processes=2, rounds=5)
        assert [(verdict.status, verdict.change) for verdict in found] == [
            ("same", 1.0),
            ("same", 1.1),
        ]
        assert used == [0, 1, 2, 3, 4]
        assert installs[1].asked == [(0, ("b",)), (15, ("b",)), (15, ("b",))]
        assert capsys.readouterr().out == 4 * "seems slower, installed and measured again: b\n"

    def test_a_slowdown_is_one_where_most_tries_agree(self):
        base = Measured(a=forever(1.0))
        heads = [Measured(a=forever(value)) for value in (1.2, 1.0, 1.3, 1.25)]
        (found,) = check.compare(
            lambda attempt: (base, heads[attempt]), ["a"], processes=2, rounds=5
        )
        assert (found.status, found.change) == ("slower", 1.2)

    def test_tries_end_once_they_are_decided(self):
        base, head = Measured(a=forever(1.0, 2.0)), Measured(a=forever(1.2))
        (found,) = check.compare(lambda attempt: (base, head), ["a"], processes=2, rounds=5)
        assert (found.status, found.change) == ("slower", 1.2)
        assert len(head.asked) == (1 + 2) * 3

    def test_what_one_side_lacks_is_not_measured(self):
        base = Measured(a="AttributeError: a", b=forever(1.0), c=forever(1.0))
        head = Measured(a=forever(1.0), b="ValueError: b", c=forever(1.0))
        found = check.compare(lambda attempt: (base, head), [], processes=1, rounds=5)
        assert [verdict.status for verdict in found] == ["new", "fails", "same"]
        assert base.asked[1:] == head.asked[1:] == [(5, ("c",))]

    def test_where_no_benchmark_runs_on_both_nothing_is_measured(self):
        base, head = Measured(a="AttributeError: a"), Measured(a=forever(1.0))
        (found,) = check.compare(lambda attempt: (base, head), [], processes=1, rounds=5)
        assert found.status == "new"


def test_a_benchmark_that_cannot_run_leaves_the_others_alone(monkeypatch):
    def broken():
        raise AttributeError("no such name")

    works = {"good": lambda: ratios.Sides(lambda: None, lambda: None), "bad": broken}
    monkeypatch.setattr(worker, "RATIOS", works)
    found = worker.outcomes(works, 3)
    assert found["bad"] == "AttributeError: no such name"
    assert [len(found["good"][side]) for side in ("ours", "baseline")] == [3, 3]


def test_both_sides_take_turns():
    calls = []
    sides = {
        name: ratios.Sides(lambda name=name: calls.append(name), lambda: calls.append("numpy"))
        for name in "ab"
    }
    ratios.measure_all(sides, 1)
    assert calls == ["a", "numpy", "b", "numpy"] * 2


def git(folder, *arguments):
    who = (
        "-c",
        "user.name=nobody",
        "-c",
        "user.email=nobody@localhost",
        "-c",
        "commit.gpgsign=false",
    )
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "A commit")
    return git(folder, "rev-parse", "HEAD")


class TestBase:
    @pytest.fixture
    def repository(self, tmp_path):
        git(tmp_path, "init", "--quiet")
        commit(tmp_path)
        return tmp_path

    def test_a_first_commit_has_none(self, repository):
        git(repository, "tag", "v1.0")
        assert commits.default_base(repository) is None

    def test_without_a_release_it_is_the_commit_before(self, repository):
        git(repository, "tag", "vacation")
        commit(repository)
        assert commits.default_base(repository) == "HEAD~1"

    def test_it_is_the_last_release_before_head(self, repository):
        git(repository, "tag", "v1.0")
        commit(repository)
        git(repository, "tag", "v1.1")
        assert commits.default_base(repository) == "v1.0"
        commit(repository)
        assert commits.default_base(repository) == "v1.1"

    def test_a_commit_that_is_not_there_is_none(self, repository):
        assert commits.commit_of("v9", repository) is None
        assert commits.commit_of("HEAD", repository) == git(repository, "rev-parse", "HEAD")


def run_check(monkeypatch, *arguments, found=None):
    def checked(*_):
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(check, "check", checked)
    monkeypatch.setattr(
        check, "commit_of", lambda revision: None if revision == "missing" else "0" * 40
    )
    monkeypatch.setattr(check, "differ", lambda *_: True)
    monkeypatch.setattr(check, "git", lambda *_: "")
    monkeypatch.setattr(sys, "argv", ["check", *arguments])
    return check.main()


class TestExit:
    @pytest.mark.parametrize(
        ("status", "code"), [("same", 0), ("faster", 0), ("new", 0), ("slower", 1), ("fails", 1)]
    )
    def test_what_fails(self, monkeypatch, capsys, status, code):
        found = [verdicts.Verdict("sweep", 1.0, 1.3, status)]
        assert run_check(monkeypatch, "--base", "HEAD~1", found=found) == code
        assert ("slower, or unable to run: sweep" in capsys.readouterr().out) == bool(code)

    def test_without_an_earlier_commit_it_says_so(self, monkeypatch, capsys):
        monkeypatch.setattr(check, "default_base", lambda: None)
        assert run_check(monkeypatch) == 0
        assert "nothing to compare with" in capsys.readouterr().out

    def test_an_unknown_commit_and_a_failed_build_are_neither(self, monkeypatch, capsys):
        assert run_check(monkeypatch, "--base", "missing") == 2
        assert "no such commit: missing" in capsys.readouterr().err
        assert (
            run_check(monkeypatch, "--base", "HEAD~1", found=commits.CheckError("building failed"))
            == 2
        )
        assert "building failed" in capsys.readouterr().err


@pytest.fixture
def clone(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("compares commits, and this is no repository")
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", ROOT, folder)
    git(folder, "checkout", "--quiet", "-B", "main")  # asv.conf.json names it
    return folder


PLANTED = """

@jit
def add_many_pairs(a, b, weights, largest, start, stop, totals):
    _add_many_pairs(a, b, weights, largest, start, stop, totals)
    _add_many_pairs(a, b, weights, largest, start, start + 3 * (stop - start) // 10, np.zeros(BLOCK, np.int64))
"""


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.jit
class TestGuard:
    def printed(self, clone, code):
        """Commit what is there, and return what the check of it prints, which must end with this
        code."""
        commit(clone)
        command = [
            sys.executable,
            "-m",
            "benchmarks.check",
            "--base",
            "HEAD~1",
            "--only",
            "sweep",
            "--processes",
            "3",
        ]
        done = subprocess.run(
            command, cwd=clone, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def test_a_commit_that_changes_a_comment_passes(self, clone):
        with (clone / "kernels" / "sweep.py").open("a") as file:
            file.write("# A comment.\n")
        assert "sweep" in self.printed(clone, 0)

    def test_a_commit_that_changes_nothing_measured_is_not_measured(self, clone):
        (clone / "README.md").write_text("Other words.")
        assert self.printed(clone, 0).startswith("nothing that is measured differs")

    def test_a_kernel_that_does_three_tenths_more_is_named(self, clone):
        file = clone / "kernels" / "sweep.py"
        source = file.read_text().replace("def add_many_pairs(", "def _add_many_pairs(")
        file.write_text(source + PLANTED)
        printed = self.printed(clone, 1)
        assert printed.endswith("slower, or unable to run: sweep\n")
        assert "slower" in printed.splitlines()[-2].split(), printed


BENCHMARK = '''"""A toy."""


def track_toy():
    from fastfair.kernels.toy import call

    return call(10)
'''


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.jit
def test_asv_measures_the_kernels_of_each_commit(clone):
    for package in ("asv", "virtualenv"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"`make studies` installs {package}, the extra `test` does not")
    (clone / "benchmarks" / "bench_toy.py").write_text(BENCHMARK)
    (clone / "kernels" / "toy.py").write_text(CALLER)
    names = []
    for amount in (1, 2):  # numba alone looks at the caller's file, which does not change
        (clone / "kernels" / "helper.py").write_text(HELPER.format(amount=amount))
        names.append(commit(clone))
    first, second = names
    assert [asv_result(clone, name) for name in (first, second, first)] == [11, 12, 11]


def asv_result(clone, name):
    asv = [sys.executable, "-m", "asv", "--config", "benchmarks/asv.conf.json"]
    arguments = [
        "--quick",
        "--show-stderr",
        "--machine",
        "toy",
        "--bench",
        "bench_toy",
        f"{name}^!",
    ]
    for command in ([*asv, "machine", "--yes", "--machine", "toy"], [*asv, "run", *arguments]):
        done = subprocess.run(
            command, cwd=clone, capture_output=True, text=True, timeout=900, check=False
        )
        said = done.stdout + done.stderr
        if done.returncode and "ConnectionError" in said:
            pytest.skip("asv installs what benchmarks need, and no package index can be reached")
        assert done.returncode == 0, said
    (file,) = (clone / ".asv" / "results" / "toy").glob(f"{name[:8]}-*.json")
    (value,), *_ = json.loads(file.read_text())["results"]["bench_toy.track_toy"]
    return value
