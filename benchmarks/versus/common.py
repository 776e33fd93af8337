"""What several rows need: their folder, their data and their complaint."""

from __future__ import annotations

import importlib.metadata
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .processes import Worker
from .rows import DisagreementError, NotMeasuredError

SYSTEM = "resnetse34v2"  # of VoxCeleb1-H


def versions(worker: Worker | None = None) -> dict[str, str]:
    """List what ran, the peer as well where it has an environment of its own."""
    names = ("fastfair", "numpy", "numba")
    ours = {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in names
    }
    theirs = {} if worker is None else worker.versions
    return ours | {f"peer {name}": version for name, version in theirs.items()}


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for as long as a row needs it."""
    with tempfile.TemporaryDirectory(prefix="fastfair-versus-") as name:
        yield Path(name)


def must_agree(condition: bool, what: str) -> None:
    """Raise DisagreementError that names what differs."""
    if not condition:
        raise DisagreementError(what)


def voxceleb1_h() -> ff.Comparisons:
    """Read VoxCeleb1-H with its groups."""
    try:
        return ff.datasets.voxceleb1_h(SYSTEM)
    except ff.errors.MissingDependencyError as error:
        raise NotMeasuredError(str(error)) from error


@dataclass(frozen=True, eq=False)
class Trials:
    """The columns of comparisons in the order of their file: what tools without `Comparisons` are
    given."""

    scores: NDArray[Any]
    mated: NDArray[np.bool_]
    reference: NDArray[np.int32]
    probe: NDArray[np.int32]
    group: NDArray[np.int32]

    @classmethod
    def of(cls, comparisons: ff.Comparisons) -> Trials:
        """Undo the sort. Subjects and groups are numbers; a trial's group is its reference's."""
        by_class = {True: comparisons.mated_by_group, False: comparisons.nonmated_by_group}
        size = sum(len(by_group.side) for by_group in by_class.values())
        scores, mated = np.empty(size, comparisons.mated.similarities.dtype), np.empty(size, bool)
        reference, probe, group = (np.empty(size, np.int32) for _ in range(3))
        for flag, by_group in by_class.items():
            side = by_group.side
            scores[side.rows], mated[side.rows], group[side.rows] = (
                side.similarities,
                flag,
                by_group.reference_group,
            )
            reference[side.rows], probe[side.rows] = side.reference, side.probe
        return cls(scores, mated, reference, probe, group)

    def without_groups(self) -> ff.Comparisons:
        """Make comparisons that know of subjects alone."""
        return ff.Comparisons(self.scores, self.mated, self.reference, self.probe)

    def save(self, folder: Path) -> None:
        """Write every column to a file that workers load."""
        for name, column in vars(self).items():
            np.save(folder / f"{name}.npy", column)
