"""How often bands at default arguments hold the truth, at each FMR and as whole curves, in
populations that are known.

`python -m studies band_study`, run in `tests/`, prints the tables of the documentation;
`test_band_study.py` checks what they say.
"""

from __future__ import annotations

import argparse
import functools
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair.bands.curve import FairnessBand, RocBand
from fastfair.errors import FastfairWarning

from .populations import FAIR, Floats, Population

SIZES = tuple(Population(f"groups of {n}", (n,) * 3) for n in (20, 60, 200))
POPULATIONS = (*SIZES, *FAIR)


@dataclass(frozen=True)
class Coverage:
    """What the bands of many data sets gave.

    Attributes
    ----------
    inside : (data sets, levels) ndarray
        Whether the pointwise interval holds the truth; NaN where there is none.
    whole : (data sets,) ndarray
        Whether the simultaneous band holds the truth at all levels where there is one.
    ends : (data sets,) ndarray
        Share of levels without a simultaneous band.
    width, band_width : (data sets,) ndarray
        Mean width of the intervals, and of the band.
    noted : (data sets, levels) ndarray of bool
        Whether the result warns that the interval at that level is likely too narrow.
    """

    inside: Floats
    whole: Floats
    ends: Floats
    width: Floats
    band_width: Floats
    noted: NDArray[np.bool_]

    def line(self) -> str:
        """Return the numbers as a row of a table."""
        given = (~np.isnan(self.inside)).mean(axis=0)
        at_levels = np.where(given >= OFTEN, np.nanmean(self.inside, axis=0), np.nan)
        return (
            f"{100 * np.nanmean(self.inside):5.1f} {100 * np.nanmin(at_levels):5.1f}"
            f" {100 * self.whole.mean():5.1f} {100 * self.ends.mean():5.1f}"
            f" {np.nanmean(self.width):7.4f} {np.nanmean(self.band_width):7.4f}"
            f" |{_noted_of(self.noted, self.inside)} |{self._of_levels(at_levels < LEAST)}"
            f" |{self._of_levels(at_levels >= LEAST)}"
        )

    def _of_levels(self, chosen: NDArray[np.bool_]) -> str:
        return f"{chosen.sum():7d}{_noted_of(self.noted[:, chosen], self.inside[:, chosen])}"


def _noted_of(noted: NDArray[np.bool_], inside: Floats) -> str:
    """Return the share of intervals with a note, and of those that fail."""
    return "".join(
        f"{100 * some.mean():6.1f}" if some.size else f"{'–':>6s}"
        for some in (noted, noted[inside == 0])
    )


WARNING = "likely too narrow"
ROUNDED = 5e-3  # three digits
LEAST = 0.92  # share of data sets that an interval is to hold the truth in
# share of data sets with an interval at a level, from which on the level is looked at on its own
OFTEN = 0.2
HEADINGS = (
    "point least whole empty   width    band | noted fails | levels noted fails | levels noted"
    f" fails\n{'':69} | noted: |  held below {100 * LEAST:.0f} % |    in more"
)


@functools.lru_cache
def true_fnmr(population: Population, levels: tuple[float, ...]) -> Floats:
    """Compute the FNMR of a fair population at the thresholds that hold FMRs."""
    return np.array([population.fnmr(population.threshold(level))[0] for level in levels])


def _roc_coverage(
    draw: Callable[[np.random.Generator], ff.Comparisons | ff.Embeddings],
    truth: Callable[[tuple[float, ...]], Floats],
    n: int,
    **options: object,
) -> Coverage:
    """Draw data sets and compare their `roc_band` with the truth at its FMRs."""
    bands = (ff.roc_band(draw(np.random.default_rng(k)), rng=k, **options) for k in range(n))
    return _collected((band, truth(tuple(band.fmr.tolist()))) for band in bands)


def _fairness_coverage(
    draw: Callable[[np.random.Generator], ff.Comparisons | ff.Embeddings], n: int, **options: object
) -> Coverage:
    """Draw data sets of a fair population and see how often `fairness_band` holds the fair value,
    1."""
    bands = (ff.fairness_band(draw(np.random.default_rng(k)), rng=k, **options) for k in range(n))
    return _collected((band, np.ones(band.fmr.size)) for band in bands)


def roc_coverage(population: Population, n: int) -> Coverage:
    """Look at the `roc_band` of score files of a fair population."""
    return _roc_coverage(population.draw, functools.partial(true_fnmr, population), n)


def fairness_coverage(population: Population, n: int, rate: str = "fnmr") -> Coverage:
    """Look at the `fairness_band` of score files of a fair population."""
    return _fairness_coverage(population.draw, n, rate=rate)


N_SAMPLES, DIM, CONCENTRATION = 4, 32, (30, 90)
PEOPLE, N_SETS = 4000, 8  # of which the true FNMR is estimated


def people(n: int, rng: np.random.Generator) -> ff.Embeddings:
    """Draw new people, alike in all groups, and parted at random into three."""
    e = ff.von_mises_fisher_embeddings(n, N_SAMPLES, DIM, concentration=CONCENTRATION, rng=rng)
    return ff.Embeddings(e.vectors, e.subject, group=rng.permutation(np.arange(n) % 3)[e.subject])


