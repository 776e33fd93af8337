"""Rows of decisions: what those of log-likelihood ratios cost, and error rates at thresholds found
on other data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair.calibration.evaluate_calibration import Calibration
from fastfair.thresholds import AppliedThreshold

from .clock import clocked, take_turns
from .common import Trials, must_agree, scratch_folder, versions, voxceleb1_h
from .environments import BOB_MEASURE
from .numpy_bootstrap import NumpyBootstrap
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtLeast, in_units

THREADS = 2
_N = 2000
_APPLICATION = ff.Costs(0.01)
_THEIR_N, _LEVEL = 20, 1e-3


class NumpyCosts:
    """The actual DCF and Cllr of replicates of subjects, whose costs and decisions are computed
    once."""

    def __init__(self, trials: Trials, n_subjects: int) -> None:
        self._n_subjects, self._rng = n_subjects, np.random.default_rng(0)
        self._classes = []
        for mated in (True, False):
            rows = np.flatnonzero(trials.mated == mated)
            scores = trials.scores[rows].astype(np.float64)
            wrong = (scores >= _APPLICATION.threshold) != mated
            bits = np.logaddexp(0, -scores if mated else scores) / np.log(2)
            probe = None if mated else trials.probe[rows]
            self._classes.append((bits, wrong, trials.reference[rows], probe))

    def costs(self, of_subject: NDArray[np.int64]) -> tuple[float, float]:
        """Compute both from the number of times that each subject is drawn."""
        p, cllr, cost = _APPLICATION.p_target, 0.0, 0.0
        for share, (bits, wrong, reference, probe) in zip((p, 1 - p), self._classes, strict=True):
            weights = (
                of_subject[reference]
                if probe is None
                else of_subject[reference] * of_subject[probe]
            )
            total = weights.sum()
            cllr += float(weights @ bits) / total / 2
            cost += share * weights[wrong].sum() / total
        return cost / min(p, 1 - p), cllr

    def replicate(self) -> tuple[float, float]:
        drawn = self._rng.integers(self._n_subjects, size=self._n_subjects)
        return self.costs(np.bincount(drawn, minlength=self._n_subjects))


def costs_against_bob() -> Measurement:
    """Hold a replicate of what decisions cost against one by a tool, from scores that are drawn
    already."""
    trials = Trials.of(ff.calibrate(voxceleb1_h(), rng=0).comparisons)
    who = trials.reference, trials.probe
    ratios = ff.Comparisons(trials.scores, trials.mated, *who, score_kind="log-likelihood-ratio")
    n_subjects = int(np.max(who)) + 1
    numpy = NumpyCosts(trials, n_subjects)

    def ours() -> Calibration:
        return ff.evaluate_calibration(
            ratios, _APPLICATION, n_resamples=_N, rng=0, n_threads=THREADS
        )

    calibration = ours()
    found = calibration.cost(_APPLICATION)
    wanted = np.array([found.actual, calibration.ratio_costs[0].cllr, found.fmr, found.fnmr])
    with scratch_folder() as folder:
        np.save(folder / "mated.npy", trials.scores[trials.mated])
        np.save(folder / "nonmated.npy", trials.scores[~trials.mated])
        np.save(folder / "threshold.npy", found.threshold)
        with Worker(BOB_MEASURE.python(), "bob_calibration.py", folder) as worker:
            worker.save("costs")
            cllr, fmr, fnmr = np.load(folder / "costs.npy").tolist()
            actual, by_numpy = numpy.costs(np.ones(n_subjects, np.int64))
            theirs = np.array([actual, cllr, fmr, fnmr])
            must_agree(np.allclose(theirs, wanted, rtol=1e-12), f"{theirs} against {wanted}")
            must_agree(abs(by_numpy / cllr - 1) < 1e-12, "Cllr by NumPy")
            sides = {
                "ours": clocked(ours),
                "theirs": worker.clocked("costs"),
                "numpy": clocked(numpy.replicate),
            }
            seconds = take_turns(sides, rounds=5)
            about = versions(worker)
    each, by_numpy = min(seconds["ours"]) / _N, min(seconds["numpy"])
    return Measurement(
        [value / _N for value in seconds["ours"]],
        seconds["theirs"],
        "actual DCF, Cllr, FMR and FNMR within 1e-12",
        about,
        remarks=(
            "ours has minDCF, min Cllr, costs at six other thresholds and intervals as well; NumPy"
            " with weights of subjects, costs of scores computed before, takes"
            f" {in_units(by_numpy)}: {by_numpy / each:.0f} x"
        ),
        details={"theirs_s NumPy": by_numpy},
    )


def _of_half(trials: Trials, half: int) -> Trials:
    """Keep the trials of every second subject."""
    kept = (trials.reference % 2 == half) & (trials.probe % 2 == half)
    return Trials(**{name: column[kept] for name, column in vars(trials).items()})


def thresholds_against_numpy() -> Measurement:
    """Hold rates at a threshold found on other subjects, and their intervals, against replicates of
    both sets."""
    trials = Trials.of(voxceleb1_h())
    n_subjects = int(max(trials.reference.max(), trials.probe.max())) + 1
    halves = [_of_half(trials, half) for half in (0, 1)]
    development, evaluation = (half.without_groups() for half in halves)
    numpy = [NumpyBootstrap(half, n_subjects) for half in halves]
    rng = np.random.default_rng(0)

    def ours() -> AppliedThreshold:
        return ff.apply_threshold(evaluation, ff.at_fmr(_LEVEL), development)

    def drawn() -> tuple[float, float]:
        threshold = numpy[0].threshold(numpy[0].draw(rng), _LEVEL)
        return numpy[1].rates_at(numpy[1].draw(rng), threshold)

    found = ours()
    once = np.ones(n_subjects, np.int32)
    threshold = numpy[0].threshold(once, _LEVEL)
    must_agree(threshold == found.threshold, f"threshold {threshold} against {found.threshold}")
    theirs, wanted = (
        numpy[1].rates_at(once, threshold),
        (found.rate("fnmr").estimate, found.rate("fmr").estimate),
    )
    must_agree(np.allclose(theirs, wanted, rtol=1e-12), f"FNMR and FMR {theirs} against {wanted}")
    spread = np.std([drawn() for _ in range(200)], axis=0)
    widths = [found.rate(name).high - found.rate(name).low for name in ("fnmr", "fmr")]
    each = clocked(lambda: [drawn() for _ in range(_THEIR_N)])
    seconds = take_turns(
        {"ours": clocked(ours), "theirs": lambda: each() * _N / _THEIR_N}, rounds=5
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "the threshold; FNMR and FMR within 1e-12",
        versions(),
        remarks=(
            f"theirs is timed over {_THEIR_N} replicates, ours has closed forms; our 95 % intervals"
            " of FNMR and FMR are"
            f" {' and '.join(f'{w / s:.1f}' for w, s in zip(widths, spread, strict=True))} standard"
            " deviations of their replicates wide, in which pairs of subjects vary more (product"
            " weights)"
        ),
    )


ROWS = (
    Row(
        "calibration",
        "a replicate of actual and minimum DCF and Cllr of log-likelihood ratios, VoxCeleb1-H,"
        " subjects drawn: a 2,000th of `ff.evaluate_calibration`, 2 threads",
        "bob.measure cllr and farfrr at the Bayes threshold, of trials that are drawn already, 1"
        " thread",
        Against.TOOL,
        AtLeast(50),
        costs_against_bob,
    ),
    Row(
        "applied-threshold",
        "rates at the threshold that other subjects have at FMR 0.001, halves of VoxCeleb1-H, with"
        " intervals: `ff.apply_threshold`",
        "NumPy: 2,000 replicates of both halves, sorted before, the threshold found and applied in"
        " each, 1 thread",
        Against.NUMPY,
        AtLeast(50),
        thresholds_against_numpy,
    ),
)
