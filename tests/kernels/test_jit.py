"""The compiler's decorator and its cache."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import fastfair.kernels
import pytest
from helpers.toy_kernels import CALLER, HELPER

KERNELS = Path(fastfair.kernels.__path__[0])

BARE_CALLER = CALLER.replace("from ._jit import jit", "import numba\njit = numba.njit(cache=True)")
pytestmark = [pytest.mark.slow, pytest.mark.jit]


def run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = (
        {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "FASTFAIR_"))}
        | {"PYTHONPATH": str(folder)}
        | environment
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    for path in KERNELS.glob("_[a-z]*.py"):
        (package / path.name).write_text(path.read_text())
    (package / "caller.py").write_text(CALLER)
    (package / "helper.py").write_text(HELPER.format(amount=1))
    return package


def answer(folder: Path) -> str:
    done = run("from toy.caller import call; print(call(10))", folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_changed_helper_in_another_file_changes_the_result(tmp_path, package):
    assert answer(tmp_path) == "11"
    assert any((package / "__pycache__").rglob("*.nbc")), "nothing was cached, so nothing is shown"
    (package / "helper.py").write_text(
        HELPER.format(amount=20)
    )  # of another length: times are in whole seconds
    assert answer(tmp_path) == "30"


def test_numba_alone_would_keep_the_old_result(tmp_path, package):
    (package / "caller.py").write_text(BARE_CALLER)
    assert answer(tmp_path) == "11"
    (package / "helper.py").write_text(
        HELPER.format(amount=20)
    )  # of another length: times are in whole seconds
    assert answer(tmp_path) == "11", "numba now sees changes in other files: the fingerprint can go"


def test_a_changed_file_that_a_kernel_does_not_call_leaves_it_compiled(tmp_path, package):
    (package / "stranger.py").write_text(HELPER.format(amount=1))
    answer(tmp_path)
    (package / "stranger.py").write_text(HELPER.format(amount=20))
    code = (
        "from toy.caller import call; call(10);"
        " print(sum(call.__wrapped__.stats.cache_hits.values()))"
    )
    assert run(code, tmp_path).stdout.strip() == "1"


@pytest.mark.usefixtures("package")
def test_kernels_are_kept_in_the_folder_that_is_named(tmp_path):
    code = "from toy._jit import CACHE_FOLDER; print(CACHE_FOLDER)"
    named = {
        "FASTFAIR_CACHE_DIR": str(tmp_path / "own"),
        "NUMBA_CACHE_DIR": str(tmp_path / "numbas"),
    }
    assert run(code, tmp_path, **named).stdout.strip() == str(tmp_path / "own" / "kernels")
    del named["FASTFAIR_CACHE_DIR"]
    assert run(code, tmp_path, **named).stdout.strip() == str(tmp_path / "numbas" / "kernels")


@pytest.mark.usefixtures("package")
def test_an_unwritable_cache_folder_warns_and_does_not_break_import(tmp_path):
    blocked = tmp_path / "a_file"
    blocked.touch()  # no folder can be made below a file, whoever asks
    code = "from toy.caller import call; print(call(10))"
    done = run(code, tmp_path, NUMBA_CACHE_DIR=str(blocked))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "11"
    assert "compiled anew in every process" in done.stderr
    done = run(
        f"import warnings; warnings.simplefilter('error')\n{code}",
        tmp_path,
        NUMBA_CACHE_DIR=str(blocked),
    )
    assert "RuntimeWarning" in done.stderr


@pytest.mark.usefixtures("package")
def test_the_second_process_loads_what_the_first_compiled_and_needs_none_of_what_compiles(tmp_path):
    answer(tmp_path)
    code = (
        "import sys; from toy.caller import call; call(10);"
        " print(sum(call.__wrapped__.stats.cache_hits.values()));print(sorted(set(sys.modules) &"
        " {'numba.np.linalg', 'scipy.linalg'}))"
    )
    assert run(code, tmp_path).stdout.split() == ["1", "[]"]
    # A kernel of other types is then compiled as ever.
    assert (
        run("from toy.caller import call; call(10); print(call(0.5))", tmp_path).stdout.strip()
        == "1.5"
    )


@pytest.mark.usefixtures("package")
def test_checked_and_unchecked_code_do_not_share_a_folder(tmp_path):
    code = "from toy._jit import CACHE_FOLDER; print(CACHE_FOLDER)"
    assert run(code, tmp_path).stdout != run(code, tmp_path, NUMBA_BOUNDSCHECK="1").stdout


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


CALLED = (
    "import warnings; warnings.simplefilter('always'); from toy.caller import call; print(call(10))"
)


def test_a_damaged_file_of_machine_code_is_a_warning_and_made_again(tmp_path, package):
    assert run(CALLED, tmp_path).stdout.split() == ["11"]
    file = next(package.rglob("call-*.nbc"))
    code = textwrap.dedent(f"""
        import warnings
        from pathlib import Path
        from toy import _cache
        from toy._jit import jit
        from toy.caller import call
        file = Path({str(file)!r})
        whole = file.read_bytes()
        half = len(whole) // 2
        flipped = [whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1:] for k in (0, 31, 32, half, len(whole) - 1)]
        for altered in (b"", whole[:half], whole[:-1], whole + b"!", b"garbage" * 1000, *flipped):
            file.write_bytes(altered)
            _cache._warned = False
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                anew = jit(call.__wrapped__.py_func)
                assert anew(10) == 11 and sum(anew.__wrapped__.stats.cache_misses.values()) == 1
            assert [w.category for w in told] == [RuntimeWarning], told
            assert f"{{file}} is damaged" in str(told[0].message)
            again = jit(call.__wrapped__.py_func)
            assert again(10) == 11 and sum(again.__wrapped__.stats.cache_hits.values()) == 1
        print("done")
    """)
    done = run(code, tmp_path)
    assert done.stdout == "done\n", done.stderr
    assert not list(package.rglob("*tmp*"))


def test_the_file_of_another_kernel_is_not_taken_for_it(tmp_path, package):
    assert (
        run(f"{CALLED}; from toy.caller import other; print(other(10))", tmp_path).returncode == 0
    )
    call, other = (next(package.rglob(f"{name}-*.nbc")) for name in ("call", "other"))
    call.write_bytes(other.read_bytes())
    done = run(CALLED, tmp_path)
    assert done.stdout.split() == ["11"]
    assert "is damaged" in done.stderr


def test_a_place_that_cannot_be_read_or_written_is_a_warning(tmp_path, package):
    run(CALLED, tmp_path)
    file = next(package.rglob("call-*.nbc"))
    file.unlink()
    file.mkdir()  # nobody reads or replaces a folder as a file, whoever asks
    done = run(CALLED, tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["11"]), done.stderr
    assert done.stderr.count("RuntimeWarning: ") == 1
    assert "cannot be read (Is a directory)" in done.stderr
    assert not list(package.rglob("*tmp*"))


def test_a_disk_without_room_is_a_warning(tmp_path, package):
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); {CALLED}"
    done = run(limited, tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["11"]), done.stderr
    assert done.stderr.count("RuntimeWarning: ") == 1
    assert "cannot be written (File too large)" in done.stderr
    assert not [path for path in package.rglob("*") if ".nbc" in path.name]


@pytest.mark.usefixtures("package")
def test_without_the_compiler_kernels_are_plain_functions(tmp_path):
    code = (
        "import types; from toy.caller import call; print(call(10), isinstance(call,"
        " types.FunctionType))"
    )
    assert run(code, tmp_path, NUMBA_DISABLE_JIT="1").stdout.split() == ["11", "True"]


@pytest.mark.usefixtures("package")
def test_kernels_can_be_sent_to_other_processes(tmp_path):
    sent = "import pickle; from toy.caller import call; call(1); print(pickle.dumps(call).hex())"
    received = "import pickle; print(pickle.loads(bytes.fromhex('{}'))(10))"
    assert run(received.format(run(sent, tmp_path).stdout.strip()), tmp_path).stdout.split() == [
        "11"
    ]
