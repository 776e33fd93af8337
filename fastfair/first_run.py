"""`warm_up`: compile all kernels at once, in parallel processes, so that no later call has to."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

from fastfair._lib.arguments import Natural, checked
from fastfair._lib.threads import count_threads
from fastfair._lib.workers import Report, reporting
from fastfair.errors import FastfairError, OutputError
from fastfair.resampling.units import Unit

_HERE = str(Path(__file__).parents[1])
# Begins the code of another process, which may find another fastfair, or none, where this one is
# that of a clone.
FIND_THIS_LIBRARY = f"import sys; {_HERE!r} in sys.path or sys.path.insert(0, {_HERE!r})"
_SHOWN = 1000  # characters of a failed process's last words


@checked
def warm_up(n_processes: Natural | None = None, progress: bool | Report = False) -> int:
    """Compile all kernels now, so that no later call on this machine has to.

    Parameters
    ----------
    n_processes : int, optional
        Number of processes; by default one for each processor.
    progress : bool or callable, default False
        Whether to show a progress bar, or a function of the work done and all the work.

    Returns
    -------
    int
        The number of kernels that were compiled; those that were compiled before stay.

    Raises
    ------
    OutputError
        Where no folder to keep compiled kernels in is writable.

    Notes
    -----
    Kernels are compiled by use: processes make small data and measure them. The first data need
    what most others need, and are measured before these. Compiled kernels are kept in the folder
    that the environment variable ``FASTFAIR_CACHE_DIR`` names; by default beside the library, or in
    ``~/.cache/fastfair`` where that is not writable. An upgrade compiles again what it changes:
    kernels whose source is another one, and all of them for another version of numba.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.warm_up()  # doctest: +SKIP
    102
    """
    from fastfair.kernels._jit import CACHE_FOLDER, config

    n_processes = n_processes or count_threads(None)
    if config.DISABLE_JIT:
        return 0
    if not CACHE_FOLDER:
        raise OutputError(
            "no folder to keep compiled kernels in is writable: set FASTFAIR_CACHE_DIR to a folder"
            " that is"
        )
    folder = Path(CACHE_FOLDER)
    before = _n_kernels(folder)
    with reporting(progress, "compiling kernels") as report:
        _run_all(n_processes, report)
    return _n_kernels(folder) - before


def run(job: str) -> None:
    """Make small data and measure them, which compiles the kernels of one job."""
    from fastfair.kernels import _jit

    warnings.simplefilter("ignore")
    _jit.compile_all()
    _JOBS[job]()


def _n_kernels(folder: Path) -> int:
    return sum(1 for _ in folder.glob("*.nbc"))


def run_jobs() -> None:
    """Run the jobs that the standard input names, line by line, in a process of its own; tell of
    each that is done.
    """
    for line in sys.stdin:
        run(line.strip())
        print("done", flush=True)


def _run_all(n_processes: int, report: Report | None) -> None:
    """Share jobs among so many processes; end all of them at an error or an interrupt."""
    jobs = [*_JOBS]
    pipe = subprocess.PIPE
    code = f"{FIND_THIS_LIBRARY}; from fastfair.first_run import run_jobs; run_jobs()"
    command = [sys.executable, "-P", "-c", code]
    idle = queue.SimpleQueue[subprocess.Popen[str]]()
    processes = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        for _ in range(min(n_processes, len(jobs)))
    ]

    def share(job: str) -> None:
        process = idle.get()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):  # it has ended
            process.stdin.write(f"{job}\n")
            process.stdin.flush()
        if not process.stdout.readline():
            said = process.communicate()[1]
            idle.put(process)
            raise FastfairError(f"the kernels of {job} could not be compiled: {said[-_SHOWN:]}")
        idle.put(process)

    pool = ThreadPoolExecutor(len(processes))
    try:
        for process in processes:
            idle.put(process)
        # The first compiles what most others need as well, which each of them would compile beside
        # it.
        first = pool.submit(share, jobs[0])
        later = [job for job in jobs[1:] if job not in _APART]
        running = {first, *(pool.submit(share, job) for job in jobs[1:] if job in _APART)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for task in finished:
                task.result()
            if first.done():
                running |= {pool.submit(share, job) for job in later}
                later = []
            if report is not None:
                report(len(jobs) - len(running) - len(later), len(jobs))
    finally:
        for process in processes:
            process.kill()
        pool.shutdown(cancel_futures=True)
        for process in processes:
            process.communicate()


def _scores(*, narrow: bool = True, seed: int = 0) -> Any:
    """Return comparisons of 24 subjects with two samples each, in three groups of two
    attributes.
    """
    import fastfair as ff

    return ff.Comparisons(**_columns(narrow=narrow, seed=seed))


def _columns(*, narrow: bool, seed: int = 0) -> dict[str, Any]:
    import numpy as np

    reference, probe = np.divmod(np.arange(48 * 48), 48)
    mated = reference // 2 == probe // 2
    scores = np.random.default_rng(seed).normal(size=mated.size) + 1.5 * mated
    sex = np.array(["f", "m"])
    age = np.array(["old", "young", "young"])
    sides: dict[str, Any] = {}
    for side, sample in (("reference", reference), ("probe", probe)):
        sides[side] = sample // 2
        sides[f"{side}_sample"] = sample
        sides[f"{side}_group"] = {"sex": sex[sample // 2 % 2], "age": age[sample // 4 % 3]}
    return {"scores": scores.astype(np.float32) if narrow else scores, "mated": mated, **sides}


def _evaluate(*units: Unit) -> None:
    import fastfair as ff

    given = [ff.at_fmr(0.05), ff.at_fmr(0.003), ff.at_fnmr(0.1), ff.at_threshold(0.5)]
    points = [*given, ff.at_eer(), ff.at_mean_group_eer()]
    for unit in units:
        evaluation = ff.evaluate(_scores(), points, metrics="all", n_resamples=70, unit=unit, rng=0)
        evaluation.with_intervals(simultaneous=True)


def _compare() -> None:
    """Compare float64 scores, which needs all that evaluating them does."""
    import fastfair as ff

    first, second = (_scores(narrow=False, seed=seed) for seed in (0, 1))
    ff.compare(first, second, [ff.at_fmr(0.05)], metrics="all", n_resamples=70, rng=0)


def _bands() -> None:
    import fastfair as ff
    from fastfair.bands.curve import bands_of

    made = ff.von_mises_fisher_embeddings(24, 3, 16, concentration=20, rng=0)
    for similarity in ("cosine", "negative_euclidean"):
        embeddings = ff.Embeddings(made.vectors, made.subject, made.subject % 2, similarity)
        bands_of(embeddings, [0.05, 0.1], n_resamples=70, rng=0)
    for unit in ("sample", "subject+sample"):
        ff.roc_band(embeddings, [0.05, 0.1], unit=unit, n_resamples=70, rng=0)
    ff.roc_band(_scores(), [0.05, 0.1], n_resamples=70, rng=0)


def _pairs_of_vectors() -> None:
    import numpy as np

    import fastfair as ff

    made = ff.von_mises_fisher_embeddings(24, 3, 16, concentration=20, rng=0)
    for role in (None, np.resize(["reference", "probe"], len(made))):
        embeddings = ff.Embeddings(made.vectors, made.subject, made.subject % 2, role=role)
        ff.evaluate(embeddings, ff.at_fmr(0.05), n_resamples=64, rng=0)
        ff.fmr_test(embeddings, ff.at_fmr(0.05), n_resamples=64, rng=0)


def _scans() -> None:
    import fastfair as ff
    from fastfair.data.columns import checked_columns
    from fastfair.data.scans import LEAST_MEMORY, Scan, divide

    for narrow in (True, False):
        c = _columns(narrow=narrow)
        scan = Scan("similarity", LEAST_MEMORY, cllr=True)
        policies = ff.Policies(label_conflicts="keep", self_comparisons="keep")
        columns = checked_columns(c["scores"], c["mated"], c, "similarity", policies)
        scan.add(divide(columns, True, scan.limits))
        ff.evaluate(scan.finish(), ff.at_fmr(0.05), metrics=("eer", "cllr"), n_resamples=64, rng=0)


def _curves() -> None:
    import fastfair as ff
    from fastfair.error_rates.score_metrics import EER_METHODS

    for narrow in (True, False):
        c = _scores(narrow=narrow)
        ff.roc(c)
        ff.min_cllr(c)
        for method in EER_METHODS:
            ff.eer(c, method=method)


def _tests_of_groups() -> None:
    import fastfair as ff

    c = _scores()
    point = ff.at_fmr(0.1)
    for test in (ff.fnmr_test, ff.fmr_test, ff.margin_of_error):
        test(c, point, n_resamples=99, rng=0)
    ff.claim(c, "fmr <= 0.2", ff.at_threshold(1.5), n_resamples=70, rng=0)
    ff.error_model(c, ["sex", "age"], point)
    columns = _columns(narrow=True)
    for side in ("reference", "probe"):
        columns[f"{side}_group"] = {"number": columns[f"{side}_sample"] % 9}
    ff.error_model(ff.Comparisons(**columns), [], point, linear="number=mean")
    ff.stratified_rates(c, "sex", ["age"], point)


def _plans_and_synthesis() -> None:
    import fastfair as ff

    study: dict[str, Any] = {
        "n_groups": 2,
        "n_subjects": 50,
        "n_attempts": 2,
        "fnmr": 0.1,
        "correlation": 0.05,
    }
    ff.plan_margin(**study, method="simulation", n_simulations=20, rng=0)
    ff.plan_fmr(claimed=0.05, fmr=0.01, covariance=1, n_simulations=20, rng=0)
    ff.synthesize(40, 40, fmr=0.1, n_steps=20, rng=0)


# What runs side by side needs few kernels that the other compiles at that time.
_JOBS: dict[str, Callable[[], None]] = {
    "evaluations by subjects": partial(_evaluate, "subject"),
    "plans and synthesis": _plans_and_synthesis,
    "curves": _curves,
    "comparisons of systems": _compare,
    "evaluations by samples": partial(_evaluate, "sample", "subject+sample", "comparison"),
    "tests of groups": _tests_of_groups,
    "pairs of vectors": _pairs_of_vectors,
    "bands": _bands,
    "scans": _scans,
}
# What shares little with the first job; of two processes the other begins the last of these when the
# first has compiled what they share.
_APART = ("plans and synthesis", "curves", "comparisons of systems")
