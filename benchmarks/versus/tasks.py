"""The rows: each function does one task with both tools, checks that they agree, and clocks them in turns."""

from __future__ import annotations

import csv
import importlib.metadata
import importlib.util
import json
import platform
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .clock import Clocked, clocked, take_turns
from .environments import BOB_MEASURE, BT4VT, SCIKIT_LEARN
from .processes import Usage, Worker, run_command
from .rows import AtLeast, AtMost, DisagreementError, Measurement, NotMeasuredError, Row

_SYSTEM = "resnetse34v2"  # of VoxCeleb1-H


def _versions() -> dict[str, str]:
    names = ("fastfair", "numpy", "numba")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fastfair-versus-") as name:
        yield Path(name)


def _must_agree(condition: bool, what: str) -> None:
    if not condition:
        raise DisagreementError(what)


# ROC and EER of ten million scores


def _ten_million() -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    rng = np.random.default_rng(0)
    size = 10_000_000
    mated = rng.permutation(size) < size // 2
    return (rng.normal(size=size) + 2 * mated).astype(np.float32), mated


def _eer_and_roc(scores: NDArray[Any], mated: NDArray[np.bool_]) -> tuple[ff.Comparisons, Any, Any]:
    comparisons = ff.Comparisons(scores, mated)
    return comparisons, ff.eer(comparisons), ff.roc(comparisons)


def against_sort() -> Measurement:
    scores, mated = _ten_million()
    curve = ff.roc(ff.Comparisons(scores, mated))
    _must_agree(np.array_equal(curve.threshold[:-1], np.unique(scores)), "thresholds are not the distinct scores")
    del curve
    seconds = take_turns(
        {"ours": clocked(lambda: _eer_and_roc(scores, mated)), "theirs": clocked(lambda: np.sort(scores))},
        rounds=15,
    )
    return Measurement(seconds["ours"], seconds["theirs"], "thresholds are the distinct scores, sorted", _versions())


def against_sklearn() -> Measurement:
    scores, mated = _ten_million()
    with _folder() as folder:
        np.save(folder / "scores.npy", scores)
        np.save(folder / "mated.npy", mated)
        with Worker(SCIKIT_LEARN.python(), "sklearn_roc.py", folder) as worker:
            for variant in ("every-point", "default"):
                worker.save(variant)
            _check_sklearn(ff.roc(ff.Comparisons(scores, mated)), folder)
            sides: dict[str, Clocked] = {"ours": clocked(lambda: _eer_and_roc(scores, mated))}
            sides |= {variant: worker.clocked(variant) for variant in ("every-point", "default")}
            seconds = take_turns(sides, rounds=5)
            versions = _versions() | {f"peer {name}": version for name, version in worker.versions.items()}
    best = {variant: min(seconds[variant]) for variant in ("every-point", "default")}
    faster = min(best, key=best.__getitem__)
    return Measurement(
        seconds["ours"],
        seconds[faster],
        "FMR and FNMR equal at every threshold",
        versions,
        remarks=f"every point {best['every-point']:.2f} s, fewer points {best['default']:.2f} s; the EER is ours alone",
        details={f"theirs_s {variant}": value for variant, value in best.items()},
    )


def _check_sklearn(curve: Any, folder: Path) -> None:
    # Theirs descends from a threshold that accepts nothing, ours ascends to one.
    fmr, tmr, threshold = np.load(folder / "every-point.npy")[:, ::-1]
    _must_agree(threshold.size == len(curve), f"{threshold.size} thresholds against {len(curve)}")
    _must_agree(np.array_equal(threshold[:-1], curve.threshold[:-1]), "thresholds")
    _must_agree(_close(fmr, curve.fmr), "FMR")
    _must_agree(_close(1 - tmr, curve.fnmr), "FNMR")
    fmr, tmr, threshold = np.load(folder / "default.npy")[:, ::-1]
    at = np.append(np.searchsorted(curve.threshold[:-1], threshold[:-1]), len(curve) - 1)
    _must_agree(_close(fmr, curve.fmr[at]), "FMR with drop_intermediate")
    _must_agree(_close(1 - tmr, curve.fnmr[at]), "FNMR with drop_intermediate")


def _close(theirs: NDArray[np.float64], ours: NDArray[np.float64]) -> bool:
    return np.allclose(theirs, ours, rtol=0, atol=1e-12)  # far below one comparison in ten million


