"""`scan_comparisons`: read comparisons part by part, from files that are larger than memory."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fastfair._lib import memory
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Flags
from fastfair._lib.executors import results
from fastfair._lib.threads import alone, count_threads, run_in_order
from fastfair._lib.warnings import Told, give_warnings, hold_warnings
from fastfair._lib.workers import Executor, Progress, reporting
from fastfair.data import checks
from fastfair.data.checks import ScoreKind
from fastfair.data.columns import USUAL, Policies
from fastfair.data.exclusions import Exclusion
from fastfair.data.scans import LEAST_MEMORY, DividedPart, Limits, Scan, ScannedComparisons, divide
from fastfair.errors import InputError

from . import files, formats, tables
from .comparisons import code_rows
from .formats import USUAL_LAYOUT, Groups, HowToRead, Layout

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

# Bytes of memory for a row while it is read, coded and counted, and for each of its columns of
# text.
_BYTES_OF_A_ROW = 24
_BYTES_OF_TEXT = 18
_MOST_TEXTS = 4  # references, probes and their samples
_SHARE_OF_ROWS = 0.25  # of the memory, for the rows that are read at once
_MOST_ROWS = 2**22  # of a part, at most
# With an executor.
_ROWS_OF_A_TASK = 2**20
_LEAST_TASKS = 4  # that run or wait
_MOST_TASKS = 64
_AHEAD = 1  # parts that may wait, besides those that threads work on


@checked
@dataclass(frozen=True)
class Storage:
    """How much of the comparisons a scan keeps, and where.

    Attributes
    ----------
    memory_limit : int or str, optional
        About how much memory the scan and its evaluations may take: a number of bytes, or text such
        as "4 GB". By default half of what is free. The more memory, the more scores are kept:
        thresholds and error rates are exact, and what needs scores that are not kept is an error of
        `evaluate`.
    folder : path, optional
        Where to make a folder for temporary files, by default where the system has them. It is
        removed with the result, and takes up to 8 bytes for each comparison, and while one is
        evaluated about 4 more.
    cllr : bool, default False
        Whether to keep the score of every comparison beside who was compared, for Cllr. Temporary
        files take 4 bytes more for each comparison, 8 where scores are float64, and about 8 more
        while one is evaluated. Without it `evaluate` refuses Cllr of the scan.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.Storage("4 GB", cllr=True)
    Storage(memory_limit=4000000000, folder=None, cllr=True)
    """

    memory_limit: memory.Amount | None = None
    folder: str | Path | None = None
    cllr: bool = False


USUAL_STORAGE = Storage()


@checked
def scan_comparisons(
    path: str | Path | Sequence[str | Path],
    score: str | None = None,
    mated: str | None = None,
    reference: str | None = None,
    probe: str | None = None,
    subject_pattern: str | None = None,
    metadata: str | Path | IntoDataFrame | None = None,
    groups: Groups | None = None,
    *,
    score_kind: ScoreKind = "similarity",
    layout: Layout = USUAL_LAYOUT,
    policies: Policies = USUAL,
    storage: Storage = USUAL_STORAGE,
    progress: Progress = False,
    executor: Executor = None,
) -> ScannedComparisons:
    r"""Read score files part by part, for `evaluate` and `claim`, where memory cannot hold all
    comparisons.

    Each file is read once, by all processors. Kept are the lowest mated and the highest non-mated
    scores, as many as the memory allows, and for every comparison who was compared, in temporary
    files where memory is short.

    Parameters
    ----------
    path : path or sequence of paths
        Score files of one system, or a pattern such as ``"scores/*.parquet"``. Parquet files are
        read in parts by several threads, all others whole, one after another.
    score, mated, reference, probe, subject_pattern, metadata, groups
        As in `read_comparisons`; a score matrix cannot be scanned. The subjects of references and
        probes must be known.
    score_kind, layout, policies
        As in `read_comparisons`. A scan refuses comparisons that failed, and takes neither columns
        to keep nor quality.
    storage : Storage
        How much of the comparisons to keep, and where.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of bytes done and in
        all.
    executor : object with a method `submit`, optional
        Its workers read the files, which they find by the same names, in tasks of about a million
        rows; see `evaluate`.

    Returns
    -------
    ScannedComparisons

    Raises
    ------
    FileFormatError, InputError
        As `read_comparisons` does, naming the file and the row; for files whose columns or
        attributes differ, for a subject with two labels of an attribute, for a file that is named
        twice, and for less memory than 128 MiB.
    OutputError
        Where temporary files cannot be written.

    Warns
    -----
    DroppedWarning
        For what `policies` leaves out, in each part.

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
    with files.refuse_changes():
        how = HowToRead(
            score,
            mated,
            reference,
            probe,
            subject_pattern,
            metadata,
            groups,
            score_kind,
            layout,
            policies,
        )
    if policies.failures != "error" or policies.failure_score is not None:
        raise InputError(
            "a scan takes no comparisons that failed: leave ⟦failures=⟧ out, or use"
            " read_comparisons"
        )
    for name, given in (
        ("quality", layout.quality),
        ("keep", how.keep),
        ("impostor", layout.impostor),
        ("attack", layout.attack),
        *layout.of_transactions.items(),
    ):
        if given:
            raise InputError(f"a scan has no {name}=: leave it out, or use read_comparisons")
    if layout.shared:
        raise InputError(
            "a scan has no ⟦session=⟧, as it sums over comparisons in parts by subject, among which"
            " those of one session are scattered: use read_comparisons, which keeps all in memory"
        )
    limit = memory.available() // 2 if storage.memory_limit is None else int(storage.memory_limit)
    if limit < LEAST_MEMORY:
        raise InputError(
            f"memory_limit must be at least {LEAST_MEMORY >> 20} MiB, not {limit:,} bytes"
        )
    # Workers may run in another folder.
    paths = [file.absolute() for file in files.files_of(path, "comparisons")]
    stamps = {file: files.stamp_of(file) for file in paths}
    scan = Scan(checks.kept_kind(score_kind), limit, storage.folder, storage.cllr)
    n_at_once = count_threads(None) + _AHEAD + 1
    most_rows = _MOST_ROWS
    n_bytes = _SHARE_OF_ROWS * limit
    if executor is not None:
        n_tasks = int(n_bytes / _BYTES_OF_A_ROW / _ROWS_OF_A_TASK)
        most_rows = _ROWS_OF_A_TASK
        n_at_once = min(max(n_tasks, _LEAST_TASKS), _MOST_TASKS)
    parts = [
        part for file in paths for part in _parts_of(file, most_rows, n_bytes / n_at_once, how)
    ]
    reader = _PartReader(parts, how, storage.cllr, stamps)
    read = (
        _in_threads(scan, reader)
        if executor is None
        else _in_tasks(scan, reader, executor, n_at_once)
    )
    with reporting(progress, "files") as report:
        done = 0
        for k, (part, read_part) in enumerate(zip(parts, read, strict=True)):
            with files.name_file(part.file), read_part.rows.placed(read_part.keep):
                if read_part.divided is not None:
                    scan.add(read_part.divided)
            scan.left_out += read_part.left_out
            if report is not None and (k + 1 == len(parts) or parts[k + 1].file is not part.file):
                done += stamps[part.file][0]
                report(done, sum(size for size, _ in stamps.values()))
    return scan.finish()


