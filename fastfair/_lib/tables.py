"""Convert results to columns and to JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fastfair._version import __version__

from . import whole_files


def columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn rows that are dataclasses into columns.

    Parameters
    ----------
    rows : sequence of dataclass
        Rows of one dataclass, at least one.

    Returns
    -------
    dict of list
    """
    kind = type(rows[0])
    names = kind._column_names() if hasattr(kind, "_column_names") else [field.name for field in fields(kind)]
    called = ["operating_point" if name == "at" else name for name in names]
    return {name: [getattr(row, name) for row in rows] for name in called}


def write_json(content: dict[str, Any], path: str | Path | None) -> str:
    """Write strict JSON with the version of fastfair.

    Parameters
    ----------
    content : dict
        The content, without numbers that are not finite.
    path : path, optional
        A file to write to; the text is returned in any case.

    Returns
    -------
    str

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    text = json.dumps({"fastfair": __version__} | content, indent=1, allow_nan=False, default=float)
    if path is not None:
        whole_files.write_text(path, text + "\n")
    return text
