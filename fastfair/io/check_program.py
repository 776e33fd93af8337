"""A program that reads a file in its own process, as libhdf5 and polars crash or never return on some damaged files.

It is run by its path, with the file and the names of its datasets or columns as arguments, first that of the vectors,
and imports nothing of fastfair. It prints a line when it begins, and then JSON: what it found, or the error if there
was one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

_BLOCK = 2**24
_DENSEST = 2000  # the most bytes that one byte of a compressed file can hold


def read_parquet(path: str, wanted: list[str]) -> dict[str, Any]:
    """Read those of some columns that there are."""
    import polars as pl

    rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    known = rows.collect_schema().names()
    rows.select(name for name in wanted if name in known).collect()
    return {}


def read_hdf5(path: str, wanted: list[str]) -> dict[str, Any]:
    """Find the names of all datasets, and read those wanted to their ends, or all where each is one vector.

    Found are also whether each is a vector, the sizes of what was read, and what is wrong with datasets.
    """
    import h5py

    links: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        file.visititems_links(links.__setitem__)
        inside = [name for name, link in links.items() if isinstance(link, h5py.HardLink)]
        datasets = {name: found for name in inside if isinstance(found := file[name], h5py.Dataset)}
        each = not datasets.keys() & set(wanted[:1]) and _are_vectors(datasets.values())
        refused = {name: _refusal(dataset) for name, dataset in datasets.items() if each or name in wanted}
        refused |= {
            name: "is a link, not a dataset of this file; copy it into the file"
            for name in wanted
            if name in links and name not in inside
        }
        sizes = {name: int(datasets[name].nbytes) for name, refusal in refused.items() if refusal is None}
        for name, size in sizes.items():
            if size > _DENSEST * Path(path).stat().st_size:
                refused[name] = "claims a size far larger than the file"
            else:
                _read(datasets[name])
    wrong = {name: why for name, why in refused.items() if why}
    return {"names": list(datasets), "each_a_vector": each, "sizes": sizes, "refused": wrong}


def _are_vectors(datasets: Iterable[Any]) -> bool:
    """Whether all datasets have several numbers along one dimension, as many in each."""
    shapes = {(dataset.shape, dataset.dtype.kind) for dataset in datasets}
    lengths = {prod(shape) if shape and kind in "fiu" else 0 for shape, kind in shapes}
    return len(lengths) == 1 and min(lengths) > 1 and all(lengths == {max(shape)} for shape, _ in shapes)


def _refusal(dataset: Any) -> str | None:
    import h5py

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
    row = prod(map(int, dataset.shape[1:])) * dataset.dtype.itemsize
    step = max(1, _BLOCK // max(row, 1))
    for start in range(0, dataset.shape[0] if dataset.ndim else 0, step):
        dataset[start : start + step]


if __name__ == "__main__":
    print("begun", flush=True)
    try:
        read = read_parquet if sys.argv[1].lower().endswith(".parquet") else read_hdf5
        print(json.dumps(read(sys.argv[1], sys.argv[2:])))
    except BaseException as error:  # polars has errors that are no Exception
        print(json.dumps({"error": str(error).partition("\n")[0] or type(error).__name__}))
