"""Names of samples: how they are told from ids of subjects, and the patterns that may cut the
subjects out of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set

import numpy as np

from fastfair._lib.arrays import AnyArray, Flags

_LOOKED_AT = 100  # names, which are enough to see how they are made
_DEEPEST = 6  # folders in which subjects are looked for
# Files, and numbered samples: a/1, ann.wav, ann_0001 and ann-1.png, but not 2024_1.
_SAMPLE = re.compile(
    r".*[/\\].*|.*\.(jpe?g|png|bmp|gif|tiff?|pgm|ppm|webp|wsq|jp2|wav|flac|mp3|m4a|ogg|sph|npy|mat|iso|fmr)"
    r"|.*[^\W\d_].*[_-]\d+(\.\w+)?",
    re.IGNORECASE,
)

Fits = Callable[[list[str]], bool]
_BothSides = tuple[AnyArray, AnyArray, AnyArray]  # labels, and their codes in each comparison


def advice_on_samples(ids: Iterable[object], fits: Fits | None = None) -> str:
    """Return what to do where ids of subjects look like names of samples, or "" where they do not.

    fits: whether subjects, one for each id, may be the right ones; by default some are alike, and
    some differ.

    Examples
    --------
    >>> from fastfair.data.sample_names import advice_on_samples
    >>> "here perhaps '^([^/]+)/'" in advice_on_samples(["ann/1.jpg", "ann/2.jpg", "bob/1.jpg"])
    True
    """
    names = [str(name) for name in ids]
    looked_at = names[:_LOOKED_AT]
    like_samples = list(filter(_SAMPLE.fullmatch, looked_at))
    if not like_samples or 2 * len(like_samples) < len(looked_at):
        return ""
    return (
        f"The ids look like names of samples, such as {like_samples[0]!r}: cut the subjects out"
        f" with ⟦subject_pattern=⟧{hint_at_pattern(names, fits or _some_are_alike)}"
    )


def advice_on_pattern(samples: _BothSides, subjects: _BothSides, mated: Flags | None) -> str:
    """Return which other part of the names of samples may be the subject, or "" where nothing
    speaks for another.

    mated: whether each comparison is, as its label says; None where no label does.
    """
    names = list(map(str, samples[0].tolist()))
    hint = hint_at_pattern(names, pairs_fit(samples, mated))
    if len(subjects[0]) == 1:
        of_all = (
            f"All samples, such as {names[0]!r}, are of one subject, {str(subjects[0].item(0))!r}"
        )
        return f"{of_all}: say which part of the names is the subject with ⟦subject_pattern=⟧{hint}"
    return (
        f"Say which part of the names is the subject with ⟦subject_pattern=⟧{hint}" if hint else ""
    )


def pairs_fit(samples: _BothSides, mated: Flags | None) -> Fits:
    """Return whether subjects of samples fit the comparisons: their labels, or else some are mated
    and some are not.
    """
    _, reference, probe = samples

    def fits(subjects: list[str]) -> bool:
        _, codes = np.unique(subjects, return_inverse=True)
        same = codes[reference] == codes[probe]
        return bool(same.any() and not same.all()) if mated is None else bool((same == mated).all())

    return fits


def fits_among(names: Set[str]) -> Fits:
    """Return whether subjects are those of a table, most of them."""

    def fits(subjects: list[str]) -> bool:
        distinct = set(subjects)
        return 2 * len(distinct & names) > len(distinct)

    return fits


def _some_are_alike(subjects: list[str]) -> bool:
    return 1 < len(set(subjects)) < len(subjects)


def hint_at_pattern(names: list[str], fits: Fits = _some_are_alike) -> str:
    """Return the first pattern that fits, as it is typed between single quotes, or "" where none
    does.
    """
    for pattern in _patterns(names[:_LOOKED_AT]):
        subjects = _cut_out(names, pattern)
        if subjects is not None and fits(subjects):
            return f", here perhaps '{pattern}'"
    return ""


def _cut_out(names: list[str], pattern: str) -> list[str] | None:
    """Return the subject in each name, or None where a name has none."""
    search = re.compile(pattern).search
    subjects = []
    for name in names:
        match = search(name)
        if match is None:
            return None
        subjects.append(match[1])
    return subjects


def _patterns(names: list[str]) -> Iterator[str]:
    """Yield patterns of subjects: a folder, what stands before a number, and what stands before a
    mark.
    """
    separator = next((mark for mark in "/\\" if any(mark in name for name in names)), "")
    if separator:
        mark = re.escape(separator)
        part = f"[^{mark}]+"
        root = mark if all(name.startswith(separator) for name in names) else ""
        for depth in range(min(_DEEPEST, *(name.count(separator) for name in names))):
            above = (
                ""
                if depth == 0
                else f"{part}{mark}"
                if depth == 1
                else f"(?:{part}{mark}){{{depth}}}"
            )
            yield f"^{root}{above}({part}){mark}"
        yield f"({part}){mark}{part}$"
        name, rest = f"({part})", f"[^{mark}]*$"
    else:
        name, rest = "^(.+)", ""
    for mark in "_-":
        yield rf"{name}{mark}\d+{rest}"
    start = f"(?:^|{re.escape(separator)})" if separator else "^"
    for mark in "_-.":
        inside = re.escape(separator + mark)
        yield f"{start}([^{inside}]+){re.escape(mark)}{rest}"
