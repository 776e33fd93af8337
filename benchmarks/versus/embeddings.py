"""Rows of embeddings: bands against the bare product of matrices, against the paper's algorithm,
and how they grow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

import fastfair as ff
from benchmarks._data import embeddings_of_subjects, vectors_of_subjects
from fastfair._lib import seeds
from fastfair.bands.curve import FairnessBand, RocBand
from fastfair.resampling.units import Units
from fastfair.synthesis.coverage import CoverageExperiment

from .clock import clocked, take_turns
from .common import must_agree, scratch_folder, versions
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtLeast, AtMost, AtMostSeconds, in_units

THREADS = 2
_TILE = 2048
_LEVELS = 24
SAMPLES = 10  # of a subject
_SIZES = (5_000, 10_000, 20_000, 50_000, 100_000)
REPLICATES = (64, 1024, 16_384)
_DIM = 512
_LARGEST_MB = 1500
_MAPPED, _MAPPED_MB = 200_000, 2000


def bare_product(
    first: NDArray[np.float32], second: NDArray[np.float32] | None = None
) -> Callable[[], None]:
    """Make every similarity once and keep none: what no exact statistic of pairs can do without.

    first, second: the vectors of two sets; without `second`, those of one, every two of which are
    compared.
    """
    others = first if second is None else second
    tiles = [
        (i, j)
        for i in range(0, len(first), _TILE)
        for j in range(i if second is None else 0, len(others), _TILE)
    ]

    def work() -> None:
        buffers = [np.empty((_TILE, _TILE), np.float32) for _ in range(THREADS)]

        def tile(at: tuple[int, int]) -> None:
            rows, columns = first[at[0] : at[0] + _TILE], others[at[1] : at[1] + _TILE]
            buffer = buffers.pop()
            np.matmul(rows, columns.T, out=buffer[: len(rows), : len(columns)])
            buffers.append(buffer)

        with threadpool_limits(1, "blas"), ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(tile, tiles))

    return work


def blas_product(
    first: NDArray[np.float32], second: NDArray[np.float32] | None = None
) -> Callable[[], None]:
    """Do the same a strip at a time, with the threads of the library of matrix products."""
    others = first if second is None else second

    def work() -> None:
        with threadpool_limits(THREADS, "blas"):
            for i in range(0, len(first), _TILE):
                first[i : i + _TILE] @ others[i if second is None else 0 :].T

    return work


def against_product(
    n: int, highest: float, *, groups: int = 0, n_references: int = 0, rounds: int = 5
) -> Measurement:
    """Hold a band against the product; with references, these many of each subject are compared
    with its others."""
    e = embeddings_of_subjects(n, SAMPLES, _DIM, groups=groups)
    sets = (e.vectors,)
    if n_references:
        is_probe = np.arange(n) % SAMPLES >= n_references
        e = ff.Embeddings(e.vectors, e.subject, role=np.where(is_probe, "probe", "reference"))
        sets = tuple(np.ascontiguousarray(e.vectors[part]) for part in (~is_probe, is_probe))
    levels = np.geomspace(1e-6, highest, _LEVELS)

    def ours() -> RocBand | FairnessBand:
        settings: dict[str, Any] = {"n_resamples": 1000, "rng": 0, "n_threads": THREADS}
        if groups:
            return ff.fairness_band(e, "max_geomean_ratio", "fmr", levels, **settings)
        return ff.roc_band(e, levels, **settings)

    band = ours()
    exact = _fmr_at(e, float(band.threshold[-1]))
    # The product of matrices rounds pairs at the threshold to either side of it.
    must_agree(abs(exact - highest) <= 0.001 * highest, f"FMR at the last threshold is {exact!r}")
    sides = {
        "ours": clocked(ours),
        "tiles": clocked(bare_product(*sets)),
        "blas": clocked(blas_product(*sets)),
    }
    seconds = take_turns(sides, rounds=rounds)
    theirs, slower = sorted(("tiles", "blas"), key=lambda side: min(seconds[side]))
    return Measurement(
        seconds["ours"],
        seconds[theirs],
        "FMR at the last threshold counted over all pairs",
        versions(),
        remarks=(
            f"theirs in {theirs}, as in {slower} it takes {in_units(min(seconds[slower]))}; kernels"
            f" of the product: {_kernels_of_products()}"
        ),
    )


def _kernels_of_products() -> str:
    """Name the library of matrix products, and for which processor its kernels are."""
    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return ", ".join(
        f"{library['internal_api']} {library.get('architecture', '')}".strip() for library in found
    )


def _fmr_at(e: ff.Embeddings, threshold: float) -> float:
    """Count non-mated pairs at or above a threshold, every subject having as many vectors of each
    role."""
    all_rows = np.arange(len(e))
    rows, columns = (
        (all_rows,) * 2 if e.is_probe is None else (all_rows[~e.is_probe], all_rows[e.is_probe])
    )
    accepted = 0
    for start in range(0, rows.size, _TILE):
        some = rows[start : start + _TILE]
        similarity = e.vectors[some] @ e.vectors[columns].T
        same = e.subject[some, None] == e.subject[columns]
        accepted += int(((similarity >= threshold) & ~same).sum())
    return accepted / (e.n_nonmated * (2 if e.is_probe is None else 1))


def against_listed_pairs() -> Measurement:
    """Hold an evaluation that keeps the pairs near the errors against one of a list of all
    pairs."""
    e = embeddings_of_subjects(6000, SAMPLES, 128, groups=4)
    settings: dict[str, Any] = {"metrics": [], "n_resamples": 2000, "rng": 0, "n_threads": THREADS}
    at, measures = [ff.at_fmr(1e-3), ff.at_fmr(1e-2)], ["garbe", "fdr"]
    sides = {
        "ours": lambda: ff.evaluate(e.scanned(fmr=0.1), at, measures, **settings),
        "theirs": lambda: ff.evaluate(e.comparisons(), at, measures, **settings),
    }
    limits = [
        np.array([(q.estimate, q.low, q.high) for q in side().quantities], float)
        for side in sides.values()
    ]
    must_agree(np.array_equal(*limits, equal_nan=True), "estimates and limits")
    seconds = take_turns({name: clocked(side) for name, side in sides.items()}, rounds=3)
    return Measurement(
        seconds["ours"], seconds["theirs"], "estimates and limits to the last bit", versions()
    )


def comparison_against_listed_pairs() -> Measurement:
    """Hold a comparison of two systems that keeps the pairs near the errors against one of lists of
    all pairs."""
    e = embeddings_of_subjects(6000, SAMPLES, 128, groups=2)
    noise = np.random.default_rng(0).normal(0, 0.02, e.vectors.shape).astype(np.float32)
    group = np.array(e.groups, object)[e.subject_group[e.subject]]
    other = ff.Embeddings(e.vectors + noise, e.subject, group)
    settings: dict[str, Any] = {"metrics": [], "n_resamples": 2000, "rng": 0, "n_threads": THREADS}
    at, measures = ff.at_fmr(1e-3), ["garbe", "fdr"]
    sides = {
        "ours": lambda: ff.compare(
            e.scanned(fmr=0.05), other.scanned(fmr=0.05), at, measures, **settings
        ),
        "theirs": lambda: ff.compare(
            e.comparisons(), other.comparisons(), at, measures, **settings
        ),
    }
    found = [repr(side().contrasts) for side in sides.values()]
    must_agree(found[0] == found[1], "contrasts")
    seconds = take_turns({name: clocked(side) for name, side in sides.items()}, rounds=3)
    return Measurement(seconds["ours"], seconds["theirs"], "contrasts to the last bit", versions())


def against_algorithm_1() -> Measurement:
    """Hold a replicate against one made by resampling vectors and sorting what their similarities
    give."""
    e = embeddings_of_subjects(2000, SAMPLES, _DIM)
    levels, n_resamples = np.geomspace(1e-5, 1e-2, _LEVELS), 1000
    similarity = e.vectors @ e.vectors.T
    upper = np.triu_indices(len(e), 1)

    def replicate(drawn: NDArray[np.intp]) -> NDArray[np.float64]:
        of_pairs = similarity[drawn][:, drawn][upper]
        same = (e.subject[drawn][:, None] == e.subject[drawn])[upper]
        itself = (drawn[:, None] == drawn)[upper]
        nonmated, mated = np.sort(of_pairs[~same]), np.where(itself, np.inf, of_pairs)[same]
        allowed = (levels * (1 + 1e-9) * nonmated.size).astype(int)
        thresholds = np.nextafter(nonmated[nonmated.size - 1 - allowed], np.float32(np.inf))
        return (mated < thresholds[:, None]).mean(axis=1)

    def ours() -> RocBand:
        return ff.roc_band(
            e, levels, unit="sample", n_resamples=n_resamples, rng=0, n_threads=THREADS
        )

    units = Units.of_vectors(e, "sample")
    weights = units.new_weights()
    units.draw(0, seeds.stream(0)[0], weights)
    replicates = ours().replicates
    for r in range(2):
        apart = np.abs(
            replicate(np.repeat(np.arange(len(e)), weights[:-1, r])) - replicates[r]
        ).max()
        must_agree(
            apart < 2e-3, f"replicate {r} lies up to {apart:g} apart"
        )  # products round by their shape
    drawn = (
        np.random.default_rng(0).integers(0, SAMPLES, len(e))
        + np.arange(len(e)) // SAMPLES * SAMPLES
    )
    seconds = take_turns(
        {"ours": clocked(ours), "theirs": clocked(partial(replicate, drawn))}, rounds=5
    )
    return Measurement(
        [value / n_resamples for value in seconds["ours"]],
        seconds["theirs"],
        "two replicates with the same draws within 2e-3",
        versions(),
        remarks="ours with the product of matrices, theirs without",
    )


def growth() -> Measurement:
    found = {n: _in_a_process(n, "vectors") for n in _SIZES}
    over_replicates = _in_a_process(_SIZES[1], "replicates")
    ours, bare, peaks = ({n: found[n][k] for n in _SIZES} for k in range(3))
    replicates_s, replicates_peak = over_replicates
    slope = float(np.polyfit(np.log(_SIZES), np.log(list(ours.values())), 1)[0])
    last = _SIZES[-1]
    header = ("vectors", "ours", "bare product", "ours / bare", "peak memory")
    body = [
        (
            f"{n:,}",
            in_units(ours[n]),
            in_units(bare[n]),
            f"{ours[n] / bare[n]:.2f}",
            f"{peaks[n] / 1e6:.0f} MB",
        )
        for n in _SIZES
    ]
    each = (replicates_s[2] - replicates_s[1]) / (REPLICATES[2] - REPLICATES[1])
    return Measurement(
        [ours[last]],
        [bare[last]],
        "nothing to agree on",
        versions(),
        also_met=peaks[last] < _LARGEST_MB * 1e6 and slope <= 2.1,
        remarks=(
            f"peak memory of the process {peaks[last] / 1e6:.0f} MB, aim: {_LARGEST_MB} MB; log-log"
            f" slope {slope:.2f}; {_SIZES[1]:,} vectors with"
            f" {', '.join(f'{r:,}' for r in REPLICATES)} replicates:"
            f" {', '.join(in_units(seconds) for seconds in replicates_s)}, so {in_units(each)} a"
            " replicate"
        ),
        details={
            "vectors": _SIZES,
            "seconds": [*ours.values()],
            "bare_product_seconds": [*bare.values()],
            "peak_bytes": [*peaks.values()],
            "file_bytes": [4 * _DIM * n for n in _SIZES],
            "replicated_vectors": _SIZES[1],
            "replicates": REPLICATES,
            "replicates_seconds": replicates_s,
            "replicates_peak_bytes": replicates_peak,
        },
        table=(header, *body),
    )


def of_mapped_file() -> Measurement:
    ours, bare, peak = _in_a_process(_MAPPED, "mapped")
    return Measurement(
        [ours],
        [bare],
        "nothing to agree on",
        versions(),
        also_met=peak < _MAPPED_MB * 1e6,
        remarks=(
            f"peak memory of the process {peak / 1e6:.0f} MB, in which the"
            f" {4 * _DIM * _MAPPED / 1e6:.0f} MB of the file count, too; aim: {_MAPPED_MB} MB"
        ),
        details={"vectors": _MAPPED, "peak_bytes": peak, "file_bytes": 4 * _DIM * _MAPPED},
    )


def _in_a_process(n: int, what: str) -> list[Any]:
    with scratch_folder() as folder:
        np.save(folder / "vectors.npy", vectors_of_subjects(n, SAMPLES, _DIM))
        with Worker(Path(sys.executable), "embeddings_growth.py", folder) as worker:
            worker.save(what)
            return np.load(folder / f"{what}.npy").tolist()


def coverage_experiment() -> Measurement:
    settings: dict[str, Any] = {"n_samples": SAMPLES, "rng": 0}
    ff.synthesis.coverage_experiment(2, 64, **settings)  # compiles
    found: list[CoverageExperiment] = []
    taken = clocked(lambda: found.append(ff.synthesis.coverage_experiment(1000, 500, **settings)))()
    (experiment,) = found
    apart = np.abs(experiment.coverage[0] - experiment.confidence_level[:, None])
    furthest = f"within {100 * apart.max():.1f} points of nominal"
    must_agree(
        bool((apart <= 0.03 + 2 * experiment.standard_error[0]).all()),
        f"recentered intervals hold {furthest}",
    )
    return Measurement(
        [taken],
        [],
        f"recentered intervals at FMR 0.001 and 0.01 hold the truth {furthest}",
        versions(),
    )


ROWS = (
    Row(
        "embeddings",
        "ROC band over 20,000 vectors x 512, 10 a subject, 24 FMRs from 1e-6 to 1e-2, 1,000"
        " replicates, 2 threads",
        "the bare product of the same matrices, every pair once, float32, 2 threads",
        Against.LIMIT,
        AtMost(0.8),
        partial(against_product, 20_000, 1e-2),
        shortfall=(
            "set for processors with VNNI, where 0.6 was measured; with AVX2 alone products of"
            " 8-bit numbers are as slow as those of float32"
        ),
    ),
    Row(
        "embeddings-prefilter",
        "ROC band over 100,000 vectors x 512, 10 a subject, 24 FMRs from 1e-6 to 1e-4, 1,000"
        " replicates, 2 threads",
        "the bare product of the same matrices, every pair once, float32, 2 threads",
        Against.LIMIT,
        AtMost(0.45),
        partial(against_product, 100_000, 1e-4, rounds=2),
    ),
    Row(
        "embeddings-gallery",
        "ROC band of 12,000 references with 28,000 probes x 512, 4,000 subjects, 24 FMRs from 1e-6"
        " to 1e-2, 1,000 replicates, 2 threads",
        "the bare product of the two matrices, float32, 2 threads",
        Against.LIMIT,
        AtMost(1.5),
        partial(against_product, 40_000, 1e-2, n_references=3),
        shortfall=(
            "a hundredth of all pairs is taken out of the products, which weighs more where"
            " products are quick"
        ),
    ),
    Row(
        "embeddings-groups",
        "the same with FMR and FNMR of 4 groups and FMRs up to 1e-1",
        "the bare product of the same matrices, every pair once, float32, 2 threads",
        Against.LIMIT,
        AtMost(2.5),
        partial(against_product, 20_000, 1e-1, groups=4),
        shortfall=(
            "a tenth of all pairs is taken out of the products, which weighs more where products"
            " are quick"
        ),
    ),
    Row(
        "embeddings-evaluation",
        "evaluate 6,000 vectors x 128 in 4 groups, 18 million pairs, at two FMRs with two measures,"
        " 2,000 replicates, through `Embeddings.scanned`, 2 threads",
        "the same from a list of all pairs, `Embeddings.comparisons`",
        Against.OURS,
        AtMost(1),
        against_listed_pairs,
    ),
    Row(
        "embeddings-compare",
        "compare two systems by 6,000 vectors x 128 each in 2 groups, 18 million pairs, at an FMR"
        " with two measures, 2,000 replicates, through `Embeddings.scanned`, 2 threads",
        "the same from lists of all pairs, `Embeddings.comparisons`",
        Against.OURS,
        AtMost(0.5),
        comparison_against_listed_pairs,
    ),
    Row(
        "embeddings-algorithm",
        "a replicate of the ROC of 2,000 vectors x 512 at 24 FMRs",
        "NumPy: resample, index the similarity matrix, sort (algorithm 1), 1 thread",
        Against.NUMPY,
        AtLeast(1000),
        against_algorithm_1,
    ),
    Row(
        "embeddings-growth",
        "ROC band over 100,000 vectors x 512 in a mapped file, 24 FMRs from 1e-6 to 1e-3, 1,000"
        " replicates, 2 threads",
        "the bare product of the same matrices, every pair once, float32, 2 threads",
        Against.LIMIT,
        AtMost(1.7),
        growth,
    ),
    Row(
        "embeddings-mapped",
        "ROC band over 200,000 vectors x 512 in a mapped file, 24 FMRs from 1e-6 to 1e-4, 1,000"
        " replicates, 2 threads",
        "the bare product of the same matrices, every pair once, float32, 2 threads",
        Against.LIMIT,
        AtMost(1.5),
        of_mapped_file,
    ),
    Row(
        "coverage-experiment",
        "coverage_experiment: 1,000 data sets of 200 subjects x 10 vectors x 64, 500 replicates"
        " each",
        "",
        Against.NOTHING,
        AtMostSeconds(300),
        coverage_experiment,
    ),
)
