"""What is drawn of comparisons: DET curves with their bands, and distributions of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BINS = 60


@dataclass(frozen=True)
class DetCurve:
    """Points of a DET curve, with lines between them that are off by less than one sees.

    Attributes
    ----------
    n_mated, n_nonmated : int
        Numbers of comparisons.
    false_matches, false_nonmatches : (points,) ndarray of int64
        Numbers of errors where neither rate is 0 or 1; empty where there is no such threshold.
    """

    n_mated: int
    n_nonmated: int
    false_matches: Integers
    false_nonmatches: Integers

    @property
    def deviates(self) -> tuple[Floats, Floats]:
        """(points,) FMR and FNMR as normal deviates."""
        return ndtri(self.false_matches / self.n_nonmated), ndtri(self.false_nonmatches / self.n_mated)


@dataclass(frozen=True)
class Distributions:
    """Distributions of mated and of non-mated scores.

    Attributes
    ----------
    bins : (2, bins) ndarray of int64
        Numbers of mated and of non-mated scores between the edges; the bins at the ends gather what lies beyond.
    quantiles : tuple of tuple of float
        Of mated and of non-mated scores, from low to high; empty without scores.
    """

    bins: Integers
    quantiles: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class DetBand:
    """FNMR over FMR with its intervals and its band, (levels,) each, and what to know about them, as in `RocBand`."""

    fmr: Floats
    fnmr: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats
    note: str


@dataclass(frozen=True)
class Traces:
    """All that a page draws of comparisons, by group; None is all comparisons.

    Attributes
    ----------
    score_kind : str
        As that of `Comparisons`.
    edges : (bins + 1,) ndarray
        Edges of the histograms, on the scale of the scores.
    curves, distributions, bands : mapping
        For each group; a band is None where there are too few comparisons, and there are no bands at all in the
        evaluations of two systems.
    """

    score_kind: str
    edges: Floats
    curves: Mapping[str | None, DetCurve]
    distributions: Mapping[str | None, Distributions]
    bands: Mapping[str | None, DetBand | None]

    def record(self) -> dict[str, Any]:
        """Return it as plain lists, which `of_record` reads."""
        rows = []
        for group, curve in self.curves.items():
            scores = self.distributions[group]
            row = {
                "n": [curve.n_mated, curve.n_nonmated],
                "false_matches": curve.false_matches.tolist(),
                "false_nonmatches": curve.false_nonmatches.tolist(),
                "bins": scores.bins.tolist(),
                "quantiles": scores.quantiles,
            }
            rows.append(row | ({"band": _record(self.bands[group])} if self.bands else {}))
        return {"score_kind": self.score_kind, "edges": self.edges[[0, -1]].tolist(), "curves": rows}

    @classmethod
    def of_record(cls, record: Mapping[str, Any], groups: Sequence[str]) -> Traces:
        """Make it of what `record` returned."""
        named = dict(zip((None, *groups), record["curves"], strict=True))
        errors = ("false_matches", "false_nonmatches")
        return cls(
            record["score_kind"], np.linspace(record["edges"][0], record["edges"][1], BINS + 1),
            {group: DetCurve(*one["n"], *(np.array(one[name], np.int64) for name in errors))
             for group, one in named.items()},
            {group: Distributions(np.array(one["bins"], np.int64), tuple(map(tuple, one["quantiles"])))
             for group, one in named.items()},
            {group: _band(one["band"]) for group, one in named.items() if "band" in one},
        )  # fmt: skip


def _record(band: DetBand | None) -> dict[str, Any] | None:
    if band is None:
        return None
    return {name: value if isinstance(value, str) else value.tolist() for name, value in vars(band).items()}


def _band(record: Mapping[str, Any] | None) -> DetBand | None:
    if record is None:
        return None
    arrays = {name: np.array(values, np.float64) for name, values in record.items() if name != "note"}
    return DetBand(**arrays, note=record["note"])
