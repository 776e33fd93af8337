"""Formats of score files, one record each: how a file is recognised, and how its rows are read.

A new format is a `Format` in `FORMATS`. The command line, messages and the documentation take all
formats from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import Natural, checked
from fastfair._lib.arrays import AnyArray, Integers
from fastfair._lib.frames import FrameColumns
from fastfair._lib.text import not_there
from fastfair.data import checks, side_columns
from fastfair.data.checks import ScoreKind
from fastfair.data.columns import Policies, columns_of_matrix
from fastfair.data.embeddings import NamedVectors
from fastfair.errors import FileFormatError, InputError

from . import files, json_tables, keys, sidekit_scores, tables, text_matrices
from . import text as texts
from .metadata import Metadata, MetadataPer, QualityColumn
from .text import Text, fields_of, is_number

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

VOXCELEB_SUBJECT = r"^([^/]+)/"  # names begin with the folder of a speaker
_CANONICAL = ("score", "mated", "reference", "probe")
_SAMPLES = ("reference_sample", "probe_sample")
_TRIAL = ["enrol", "test"]
_OF_HEADERS = {"\t": "tsv", ",": "csv", ";": "csv"}  # by the character between names
_LABELS = ("label", "target")
_SHOWN = 120  # characters of a line in a message
OneOrTwo = str | tuple[str, str]  # columns: of a comparison, or of its reference and of its probe
Groups = str | Sequence[str | tuple[str, str]]  # columns that make groups, or pairs of them


@checked
@dataclass(frozen=True)
class Layout:
    """How score files and tables of metadata are laid out, where they differ from the usual.

    Attributes
    ----------
    format : str
        "auto", or the name of a format, as the table of the page on score files has them: "csv",
        "voxceleb", "kaldi", "matrix" (row i and column i are one subject), and so on. "auto" looks
        at all rows, and recognises a format or raises; it never guesses between two.
    mated_value : str or float, optional
        Which of the two values of the labels means mated, where they are no common words for it
        such as 1 and 0, target and nontarget, or yes and no.
    quality : str or pair of str, optional
        Columns of the score file with the quality of samples, for `discard_curve`: the name of one
        column for the whole comparison; what the names of two columns share, as "quality" for
        "reference_quality" and "probe_quality"; or a pair of columns, that of the references first.
        With `quality_table`, its column; so also where the metadata are of samples and have this
        column.
    quality_table : path or data frame, optional
        Table with the quality of each sample, such as OFIQ and NFIQ 2 write it: one row for each
        sample, whose id comes first.
    keep : str or sequence of str
        Columns of the score file to keep, such as your own ids of comparisons.

        `worst_comparisons` shows them.
    metadata_id : str, optional
        The column of the metadata with the ids of subjects or of samples, by default the first.
    metadata_per : {"subject", "sample"}
        Whether `metadata_id` has ids of subjects or of samples, such as names of files.
    metadata_subject : str, optional
        The column of the metadata with the subject of each sample, where no pattern can find it;
        `reference` and `probe` then name samples.
    bands : str or sequence of str
        Bands of an attribute that has numbers, as in "age=0,20,35,50,65", the first number of each
        band; "age=cc" are the age bands of Common Criteria, 0-19, 20-34, 35-49, 50-64 and 65-99;
        "age=none" leaves numbers as they are, for `error_model`.
    impostor : path, optional
        The scores of non-mated comparisons, one on each line or a one-dimensional ``.npy``, where
        the score file has nothing but those of mated ones.
    attempts : int, optional
        Make transactions of so many consecutive attempts, as `transactions` does.
    transaction : str, optional
        The column that names the transaction of each attempt.
    session : str or pair of str, optional
        What attempts share, on which their errors depend: the column of the day, device, site or
        operator of each comparison, or two, of its reference and of its probe, on the command line
        with a comma between them; a column of `metadata`, where the score file has none. With
        `attempts`, the session in which consecutive attempts are counted; intervals then take
        people alone.
    attack : str or pair of str, optional
        The column with the species of presentation attacks, which imitate the subjects of their
        references, as in `add_attacks`; or this column and what it has for bona fide rows, by
        default nothing, "bonafide" or "bona fide", on the command line with a comma between them.
        Without a mated column, bona fide presentations are those of a detector of attacks.

    Examples
    --------
    >>> import fastfair as ff
    >>> import polars as pl
    >>> scores = pl.DataFrame({"score": [0.9, 0.2], "mated": ["genuine", "zero-effort"]})
    >>> ff.read_comparisons(scores, layout=ff.Layout(mated_value="genuine"))
    Comparisons(1 mated, 1 non-mated, similarity)
    """

    format: str = "auto"
    mated_value: str | float | None = None
    quality: OneOrTwo | None = None
    quality_table: str | Path | IntoDataFrame | None = None
    keep: str | Sequence[str] = ()
    metadata_id: str | None = None
    metadata_per: MetadataPer = "subject"
    metadata_subject: str | None = None
    bands: str | Sequence[str] = ()
    impostor: str | Path | None = None
    attempts: Natural | None = None
    transaction: str | None = None
    session: OneOrTwo | None = None
    attack: OneOrTwo | None = None

    @property
    def of_transactions(self) -> dict[str, Any]:
        """What says that comparisons are attempts of transactions; empty where nothing does."""
        if self.shared is not None:
            return {}
        given = {name: getattr(self, name) for name in ("attempts", "transaction", "session")}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def shared(self) -> OneOrTwo | None:
        """The columns of what attempts share; None where sessions divide transactions."""
        return self.session if self.attempts is None and self.transaction is None else None


USUAL_LAYOUT = Layout()
_OF_QUALITY = (
    "To read quality from a table with one row for each sample, give it as ⟦quality_table=⟧"
)


@dataclass
class HowToRead:
    """Arguments of `read_comparisons`, checked, with the table of metadata read.

    Attributes
    ----------
    vectors : NamedVectors or None
        What the pairs of a list of trials are scored with.
    described : Metadata or None
        The table of metadata.
    quality : Metadata or None
        The table with the quality of samples.
    attributes : list
        The attributes that make groups, as `side_columns.named` returns them.
    keep : tuple of str
        As in `Layout`.
    """

    score: str | None
    mated: str | None
    reference: str | None
    probe: str | None
    subject_pattern: str | None
    metadata: InitVar[Any]
    groups: Groups | None
    score_kind: ScoreKind
    layout: Layout
    policies: Policies
    trials: str | Path | None = None
    vectors: NamedVectors | None = None
    described: Metadata | None = field(init=False)
    quality: Metadata | None = field(init=False)
    attributes: list[Any] = field(init=False)
    keep: tuple[str, ...] = field(init=False)

    def __post_init__(self, metadata: Any) -> None:
        self.attributes = side_columns.names_of_groups(self.groups)
        asked = self.layout.keep
        named: list[Any] = [self.layout.transaction]
        if self.layout.shared is None:
            named.append(self.layout.session)
        if isinstance(named[-1], tuple):
            raise InputError(
                "with ⟦attempts=⟧, ⟦session=⟧ is the one column of the session of each attempt, not"
                f" {named[-1]}"
            )
        self.keep = tuple(
            dict.fromkeys([*([asked] if isinstance(asked, str) else asked), *filter(None, named)])
        )
        if self.vectors is not None and self.policies.failure_score is not None:
            raise InputError(
                "with ⟦embeddings=⟧, leave ⟦failure_score=⟧ out: vectors that are zero or not"
                " finite failed"
            )
        layout = self.layout
        validation.choice("⟦format⟧", layout.format, ("auto", *FORMATS))
        self.described: Metadata | None = None
        per = layout.metadata_per if layout.metadata_subject is None else "sample"
        shared = layout.shared
        of_metadata = isinstance(layout.quality, str) or isinstance(shared, str)
        names: Sequence[str] = ()
        if metadata is not None and of_metadata:
            names = tables.read_source(metadata, "metadata", "metadata").names
        self.quality = self._table_of_quality(metadata if per == "sample" else None, names)
        session = shared if isinstance(shared, str) and shared in names else None
        describes = bool(self.attributes or layout.metadata_subject or session)
        if metadata is not None and (
            describes or self.quality is None or layout.quality_table is not None
        ):
            self.described = Metadata(
                metadata,
                layout.metadata_id,
                self.attributes,
                per,
                layout.metadata_subject,
                session=session,
            )
        elif metadata is None and (
            layout.metadata_id is not None or layout.metadata_subject is not None
        ):
            name = "metadata_id" if layout.metadata_subject is None else "metadata_subject"
            raise InputError(f"⟦{name}⟧ is given without ⟦metadata=⟧")

    def _table_of_quality(self, metadata: Any, names: Sequence[str]) -> Metadata | None:
        """Read the quality of samples from its table, or from metadata of samples, whose columns
        have these names; None where neither has it.
        """
        layout = self.layout
        table, ids, called = layout.quality_table, None, "quality_table"
        if table is not None and not isinstance(layout.quality, str):
            raise InputError(
                "⟦quality_table⟧ is given without quality: name the column of this table"
            )
        if table is None:
            if metadata is None or layout.quality not in names:
                return None
            table, ids, called = metadata, layout.metadata_id, "metadata"
        assert isinstance(layout.quality, str)
        quality = QualityColumn(layout.quality, called, self.policies.failures != "error")
        return Metadata(table, ids, [], "sample", quality=quality)

    @property
    def names(self) -> dict[str, str | None]:
        """The columns named by the caller."""
        return {role: getattr(self, role) for role in _CANONICAL}


@dataclass
class ScoreTable(tables.Rows):
    """Columns of a score file or trial list, and the line of the file that each row comes from.

    `attributes` are the columns of each attribute, with metadata those that are compared with it;
    `sessions` those of what references, and probes, share;
    `names_samples` says that reference and probe are samples whose subjects are not known;
    `is_matrix` that rows are those of a square matrix, one after another.
    """

    frame: pl.DataFrame
    score: str | None
    mated: str | None
    reference: str | None
    probe: str | None
    subject_pattern: str | None = None
    attributes: dict[str, tuple[str, str]] = field(default_factory=dict)
    samples: tuple[str, str] | None = None
    quality: tuple[str, str] | None = None
    sessions: tuple[str, str] | None = None
    attack: str | None = None
    names_samples: bool = False
    is_matrix: bool = False


@dataclass(frozen=True)
class Format:
    """A format of score files.

    Attributes
    ----------
    name : str
        What `format=` calls it.
    holds, told_by : str
        What one line holds, and what the format is recognised by, for the documentation.
    read : callable
        Reads a `ScoreFile` of the format as `HowToRead` says; returns a `ScoreTable`.
    fields : str
        The fields of a row, where no header names them; text whose rows can be such is recognised
        by them. Known are "score", "label" or "target", and names.
    listed : str
        The fields of a row of its list of trials, without scores.
    sides : tuple of str
        Which fields name reference and probe; "enrol" and "test" are samples.
    samples : tuple of str, optional
        Which fields name the samples of reference and probe.
    subject_pattern : str, optional
        What cuts subjects out of samples.
    columns : tuple of tuple of str
        Pairs of columns that may hold reference and probe, where columns have names; one pair has
        to be there.
    attacks : tuple of str
        Columns that may hold the kind of a presentation attack.
    suffixes : tuple of str
        Names of its files end so.
    is_text : bool
        Whether other names are those of text files.
    fits : callable, optional
        Whether it is the format of a path with one of these suffixes; `HowToRead` is given, too.
    of_pairs : bool
        Whether it has scores of pairs of samples, and no rows.
    """

    name: str
    holds: str
    told_by: str
    read: Callable[[ScoreFile, HowToRead], ScoreTable]
    fields: str = ""
    listed: str = ""
    sides: tuple[str, str] = ("enrol", "test")
    samples: tuple[str, str] | None = None
    subject_pattern: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    attacks: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    is_text: bool = True
    fits: Callable[[Path, HowToRead], bool] | None = None
    of_pairs: bool = False

    @property
    def of_trials(self) -> bool:
        """Whether its rows name the samples of trials, and neither subjects nor columns."""
        rows = self.fields or self.listed or self.of_pairs
        return bool(rows) and self.sides == ("enrol", "test")


@dataclass(frozen=True)
class ScoreFile:
    """A score file whose format is known; its text and that of its list of trials, None where there
    is none.
    """

    path: Path
    format: Format
    text: Text | None
    trials: Text | None


def read(path: Path, how: HowToRead) -> ScoreTable:
    """Recognise the format of a file, unless the caller names it, and read it with its list of
    trials.
    """
    roles = {role: getattr(how, role) or role for role in _CANONICAL}
    of_masks = (
        how.trials is not None and files.suffix_of(Path(how.trials)) in sidekit_scores.SUFFIXES
    )
    listing = (
        None if how.trials is None or of_masks else keys.content_of(files.check_file(how.trials))
    )
    if listing is not None and how.vectors is None:
        key = keys.table_with((roles["reference"], roles["probe"]), listing)
        if key is not None:
            table = choose(
                keys.join_scores(key, path, roles, how.policies.failures != "error"),
                how,
                FORMATS["csv"],
            )
            table.names_samples = _names_no_subjects(table)
            return table
    kind = _of_suffix(path, how) if how.layout.format == "auto" else FORMATS[how.layout.format]
    text = None
    if kind is None or (kind.is_text and files.suffix_of(path) not in kind.suffixes):
        text = texts.read(path, failures=how.policies.failures != "error")
    if isinstance(listing, Path):
        raise InputError(
            f"{listing} has no columns {roles['reference']!r} and {roles['probe']!r}: name its"
            " columns"
        )
    trials = None if listing is None else _with_blanks(listing, how)
    if kind is None:
        assert text is not None
        kind = _recognised(text, trials, how)
    if how.vectors is not None and (
        (kind.fields and not kind.listed) or files.suffix_of(path) == ".npy"
    ):
        raise InputError(f"{path} holds scores and no list of trials, so leave ⟦embeddings=⟧ out")
    if how.trials is not None and not (kind.of_pairs if of_masks else kind.of_trials):
        raise InputError(f"a {kind.name} file has its own labels: ⟦trials=⟧ goes with scores alone")
    return kind.read(ScoreFile(path, kind, text, trials), how)


def _names_no_subjects(table: ScoreTable) -> bool:
    """Return whether reference and probe of a key are models and segments: none is compared with
    itself.
    """
    pl = files.polars()
    names = [name for name in (table.reference, table.probe) if name is not None]
    sides = table.frame.select(pl.col(names).cast(pl.String))
    return table.mated is not None and not (sides.to_series(0) == sides.to_series(1)).any()


def _with_blanks(listing: Text, how: HowToRead) -> Text:
    """Return a list of trials whose fields stand between commas with blanks in their place."""
    fields = listing.first.split(",")
    if len(fields) < 2 or not all(fields) or any(mark in listing.data for mark in b' \t"'):
        return listing
    between = replace(
        listing, data=listing.data.replace(b",", b" "), first=listing.first.replace(",", " ")
    )
    return between if _readings(between, "listed", how) else listing


def _of_suffix(path: Path, how: HowToRead) -> Format | None:
    """Recognise the format of a file by its name; None if its contents must be read to find it."""
    suffix = files.suffix_of(path)
    of_suffix = (kind for kind in FORMATS.values() if suffix in kind.suffixes)
    return next((kind for kind in of_suffix if kind.fits is None or kind.fits(path, how)), None)


def _recognised(text: Text, trials: Text | None, how: HowToRead) -> Format:
    """Recognise the format of a text, or of its list of trials, or raise an error that names all
    that it may be.

    All rows are looked at. A reading that leaves no mated, or no non-mated, comparisons is none
    where there is another.
    """
    are_scored = how.vectors is None and trials is None
    listing, which = (text, "fields") if are_scored else (trials or text, "listed")
    path = listing.path
    line = listing.first
    separator = tables.separator_of(listing)
    readings: dict[str, str] = {}
    if trials is None and separator is not None and not is_number(line.split(separator)[-1]):
        names = {name.strip().strip('"') for name in line.split(separator)}
        of_columns = (
            kind.name
            for kind in FORMATS.values()
            if any(names.issuperset(pair) for pair in kind.columns)
        )
        readings = {next(of_columns, _OF_HEADERS[separator]): "named columns"}
        if separator == "\t" and not are_scored:
            readings = _readings(listing, which, how) | readings
        elif separator == "\t" and _readings(
            _first_row(listing), which, how
        ):  # fields that end in a word
            readings = {}
    fields = line.split(separator)
    numeric = all(is_number(field) or texts.is_missing(field) for field in fields)
    if are_scored and not readings and separator is None and not any(map(is_number, fields)):
        _refuse_header_between_blanks(listing, how)
    if are_scored and not readings:
        if separator in (",", ";") and not numeric:
            raise FileFormatError(
                f"{path}: the first line names no columns: {line[:_SHOWN]!r}; give the file such a"
                " line"
            )
        if numeric and len(fields) == 1:
            raise FileFormatError(
                f"{path} has nothing but scores: give the trial list as ⟦trials=⟧"
            )
    readings = (
        readings or _readings(listing, which, how) or _readings(_first_row(listing), which, how)
    )
    if are_scored and numeric and len(fields) > 1 and not readings:
        raise FileFormatError(
            f'{path} has rows of {len(fields)} numbers: say ⟦format="matrix"⟧ where they are a'
            " score matrix, or else let a first line name the columns"
        )
    if are_scored and numeric and readings and _may_be_matrix(listing, readings.values()):
        either = [
            *(f'{what} (⟦format="{name}"⟧)' for name, what in readings.items()),
            'a score matrix (⟦format="matrix"⟧)',
        ]
        raise FileFormatError(
            f"{path} has rows of {len(fields_of(line))} numbers, which may be"
            f" {' or '.join(either)}: say which; its first line is {line[:_SHOWN]!r}"
        )
    unlabelled = (
        f"{path} has scores but nothing says which are mated: give the trial list as ⟦trials=⟧"
    )
    unmarked = [
        FORMATS[k].of_trials and not set(_LABELS) & set(what.split())
        for k, what in readings.items()
    ]
    if are_scored and how.subject_pattern is None and unmarked == [True]:
        raise FileFormatError(
            f"{unlabelled}, or say how to find the subjects in its names with ⟦subject_pattern=⟧"
        )
    if are_scored and not readings and len(fields) == 3:
        if _readings(text, "listed", how):
            raise FileFormatError(
                f"{path} is a trial list without scores: give the score file as path and this as"
                " ⟦trials=⟧, or vectors to score it with as ⟦embeddings=⟧"
            )
        if is_number(fields[0]):
            raise FileFormatError(unlabelled)
    if len(readings) == 1:
        return FORMATS[next(iter(readings))]
    may_be = " or ".join(f"{kind} ({what})" for kind, what in readings.items())
    unknown = "is of no known format" if are_scored else "is no list of trials that is known"
    raise FileFormatError(
        f"{path} {f'may be {may_be}' if readings else unknown}; its first line is {line[:_SHOWN]!r};"
        f" say which with ⟦format=⟧ (one of {', '.join(FORMATS)})"
    )


def _refuse_header_between_blanks(text: Text, how: HowToRead) -> None:
    """Refuse a table whose first line names columns between blanks, as R's `write.table` writes it
    by default.
    """
    names = {name.strip('"') for name in fields_of(text.first)}
    of_rows = texts.with_names_of_rows(text, None) is not text
    if of_rows or names & {*_CANONICAL, *how.names.values()}:
        raise FileFormatError(
            f"{text.path} has names of columns between blanks, {text.first[:_SHOWN]!r}: write the"
            " table with commas, as write.csv and to_csv do"
            + ('; or is it a score matrix? Then say ⟦format="matrix"⟧' if of_rows else "")
        )


def _readings(text: Text, which: str, how: HowToRead) -> dict[str, str]:
    """Return the formats that all rows may be read as, with their fields: "fields" of scores, or
    those "listed".
    """
    n = len(fields_of(text.first))
    fields = {name: getattr(kind, which) for name, kind in FORMATS.items()}
    possible = {name: what for name, what in fields.items() if len(what.split()) == n}
    rows, _ = text.rows
    possible = {
        name: what for name, what in possible.items() if _fits(rows, what, how.layout.mated_value)
    }
    if len(possible) > 1:
        telling = {
            k: what for k, what in possible.items() if _has_both_classes(rows, what, FORMATS[k])
        }
        telling = telling or possible
        return {
            name: what for name, what in telling.items() if _has_label_words(rows, what)
        } or telling
    return possible


def _first_row(text: Text) -> Text:
    return replace(text, data=text.first.encode())


def _has_label_words(rows: pl.DataFrame, fields: str) -> bool:
    """Return whether a reading has labels that are words, which nobody would be called by."""
    labels = [column for name, column in zip(fields.split(), rows, strict=False) if name in _LABELS]
    return any(not checks.mated_word(label[0]).lstrip("-").isdigit() for label in labels)


def _fits(rows: pl.DataFrame, fields: str, mated_value: object) -> bool:
    return all(
        _are_numbers(column) if name == "score" else _are_labels(column, mated_value)
        for name, column in zip(fields.split(), rows, strict=True)
        if name in ("score", *_LABELS)
    )


def _are_numbers(column: pl.Series) -> bool:
    """Return whether fields are numbers, but for those that are missing."""
    others = column.filter(column.cast(files.polars().Float64, strict=False).is_null())
    return len(others) < len(column) and all(map(texts.is_missing, others.unique()))


def _are_whole(column: pl.Series) -> bool:
    return bool(column.str.contains("^[+-]?[0-9]+$").all())


def _may_be_matrix(text: Text, readings: Iterable[str]) -> bool:
    """Return whether rows of numbers may be those of a score matrix, or fields of which the last
    alone is a score.

    Names are whole numbers, if they are numbers; where scores are whole numbers, too, or there are
    as many rows as fields, nothing tells the two apart.
    """
    rows, _ = text.rows
    if not all(map(_are_numbers, rows)):
        return False
    square = rows.height == rows.width
    for fields in readings:
        columns = dict(zip(fields.split(), rows, strict=True))
        labelled = any(name in columns for name in _LABELS)
        score = columns.pop("score")
        if not all(_are_whole(column) for name, column in columns.items() if name not in _LABELS):
            return True
        if (square or not labelled) if _are_whole(score) else (square and not labelled):
            return True
    return False


def _are_labels(column: pl.Series, mated_value: object) -> bool:
    words = [checks.mated_word(word) for word in column.unique()[:3]]
    if mated_value is not None:
        return len(words) < 3 and (checks.mated_word(mated_value) in words or len(words) == 1)
    return checks.mated_pair(words) is not None


def _has_both_classes(rows: pl.DataFrame, fields: str, kind: Format) -> bool:
    """Return whether a reading has mated and non-mated comparisons."""
    columns = dict(zip(fields.split(), rows, strict=True))
    label = next((columns[name] for name in _LABELS if name in columns), None)
    if label is None and not kind.of_trials:
        label = columns[kind.sides[0]] == columns[kind.sides[1]]
    return label is None or label.n_unique() == 2


def choose(table: tables.Table, how: HowToRead, kind: Format) -> ScoreTable:
    """Choose and read columns: those named in arguments, those with fastfair's own names, and those
    with attributes of the metadata, which are compared with it. A list of trials that is not scored
    needs no scores.
    """
    names = table.names
    scored = how.vectors is None
    columns = f"the columns of {table.place} are {', '.join(names)}"
    chosen: dict[str, Any] = how.names
    for role, name in chosen.items():
        if name is not None:
            table.require(role, name)
    if kind.columns:
        pair = next((pair for pair in kind.columns if set(pair) <= set(names)), None)
        if pair is None:
            either = " and ".join(kind.columns[0])
            raise FileFormatError(
                f"{table.place} is no file of the format {kind.name}: it has none of {either}"
            )
        for side, name in zip(_CANONICAL[2:], pair, strict=True):
            chosen[side] = chosen[side] or name
    for role in _CANONICAL if scored else _CANONICAL[1:]:
        if chosen[role] is None and role in names:
            chosen[role] = role
    score = chosen["score"]
    if score is None and scored:
        matrix = (
            '; if it is a score matrix with names, say ⟦format="matrix"⟧' if names[0] == "" else ""
        )
        raise InputError(
            f"{table.place} has no column 'score': name the score column with ⟦score=⟧;"
            f" {columns}{matrix}"
        )
    if chosen["mated"] is None and None in (chosen["reference"], chosen["probe"]):
        raise InputError(
            "nothing says which comparisons are mated: name the column with ⟦mated=⟧, or the"
            f" subjects with ⟦reference=⟧ and ⟦probe=⟧; {columns}"
        )
    attributes = _columns_of_attributes(table, how, score)
    of_samples = how.described is None and "sample" in attributes
    chosen["samples"] = _SAMPLES if set(_SAMPLES) <= set(names) and not of_samples else None
    asked = how.layout.attack
    chosen["attack"] = (asked[0] if isinstance(asked, tuple) else asked) or next(
        (name for name in kind.attacks if name in names), None
    )
    quality = None
    if how.layout.quality is not None and how.quality is None:
        (quality,) = side_columns.find_columns(
            table.place, [how.layout.quality], names, _OF_QUALITY
        ).values()
    sessions = _columns_of_sessions(table, how)
    roles = {role: chosen[role] for role in _CANONICAL}
    roles |= dict(zip(_SAMPLES, chosen["samples"] or (), strict=False))
    pairs: dict[str, Any] = {f"attribute {name!r}": pair for name, pair in attributes.items()}
    for what, pair in (pairs | {"quality": quality, "session": sessions}).items():
        for side, name in zip(_CANONICAL[2:], pair or (), strict=False):
            roles[f"the {side}'s {what}"] = name
    roles |= {"the attack": chosen["attack"]} | {f"keep {name!r}": name for name in how.keep}
    roles = {role: name for role, name in roles.items() if name is not None}
    for role, name in roles.items():
        table.require(role, name)
        if name == score and role != "score" and not role.startswith("keep"):
            raise InputError(
                f"{table.place}: column {name!r} holds the scores, so it cannot be that of {role}"
                " as well"
            )
    numbers = [name for name in (score, *(quality or ())) if name is not None]
    return ScoreTable(
        table.place,
        table.columns([*roles.values()], numbers),
        **chosen,
        attributes=attributes,
        quality=quality,
        sessions=sessions,
        lines=table.lines,
        first=table.first,
    )


def _columns_of_attributes(
    table: tables.Table, how: HowToRead, score: str | None
) -> dict[str, tuple[str, str]]:
    """Find the columns of the attributes that make groups, or that metadata have, too."""
    names = table.names
    if how.described is not None:
        held = {
            name: side_columns.pairs_that_hold(name, names) for name in how.described.attributes
        }
        return {name: pairs[0] for name, pairs in held.items() if pairs and score not in pairs[0]}
    if not how.attributes and {"reference_group", "probe_group"} <= set(names):
        return {"group": ("reference_group", "probe_group")}
    return side_columns.find_columns(table.place, how.attributes, names)


def _columns_of_sessions(table: tables.Table, how: HowToRead) -> tuple[str, str] | None:
    """Find the columns of what references, and what probes, share; None where there are none, or
    the metadata have them.
    """
    shared = how.layout.shared
    if shared is None:
        return None
    if isinstance(shared, tuple) or shared in table.names:
        reference, probe = shared if isinstance(shared, tuple) else (shared, shared)
        return table.require("session", reference), table.require("session", probe)
    pairs = side_columns.pairs_that_hold(shared, table.names)
    if not pairs and how.described is not None and how.described.session is not None:
        return None
    if not pairs:
        raise InputError(not_there(table.place, shared, table.names, role="session"))
    if len(pairs) > 1:
        raise InputError(
            f"{table.place}: several pairs of columns hold {shared!r}:"
            f" {' and '.join(map(str, pairs))}; give one of these pairs as ⟦session=⟧"
        )
    return pairs[0]


def _named(table_of: Callable[[ScoreFile], tables.Table]) -> Callable[..., ScoreTable]:
    """Return what reads the named columns of the table of a file."""
    return lambda file, how: choose(table_of(file), how, file.format)


def _table_of_text(file: ScoreFile) -> tables.Table:
    """Make a table of text; a semicolon in its header is between names where no comma is."""
    assert file.text is not None
    by = "\t" if file.format.name == "tsv" else ","
    first = file.text.first
    return tables.read_text(
        file.text, ";" if by == "," and by not in first and ";" in first else by
    )


def _require_no_columns(file: ScoreFile, how: HowToRead, allowed: str = "") -> None:
    """Refuse what only files with named columns have."""
    given = [role for role, name in how.names.items() if name is not None and role != allowed]
    columns = ("keep", "quality", "transaction", "session", "attack")
    given += [name for name in columns if getattr(how.layout, name)]
    if how.quality is not None:
        given.remove("quality")
    if how.described is not None and how.described.session is not None:
        given.remove("session")
    if given:
        named = " and ".join(f"{name}=" for name in given)
        raise InputError(f"a {file.format.name} file has no named columns, so leave {named} out")
    if how.attributes and how.described is None:
        raise InputError(
            f"a {file.format.name} file has no columns of labels: give ⟦metadata=⟧ and"
            f" ⟦metadata_id=⟧ for {how.attributes}"
        )


def read_rows(file: ScoreFile, how: HowToRead) -> ScoreTable:
    """Read the fields of each row, and those of the list of trials where there is one, or where
    nothing is scored.
    """
    _require_no_columns(file, how)
    kind = file.format
    text = file.text
    trials = file.trials
    assert text is not None
    if how.vectors is None and trials is None and not kind.fields:
        raise InputError(f"format {kind.name!r} needs the trial list: ⟦trials=⟧")
    listing = trials or text
    listed = (
        kind.fields if how.vectors is None and trials is None else kind.listed or "enrol test label"
    )
    frame, lines = _fields(listing, listed, how.layout.mated_value)
    label = "label" if "label" in frame.columns else None
    if label and kind.of_trials:
        _refuse_contradictions(listing.path, frame, lines)
    if trials is not None:
        frame = _with_scores(text, frame, tables.Rows(trials.path, lines=lines))
    samples = kind.samples if kind.samples and _have_one_subject(frame, kind) else None
    return ScoreTable(
        listing.path,
        frame,
        "score" if how.vectors is None else None,
        label,
        *kind.sides,
        kind.subject_pattern,
        samples=samples,
        lines=lines,
        names_samples=kind.of_trials,
    )


def _read_sidekit(file: ScoreFile, how: HowToRead) -> ScoreTable:
    """Read the scores of pairs of models and segments, and their labels from `trials=`."""
    _require_no_columns(file, how)
    frame = sidekit_scores.read_scores(file.path)
    if how.trials is None and how.subject_pattern is None:
        raise FileFormatError(
            f"{file.path} has scores but nothing says which are mated: give the key or the list of"
            " trials as ⟦trials=⟧, or say how to find the subjects in its names with"
            " ⟦subject_pattern=⟧"
        )
    place = file.path
    lines = None
    if how.trials is not None:
        place = files.check_file(how.trials)
        if file.trials is None:
            listed = sidekit_scores.read_key(place)
        else:
            listed, lines = _fields(file.trials, "enrol test label", how.layout.mated_value)
            _refuse_contradictions(place, listed, lines)
        frame = _joined(listed, frame, None, file.path, tables.Rows(place, lines=lines))
    label = "label" if "label" in frame.columns else None
    return ScoreTable(
        place, frame, "score", label, "enrol", "test", lines=lines, names_samples=True
    )


def _have_one_subject(frame: pl.DataFrame, kind: Format) -> bool:
    """Whether labels can be samples: some files have placeholders, or give a model and a test the
    same label.
    """
    pl = files.polars()
    pairs = zip(kind.samples or (), kind.sides, strict=True)
    pairs_of_samples = pl.concat(
        [frame.select(pl.col(s).cast(pl.String).alias("sample"), subject=p) for s, p in pairs]
    ).unique()
    return bool(pairs_of_samples["sample"].n_unique() == pairs_of_samples.height)


def read_scores(path: str | Path, failures: bool) -> AnyArray:
    """Read a list of scores alone, one on each line or in a one-dimensional array."""
    file = files.check_file(path)
    if files.suffix_of(file) not in (".npy", ".npz"):
        return _fields(texts.read(file, failures), "score")[0]["score"].to_numpy()
    values = _array(file, None)
    if values.ndim != 1:
        raise FileFormatError(
            f"{file} must have one score for each comparison, but its shape is {values.shape}"
        )
    return values


def _array(path: Path, name: str | None) -> AnyArray:
    """Read the array of a .npy file, or the named or only array of a .npz file."""
    table = tables.read_arrays(path)
    if name is None and len(table.names) != 1:
        raise InputError(
            f"{path} holds the arrays {', '.join(table.names)}: say which with ⟦score=⟧"
        )
    assert table.take is not None
    return table.take("" if table.names == [""] else table.require("score", name or table.names[0]))


def _is_matrix(path: Path, how: HowToRead) -> bool:
    """Return whether the scores of a .npy or .npz file have two dimensions."""
    names = tables.read_arrays(path).names
    if names != [""] and how.vectors is not None:
        return False
    wanted = how.score or ("score" if len(names) != 1 else names[0])
    return names == [""] or wanted not in names or _array(path, wanted).ndim != 1


def _read_matrix(file: ScoreFile, how: HowToRead) -> ScoreTable:
    """Read a matrix of scores: row i and column i are one subject, or have the names of subjects or
    samples.
    """
    if file.text is not None:
        return _read_text_matrix(file, file.text, how)
    _require_no_columns(file, how, "score")
    scores = validation.numbers_in("scores", _array(file.path, how.score))
    return _table_of_matrix(file.path, scores)


def _read_text_matrix(file: ScoreFile, text: Text, how: HowToRead) -> ScoreTable:
    """Read a matrix out of text, where rows and columns may have names; those of one side alone
    hold for both.
    """
    _require_no_columns(file, how)
    matrix = text_matrices.read_matrix(text)
    rows, columns = matrix.rows or matrix.columns, matrix.columns or matrix.rows
    if matrix.rows is None or matrix.columns is None:
        _require_square(file.path, matrix.scores.shape)
    return _table_of_matrix(file.path, matrix.scores, rows, columns, matrix.lines)


def _table_of_matrix(
    path: Path,
    scores: AnyArray,
    rows: list[str] | None = None,
    columns: list[str] | None = None,
    lines: Integers | None = None,
) -> ScoreTable:
    """Return the comparisons of a matrix, row after row; rows and columns without names are
    numbered.
    """
    pl = files.polars()
    if rows is None:
        _require_square(path, scores.shape)
    values, sides, _ = columns_of_matrix(scores, rows, columns, None, None, "error")
    labels = {
        side: coded.labels[coded.codes].tolist() if rows else coded.codes
        for side, coded in sides.items()
    }
    frame = pl.DataFrame({"score": values, **labels})
    spread = None if lines is None else np.repeat(lines, scores.shape[1])
    return ScoreTable(
        path, frame, "score", None, "reference", "probe", is_matrix=True, lines=spread
    )


def _require_square(path: Path, shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise FileFormatError(
            f"{path}: a score matrix is square, but this array's shape is {shape}; give other"
            " matrices to Comparisons.from_matrix, write names of rows and columns beside them, or"
            " save lists of scores and their labels as the arrays of one .npz"
        )


def _with_scores(text: Text, listed: pl.DataFrame, of_trials: tables.Rows) -> pl.DataFrame:
    """Add a score to each trial; score files have them in the order of the trial list, or beside
    the trials' names.
    """
    path = text.path
    first = fields_of(text.first)
    if len(first) == 1:
        scores, _ = _fields(text, "score")
        if scores.height != listed.height:
            raise FileFormatError(
                f"{path} has {scores.height} scores, but {of_trials.place} has {listed.height} trials"
            )
        return listed.hstack(scores)
    if len(first) != 3:
        raise FileFormatError(
            f"{path}: line {text.number}: a score file has 'score' or 'enrol test score', not"
            f" {' '.join(first)!r}"
        )
    score_first = is_number(first[0]) and not is_number(first[2])
    scores, lines = _fields(text, "score enrol test" if score_first else "enrol test score")
    return _joined(listed, scores, lines, path, of_trials)


def _joined(
    listed: pl.DataFrame,
    scores: pl.DataFrame,
    lines: Integers | None,
    path: Path,
    of_trials: tables.Rows,
) -> pl.DataFrame:
    """Add to each trial the score that has its names; `lines` are those of scores in text."""
    pairs = _pairs(listed)
    if (
        scores.height == listed.height
        and (pairs == _pairs(scores)).all()
        and pairs.n_unique() == pairs.len()
    ):
        return listed.hstack([scores["score"]])
    if lines is None:
        of_scores = tables.Rows(path, row_called="the matrix")
    else:
        scores = scores.with_columns(line=lines).unique(
            [*_TRIAL, "score"], keep="first", maintain_order=True
        )
        of_scores = tables.Rows(path, lines=scores["line"].to_numpy())
    several = _of_several(scores)
    if several is not None:
        raise FileFormatError(
            f"{path}: {several['enrol'][0]} {several['test'][0]} has the score"
            f" {several['score'][0]} in line {several['line'][0]} and {several['score'][1]} in line"
            f" {several['line'][1]}"
        )
    score = keys.score_of_each(listed, scores, _TRIAL, (of_trials, of_scores))
    return listed.with_columns(score)


def _fields(text: Text, names: str, mated_value: object = None) -> tuple[pl.DataFrame, Integers]:
    """Read the named fields and the line of each row; check that "score" is a number and "label" a
    known word.
    """
    pl = files.polars()
    fields = ["label" if name in _LABELS else name for name in names.split()]

    def is_label(word: str) -> bool:
        return mated_value is not None or checks.mated_pair([checks.mated_word(word)]) is not None

    is_right: dict[str, Callable[[str], bool]] = {"score": is_number, "label": is_label}
    telling = [(k, is_right[name]) for k, name in enumerate(fields) if name in is_right]
    for number, line in text.comments:  # a row whose first field begins with "#" is none
        row = fields_of(line)
        are_as_many = row[0] != "#" and len(row) == len(fields)
        if are_as_many and all(check(row[k]) for k, check in telling):
            raise FileFormatError(
                f"{text.path}: line {number}: {line[:_SHOWN]!r} begins as comments do, but reads as"
                " data; if it is a comment, put a blank after the '#', and if it is data, let"
                " another row come first"
            )
    if len(fields) != len(fields_of(text.first)):
        raise FileFormatError(
            f"{text.path}: line {text.number}: expected {len(fields)} fields ({names}), found"
            f" {text.first[:_SHOWN]!r}"
        )
    frame, lines = text.rows
    frame = frame.rename(dict(zip(frame.columns, fields, strict=True)))
    if "score" in fields:
        scores = texts.numbers(text.path, "the score", frame["score"], lines, text.failures)
        frame = frame.with_columns(score=pl.Series(scores))
    if "label" in fields:
        wrong = None if mated_value is not None else _row_of_no_label(frame["label"])
        if wrong is not None:
            raise FileFormatError(
                f"{text.path}: line {lines[wrong]}: the label must say mated or non-mated, as 1 and"
                f" 0 or target and nontarget do, not {frame['label'][wrong]!r}; other words need"
                " ⟦mated_value=⟧"
            )
        values = FrameColumns(frame).values("label")
        frame = frame.with_columns(label=pl.Series(checks.mated_flags(values, mated_value)))
    # As codes, which all frames share, names are compared and looked up faster.
    return (
        frame.with_columns(pl.col(name).cast(pl.Categorical) for name in _TRIAL if name in fields),
        lines,
    )


def _row_of_no_label(labels: pl.Series) -> int | None:
    """Return the first row whose word is not of the pair of words of those before it; None where
    there is none.
    """
    distinct = labels.unique(maintain_order=True).to_list()
    words = [checks.mated_word(word) for word in distinct]
    for k in range(len(words)):
        if checks.mated_pair(words[: k + 1]) is None:
            return int((labels == distinct[k]).arg_max() or 0)
    return None


def _refuse_contradictions(path: Path, listed: pl.DataFrame, lines: Integers) -> None:
    """Refuse a trial listed as both target and nontarget; one listed twice with one label stays two
    comparisons.
    """
    if _pairs(listed).n_unique() == listed.height:
        return
    marked = listed.with_columns(line=lines).unique(
        [*_TRIAL, "label"], keep="first", maintain_order=True
    )
    both = _of_several(marked)
    if both is not None:
        line = dict(zip(both["label"], both["line"], strict=True))
        raise FileFormatError(
            f"{path}: {both['enrol'][0]} {both['test'][0]} is a target trial in line {line[True]}"
            f" and a nontarget one in line {line[False]}"
        )


def _pairs(rows: pl.DataFrame) -> pl.Series:
    """Return the pair that each row is about, as a number that differs where the pairs do."""
    pl = files.polars()
    enrol, test = (rows[name].to_physical().cast(pl.UInt64) for name in _TRIAL)
    return enrol * 2**32 + test


def _of_several(rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return the rows of the first trial with more than one row, or None."""
    twice = rows.filter(rows.select(_TRIAL).is_duplicated())
    return (
        twice.join(twice[:1], on=_TRIAL, how="semi", maintain_order="left")
        if twice.height
        else None
    )