# VoxCeleb1-H


def _voxceleb1_h() -> ff.Comparisons:
    try:
        return ff.datasets.voxceleb1_h(_SYSTEM)
    except ff.errors.MissingDependencyError as error:
        raise NotMeasuredError(str(error)) from error


def against_bob() -> Measurement:
    comparisons = _voxceleb1_h()
    sides = {"mated": comparisons.mated, "nonmated": comparisons.nonmated}
    scores = np.empty(sum(map(len, sides.values())))
    mated = np.zeros(scores.size, bool)
    mated[comparisons.mated.rows] = True
    for side in sides.values():  # back to the order of the file
        scores[side.rows] = side.similarities
    with _folder() as folder:
        np.save(folder / "mated.npy", scores[mated])
        np.save(folder / "nonmated.npy", scores[~mated])
        with Worker(BOB_MEASURE.python(), "bob_roc.py", folder) as worker:
            first = worker.clocked("roc")()  # compiles, in every process anew
            worker.save("roc")
            fmr, fnmr = np.load(folder / "roc.npy")
            curve = ff.roc(ff.Comparisons(scores, mated))

            def points(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
                """Code rates as counts, exactly: one integer a point of the curve."""
                errors = np.rint(x * len(sides["nonmated"])), np.rint(y * len(sides["mated"]))
                return (errors[0] * scores.size + errors[1]).astype(np.int64)

            _must_agree(
                bool(np.isin(points(fmr, fnmr), points(curve.fmr, curve.fnmr)).all()),
                "FNMR at its FMR points",
            )
            seconds = take_turns(
                {
                    "ours": clocked(lambda: ff.roc(ff.Comparisons(scores, mated))),
                    "theirs": worker.clocked("roc"),
                },
                rounds=7,
            )
            versions = _versions() | {f"peer {name}": version for name, version in worker.versions.items()}
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"its {fmr.size} points lie on our curve",
        versions,
        remarks=f"ours at all {len(curve)} thresholds, theirs at {fmr.size}; its first call in a process {first:.1f} s",
        details={"theirs_s first call": first},
    )


def against_bt4vt(groupings: list[list[str]]) -> Measurement:
    spec = importlib.util.find_spec("bt4vt")
    if spec is None or not spec.submodule_search_locations:
        raise NotMeasuredError("`fastfair demo` needs the scores in bt4vt: install the extra `demo`")
    data = Path(spec.submodule_search_locations[0]) / "data"
    scores = data / f"{_SYSTEM}_H-eval_scores.csv"
    demo: list[str | Path] = [Path(sysconfig.get_path("scripts")) / "fastfair", "demo"]
    with _folder() as folder:
        config = folder / "config.yaml"
        config.write_text(json.dumps(_bt4vt_config(data, folder, groupings)))  # JSON is YAML
        worker = Path(__file__).resolve().parent / "workers" / "bt4vt_test.py"
        test: list[str | Path] = [BT4VT.python(), worker, scores, config]
        version = _peer_version(test[0], "bt4vt")

        try:
            run_command(test, folder)
        except RuntimeError as error:
            raise NotMeasuredError(f"bt4vt: {error}") from error
        run_command([*demo, "--eer-method", "nearest-max", "--output", folder], folder)
        theirs = _bt4vt_eers(folder / f"biastest_results_{config.stem}_{scores.stem}.csv")
        ours = _our_eers(folder / "evaluation.json")
        _must_agree(theirs.keys() == ours.keys(), f"groups {sorted(theirs.keys() ^ ours.keys(), key=str)}")
        apart = max(abs(theirs[group] - ours[group]) for group in ours)
        _must_agree(apart <= 1e-9, f"EERs lie up to {apart:g} percent points apart")

        usages: dict[str, list[Usage]] = {"ours": [], "theirs": []}
        for _ in range(2):
            usages["ours"].append(run_command(demo, folder))
            usages["theirs"].append(run_command(test, folder))
    peaks = {side: max(usage.peak_bytes for usage in taken) / 1e6 for side, taken in usages.items()}
    return Measurement(
        [usage.seconds for usage in usages["ours"]],
        [usage.seconds for usage in usages["theirs"]],
        f"EER overall and of {len(ours) - 1} groups within 1e-9 %",
        _versions() | {"peer bt4vt": version},
        also_met=peaks["ours"] < peaks["theirs"],
        remarks=f"peak memory {peaks['ours']:.0f} MB against {peaks['theirs']:.0f} MB, aim: less",
        details={f"peak_mb_{side}": peak for side, peak in peaks.items()},
    )


