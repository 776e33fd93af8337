"""`scan_comparisons`: read comparisons part by part, from files that are larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fastfair._lib import argument_kinds, memory, validation
from fastfair._lib.arguments import checked
from fastfair._lib.progress import reporting
from fastfair._lib.threads import Turn, Turns, count_threads, in_order
from fastfair.data.checked_columns import checked_columns
from fastfair.data.scanned_comparisons import ScannedComparisons
from fastfair.data.scanning import LEAST_MEMORY, Scan
from fastfair.errors import InputError

from . import formats, reading, tables
from .file_names import files_of, naming
from .how_to_read import HowToRead
from .score_columns import columns_of
from .score_files import opened, read_table

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_BYTES_OF_A_ROW = 48  # while its columns are read, coded and counted
_SHARE_OF_ROWS = 0.25  # of the memory, for the rows that are read at once
_MOST_ROWS = 2**22
_AHEAD = 1  # parts that may wait, besides those that threads work on
_NO_SIDES = (None, None)


@checked(path=argument_kinds.paths, groups=argument_kinds.texts_or_pairs, metadata_id=argument_kinds.texts)
def scan_comparisons(
    path: str | Path | Sequence[str | Path],
    score: str | None = None,
    mated: str | None = None,
    reference: str | None = None,
    probe: str | None = None,
    subject_pattern: str | None = None,
    metadata: str | Path | IntoDataFrame | None = None,
    metadata_id: str | Sequence[str] | None = None,
    groups: str | Sequence[str | tuple[str, str]] | None = None,
    format: str = "auto",
    *,
    score_kind: str = "similarity",
    metadata_per: str = "subject",
    metadata_subject: str | None = None,
    missing_metadata: str = "raise",
    label_conflicts: str = "raise",
    cllr: bool = False,
    memory_limit: int | str | None = None,
    folder: str | Path | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> ScannedComparisons:
    r"""Read score files part by part, for `evaluate` and `claim`, where memory cannot hold all comparisons.

    Each file is read once, by all processors. Kept are the lowest mated and the highest non-mated scores, as many as
    the memory allows, and for every comparison who was compared, in temporary files where memory is short.

    Parameters
    ----------
    path : path or sequence of paths
        Score files of one system, or a pattern such as ``"scores/*.parquet"``. Parquet files are read in parts by
        several threads, all others whole, one after another.
    score, mated, reference, probe, subject_pattern, metadata, metadata_id, groups, format
        As in `read_comparisons`; a score matrix cannot be scanned. The subjects of references and probes must be known.
    score_kind, metadata_per, metadata_subject, missing_metadata, label_conflicts
        As in `read_comparisons`.
    cllr : bool, default False
        Whether to keep the score of every comparison beside who was compared, for Cllr. Temporary files take 4 bytes
        more for each comparison, 8 where scores are float64, and about 8 more while one is evaluated. Without it
        `evaluate` refuses Cllr of the scan.
    memory_limit : int or str, optional
        About how much memory the scan and its evaluations may take: a number of bytes, or text such as "4 GB". By
        default half of what is free. The more memory, the more scores are kept: thresholds and error rates are exact,
        and what needs scores that are not kept is an error of `evaluate`.
    folder : path, optional
        Where to make a folder for temporary files, by default where the system has them. It is removed with the result,
        and takes up to 8 bytes for each comparison, and while one is evaluated about 4 more.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of bytes done and in all.

    Returns
    -------
    ScannedComparisons

    Raises
    ------
    FileFormatError, InputError
        As `read_comparisons` does, naming the file and the row; for files whose columns or attributes differ, for a
        subject with two labels of an attribute, for a file that is named twice, and for less memory than 128 MiB.
    OutputError
        Where temporary files cannot be written.

    Warns
    -----
    DroppedWarning
        Under ``missing_metadata="drop"`` and ``label_conflicts="drop"``, for each part.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("reference,probe,score\na,a,0.9\na,b,0.2\n")
    >>> _ = (folder / "2.csv").write_text("reference,probe,score\nb,b,0.8\nb,c,0.4\n")
    >>> ff.scan_comparisons(folder / "*.csv")
    ScannedComparisons(2 mated, 2 non-mated, similarity, 3 subjects)
    """
    how = HowToRead(
        score, mated, reference, probe, subject_pattern, metadata, metadata_id, groups, format,
        None, metadata_per, metadata_subject, missing_metadata, label_conflicts,
    )  # fmt: skip
    validation.choice("score_kind", score_kind, validation.SCORE_KINDS)
    limit = memory.available() // 2 if memory_limit is None else int(memory_limit)
    if limit < LEAST_MEMORY:
        raise InputError(f"memory_limit must be at least {LEAST_MEMORY >> 20} MiB, not {limit:,} bytes")
    files = files_of(path, "comparisons")
    sizes = [file.stat().st_size for file in files]
    n_at_once = count_threads(None) + _AHEAD + 1
    n_rows = int(min(_MOST_ROWS, _SHARE_OF_ROWS * limit / _BYTES_OF_A_ROW / n_at_once))
    scan, turns = Scan(score_kind, limit, folder, cllr), Turns()
    parts = [part for file in files for part in _parts(file, n_rows, how)]

    def code(k: int) -> Callable[[], None]:
        part = parts[k]
        with naming(part.file), turns.of(k) as turn:
            if part.kind != "parquet":
                turn.take()  # as such files are read whole, only one is in memory
            return _coded(scan, part, how, score_kind, turn)

    with reporting(progress, "files") as report:
        done = 0
        for k, (part, add) in enumerate(zip(parts, in_order(code, range(len(parts)), ahead=_AHEAD), strict=True)):
            with naming(part.file):
                add()
            if report is not None and (k + 1 == len(parts) or parts[k + 1].file is not part.file):
                done += sizes[files.index(part.file)]
                report(done, sum(sizes))
    return scan.finish()


class _Part(NamedTuple):
    """A file, or some rows of it."""

    file: Path
    kind: str  # its format; "" if it is told by what is in it
    first: int
    n_rows: int | None


def _parts(file: Path, n_rows: int, how: HowToRead) -> list[_Part]:
    kind = formats.recognise_suffix(file) if how.format == "auto" else how.format
    if kind != "parquet":
        return [_Part(file, "", 0, None)]
    pl = reading.polars()
    with reading.reading(file):
        size = pl.scan_parquet(file).select(pl.len()).collect().item()
    return [_Part(file, kind, first, n_rows) for first in range(0, max(size, 1), n_rows)]


def _read(part: _Part, how: HowToRead) -> tuple[formats.ScoreTable, str]:
    """Read a part, with its format."""
    if part.kind == "parquet":
        table = tables.of_parquet(part.file, part.first, part.n_rows)
        return formats.choose(table, part.kind, how.names, **how.groups_of), part.kind
    kind, *texts = opened(part.file, how)
    if kind == "matrix":
        raise InputError(f"{part.file} is a score matrix, which cannot be scanned: read it with read_comparisons")
    return read_table(part.file, kind, (texts[0], texts[1]), how), kind


def _coded(scan: Scan, part: _Part, how: HowToRead, score_kind: str, turn: Turn) -> Callable[[], None]:
    """Read a part and code its comparisons; returns what adds them. turn: to number subjects."""
    table, kind = _read(part, how)
    columns = columns_of(table, kind, how)
    if columns.keep is not None and not columns.keep.any():
        return partial(scan.leave_out, columns.left_out)
    given = columns.arguments
    subjects, groups = (tuple(given.get(f"{side}{what}") for side in ("reference", "probe")) for what in ("", "_group"))
    with table.placed(columns.keep):
        found = checked_columns(
            given["scores"], given["mated"], (subjects[0], subjects[1]), (groups[0], groups[1]), score_kind, _NO_SIDES,
            "keep",
        )  # fmt: skip
        found.left_out = columns.left_out
        turn.take()
        numbers = scan.number(found)
        turn.pass_on()
        coded = scan.coded(found, numbers)

    def add() -> None:
        with table.placed(columns.keep):
            scan.add(coded)

    return add
