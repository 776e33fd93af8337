"""The rows of logs of searches: read and measured, against the bare reading of the same file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import fastfair as ff

from .clock import clocked, take_turns
from .common import must_agree, scratch_folder, versions
from .rows import Against, Measurement, Row
from .targets import AtMost

_SEARCHES, _LENGTH, _ENROLLED, _OTHERS = 100_000, 100, 50_000, 20_000


def write(folder: Path, suffix: str, n_searches: int = _SEARCHES) -> Path:
    """Write a log of lists with their ranks, and tables of searches and of the gallery; most mates
    are first on their lists.
    """
    rng = np.random.default_rng(0)
    people = pl.Series([f"p{k:07}" for k in range(_ENROLLED + _OTHERS)])
    search = pl.Series([f"s{k:07}" for k in range(n_searches)])
    scores = np.sort(rng.normal(0.3, 0.1, (n_searches, _LENGTH)), axis=1)[:, ::-1].round(6)
    first, step = rng.integers(0, _ENROLLED, n_searches), rng.integers(1, 400, n_searches)
    listed = (first[:, None] + step[:, None] * np.arange(_LENGTH)) % _ENROLLED
    probe = rng.integers(0, _ENROLLED + _OTHERS, n_searches)
    is_mated = (probe < _ENROLLED) & ~(listed == probe[:, None]).any(axis=1)
    hits = np.flatnonzero(is_mated & (rng.random(n_searches) < 0.95))
    listed[hits, 0] = probe[hits]
    scores[hits, 0] = np.maximum(scores[hits, 0], rng.normal(0.8, 0.1, hits.size).round(6))
    log = pl.DataFrame(
        {
            "search": search.gather(np.repeat(np.arange(n_searches), _LENGTH)),
            "candidate": people.gather(listed.ravel()),
            "score": scores.ravel(),
            "rank": np.tile(np.arange(1, _LENGTH + 1), n_searches),
        }
    )
    path = folder / f"log.{suffix}"
    log.write_csv(path) if suffix == "csv" else log.write_parquet(path)
    sex = np.where(rng.random(n_searches) < 0.5, "f", "m")
    about = {"search": search, "probe": people.gather(probe), "sex": sex}
    pl.DataFrame(about).write_csv(folder / "searches.csv")
    pl.DataFrame({"person": people[:_ENROLLED]}).write_csv(folder / "gallery.csv")
    return path


def identified(log: Path) -> ff.Identification:
    """Read a log that `write` wrote, and measure the rates of two groups."""
    tables = {
        "searches": log.with_name("searches.csv"),
        "enrolled": log.with_name("gallery.csv"),
    }
    return ff.identify(ff.read_searches(log, groups="sex", **tables), ff.at_fpir(0.01))


def against_reading(suffix: str) -> Measurement:
    """Hold the rates of a log against reading its file with polars."""
    with scratch_folder() as folder:
        log = write(folder, suffix)
        read = pl.read_csv if suffix == "csv" else pl.read_parquet
        row = identified(log).of("fpir")
        gallery = pl.read_csv(folder / "gallery.csv")["person"].implode()
        who = pl.read_csv(folder / "searches.csv")
        strangers = who.filter(~pl.col("probe").is_in(gallery))["search"]
        hits = read(log).filter(pl.col("score") >= row.threshold)["search"].unique()
        must_agree(row.n_errors == strangers.is_in(hits.implode()).sum(), "false positives")
        seconds = take_turns(
            {"ours": clocked(partial(identified, log)), "theirs": clocked(partial(read, log))},
            rounds=5,
        )
    return Measurement(seconds["ours"], seconds["theirs"], "false positives", versions())


ROWS = tuple(
    Row(
        f"search-log-{suffix}",
        f"10 million candidates of 100,000 searches from {called}, FPIR and FNIR of 2 groups with"
        " intervals, 2 threads",
        "reading the file with polars, 2 threads",
        Against.LIMIT,
        AtMost(3.0),
        partial(against_reading, suffix),
        "labels of candidates are hashed once, which alone takes as long as reading Parquet with one"
        " thread; lists are arranged by search, and looked at for each rate and limit",
    )
    for suffix, called in (("csv", "CSV"), ("parquet", "Parquet"))
)
