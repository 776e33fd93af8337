"""A program that checks an HDF5 file in its own process, as libhdf5 can crash or never return on a damaged file.

It is run by its path, with the file and the names of datasets as arguments, and imports nothing of fastfair. It prints
a line when it begins, and then JSON: the names of all datasets, and what is wrong with the datasets named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np

_BLOCK = 2**24
_DENSEST = 2000  # the most bytes that one byte of a compressed file can hold


def look(path: str, wanted: list[str]) -> dict[str, Any]:
    """Find all datasets of a file, and read those wanted to their ends."""
    links: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        file.visititems_links(lambda name, link: links.update({name: link}))
        inside = [name for name, link in links.items() if isinstance(link, h5py.HardLink)]
        names = [name for name in inside if isinstance(file[name], h5py.Dataset)]
        refused = {name: _refusal(file[name]) for name in names if name in wanted}
        refused |= {
            name: "is a link, not a dataset of this file; copy it into the file"
            for name in wanted
            if name in links and name not in inside
        }
        sizes = {name: int(file[name].nbytes) for name, refusal in refused.items() if refusal is None}
        for name, size in sizes.items():
            if size > _DENSEST * Path(path).stat().st_size:
                refused[name] = "claims a size far larger than the file"
            else:
                _read(file[name])
    return {"names": names, "refused": {name: why for name, why in refused.items() if why}, "sizes": sizes}


def _refusal(dataset: Any) -> str | None:
    if dataset.external:
        return "has its numbers in another file; copy them into this file"
    if dataset.is_virtual:
        return "is made of datasets of other files; copy them into this file"
    if dataset.shape is None:
        return "has no numbers"
    if dataset.dtype.hasobject and not h5py.check_string_dtype(dataset.dtype):
        return "holds neither numbers nor text"
    return None


def _read(dataset: Any) -> None:
    row = int(np.prod(dataset.shape[1:], dtype=float)) * dataset.dtype.itemsize
    step = max(1, _BLOCK // max(row, 1))
    for start in range(0, dataset.shape[0] if dataset.ndim else 0, step):
        dataset[start : start + step]


if __name__ == "__main__":
    print("begun", flush=True)
    try:
        print(json.dumps(look(sys.argv[1], sys.argv[2:])))
    except Exception as error:
        print(json.dumps({"error": f"{error}" or type(error).__name__}))