class _Part(NamedTuple):
    """A file, or some rows of a Parquet file."""

    file: Path
    first: int = 0
    n_rows: int | None = None


def _parts_of(file: Path, most_rows: int, n_bytes: float, how: HowToRead) -> list[_Part]:
    """Cut a file into parts of so many rows that each takes a number of bytes, if it is a Parquet
    file.
    """
    if (
        how.layout.format if how.layout.format != "auto" else file.suffix.lower().removeprefix(".")
    ) != "parquet":
        return [_Part(file)]
    files.require_kind(file, ".parquet")
    with files.explain_reading(file):
        rows = tables.scan_schema(file)
        size = rows.select(files.polars().len()).collect().item()
        types = rows.collect_schema().dtypes()
    n_texts = min(sum(not kind.is_numeric() for kind in types), _MOST_TEXTS)
    n_rows = min(most_rows, int(n_bytes / (_BYTES_OF_A_ROW + n_texts * _BYTES_OF_TEXT)))
    return [_Part(file, first, n_rows) for first in range(0, max(size, 1), n_rows)]


class _ReadPart(NamedTuple):
    """A part that was read."""

    divided: DividedPart | None  # None where everything was left out
    left_out: tuple[Exclusion, ...]  # what was, and why
    rows: tables.Rows  # the place of its rows
    keep: Flags  # which of the rows are in it


@dataclass
class _PartReader:
    """Reads parts; to an executor it is a job whose tasks are a part's number and the limits as
    they stand.

    `stamps` tells how each file was when the scan began; the others are as in `scan_comparisons`.
    """

    parts: list[_Part]
    how: HowToRead
    cllr: bool
    stamps: dict[Path, tuple[int, int]]

    def run(self, task: tuple[int, Limits], n_threads: int, _: None) -> tuple[_ReadPart, Told]:
        """Read a part, and return what it gave warnings of beside it."""
        number, limits = task
        with files.name_file(self.parts[number].file), alone(), hold_warnings() as messages:
            return self.read(number, limits), messages

    def read(self, number: int, limits: Limits) -> _ReadPart:
        """Read the part of a number, and divide its comparisons by limits as `Scan.limits` has
        them.
        """
        part = self.parts[number]
        how = self.how
        try:
            with files.refuse_changes({part.file: self.stamps[part.file]}):
                if part.n_rows is None:
                    table = formats.read(part.file, how)
                    if table.is_matrix:
                        raise InputError(
                            f"{part.file} is a score matrix, which cannot be scanned: use"
                            " read_comparisons"
                        )
                else:
                    rows_of_file = tables.of_parquet(part.file, part.first, part.n_rows)
                    table = formats.choose(rows_of_file, how, formats.FORMATS["parquet"])
                columns = code_rows(table, how)
            rows = tables.Rows(table.place, lines=table.lines, first=table.first)
            with rows.placed(columns.keep):
                checked_part = divide(columns, self.cllr, limits) if columns.values.size else None
            return _ReadPart(checked_part, columns.left_out, rows, columns.keep)
        except InputError as error:
            if all(isinstance(part, str) or part.name != "failures" for part in error.parts):
                raise
            raise type(error)(
                f"{error.marked}; read_comparisons can leave out or count them so, a scan cannot",
                error.row,
            ) from None


def _in_threads(scan: Scan, reader: _PartReader) -> Iterator[_ReadPart]:
    """Read parts in the threads of this process, of files that are read whole one at a time."""
    whole = threading.Lock()

    def read(k: int) -> _ReadPart:
        part = reader.parts[k]
        with files.name_file(part.file), whole if part.n_rows is None else contextlib.nullcontext():
            return reader.read(k, scan.limits)

    return run_in_order(read, range(len(reader.parts)), ahead=_AHEAD)


def _in_tasks(
    scan: Scan, reader: _PartReader, executor: Any, n_at_once: int
) -> Iterator[_ReadPart]:
    """Read parts by the workers of an executor."""
    tasks = ((k, scan.limits) for k in range(len(reader.parts)))
    for _, (part, messages) in results(executor, reader, tasks, 1, n_at_once):
        give_warnings(messages)
        yield part
