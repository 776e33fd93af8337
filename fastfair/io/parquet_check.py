"""A program that reads columns of a Parquet file in its own process, as polars ends it with some damaged files.

It is run by its path, with the file and the names of columns as arguments, and imports nothing of fastfair. It prints
a line when it begins, and then JSON, with the error if there was one.
"""

from __future__ import annotations

import json
import sys

import polars as pl


def read(path: str, wanted: list[str]) -> None:
    """Read those of some columns that there are."""
    rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    known = rows.collect_schema().names()
    rows.select(name for name in wanted if name in known).collect()


if __name__ == "__main__":
    print("begun", flush=True)
    try:
        read(sys.argv[1], sys.argv[2:])
        print("{}")
    except BaseException as error:  # polars has errors that are no Exception
        print(json.dumps({"error": str(error).partition("\n")[0] or type(error).__name__}))
