"""What executors and checkpoints compute is what this process computes, to the last bit, also after
it was killed."""

import multiprocessing
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.executors import CALLS, result_bits
from helpers.refusals import refused

from fastfair import Checkpoint
from fastfair.errors import FileFormatError

pytestmark = pytest.mark.jit
_HELPERS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_threads_and_processes_give_the_same_bits(name, processes):
    wanted = result_bits(CALLS[name]())
    with ThreadPoolExecutor(3) as threads:
        assert result_bits(CALLS[name](executor=threads)) == wanted
    assert result_bits(CALLS[name](executor=processes, n_threads=2)) == wanted


@pytest.mark.slow
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
# Python warns of forking a process that has threads, which is what this looks at.
@pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")
def test_forked_processes_give_the_same_bits():
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        assert result_bits(CALLS["roc_band"](executor=pool)) == result_bits(CALLS["roc_band"]())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[] if name in ("evaluate", "evaluate a scan", "roc_band") else [pytest.mark.slow],
        )
        for name in CALLS
    ],
)
def test_a_checkpoint_gives_the_same_bits_whole_or_in_part(name, tmp_path):
    wanted = result_bits(CALLS[name]())
    assert result_bits(CALLS[name](executor=Checkpoint(tmp_path))) == wanted
    files = sorted(tmp_path.glob("*/*.part"))
    for path in random.Random(0).sample(files, len(files) // 2):
        path.unlink()
    told = []
    assert (
        result_bits(
            CALLS[name](executor=Checkpoint(tmp_path), progress=lambda *both: told.append(both))
        )
        == wanted
    )
    assert sorted(tmp_path.glob("*/*.part")) == files
    assert told


def test_other_numbers_of_replicates_go_on_from_the_same_parts(tmp_path):
    from helpers import executors

    from fastfair import evaluate

    c = executors._comparisons()
    evaluate(c, n_resamples=192, rng=0, executor=Checkpoint(tmp_path))
    evaluate(c, n_resamples=320, rng=0, executor=Checkpoint(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
    assert len(list(tmp_path.glob("*/*.part"))) == 5
    evaluate(c, n_resamples=192, rng=1, executor=Checkpoint(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_damaged_checkpoint_and_one_without_a_seed_are_errors(name, tmp_path):
    CALLS[name](executor=Checkpoint(tmp_path))
    path = sorted(tmp_path.glob("*/*.part"))[0]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FileFormatError, match=rf"{path.name} is damaged"):
        CALLS[name](executor=Checkpoint(tmp_path))


def test_a_checkpoint_needs_a_seed(tmp_path):
    import fastfair as ff

    c = ff.Comparisons([0.9, 0.1], [1, 0], ["a", "a"], ["a", "b"])
    e = ff.Embeddings([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 1.0]], list("aabb"))
    for call, *given in (
        (ff.evaluate, c),
        (ff.compare, c, c),
        (ff.roc_band, e),
        (ff.fairness_band, e),
        (ff.synthesis.coverage_experiment,),
    ):
        refused("checkpoint needs a seed", call, *given, executor=Checkpoint(tmp_path))


_RUN = """
import sys
sys.path.insert(0, {helpers!r})
import fastfair as ff
from helpers.executors import CALLS, result_bits
print("ready", flush=True)
sys.stdout.buffer.write(result_bits(CALLS[{name!r}](executor=ff.Checkpoint("kept"), n_threads=1)))
"""


def _killed_and_resumed(name, folder, times, seed):
    """Kill a run at random moments, and then let it end."""
    command = [sys.executable, "-W", "ignore", "-c", _RUN.format(helpers=str(_HELPERS), name=name)]
    wanted, rng = result_bits(CALLS[name]()), random.Random(seed)
    kept = folder / "whole", folder / "killed"
    for one in kept:
        one.mkdir()
    duration = 0.0
    for cwd, n_kills in ((kept[0], 0), *[(kept[1], 1)] * times, (kept[1], 0)):
        with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            start = time.perf_counter()
            if n_kills:
                time.sleep(rng.random() * duration)
                process.send_signal(signal.SIGKILL)
            found = process.stdout.read()
        if not n_kills:
            assert found == wanted
            duration = time.perf_counter() - start


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evaluate", "roc_band"])
def test_a_killed_run_goes_on_to_the_same_bits(name, tmp_path):
    _killed_and_resumed(name, tmp_path, 2, 0)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", CALLS)
def test_a_run_killed_twenty_times_goes_on_to_the_same_bits(name, tmp_path):
    _killed_and_resumed(name, tmp_path, 20, 1)