@functools.lru_cache
def true_fnmr_of_people(
    levels: tuple[float, ...], enrol: Callable[[ff.Embeddings], ff.Embeddings] | None = None
) -> Floats:
    """Estimate the FNMR of the population from many people, as the mean over sets of them, enrolled
    or all pairs."""
    sets = (
        ff.von_mises_fisher_embeddings(
            PEOPLE, N_SAMPLES, DIM, concentration=CONCENTRATION, rng=-1 - k + 2**32
        )
        for k in range(N_SETS)
    )
    compared = (e if enrol is None else enrol(e) for e in sets)
    return np.mean(
        [
            ff.roc_band(
                e, levels, n_resamples=2, settings=ff.BandSettings(scheme="product"), rng=0
            ).fnmr
            for e in compared
        ],
        axis=0,
    )


def enrolled(e: ff.Embeddings) -> ff.Embeddings:
    """Make the first vector of each subject a reference and its others probes; some subjects have
    one role alone.

    Rates of the population are those of all pairs, as vectors of a subject are alike.
    """
    is_first = np.diff(e.subject, prepend=-1) != 0
    alone = e.subject % 6  # of every six subjects one has probes alone, and one references
    role = np.where((is_first | (alone == 1)) & (alone != 0), "reference", "probe")
    return ff.Embeddings(
        e.vectors, e.subject, group=np.array(e.groups)[e.subject_group[e.subject]], role=role
    )


def by_two(e: ff.Embeddings) -> ff.Embeddings:
    """Enrol the first two vectors of each subject as a template that scores as the better one
    does."""
    position = np.arange(e.subject.size) % N_SAMPLES
    group = np.array(e.groups)[e.subject_group[e.subject]] if e.groups else None
    role = np.where(position < 2, "reference", "probe")
    return ff.Embeddings(e.vectors, e.subject, group, role=role).enrolled(score="max")


def embeddings_coverage(
    population: Population,
    n: int,
    *,
    with_roles: bool = False,
    with_templates: bool = False,
    **options: object,
) -> Coverage:
    """Look at the `roc_band` of new people, as many as a population has."""

    def draw(rng: np.random.Generator) -> ff.Embeddings:
        data = people(sum(population.sizes), rng)
        return by_two(data) if with_templates else enrolled(data) if with_roles else data

    truth = functools.partial(true_fnmr_of_people, enrol=by_two if with_templates else None)
    return _roc_coverage(draw, truth, n, **options)


def embeddings_fairness_coverage(
    population: Population, n: int, rate: str = "fnmr", **options: object
) -> Coverage:
    """Look at the `fairness_band` of new people, parted at random."""
    return _fairness_coverage(
        functools.partial(people, sum(population.sizes)), n, rate=rate, **options
    )


def _compared(band: RocBand | FairnessBand, truth: Floats) -> tuple[object, ...]:
    known = ~np.isnan(band.low)
    inside = np.where(known, (band.low <= truth) & (truth <= band.high), np.nan)
    banded = ~np.isnan(band.band_low)
    whole = ((band.band_low <= truth) & (truth <= band.band_high))[banded].all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
        return (
            inside,
            float(whole),
            1 - banded.mean(),
            np.nanmean(band.high - band.low),
            np.nanmean(band.band_high - band.band_low),
            _noted(band),
        )


def _noted(band: RocBand | FairnessBand) -> NDArray[np.bool_]:
    """Return at which levels the note warns: it names the least and the largest, or none where it
    holds for all."""
    noted = np.zeros(band.fmr.size, bool)
    for note in band.notes:
        if WARNING in str(note):
            at = re.match(r"FMR (\S+)(?: to (\S+))?$", note.about)
            first, last = (float(at[1]), float(at[2] or at[1])) if at else (0.0, 1.0)
            noted |= (band.fmr >= first * (1 - ROUNDED)) & (band.fmr <= last * (1 + ROUNDED))
    return noted


def _collected(bands: Iterable[tuple[RocBand | FairnessBand, Floats]]) -> Coverage:
    """Collect how bands compare with the truth."""
    compared = [_compared(band, truth) for band, truth in bands]
    return Coverage(*(np.array(column) for column in zip(*compared, strict=True)))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--only", default="", help="part of the names of populations to look at")
    parser.add_argument("--study", choices=STUDIES, default="roc")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FastfairWarning)
    print(f"{arguments.study:30} {HEADINGS}")
    for population in POPULATIONS:
        if arguments.only in population.name:
            found = STUDIES[arguments.study](population, arguments.data_sets)
            curves = found if isinstance(found, dict) else {"": found}
            for name, curve in curves.items():
                print(
                    f"{', '.join(filter(None, (population.name, name))):30} {curve.line()}",
                    flush=True,
                )


STUDIES = {
    "roc": roc_coverage,
    "fairness of FNMR": fairness_coverage,
    "fairness of FMR": functools.partial(fairness_coverage, rate="fmr"),
    "embeddings": embeddings_coverage,
    "references and probes": functools.partial(embeddings_coverage, with_roles=True),
    "templates": functools.partial(embeddings_coverage, with_templates=True),
    "embeddings, fairness of FNMR": embeddings_fairness_coverage,
    "embeddings, fairness of FMR": functools.partial(embeddings_fairness_coverage, rate="fmr"),
}
