"""Comparison scores of real systems, read from the packages that distribute them."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from fastfair._lib.arguments import checked
from fastfair.data.comparisons import Comparisons
from fastfair.errors import MissingDependencyError
from fastfair.io.comparisons import read_comparisons
from fastfair.io.formats import Layout

__all__ = ["voxceleb1_h"]
System = Literal["resnetse34v2", "resnetse34l"]
VOXCELEB1_H_SYSTEMS: tuple[System, ...] = get_args(System)


@checked
def voxceleb1_h(
    system: System = "resnetse34v2", groups: str | Sequence[str] = ("Gender", "Nationality")
) -> Comparisons:
    """Read VoxCeleb1-H as scored by a speaker recognition system: 550,894 trials of 1,190 speakers.

    Parameters
    ----------
    system : {"resnetse34v2", "resnetse34l"}
        The speaker recognition system that made the scores.
    groups : str or sequence of str
        "Gender", "Nationality" or both, which makes intersections of the two.

    Returns
    -------
    Comparisons
        In every trial both speakers have the same gender and nationality.

    Raises
    ------
    MissingDependencyError
        Where the package bt4vt, which contains the scores, is not installed.

    References
    ----------
    Hutiri et al., "As Biased as You Measure" (2024), whose software bt4vt ships the scores.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2")  # doctest: +SKIP
    """
    folder = _bt4vt_data()
    columns: dict[str, Any] = {
        "score": "sc",
        "mated": "lab",
        "reference": "ref_file",
        "probe": "com_file",
    }
    return read_comparisons(
        folder / f"{system}_H-eval_scores.csv",
        subject_pattern=r"^([^/]+)/",
        metadata=folder / "vox1_meta.csv",
        groups=groups,
        layout=Layout(format="csv"),
        **columns,
    )


def _bt4vt_data() -> Path:
    # The package is found, not imported: importing it would load what we do not need.
    spec = importlib.util.find_spec("bt4vt")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            'VoxCeleb1-H comes with the package bt4vt; pip install "fastfair[demo]" brings it'
        )
    return Path(spec.submodule_search_locations[0]) / "data"
