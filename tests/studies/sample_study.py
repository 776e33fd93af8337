"""Whether `unit="sample"` tells how rates vary with other images of the same people, at default
arguments.

`python -m studies sample_study`, run in `tests/`, prints the table of the documentation. Vectors
are evaluated as such, and as a score file would be: with samples of a subject drawn together, and
pairs of a vector with itself left out.
"""

from __future__ import annotations

import argparse
import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import fastfair as ff
from fastfair.errors import FastfairWarning

from .populations import Floats

AT = ff.at_fmr(0.01)
WAYS = ("vectors", "score file")


@dataclass(frozen=True)
class Design:
    """So many images of so many people in two groups, all compared or references with probes."""

    name: str
    n_people: int
    n_images: int
    n_references: int = 0

    def draw(self, n_images: int, seed: int) -> ff.Embeddings:
        """Draw images of the same people, as often as there are seeds."""
        people = ff.VonMisesFisherIdentities.random(
            self.n_people, dim=32, concentration=(30, 90), rng=self.n_people
        )
        subject = np.repeat(np.arange(self.n_people), n_images)
        role = None
        if self.n_references:
            is_reference = (
                np.arange(subject.size) % n_images < n_images * self.n_references // self.n_images
            )
            role = np.where(is_reference, "reference", "probe")
        return ff.Embeddings(people.draw(n_images, rng=seed), subject, group=subject % 2, role=role)


DESIGNS = (
    Design("one set, 4 images", 40, 4),
    Design("one set, 10 images", 40, 10),
    Design("2 references, 2 probes", 40, 4, 2),
    Design("5 references, 5 probes", 40, 10, 5),
)


def values(found: ff.Evaluation) -> Iterator[tuple[str, ff.Quantity, Floats]]:
    """Yield the rates and scores of all people and of the first group, with their replicates."""
    for name in ("fnmr", "fmr", "eer", "min_dcf"):
        for group in (None, found.groups[0]):
            at = AT if name in ("fnmr", "fmr") else None
            if (name, group) != ("fmr", None):  # which is held
                label = name if group is None else f"{name} of a group"
                yield label, found.quantity(name, group, at), found.replicates(name, group, at)


@functools.lru_cache
def truth(design: Design) -> dict[str, float]:
    """Estimate what the same people would have with very many images."""
    e = design.draw(100, 2**31)
    of_all = ff.evaluate(e, AT, [], n_resamples=2, metrics=["eer", "min_dcf"], rng=0)
    return {label: quantity.estimate for label, quantity, _ in values(of_all)}


@dataclass(frozen=True)
class Spread:
    """How a quantity varies over data sets and in replicates (root mean square), and how often
    intervals hold it."""

    over_data_sets: float
    in_replicates: dict[str, float]
    coverage: dict[str, float]


def spreads(design: Design, n: int) -> dict[str, Spread]:
    """Draw data sets of the same people, and compare how quantities vary over them and in their
    replicates."""
    estimates: dict[str, list[float]] = {}
    variances: dict[tuple[str, str], list[float]] = {}
    holds: dict[tuple[str, str], list[bool]] = {}
    for seed in range(n):
        e = design.draw(design.n_images, seed)
        c = e.comparisons()
        for way, data in zip(WAYS, (c, c._with_parts(pairing=None)), strict=True):
            found = ff.evaluate(data, AT, [], unit="sample", metrics=["eer", "min_dcf"], rng=seed)
            for label, quantity, replicates in values(found):
                if way == WAYS[0]:
                    estimates.setdefault(label, []).append(quantity.estimate)
                variances.setdefault((label, way), []).append(float(np.nanvar(replicates)))
                inside = quantity.low <= truth(design)[label] <= quantity.high
                holds.setdefault((label, way), []).append(inside)
    return {
        label: Spread(
            float(np.std(of_label)),
            {way: float(np.sqrt(np.mean(variances[label, way]))) for way in WAYS},
            {way: float(np.mean(holds[label, way])) for way in WAYS},
        )
        for label, of_label in estimates.items()
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=400)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FastfairWarning)
    print(f"{'':24} {'':20} {'SD':>8} {'of vectors':>11} {'of file':>8} {'held':>6} {'file':>6}")
    for design in DESIGNS:
        for label, spread in spreads(design, arguments.data_sets).items():
            relative = [spread.in_replicates[way] / spread.over_data_sets for way in WAYS]
            held = [100 * spread.coverage[way] for way in WAYS]
            print(
                f"{design.name:24} {label:20} {spread.over_data_sets:8.5f} {relative[0]:11.2f}"
                f" {relative[1]:8.2f} {held[0]:6.1f} {held[1]:6.1f}",
                flush=True,
            )
