"""Search galleries, compare vectors and measure fairness at random, and hold results against plain
loops.

Matrices, rows, candidate lists, vectors and templates, as arrays and as files, of every type of
numbers, with ties, scores of -inf, failures and people who search twice. Allowed are the library's
own errors, and results with these counts, whose intervals hold their estimates and are never
narrower at a higher level. A threshold that is shown and typed again gives the same counts.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import math
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from calls import TimeUp, limited

import fastfair as ff
from fastfair._lib.text import typed
from fastfair.errors import FastfairError, FastfairWarning

ALLOWED = ("refused", "right")
TYPES = (np.float16, np.float32, np.float64, np.int8, np.int64)
LEVELS = (0.5, 0.9, 0.99)
FIRST = 100  # draws, in which kernels may be compiled
SLACK = 1e-9  # of limits that are computed in floating point


@dataclasses.dataclass(frozen=True)
class Draw:
    """Searches, and what is asked of them.

    Attributes
    ----------
    scores : (searches, templates) ndarray
        Of the type that is given to the library; NaN where a comparison failed.
    probe, enrolled, group : list
        People, and the groups of probes, or None.
    source : {"matrix", "rows", "lists", "vectors"}
        How they are given.
    in_files : bool
        Whether files hold them.
    """

    scores: np.ndarray
    probe: list[int]
    enrolled: list[int]
    group: list[str] | None
    source: str
    length: int
    failures: str
    at: ff.OperatingPoint
    rank: int | None
    gallery: str
    vectors: tuple[np.ndarray, np.ndarray] | None
    in_files: bool


def drawn_scores(rng: np.random.Generator, shape: tuple[int, int], source: str) -> np.ndarray:
    """Draw scores of some type: with few values, of two decimals, or all distinct."""
    dtype = TYPES[rng.integers(len(TYPES))]
    kind = rng.integers(4)
    if np.issubdtype(dtype, np.integer) or kind == 0:
        return rng.integers(-2, 4, shape).astype(dtype)
    values = rng.uniform(-1, 1, shape) if kind < 3 else np.full(shape, 0.7)
    scores = np.round(values, 2 if kind == 1 else 12).astype(dtype)
    if source in ("matrix", "rows") and rng.random() < 0.4:
        scores[rng.random(shape) < 0.15] = -np.inf
        scores[rng.integers(shape[0])] = -np.inf
    return scores


def drawn(rng: np.random.Generator) -> Draw:
    """Draw searches and a question."""
    source = str(rng.choice(["matrix", "matrix", "rows", "lists", "lists", "vectors"]))
    n_enrolled = int(rng.integers(1 + (source == "vectors"), 7))
    n = int(
        rng.integers(1 + (source == "vectors"), 9) if rng.random() < 0.8 else rng.integers(10, 60)
    )
    enrolled = rng.permutation(20)[:n_enrolled].tolist()
    if source in ("matrix", "vectors") and rng.random() < 0.3:
        enrolled += [enrolled[int(k)] for k in rng.integers(0, n_enrolled, 2)]
    probe = [int(k) for k in rng.choice([*enrolled, 31, 32, 33], n)]
    vectors = None
    if source == "vectors":
        kind = rng.choice([np.float32, np.float64])
        vectors = tuple(rng.integers(-3, 4, (m, 3)).astype(kind) for m in (n, len(enrolled)))
        scores = vectors[0] @ vectors[1].T  # exact, as all numbers are small and whole
    else:
        scores = drawn_scores(rng, (n, len(enrolled)), source)
    failures = "error"
    if source in ("matrix", "rows") and scores.dtype.kind == "f" and rng.random() < 0.3:
        failures = str(rng.choice(["error", "exclude", "non-match"]))
        scores = np.where(rng.random(scores.shape) < 0.2, scores.dtype.type(np.nan), scores)
        scores[rng.integers(n)] = np.nan
    finite = scores[np.isfinite(scores)].tolist() or [0.0]
    value = float(rng.choice(finite)) if rng.random() < 0.5 else round(float(rng.choice(finite)), 2)
    at = [
        ff.at_threshold(value),
        ff.at_rank(int(rng.integers(1, 9))),
        ff.at_fpir(round(float(rng.uniform(0, 0.9)), 2)),
        ff.at_fnir(round(float(rng.uniform(0, 0.9)), 2)),
    ][rng.integers(4)]
    return Draw(
        scores,
        probe,
        enrolled,
        rng.choice(list("fm"), n).tolist() if rng.random() < 0.3 else None,
        source,
        int(rng.integers(1, len(enrolled) + 1)),
        failures,
        at,
        int(rng.integers(1, 5)) if rng.random() < 0.3 else None,
        str(rng.choice(["drawn", "fixed"])),
        vectors,
        source in ("matrix", "lists") and bool(rng.random() < 0.4),
    )


def from_files(draw: Draw, rng: np.random.Generator) -> ff.Searches:
    """Write the searches to files of some kind, and read them."""
    with tempfile.TemporaryDirectory() as folder:
        return _read(draw, rng, Path(folder))


def _read(draw: Draw, rng: np.random.Generator, folder: Path) -> ff.Searches:
    n, width = draw.scores.shape
    suffix = str(rng.choice(["csv", "tsv", "parquet"]))

    def write(name: str, columns: dict[str, Any]) -> Path:
        path = folder / f"{name}.{suffix}"
        frame = pl.DataFrame(columns)
        if suffix == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_csv(path, separator="," if suffix == "csv" else "\t")
        return path

    about: dict[str, Any] = {
        "policies": ff.Policies(failures=draw.failures, self_comparisons="keep"),
        "groups": None if draw.group is None else ["sex"],
    }
    of_searches = {"search": [f"s{k}" for k in range(n)], "probe": draw.probe}
    of_searches |= {} if draw.group is None else {"sex": draw.group}
    if draw.source == "matrix":
        gallery = {"template": [f"t{k}" for k in range(width)], "person": draw.enrolled}
        np.save(folder / "scores.npy", draw.scores.astype(np.float64))
        layout = ff.SearchLayout(gallery_subject="person", candidates=max(2, draw.length))
        return ff.read_searches(
            folder / "scores.npy",
            searches=write("searches", of_searches),
            enrolled=write("gallery", gallery),
            layout=layout,
            templates="best" if len(set(draw.enrolled)) < width else "refuse",
            **about,
        )
    scores = draw.scores.astype(np.float64)
    order = np.argsort(-scores + 1e-12 * rng.random((n, width)), axis=1)[:, : draw.length]
    listed = np.take_along_axis(scores, order, 1)
    tables = {"enrolled": write("gallery", {"person": draw.enrolled})}
    kind, length = str(rng.choice(["rows", "faiss", "nist"])), draw.length
    if kind == "faiss":
        if rng.random() < 0.5:
            order = np.append(order, np.full((n, 1), -1), 1)
            listed = np.append(listed, np.full((n, 1), np.finfo(np.float32).min), 1)
        np.savez(folder / "lists.npz", D=listed, I=order)
        return ff.read_searches(
            folder / "lists.npz",
            searches=write("searches", of_searches),
            layout=ff.SearchLayout(length=length),
            **tables,
            **about,
        )
    row, place = np.indices(order.shape).reshape(2, -1)
    shuffled = rng.permutation(row.size) if rng.random() < 0.5 else np.arange(row.size)
    row, place = row[shuffled], place[shuffled]
    people = np.array(draw.enrolled)[order[row, place]]
    if kind == "nist":
        lines = ["searchId candidateRank searchRetCode isAssigned templateId score"]
        lines += [
            f"s{k} {p} 0 1 {who} {score!r}"
            for k, p, who, score in zip(
                row, place, people, listed[row, place].tolist(), strict=True
            )
        ]
        lines += [f"s0 {length} 0 0 x -1"] * bool(rng.random() < 0.5)
        path = folder / "log.txt"
        path.write_text("\n".join(lines) + "\n")
        of_searches["searchId"] = of_searches.pop("search")
        tables["searches"] = write("searches", of_searches)
    else:
        columns: dict[str, Any] = {
            "search": [f"s{k}" for k in row],
            "candidate": people,
            "score": listed[row, place],
        }
        columns |= {"rank": place + 1} if rng.random() < 0.5 else {}
        if rng.random() < 0.5:
            tables["searches"] = write("searches", of_searches)
        else:
            columns |= {
                name: [values[k] for k in row]
                for name, values in of_searches.items()
                if name != "search"
            }
        path = write("log", columns)
    return ff.read_searches(path, layout=ff.SearchLayout(length=length), **tables, **about)


def searches_of(draw: Draw, rng: np.random.Generator) -> ff.Searches:
    """Give the searches to the library."""
    if draw.in_files:
        return from_files(draw, rng)
    templates = "best" if len(set(draw.enrolled)) < len(draw.enrolled) else "refuse"
    policies = ff.Policies(failures=draw.failures, self_comparisons="keep")
    if draw.vectors is not None:
        return ff.Searches.from_vectors(
            draw.vectors[0],
            draw.probe,
            draw.vectors[1],
            draw.enrolled,
            group=draw.group,
            similarity="inner_product",
            templates=templates,
            policies=policies,
            n_threads=1,
        )
    if draw.source == "matrix":
        return ff.Searches.from_matrix(
            draw.scores,
            draw.probe,
            draw.enrolled,
            group=draw.group,
            candidates=max(2, draw.length),
            templates=templates,
            policies=policies,
            n_threads=1,
        )
    search, column = np.indices(draw.scores.shape).reshape(2, -1)
    if draw.source == "lists":
        order = np.argsort(
            -draw.scores.astype(np.float64) + 1e-12 * rng.random(draw.scores.shape), axis=1
        )
        search, column = search.reshape(draw.scores.shape), order
        search, column = search[:, : draw.length].ravel(), column[:, : draw.length].ravel()
    shuffled = rng.permutation(search.size)
    search, column = search[shuffled], column[shuffled]
    people, scores = np.array(draw.enrolled)[column], draw.scores[search, column]
    if draw.source == "lists":
        if rng.random() < 0.2:
            search, people = np.append(search, 0), np.append(people, -1)
            wide = scores if scores.dtype == np.float32 else scores.astype(np.float64)
            scores = np.append(
                wide, wide.dtype.type(np.finfo(np.float32).min)
            )  # as FAISS fills places
        return ff.Searches.from_candidates(
            search,
            people,
            scores,
            searches=range(len(draw.probe)),
            probe=draw.probe,
            enrolled=draw.enrolled,
            group=draw.group,
            length=draw.length,
            policies=policies,
        )
    group = None if draw.group is None else np.array(draw.group)[search]
    return ff.Searches.from_scores(
        search, np.array(draw.probe)[search], people, scores, group=group, policies=policies
    )


class Loops:
    """Counts of errors in plain loops."""

    def __init__(self, draw: Draw, dtype: Any) -> None:
        self.dtype, self.rows = dtype, []
        for row, person, group in zip(
            draw.scores, draw.probe, draw.group or [""] * len(draw.probe), strict=True
        ):
            best: dict[int, float] = {}
            for score, whose in zip(row.tolist(), draw.enrolled, strict=True):
                usable = -math.inf if math.isnan(score) else score
                best[whose] = max(best.get(whose, -math.inf), usable)
            mate = best.get(person)
            is_failed = mate == -math.inf if mate is not None else max(best.values()) == -math.inf
            if draw.failures != "exclude" or not is_failed:
                self.rows.append((person, best, group, is_failed))

    def rounded(self, threshold: float) -> float:
        """Round a threshold to the type of the scores."""
        with np.errstate(over="ignore"):
            return float(np.dtype(self.dtype).type(threshold))

    def errors(
        self, name: str, threshold: float, rank: int | None, group: str | None
    ) -> list[float]:
        """Return what each search adds to a rate."""
        lowest, found = self.rounded(threshold) if math.isfinite(threshold) else threshold, []
        for person, best, of_group, _ in self.rows:
            if (group is not None and of_group != group) or (person in best) != (name == "fnir"):
                continue
            candidates = [
                whose for whose, score in best.items() if score >= lowest and score > -math.inf
            ]
            if name == "selectivity":
                found.append(float(len(candidates)))
            elif name == "fpir":
                found.append(float(bool(candidates)))
            else:
                ahead = sum(
                    score >= best[person] for whose, score in best.items() if whose != person
                )
                found.append(
                    float(person not in candidates or (rank is not None and ahead >= rank))
                )
        return found

    def n_failed(self, name: str, group: str | None) -> int:
        """Count the searches of a rate that failed."""
        return sum(
            failed
            for person, best, of_group, failed in self.rows
            if group in (None, of_group) and (person in best) == (name == "fnir")
        )


def wrong_count(draw: Draw, found: Any, loops: Loops) -> str:
    """Say which count differs from that of loops."""
    for row in found.rows:
        if row.name not in ("fpir", "fnir", "selectivity") or math.isnan(row.estimate):
            continue
        rank = int(row.at.value) if row.at.kind == "rank" else draw.rank
        values = loops.errors(row.name, row.threshold, rank, row.group)
        expected = sum(values) / len(values)
        hidden = "lists end with the mate's score" in row.note
        if hidden and draw.source == "lists" and row.estimate <= expected <= row.high:
            continue
        if not math.isclose(row.estimate, expected, abs_tol=1e-12) or row.n_searches != len(values):
            return (
                f"{row.name} of {row.group} is {row.estimate}, in loops {expected} of {len(values)}"
            )
        if draw.source != "lists" and (row.n_failed or 0) != loops.n_failed(row.name, row.group):
            return (
                f"{row.n_failed} failed of {row.name} of {row.group}, in loops"
                f" {loops.n_failed(row.name, row.group)}"
            )
        if row.at.rate == row.name and row.group is None and row.estimate > row.at.value:
            return f"{row.name} is {row.estimate} where {row.at} is held"
    return ""


def wrong_limits(results: list[Any]) -> str:
    """Say which interval does not hold its estimate, or those at lower levels."""
    for rows in zip(*(result.rows for result in results), strict=True):
        for row in rows:
            if math.isnan(row.low) != math.isnan(row.high):
                return f"half of the interval of {row.name} is missing"
            if not math.isnan(row.low + row.estimate) and not row.low <= row.estimate <= row.high:
                return f"{row.name} is {row.estimate}, outside [{row.low}, {row.high}]"
        for inner, outer in itertools.pairwise(rows):
            slack = SLACK * (1 + abs(inner.estimate))
            if outer.low > inner.low + slack or outer.high < inner.high - slack:
                ends = [(row.low, row.high) for row in rows]
                return (
                    f"intervals of {inner.name} of {inner.group} at {inner.at} are not nested:"
                    f" {ends}"
                )
    return ""


def wrong_when_typed(draw: Draw, searches: ff.Searches, found: Any) -> str:
    """Say which count changes where the threshold that is shown is typed."""
    row = found.rows[0]
    if not math.isfinite(row.threshold):
        return ""
    again = ff.identify(
        searches, ff.at_threshold(float(typed(row.threshold))), rank=draw.rank, gallery=draw.gallery
    )
    rates = [row for row in found.rows if "(" not in row.name]
    for before, after in zip(rates, again.rows, strict=True):
        if math.isnan(before.estimate) and math.isnan(after.estimate):
            continue
        if before.n_errors != after.n_errors or not math.isclose(
            before.estimate, after.estimate, abs_tol=1e-12
        ):
            return (
                f"{before.name} is {before.estimate}, and {after.estimate} at"
                f" {typed(row.threshold)}, typed"
            )
    return ""


def wrong_difference(draw: Draw, searches: ff.Searches, rng: np.random.Generator) -> str:
    """Say what cannot be in a comparison with the same searches by another system."""
    other = dataclasses.replace(draw, scores=draw.scores[:, rng.permutation(len(draw.enrolled))])
    found = ff.compare_searches(
        searches, searches_of(other, rng), draw.at, rank=draw.rank, gallery=draw.gallery
    )
    for row in found.rows:
        if not (math.isnan(row.pvalue) or 0 <= row.pvalue <= 1):
            return f"p = {row.pvalue}"
        if row.has_interval and not row.low - SLACK <= row.estimate <= row.high + SLACK:
            return f"difference {row.estimate} outside [{row.low}, {row.high}]"
        if row.pvalue < 0.01 and len(set(draw.probe)) < 5:
            return f"p = {row.pvalue} of {len(set(draw.probe))} people"
    found.summary()
    return ""


def wrong(draw: Draw, rng: np.random.Generator) -> str:
    """Say what is wrong about the results of a draw."""
    searches = searches_of(draw, rng)
    loops = Loops(draw, searches.dtype)
    measures = ["max_min_ratio", "gini"] if len(searches.groups) > 1 and rng.random() < 0.3 else []
    how = {"measures": measures, "rank": draw.rank, "gallery": draw.gallery}
    found = ff.identify(searches, draw.at, **how)
    found.summary()
    said = wrong_count(draw, found, loops) or wrong_when_typed(draw, searches, found)
    if said or rng.random() < 0.5:
        return said
    if rng.random() < 0.2 and draw.failures == "error":
        return wrong_difference(draw, searches, rng)
    return wrong_limits(
        [ff.identify(searches, draw.at, **how, confidence_level=level) for level in LEVELS]
    )


def wrong_pairs(rng: np.random.Generator) -> str:
    """Say which rate of pairs of vectors differs from that of loops, or changes where its threshold
    is typed."""
    n = int(rng.integers(4, 20))
    vectors = rng.integers(-3, 4, (n, 3)).astype(rng.choice([np.float16, np.float32, np.float64]))
    subject, failed = rng.integers(0, 5, n), rng.random(n) < 0.1
    vectors[failed] = np.nan
    role = rng.choice(["reference", "probe"], n) if rng.random() < 0.4 else None
    at = [ff.at_threshold(float(rng.integers(-5, 9))), ff.at_fmr(0.2), ff.at_fnmr(0.2)][
        rng.integers(3)
    ]
    e = ff.Embeddings(vectors, subject, similarity="inner_product", role=role, failures="exclude")
    found = ff.evaluate(e, at, [], metrics=[], n_resamples=0)
    again = ff.evaluate(
        e, ff.at_threshold(float(typed(found.value("threshold")))), [], metrics=[], n_resamples=0
    )
    pairs = [
        (float(vectors[i] @ vectors[j]), subject[i] == subject[j])
        for i in range(n)
        for j in range(n)
        if not failed[i]
        and not failed[j]
        and (i < j if role is None else (role[i], role[j]) == ("reference", "probe"))
    ]
    threshold = found.value("threshold")
    wrongly = {
        "fmr": [score >= threshold for score, is_mated in pairs if not is_mated],
        "fnmr": [score < threshold for score, is_mated in pairs if is_mated],
    }
    for name, errors in wrongly.items():
        expected = sum(errors) / len(errors)
        if not found.value(name) == again.value(name) == expected:
            return (
                f"{name} of vectors is {found.value(name)}, {again.value(name)} if typed, in loops"
                f" {expected}"
            )
    return ""


def worst_deviation(rates: np.ndarray) -> np.ndarray:
    """Compute how far the worst group is from the mean, in place."""
    rates -= rates.mean(axis=-1, keepdims=True)
    return np.abs(rates).max(axis=-1)


def sorted_range(rates: np.ndarray) -> np.ndarray:
    """Compute the range, after sorting in place."""
    rates.sort(axis=-1)
    return rates[..., -1] - rates[..., 0]


def third_of_range(rates: np.ndarray) -> np.ndarray:
    """Compute a third of the range, after dividing in place."""
    rates /= 3
    return rates.max(axis=-1) - rates.min(axis=-1)


def median_above_least(rates: np.ndarray) -> np.ndarray:
    """Compute by how much the median is above the least, and change nothing."""
    return np.median(rates, axis=-1) - rates.min(axis=-1)


OWN_MEASURES = (worst_deviation, sorted_range, third_of_range, median_above_least)


def wrong_measures(rng: np.random.Generator) -> str:
    """Say which measure is not that of the groups' rates, or changes as another one is looked
    at."""
    n, n_groups = int(rng.integers(30, 120)), int(rng.integers(2, 5))
    scores, mated, group = (
        rng.integers(0, 6, n).astype(float),
        rng.random(n) < 0.5,
        rng.integers(0, n_groups, n),
    )
    c = ff.Comparisons(scores, mated, reference_group=group)
    function, at = (
        OWN_MEASURES[rng.integers(len(OWN_MEASURES))],
        ff.at_threshold(float(rng.integers(1, 6))),
    )
    how = {"metrics": [], "n_resamples": 20, "unit": "comparison", "rng": 0}
    alone = ff.evaluate(c, at, ["std", "gini"], **how)
    ff.measures.measure(of=("fmr",), range=(-1, 1), fair_value=0)(function)
    try:
        found = ff.evaluate(c, at, [function.__name__, "std", "gini"], **how)
    finally:
        del ff.measures.MEASURES[function.__name__]
    rates = [np.mean(scores[~mated & (group == g)] >= at.value) for g in np.unique(group)]
    expected = float(function(np.array(rates)))
    own = next(q for q in found.quantities if q.name == f"{function.__name__}(fmr)")
    if not math.isclose(own.estimate, expected, abs_tol=1e-12):
        return f"{function.__name__} is {own.estimate}, of these rates {expected}"
    others = {(q.name, q.title): (q.estimate, q.low, q.high) for q in found.quantities}
    for q in alone.quantities:
        if not np.array_equal(others[q.name, q.title], (q.estimate, q.low, q.high), equal_nan=True):
            return (
                f"{q.title} is {others[q.name, q.title]} beside {function.__name__}, else"
                f" {q.estimate, q.low, q.high}"
            )
    return ""


def attempt(seed: int, seconds: float | None = None) -> tuple[str, str]:
    """Make one draw, of searches, or now and then of pairs of vectors or of a measure of somebody's
    own.

    Parameters
    ----------
    seed : int
        What is drawn.
    seconds : float, optional
        How long it may take; by default as long as other calls.

    Returns
    -------
    tuple of str
        What became of it, and what is wrong.
    """
    draw = drawn(np.random.default_rng([seed, 1]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with limited(seconds):
                rng = np.random.default_rng([seed, 2])
                kind = rng.random()
                said = (
                    wrong_pairs(rng)
                    if kind < 0.1
                    else wrong_measures(rng)
                    if kind < 0.15
                    else wrong(draw, rng)
                )
        except TimeUp:
            return "hang", str(draw)
        except FastfairError as error:
            return "refused", str(error)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return (
                "foreign",
                f"{type(error).__name__}: {str(error)[:150]} ({where.filename}:{where.lineno})",
            )
    strangers = [w for w in told if not issubclass(w.category, FastfairWarning)]
    if strangers:
        return (
            "foreign warning",
            f"{strangers[0].message} ({strangers[0].filename}:{strangers[0].lineno})",
        )
    return ("wrong", said) if said else ("right", "")


def run(number: int, seed: int, tell: Callable[[str], None] = print) -> collections.Counter[str]:
    """Make a number of draws, tell of each fault, and count what became of them."""
    counts: collections.Counter[str] = collections.Counter()
    seeds = random.Random(seed)
    for k in range(number):
        one = seeds.randrange(2**32)
        what, said = attempt(one, None if k > FIRST else 60.0)
        counts[what] += 1
        if what not in ALLOWED:
            tell(f"{what}: --only {one}\n    {said}")
    return counts


def main() -> int:
    """Run from the command line; the exit code says whether all that happened is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="one draw, as a fault was told")
    asked = parser.parse_args()
    if asked.only is not None:
        print(drawn(np.random.default_rng([asked.only, 1])), *attempt(asked.only), sep="\n")
        return 0
    sys.stdout.reconfigure(line_buffering=True)
    start = time.perf_counter()
    counts = run(asked.number, asked.seed)
    said = ", ".join(f"{what} {n}" for what, n in sorted(counts.items()))
    print(
        f"searches: {asked.number} of seed {asked.seed} in {time.perf_counter() - start:.0f} s:"
        f" {said}"
    )
    return int(any(counts[what] for what in counts if what not in ALLOWED))


if __name__ == "__main__":
    sys.exit(main())