_SCORE_LAST = "fields, the last numbers"
_WHAT_IT_SAYS = "what the name says"
FORMATS: dict[str, Format] = {
    kind.name: kind
    for kind in (
        Format("csv", "named columns", "its header", _named(_table_of_text)),
        Format("tsv", "named columns", "its header, with tabs", _named(_table_of_text)),
        Format(
            "parquet",
            "named columns",
            "`.parquet`",
            _named(lambda file: tables.of_parquet(file.path)),
            suffixes=(".parquet",),
            is_text=False,
        ),
        Format(
            "json",
            "an object with named entries, in a list or on a line; or an object of columns",
            "`.json`, `.jsonl`, `.ndjson`",
            _named(lambda file: json_tables.read_json(file.path)),
            suffixes=json_tables.SUFFIXES,
            is_text=False,
        ),
        Format(
            "bob-csv",
            "bob's metadata columns and `score`",
            "columns `bio_ref_…` and `probe_…`",
            _named(_table_of_text),
            columns=(
                ("bio_ref_subject_id", "probe_subject_id"),
                ("bio_ref_reference_id", "probe_reference_id"),
            ),
            attacks=("probe_attack_type", "attack_type"),
        ),
        Format(
            "bob-4",
            "claimed identity, real identity, test file, score",
            f"four {_SCORE_LAST}",
            read_rows,
            fields="claimed real test score",
            sides=("claimed", "real"),
        ),
        Format(
            "bob-5",
            "claimed identity, model, real identity, test file, score",
            f"five {_SCORE_LAST}",
            read_rows,
            fields="claimed model real test score",
            sides=("claimed", "real"),
            samples=("model", "test"),
        ),
        Format(
            "voxceleb",
            "label, enrolment file, test file, in `trials=` or with a score",
            "the trial list, or the labels",
            read_rows,
            fields="label enrol test score",
            listed="label enrol test",
            subject_pattern=VOXCELEB_SUBJECT,
        ),
        Format(
            "enrol-test-score-label",
            _WHAT_IT_SAYS,
            "the labels",
            read_rows,
            fields="enrol test score label",
        ),
        Format(
            "enrol-test-label-score",
            _WHAT_IT_SAYS,
            "the labels",
            read_rows,
            fields="enrol test label score",
        ),
        Format(
            "enrol-test-score",
            f"{_WHAT_IT_SAYS}, with a `subject_pattern`",
            f"three {_SCORE_LAST}",
            read_rows,
            fields="enrol test score",
        ),
        Format(
            "kaldi",
            "enrolment, test, `target` or `nontarget`, in `trials=`",
            "the trial list",
            read_rows,
            listed="enrol test target",
        ),
        Format(
            "matrix",
            "a row of scores",
            "`.npy`; `.npz` of two dimensions; text by `format=` alone",
            _read_matrix,
            suffixes=(".npy", ".npz"),
            fits=_is_matrix,
        ),
        Format(
            "sidekit",
            "a matrix with `modelset`, `segset` and `score_mask`, or BOSARIS' names of them",
            "`.h5`, `.hdf5`; `trials=` is a list, or a key of sidekit",
            _read_sidekit,
            suffixes=sidekit_scores.SUFFIXES,
            is_text=False,
            of_pairs=True,
        ),
        Format(
            "arrays",
            "one array for each column",
            "`.npz` of one dimension",
            _named(lambda file: tables.read_arrays(file.path)),
            suffixes=(".npz",),
            is_text=False,
        ),
    )
}
