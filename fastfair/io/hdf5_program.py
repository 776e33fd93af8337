"""A program that turns datasets of an HDF5 file into .npy files, as libhdf5 crashes or never
returns on damaged files.

It is run by its path, with the file, a folder, and the names of the datasets wanted as arguments,
first that of the vectors, and imports nothing of fastfair. It prints JSON: the names of all
datasets, and of those whose rows and columns are exchanged, as R and MATLAB write them; or the
error if there was one. The dataset of the k-th name is in the file k.npy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np

_BLOCK = 2**24  # bytes that are copied at once
_DENSEST = 2000  # the most bytes that one byte of a compressed file can hold


# Attributes that R's rhdf5 and MATLAB write
_OF_OTHERS = ("rhdf5-NA.OK", "MATLAB_class")
_LOGICAL = {0: "FALSE", 1: "TRUE"}


def convert(path: str, folder: Path, wanted: list[str]) -> dict[str, list[str]]:
    """Write the datasets wanted; or, where each dataset is a vector, all of them as "vectors", and
    their "name"s.
    """
    links: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        file.visititems_links(links.__setitem__)
        inside = [name for name, link in links.items() if isinstance(link, h5py.HardLink)]
        datasets = {name: entry for name in inside if isinstance(entry := file[name], h5py.Dataset)}
        each = not datasets.keys() & set(wanted[:1]) and _are_vectors(datasets.values())
        taken = {name: dataset for name, dataset in datasets.items() if each or name in wanted}
        most = _DENSEST * Path(path).stat().st_size
        for name in wanted:
            if name in links and name not in inside:
                raise ValueError(
                    f"{name!r} is a link, not a dataset of this file; copy it into the file"
                )
        for name, dataset in taken.items():
            if why := _refusal(dataset, most):
                raise ValueError(f"{name!r} {why}")
        if each:
            np.save(
                folder / "0.npy", np.stack([dataset[...].ravel() for dataset in taken.values()])
            )
            np.save(folder / "1.npy", np.array(list(taken)))
            return {"names": ["vectors", "name"], "exchanged": []}
        for k, (name, dataset) in enumerate(datasets.items()):
            if name in taken:
                _write(dataset, folder / f"{k}.npy")
        exchanged = [
            name
            for name, dataset in taken.items()
            if any(key in dataset.attrs for key in _OF_OTHERS)
        ]
    return {"names": list(datasets), "exchanged": exchanged}


def _are_vectors(datasets: Iterable[Any]) -> bool:
    """Whether all datasets have several numbers along one dimension, as many in each."""
    shapes = {(dataset.shape, dataset.dtype.kind) for dataset in datasets}
    lengths = {prod(shape) if shape and kind in "fiu" else 0 for shape, kind in shapes}
    return (
        len(lengths) == 1
        and min(lengths) > 1
        and all(lengths == {max(shape)} for shape, _ in shapes)
    )


def _refusal(dataset: Any, most: int) -> str | None:
    if dataset.external:
        return "has its numbers in another file; copy them into this file"
    if dataset.is_virtual:
        return "is made of datasets of other files; copy them into this file"
    if dataset.shape is None:
        return "has no numbers"
    if dataset.dtype.hasobject and not h5py.check_string_dtype(dataset.dtype):
        return "holds neither numbers nor text"
    return "claims a size far larger than the file" if dataset.nbytes > most else None


def _write(dataset: Any, path: Path) -> None:
    if h5py.check_string_dtype(dataset.dtype):
        np.save(path, np.array(dataset.asstr()[...], str))
    elif words := _words_of(dataset):  # what has none is missing, as R's NA
        np.save(
            path,
            np.array([words.get(int(code), "") for code in dataset[...].ravel()], str).reshape(
                dataset.shape
            ),
        )
    elif dataset.ndim == 0 or not dataset.size:
        np.save(path, dataset[...])
    else:
        array = np.lib.format.open_memmap(path, "w+", dataset.dtype, dataset.shape)
        step = max(1, _BLOCK // (array.nbytes // len(array)))
        for start in range(0, len(array), step):
            array[start : start + step] = dataset[start : start + step]


def _words_of(dataset: Any) -> dict[int, str]:
    """Return the words that the numbers of a dataset stand for: names of an enumeration, or R's
    truth values.
    """
    if (named := h5py.check_enum_dtype(dataset.dtype)) is not None:
        return {code: word for word, code in named.items() if word != "NA"}
    mode = dataset.attrs.get("storage.mode")
    return _LOGICAL if mode in ("logical", b"logical") else {}


if __name__ == "__main__":
    try:
        print(json.dumps(convert(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])))
    except Exception as error:
        print(json.dumps({"error": str(error).partition("\n")[0] or type(error).__name__}))
