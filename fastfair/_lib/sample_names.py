"""Tell ids that are names of samples (files, images, recordings) from ids of subjects, for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_LOOKED_AT = 100
_SUFFIX = re.compile(
    r"\.(jpe?g|png|bmp|gif|tiff?|pgm|ppm|webp|wsq|jp2|wav|flac|mp3|m4a|ogg|sph|npy|mat|iso|fmr)$", re.IGNORECASE
)
_NUMBERED = re.compile(r".*[^\W\d_].*([_-])\d+(\.\w+)?")  # ann_0001 or ann-1.png, but not 2024_1


def advice(ids: Iterable[object]) -> str:
    """Return what to do where ids of subjects look like names of samples, or "" where they do not.

    Examples
    --------
    >>> from fastfair._lib.sample_names import advice
    >>> print(advice(["ann/1.jpg", "ann/2.jpg"])[:48])
    The ids look like names of files, such as 'ann/1
    """
    names = [str(name) for name in islice(ids, _LOOKED_AT)]
    for kind, looks in (("names of files", _is_path), ("numbered samples", _NUMBERED.fullmatch)):
        found = [name for name in names if looks(name)]
        if found and 2 * len(found) >= len(names):
            perhaps = _pattern(found)
            hint = f", here perhaps '{perhaps}'" if perhaps else ""  # as it is typed, with single backslashes
            return (
                f"The ids look like {kind}, such as {found[0]!r}: say how to cut the subjects out of them with "
                f"subject_pattern={hint}"
            )
    return ""


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or _SUFFIX.search(name) is not None


def _pattern(names: list[str]) -> str:
    """Return a regular expression that would find the subjects, or "" where the names do not show where they are."""
    if all(name.count("/") == 1 and not name.startswith("/") for name in names):
        return "^([^/]+)/"
    numbered = [_NUMBERED.fullmatch(name) for name in names]
    marks = {match.group(1) if match else "" for match in numbered}
    if len(marks) == 1 and "" not in marks and not any("/" in name for name in names):
        return rf"^(.+){marks.pop()}\d+"
    return ""
