"""Rows of curves: each function does one task with both tools, checks that they agree, and clocks
them in turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .clock import Clocked, clocked, take_turns
from .common import Trials, must_agree, scratch_folder, versions, voxceleb1_h
from .environments import BOB_MEASURE, PYEER, SCIKIT_LEARN
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtLeast, AtMostOrQuick, NoTarget

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
    must_agree(
        np.array_equal(curve.threshold[:-1], np.unique(scores)),
        "thresholds are not the distinct scores",
    )
    del curve
    seconds = take_turns(
        {
            "ours": clocked(lambda: _eer_and_roc(scores, mated)),
            "theirs": clocked(lambda: np.sort(scores)),
        },
        rounds=15,
    )
    return Measurement(
        seconds["ours"], seconds["theirs"], "thresholds are the distinct scores, sorted", versions()
    )


def against_sklearn() -> Measurement:
    scores, mated = _ten_million()
    with scratch_folder() as folder:
        np.save(folder / "scores.npy", scores)
        np.save(folder / "mated.npy", mated)
        with Worker(SCIKIT_LEARN.python(), "sklearn_roc.py", folder) as worker:
            for variant in ("every-point", "default"):
                worker.save(variant)
            _check_sklearn(ff.roc(ff.Comparisons(scores, mated)), folder)
            sides: dict[str, Clocked] = {"ours": clocked(lambda: _eer_and_roc(scores, mated))}
            sides |= {variant: worker.clocked(variant) for variant in ("every-point", "default")}
            seconds = take_turns(sides, rounds=5)
            about = versions(worker)
    best = {variant: min(seconds[variant]) for variant in ("every-point", "default")}
    faster = min(best, key=best.__getitem__)
    return Measurement(
        seconds["ours"],
        seconds[faster],
        "FMR and FNMR equal at every threshold",
        about,
        remarks=(
            f"every point {best['every-point']:.2f} s, fewer points {best['default']:.2f} s; the"
            " EER is ours alone"
        ),
        details={f"theirs_s {variant}": value for variant, value in best.items()},
    )


def _check_sklearn(curve: Any, folder: Path) -> None:
    # Theirs descends from a threshold that accepts nothing, ours ascends to one.
    fmr, tmr, threshold = np.load(folder / "every-point.npy")[:, ::-1]
    must_agree(threshold.size == len(curve), f"{threshold.size} thresholds against {len(curve)}")
    must_agree(np.array_equal(threshold[:-1], curve.threshold[:-1]), "thresholds")
    must_agree(_close(fmr, curve.fmr), "FMR")
    must_agree(_close(1 - tmr, curve.fnmr), "FNMR")
    fmr, tmr, threshold = np.load(folder / "default.npy")[:, ::-1]
    at = np.append(np.searchsorted(curve.threshold[:-1], threshold[:-1]), len(curve) - 1)
    must_agree(_close(fmr, curve.fmr[at]), "FMR with drop_intermediate")
    must_agree(_close(1 - tmr, curve.fnmr[at]), "FNMR with drop_intermediate")


def _close(theirs: NDArray[np.float64], ours: NDArray[np.float64]) -> bool:
    return np.allclose(theirs, ours, rtol=0, atol=1e-12)  # far below one comparison in ten million


# VoxCeleb1-H


def against_bob() -> Measurement:
    trials = Trials.of(voxceleb1_h())
    scores, mated = trials.scores, trials.mated
    n_mated = int(mated.sum())
    with scratch_folder() as folder:
        np.save(folder / "mated.npy", scores[mated])
        np.save(folder / "nonmated.npy", scores[~mated])
        with Worker(BOB_MEASURE.python(), "bob_roc.py", folder) as worker:
            first = worker.clocked("roc")()  # compiles, in every process anew
            worker.save("roc")
            fmr, fnmr = np.load(folder / "roc.npy")
            curve = ff.roc(ff.Comparisons(scores, mated))

            def points(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
                """Code rates as counts, exactly: one integer a point of the curve."""
                errors = np.rint(x * (mated.size - n_mated)), np.rint(y * n_mated)
                return (errors[0] * scores.size + errors[1]).astype(np.int64)

            must_agree(
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
            about = versions(worker)
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"its {fmr.size} points lie on our curve",
        about,
        remarks=(
            f"ours at all {len(curve)} thresholds, theirs at {fmr.size}; its first call in a"
            f" process {first:.1f} s"
        ),
        details={"theirs_s first call": first},
    )


_PYEER_FMRS = (0.001, 0.01, 0.05)  # those it reports


def against_pyeer() -> Measurement:
    trials = Trials.of(voxceleb1_h())
    scores, mated = trials.scores, trials.mated

    def ours() -> tuple[ff.Comparisons, Any, Any, list[float]]:
        comparisons, eer, curve = _eer_and_roc(scores, mated)
        return (
            comparisons,
            eer,
            curve,
            [ff.rates(comparisons, ff.at_fmr(fmr)).fnmr for fmr in _PYEER_FMRS],
        )

    _, eer, curve, fnmrs = ours()
    with scratch_folder() as folder:
        np.save(folder / "mated.npy", scores[mated])
        np.save(folder / "nonmated.npy", scores[~mated])
        with Worker(PYEER.python(), "pyeer_stats.py", folder) as worker:
            worker.save("curve")
            threshold, fmr, fnmr = np.load(folder / "curve.npy")
            must_agree(np.array_equal(threshold, curve.threshold[:-1]), "thresholds")
            must_agree(_close(fmr, curve.fmr[:-1]), "FMR")
            must_agree(_close(fnmr, curve.fnmr[:-1]), "FNMR")
            worker.save("values")
            their_eer, *theirs = np.load(folder / "values.npy").tolist()
            # Of the two thresholds about the crossing theirs takes the one with the smaller sum of
            # rates.
            one = 1 / min(mated.sum(), (~mated).sum())
            must_agree(
                abs(their_eer - eer.value) <= one, f"EER {their_eer:.8g} against {eer.value:.8g}"
            )
            must_agree(
                np.allclose(theirs, fnmrs, rtol=0, atol=1e-12), f"FNMR {theirs} against {fnmrs}"
            )
            seconds = take_turns(
                {"ours": clocked(ours), "theirs": worker.clocked("stats")}, rounds=5
            )
            about = versions(worker)
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"FMR and FNMR at every threshold, FNMR at {len(fnmrs)} FMRs; EERs"
        f" {abs(their_eer - eer.value):.1g} apart",
        about,
        remarks=(
            "the area under the curve, Youden's index, Matthews' coefficient and d' come with"
            " theirs alone"
        ),
    )


ROWS = (
    Row(
        "sort",
        "EER and full ROC of 10,000,000 unsorted float32 scores, 2 threads",
        "np.sort of the scores, 1 thread",
        Against.LIMIT,
        AtMostOrQuick(1.0, quick=45e-3, wider=1.5),
        against_sort,
        shortfall=(
            "of the processor time, a sixth sorts; half writes the 200 MB of the curve, and a quarter"
            " takes mated and non-mated scores apart"
        ),
    ),
    Row(
        "sklearn",
        "EER and full ROC of 10,000,000 unsorted float32 scores, 2 threads",
        "scikit-learn roc_curve, the faster of its two ways",
        Against.TOOL,
        AtLeast(8),
        against_sklearn,
    ),
    Row(
        "bob",
        "ROC of VoxCeleb1-H from raw arrays",
        "bob.measure.roc, 2,000 points",
        Against.TOOL,
        AtLeast(100),
        against_bob,
        shortfall=(
            "theirs is clocked warm: its first call compiles and takes seconds; ours is mostly the"
            " check, the keys and the sort of 550,894 scores"
        ),
    ),
    Row(
        "pyeer",
        "EER, full ROC and FNMR at 3 FMRs of VoxCeleb1-H from raw arrays, 2 threads",
        "pyeer get_eer_stats, 1 thread",
        Against.TOOL,
        NoTarget(),
        against_pyeer,
    ),
)