def _bt4vt_config(data: Path, results: Path, groupings: list[list[str]]) -> dict[str, Any]:
    return {
        "speaker_metadata_file": str(data / "vox1_meta.csv"),
        "results_dir": f"{results}/",
        "id_column": "VoxCeleb1 ID",
        "select_columns": ["Gender", "Nationality"],
        "speaker_groups": groupings,
        "reference_filepath_column": "ref_file",
        "test_filepath_column": "com_file",
        "label_column": "lab",
        "scores_column": "sc",
        "dataset_evaluation": False,
        "dcf_costs": [[0.05, 1, 1]],
    }


def _bt4vt_eers(path: Path) -> dict[str | None, float]:
    """Read EERs in per cent by group, in our names; None is the group of all."""
    with path.open(newline="") as file:
        rows = {row["group_name"]: row for row in csv.DictReader(file)}
    overall = float(rows["average"]["EER"])
    eers = {name: float(row["EER"]) for name, row in rows.items() if row["speaker_groups"] == "Gender_Nationality"}
    # Intersections without speakers have a line as well, of NaN.
    return {None: overall} | {name.replace("_", " & ", 1): eer for name, eer in eers.items() if not np.isnan(eer)}


def _our_eers(path: Path) -> dict[str | None, float]:
    quantities = json.loads(path.read_text())["quantities"]
    return {q["group"]: 100 * q["estimate"] for q in quantities if q["name"] == "eer"}


def _peer_version(python: str | Path, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


# Import


def against_numpy_import() -> Measurement:
    statements = {
        "nothing": "pass",
        "ours": "import fastfair",
        "theirs": "import numpy",
        "in use": "import fastfair; fastfair.Comparisons",  # names are imported when first used
    }

    def fresh_interpreter(statement: str, folder: Path) -> Clocked:
        return lambda: run_command([sys.executable, "-c", statement], folder).seconds

    with _folder() as folder:
        seconds = take_turns({side: fresh_interpreter(code, folder) for side, code in statements.items()}, rounds=15)
    start = min(seconds["nothing"])
    in_use = min(seconds["in use"]) - start
    return Measurement(
        [value - start for value in seconds["ours"]],
        [value - start for value in seconds["theirs"]],
        "nothing to agree on",
        _versions(),
        remarks=f"without a bare interpreter's {1000 * start:.0f} ms; {1000 * in_use:.0f} ms with ff.Comparisons used",
        details={"bare_interpreter_s": start, "ours_s with Comparisons": in_use},
    )


ROWS = (
    Row(
        "sort",
        "EER and full ROC of 10,000,000 unsorted float32 scores, 2 threads",
        "np.sort of the scores, 1 thread",
        AtMost(1.2),
        against_sort,
    ),
    Row(
        "sklearn",
        "EER and full ROC of 10,000,000 unsorted float32 scores, 2 threads",
        "scikit-learn roc_curve, the faster of its two ways",
        AtLeast(8),
        against_sklearn,
    ),
    Row(
        "bob",
        "ROC of VoxCeleb1-H from raw arrays",
        "bob.measure.roc, 2,000 points",
        AtLeast(100),
        against_bob,
    ),
    Row(
        "bt4vt",
        "`fastfair demo`, start to end: all measures over the intersections of gender and nationality",
        "bt4vt SpeakerBiasTest.run_tests, as configured where it ships: gender, nationality and intersections",
        AtLeast(6),
        partial(against_bt4vt, [["Gender"], ["Nationality"], ["Gender", "Nationality"]]),
    ),
    Row(
        "bt4vt-less",
        "`fastfair demo`, start to end: all measures over the intersections of gender and nationality",
        "bt4vt SpeakerBiasTest.run_tests, intersections alone",
        AtLeast(6),
        partial(against_bt4vt, [["Gender", "Nationality"]]),
    ),
    Row("import", "import fastfair in a fresh interpreter", "import numpy", AtMost(2.5), against_numpy_import),
)
