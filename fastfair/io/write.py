"""`write_comparisons`: write score files from which `read_comparisons` makes the same comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import SortedSide
from fastfair.errors import InputError

from . import files

if TYPE_CHECKING:
    import polars as pl

_SUFFIXES = (".csv", ".tsv", ".parquet")
_SUBJECTS, _SAMPLES = ("reference", "probe"), ("reference_sample", "probe_sample")


@checked
def write_comparisons(comparisons: Comparisons, path: str | Path) -> None:
    """Write a score file with named columns, from which `read_comparisons` makes the same comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons to write, in their original order if subjects or groups are known, else the mated ones first.
    path : path
        A name that ends in .csv, .tsv or .parquet. A file of this name is replaced.

    Raises
    ------
    OutputError
        Where the file cannot be written; an existing file of this name is then unchanged.
    InputError
        For another suffix, and for labels or names of attributes that reading the file would change.

    See Also
    --------
    read_comparisons : takes `score_kind` and `groups`, which the file does not hold.

    Notes
    -----
    The columns are score, mated, reference and probe, reference_sample and probe_sample, and for each attribute x
    reference_x and probe_x, as far as they are known. Scores are read back to the last bit, from text files as float64.
    Text files turn all labels into text; Parquet keeps integers. Comparisons that failed have no score: give
    `read_comparisons` the same `failures`.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> labels = {"sex": ["f", "m", "f"], "eyes": ["blue", "brown", "blue"]}
    >>> c = ff.Comparisons([0.1, 0.7, 0.3], [1, 0, 1], reference_group=labels, score_kind="distance")
    >>> ff.write_comparisons(c, path)
    >>> print(path.read_text().splitlines()[0])
    score,mated,reference_sex,probe_sex,reference_eyes,probe_eyes
    >>> ff.read_comparisons(path, groups=["sex", "eyes"], score_kind="distance").groups
    ('f & blue', 'm & brown')
    """
    path = Path(path)
    if path.suffix not in _SUFFIXES:
        raise InputError(f"path must end in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}, not {path.name!r}")
    with whole_files.written(path) as file:
        frame = _frame(comparisons, as_text=path.suffix != ".parquet")
        if path.suffix == ".parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file, separator="\t" if path.suffix == ".tsv" else ",")


def _frame(comparisons: Comparisons, as_text: bool) -> pl.DataFrame:
    pl = files.polars()
    failed = comparisons.failed
    apart = failed.sides if failed is not None and failed.policy == "exclude" else ()
    sides = comparisons.mated, comparisons.nonmated, *apart
    similarities = np.concatenate([side.similarities for side in sides])
    scores = 0 - similarities if comparisons.score_kind == "distance" else similarities
    columns: dict[str, Any] = {
        "score": scores.astype(np.float64)
        if as_text
        else scores,  # float32 would be written with too few digits to read back as float64
        "mated": np.repeat([True, False] * (len(sides) // 2), [len(side) for side in sides]),
    }
    frame = pl.DataFrame(columns | _labels(comparisons, sides, as_text))
    if failed is not None:
        frame = frame.with_columns(score=pl.when(pl.col("score").is_finite()).then(pl.col("score")))
    if as_text:
        frame = frame.with_columns(whole_files.neutralised(pl.col(pl.String)))
    rows = [side.rows for side in sides if side.rows is not None]
    return frame[np.argsort(np.concatenate(rows))] if rows else frame


def _labels(comparisons: Comparisons, sides: Sequence[SortedSide], as_text: bool) -> dict[str, pl.Series]:
    """Return the columns of subjects, samples and attributes."""
    pl = files.polars()
    columns: dict[str, tuple[Any, list[Any]]] = {}  # the labels, and each side's codes of them
    for names, known in ((_SUBJECTS, comparisons.subjects), (_SAMPLES, comparisons.samples)):
        if known is not None:
            whole = not as_text and all(type(label) is int for label in known.tolist())
            labels = pl.Series(known.tolist() if whole else list(map(str, known)))
            columns |= {name: (labels, [getattr(side, name) for side in sides]) for name in names}
    for name, texts in comparisons.attributes.items():
        if name == "sample":
            raise InputError("an attribute called 'sample' would be read as the samples: rename it")
        if as_text and set(name) & set("\t\r\n"):
            raise InputError(f"{name!r} cannot head a column of a text file: rename it, or write .parquet")
        for role in _SUBJECTS:
            codes = [getattr(side, f"{role}_attributes")[name] for side in sides]
            columns[f"{role}_{name}"] = pl.Series(texts), codes
    for name, (labels, _) in columns.items() if as_text else ():
        wrong = [text for text in (name, *labels.to_list()) if set(text) & set("\0\ufeff")]
        if wrong:
            raise InputError(
                f"{name!r}: no text file can hold {wrong[0]!r}, for its NUL or byte order mark: write .parquet"
            )
    return {name: labels.gather(np.concatenate(codes)) for name, (labels, codes) in columns.items()}
