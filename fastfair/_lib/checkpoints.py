"""Keep finished parts of a job as files, from which a later run of the same job goes on."""

from __future__ import annotations

import hashlib
import io
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import whole_files
from fastfair._version import __version__
from fastfair.errors import FileFormatError

from .fingerprints import fingerprint

_MAGIC = b"fastfair checkpoint 1\n"


class Checkpoint:
    """The files of one job, in a folder of its own that is named after its data, its settings and the version.

    Parameters
    ----------
    folder : Path
        The folder of the caller, who may use it for several runs.
    job : Job
        The job.

    Raises
    ------
    OutputError
        Where nothing can be written there.
    """

    def __init__(self, folder: Path, job: object) -> None:
        # Products of vectors are those of NumPy.
        self._name = fingerprint([__version__, np.__version__, job])
        self._folder = whole_files.ready_folder(folder / self._name)

    def _path(self, steps: range) -> Path:
        return self._folder / f"{steps.start}-{steps.stop}.part"

    def save(self, steps: range, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep the results of some steps."""
        stream = io.BytesIO()
        np.savez(stream, **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle
        content = stream.getbuffer()
        with whole_files.written(self._path(steps)) as file:
            file.write(_MAGIC)
            file.write(f"{self._name} {steps.start}-{steps.stop} {_digest(content)}\n".encode())
            file.write(content)

    def load(self, steps: range) -> dict[str, NDArray[Any]] | None:
        """Return the results of some steps, or None if they are not there yet.

        Raises
        ------
        FileFormatError
            For a file that is damaged, or that holds something else.
        """
        path = self._path(steps)
        would_do = "remove it, and its part of the work is done again"
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # to read from a pipe would wait for somebody to write to it
                raise FileFormatError(f"{path} is a folder, a pipe or a device, not a part: {would_do}")
            with path.open("rb") as file:
                magic, title, content = file.read(len(_MAGIC)), file.readline(1000), file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileFormatError(f"{path} cannot be read ({error.strerror}): {would_do}") from None
        if magic != _MAGIC:
            raise FileFormatError(f"{path} is damaged, or no file of a checkpoint: {would_do}")
        name, _, digest = title.decode("ascii", "replace").strip().rpartition(" ")
        if digest != _digest(content):
            raise FileFormatError(f"{path} is damaged, as its checksum does not fit its content: {would_do}")
        if name != f"{self._name} {steps.start}-{steps.stop}":
            raise FileFormatError(f"{path} holds another part of the work, or that of another run: {would_do}")
        with np.load(io.BytesIO(content)) as arrays:
            return dict(arrays)


def _digest(content: bytes | memoryview) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
