"""`read_searches`: searches of a gallery out of files of candidate lists, or of matrices of
scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from fastfair._lib import label_codes
from fastfair._lib.arguments import AtLeastTwo, checked
from fastfair._lib.arrays import AnyArray, Flags
from fastfair._lib.frames import FrameColumns
from fastfair._lib.label_codes import MISSING_TEXTS, Coded, encode, encode_together, look_up
from fastfair._lib.text import list_some
from fastfair._lib.warnings import warn
from fastfair.data import checks, group_labels, side_columns
from fastfair.data.columns import NOBODY, USUAL, Policies
from fastfair.data.exclusions import gathering, leave_out
from fastfair.errors import FastfairWarning, FileFormatError, InputError
from fastfair.io import files, tables, text
from fastfair.io.embeddings import as_text, cut_subjects

from .searches import HowToSearch, ListReader, Searches, SearchScores, Templates

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

# The names of columns that are looked for where none is given: our own, then those of NIST's logs.
_NAMES = {
    "search_id": ("search", "search_id", "searchId"),
    "candidate": ("candidate", "templateId"),
    "score": ("score",),
    "probe": ("probe",),
    "candidate_rank": ("rank", "candidateRank"),
    "failed": ("failed",),
}
_Column = Any  # labels: a column of text of polars, which is the fastest, or `Coded`
_RETURN_CODE, _ASSIGNED = "searchRetCode", "isAssigned"  # of NIST's logs
_ARRAYS = (".npy", ".npz")
_NO_ID = np.array([str(label) for label in NOBODY], object)


@checked
@dataclass(frozen=True)
class SearchLayout:
    """How files of searches are laid out, where they differ from the usual.

    Attributes
    ----------
    shape : {"auto", "lists", "matrix"}
        What a table holds: a row for each candidate, or for each search, with a column of scores
        for each template that is enrolled, whose name it has. By default rows of candidates; of
        NumPy files, arrays tell.
    candidate_rank : str, optional
        Column of the candidate's rank, by default "rank" if there is one. Ranks have to go with
        scores, without a gap.
    failed : str, optional
        Column, of `searches` or of the candidates, that says whether the search failed (1 or 0,
        true or false), by default "failed" if there is one. NIST's logs have return codes.
    nobody : str, optional
        What the column `probe` has where the probe is of nobody who is enrolled, such as "unknown",
        or "" for blank fields. Each such probe is taken for a person of its own.
    gallery_id : str, optional
        The column of `enrolled` with what candidates are called, by default the first.
    gallery_subject : str, optional
        The column of `enrolled` with the person of each template, where candidates are templates.
    length : int, optional
        How long lists can be; by default as long as the longest is.
    least_score : float, optional
        The score from which on people are put on lists, of distances the greatest; by default the
        least that occurs.
    candidates : int, optional
        How many of the best other people are kept of each search: by default 20 of a matrix, and
        all of lists. Rates in smaller galleries need all at or above the threshold. With a number,
        Parquet of lists is read part by part, so that it may be larger than memory; the rows of a
        search then follow each other.
    session : str, optional
        What the searches of several people share: the column of the day, device or site of each
        probe, of the table that has `probe`.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.SearchLayout(nobody="unknown", length=20).length
    20
    """

    shape: Literal["auto", "lists", "matrix"] = "auto"
    candidate_rank: str | None = None
    failed: str | None = None
    nobody: str | None = None
    gallery_id: str | None = None
    gallery_subject: str | None = None
    length: int | None = None
    least_score: float | None = None
    candidates: AtLeastTwo | None = None
    session: str | None = None


_KEPT_OF_MATRIX = 20
# of a Parquet file, that are read at once, and that are looked at to find the end of a list
_ROWS_OF_A_PART, _ROWS_OF_A_LIST = 2**21, 2**12


USUAL_SEARCH_LAYOUT = SearchLayout()


@files.refuse_changes()
@checked
def read_searches(
    path: str | Path | Sequence[str | Path] | IntoDataFrame,
    search_id: str | None = None,
    candidate: str | None = None,
    score: str | None = None,
    probe: str | None = None,
    groups: str | Sequence[str] | None = None,
    *,
    searches: str | Path | IntoDataFrame | None = None,
    enrolled: str | Path | IntoDataFrame | None = None,
    subject_pattern: str | None = None,
    score_kind: SearchScores = "similarity",
    layout: SearchLayout = USUAL_SEARCH_LAYOUT,
    templates: Templates = "refuse",
    policies: Policies = USUAL,
) -> Searches:
    r"""Read searches of a gallery: candidate lists, or a matrix of scores.

    Parameters
    ----------
    path : path, sequence of paths, or data frame
        The candidates, one row for each: CSV, TSV, Parquet, or a log of NIST's validation packages;
        or several such files, or a pattern such as ``"may/*.csv"``, read one after another. A
        ``.npz`` has the arrays of scores and of places in the gallery that FAISS returns, or a
        matrix of scores, as a ``.npy`` does.

        Or any data frame.
    search_id : str, optional
        Column of the search, by default "search".
    candidate : str, optional
        Column of the candidate, by default "candidate". It names a person, or a template that
        `enrolled` lists.
    score : str, optional
        Column of scores, by default "score".
    probe : str, optional
        Column of the probe's person, by default "probe". It is one of `searches` if given.
    groups : str or sequence of str, optional
        Columns that make the groups of probes, of the table that has `probe`. Several make
        intersections.
    searches : path or data frame, optional
        Table with a row for each search, also without a candidate. Rows of arrays are in its order.
    enrolled : path or data frame, optional
        Table with a row for each enrolled person or template. Columns of arrays are in its order.
    subject_pattern : str, optional
        Regular expression (Rust syntax) that finds the person in what candidates, probes and
        templates are called, such as ``"^([^/]+)/"``: its first group, or else the whole match.
    score_kind : {"similarity", "distance"}
        Whether high or low scores speak for the same person.
    layout : SearchLayout
        How files are laid out, where they differ from the usual.
    templates : {"refuse", "best"}
        What several templates of one person are: an error, or one enrolment whose score is the best
        of them.
    policies : Policies
        What to do with searches and scores that failed, with missing labels of groups, and with a
        gallery that is searched by itself, as for `Searches.from_candidates`.

    Returns
    -------
    Searches

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, of another format or ambiguous, and for text where a
        number belongs (the line is named).
    InputError
        For columns that do not exist (the message suggests the nearest names), searches and
        candidates that their tables do not have, two probes of one search, ranks that contradict
        scores, searches that failed where `policies` does not say what to do with them, and what
        the files do not tell: whether all searches are there, and who is enrolled.

    Warns
    -----
    DroppedWarning
        For what is left out: places of lists that were not filled, and what `policies` leaves out.
    FastfairWarning
        Where people on lists are taken for the gallery, as no table of it is given.

    Notes
    -----
    A row without candidate and score says that its search has no candidate. Files are read whole,
    unless `layout` has a number of `candidates`: ten million candidates take about 2 GB.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "log.csv").write_text("search,candidate,score\np,ann,0.9\np,bob,0.4\nq,cid,0.3\n")
    >>> _ = (folder / "searches.csv").write_text("search,probe,sex\np,ann,f\nq,eve,f\nr,dan,m\n")
    >>> _ = (folder / "gallery.csv").write_text("person\nann\nbob\ncid\n")
    >>> ff.read_searches(folder / "log.csv", groups="sex", searches=folder / "searches.csv",
    ...                  enrolled=folder / "gallery.csv")
    Searches(3 searches of 3 enrolled people, 1 mated, 2 non-mated, 2 groups)
    """
    named = {
        "search_id": search_id,
        "candidate": candidate,
        "score": score,
        "probe": probe,
        "candidate_rank": layout.candidate_rank,
        "failed": layout.failed,
    }
    about = {"score_kind": score_kind, "templates": templates, "policies": policies}
    how = _How(named, side_columns.names_of_groups(groups), subject_pattern, layout, about)
    with gathering() as left_out:
        parts = _list_parts(path, how)
        file = parts[0]()
        of_searches, of_gallery = (
            None if table is None else _open(table, called, called)
            for table, called in ((searches, "searches"), (enrolled, "enrolled"))
        )
        gallery = None if of_gallery is None else _Gallery.of(of_gallery, how)
        if file.take is None and layout.shape != "matrix":
            made = _read_lists([lambda: file, *parts[1:]], of_searches, gallery, how)
        elif len(parts) > 1:
            raise InputError("a matrix is one file: name no others")
        else:
            read = _read_wide_table if file.take is None else _read_arrays
            made = read(file, of_searches, gallery, how)
    made.left_out = (
        *(exclusion for exclusion in left_out if exclusion not in made.left_out),
        *made.left_out,
    )
    return made


@dataclass
class _How:
    """Arguments of `read_searches`: names of columns by role, attributes, and how to read.

    about: `score_kind`, `templates` and `policies`.
    """

    named: dict[str, str | None]
    attributes: list[str]
    subject_pattern: str | None
    layout: SearchLayout
    about: Mapping[str, Any]

    @property
    def policies(self) -> Policies:
        """What to do with what failed, and with missing labels."""
        policies: Policies = self.about["policies"]
        return policies

    def labels(self, table: tables.Table) -> list[str]:
        """Return the columns of a table that label its probes: of groups, and of sessions."""
        session = self.layout.session
        columns = [table.require("groups", attribute) for attribute in self.attributes]
        return columns if session is None else [*columns, table.require("session", session)]

    def session(self, frame: FrameColumns) -> Coded | None:
        """Read the session of each probe; None where no column has it."""
        return None if self.layout.session is None else frame.labels(self.layout.session)

    def column(self, table: tables.Table, role: str) -> str:
        """Return the column of a role, which must be there."""
        column = self.column_if_there(table, role)
        if column is None:
            return table.require(role, _NAMES[role][0])
        return column

    def column_if_there(self, table: tables.Table, role: str) -> str | None:
        """Return the column of a role, if it is named or has one of the usual names."""
        name = self.named[role]
        if name is not None:
            return table.require(role, name)
        return next((candidate for candidate in _NAMES[role] if candidate in table.names), None)

    def people(self, name: str, column: _Column) -> _Column:
        """Return the people of what candidates, probes or templates are called."""
        if self.subject_pattern is None:
            return column
        return cut_subjects([(name, _encode_column(name, column))], self.subject_pattern)[0]


def _read_column(frame: FrameColumns, name: str, advice: str = label_codes.COMPLETE) -> _Column:
    """Return a column of labels as text."""
    if frame.is_text(name):
        return frame.polars([name])[name]
    column = frame.polars([name])[name]
    if column.dtype.is_integer() and not column.null_count():
        return column.cast(files.polars().String)
    return as_text(frame.labels(name, advice))


def _read_complete(frame: FrameColumns, name: str, advice: str) -> _Column:
    """Return a column of labels as text, none of which may be missing."""
    column = _read_column(frame, name, advice)
    if not isinstance(column, Coded):
        blank = column.str.strip_chars().fill_null("").is_in(["", *MISSING_TEXTS])
        return frame.labels(name, advice) if blank.any() else column  # which refuses them
    return column


def _refuse_twice(table: tables.Table, name: str, column: _Column) -> None:
    """Refuse labels of a table of which one is in two rows."""
    coded = _encode_column(name, column)
    of_label = np.bincount(coded.codes, minlength=coded.labels.size)
    if of_label.max(initial=0) > 1:
        again = int(of_label.argmax())
        first, second = np.flatnonzero(coded.codes == again)[:2].tolist()
        raise InputError(
            f"{coded.labels.item(again)!r} is twice in column {name!r}: {table.where(first)} and"
            f" {table.where(second)}",
            row=second,
        )


def _encode_column(name: str, column: _Column, advice: str = label_codes.COMPLETE) -> Coded:
    """Turn a column of labels into codes."""
    return _encode_columns({name: column}, advice)[name]


def _encode_columns(
    columns: Mapping[str, _Column], advice: str = label_codes.COMPLETE
) -> dict[str, Coded]:
    """Turn columns into codes of one list of labels."""
    called = [f"column {name!r}" for name in columns]
    labels, codes = encode_together(called, list(columns.values()), advice)
    return {name: Coded(labels, codes_of) for name, codes_of in zip(columns, codes, strict=True)}


@dataclass
class _Gallery:
    """What is enrolled: what templates are called, and whose they are, where names differ."""

    ids: _Column
    people: _Column | None
    place: str

    @classmethod
    def of(cls, table: tables.Table, how: _How) -> _Gallery:
        """Read a table of the gallery."""
        # a column without a name has numbers of rows, as R writes them
        named = [name for name in table.names if name]
        name = how.layout.gallery_id or (named or table.names)[0]
        subject = how.layout.gallery_subject
        wanted = [table.require("gallery_id", name)]
        wanted += [] if subject is None else [table.require("gallery_subject", subject)]
        frame = FrameColumns(table.columns(wanted))
        with table.placed():
            ids = _read_column(frame, name)
            _refuse_twice(table, name, ids)
            whose = None if subject is None else _read_column(frame, subject)
        if whose is not None or how.subject_pattern is not None:
            whose = how.people(subject or name, ids if whose is None else whose)
        return cls(ids, whose, str(table.place))

    @property
    def whose(self) -> _Column:
        """The person of each template."""
        return self.ids if self.people is None else self.people

    def named(self, name: str, candidates: _Column, probe: _Column) -> tuple[Coded, Coded, Coded]:
        """Return the people of candidates, of probes and of what is enrolled, with labels of one
        list.
        """
        if self.people is None:
            coded = _encode_columns({name: candidates, "enrolled": self.ids, "probe": probe})
            self.require(name, coded[name], coded["enrolled"])
            return coded[name], coded["probe"], coded["enrolled"]
        coded = _encode_columns({name: candidates, "enrolled": self.ids})
        self.require(name, coded[name], coded["enrolled"])
        who = _encode_columns({"enrolled": self.people, "probe": probe})
        people = who["enrolled"]
        labels = np.append(people.labels.astype(object), "-1")  # of places that an index left empty
        of_id = np.full(coded[name].labels.size, labels.size - 1)
        of_id[coded["enrolled"].codes] = people.codes
        if labels[-1] in people.labels:
            of_id[of_id == labels.size - 1] = np.flatnonzero(people.labels == labels[-1])[0]
            labels = people.labels
        return Coded(labels, of_id[coded[name].codes]), who["probe"], people

    def require(self, name: str, candidates: Coded, ids: Coded) -> None:
        """Refuse candidates that the gallery lacks, but for places that an index left empty."""
        is_there = np.isin(candidates.labels, _NO_ID)
        is_there[ids.codes] = True
        wrong = look_up(candidates.codes, ~is_there)
        if wrong.any():
            lost = np.unique(candidates.codes[wrong])
            raise InputError(
                f"{lost.size} labels of column {name!r} are not in {self.place}:"
                f" {list_some(candidates.labels[lost].tolist())}",
                row=int(wrong.argmax()),
            )


@checked
def groups_of_gallery(
    enrolled: str | Path | IntoDataFrame,
    groups: str | Sequence[str],
    *,
    subject_pattern: str | None = None,
    layout: SearchLayout = USUAL_SEARCH_LAYOUT,
) -> dict[Any, str]:
    """Read the group of each enrolled person, for the `returned_group` of `identify`; arguments are
    those of `read_searches`, and `enrolled` has the columns of `groups`.
    """
    attributes = side_columns.names_of_groups(groups)
    how = _How({}, attributes, subject_pattern, layout, {})
    table = _open(enrolled, "enrolled", "enrolled")
    gallery = _Gallery.of(table, how)
    whose = _encode_column("enrolled", gallery.whose)
    frame = FrameColumns(table.columns([table.require("groups", name) for name in attributes]))
    with table.placed():
        coded = {name: frame.labels(name) for name in attributes}
    labels, of_templates = group_labels.groups_of(coded)
    assert of_templates is not None
    group_of: dict[Any, str] = {}
    for row, (person, group) in enumerate(zip(whose.codes.tolist(), of_templates, strict=True)):
        name, label = whose.labels.item(person), labels[group]
        if group_of.setdefault(name, label) != label:
            raise InputError(
                f"{table.place}: {table.where(row)}: {name!r} is of the groups {group_of[name]!r}"
                f" and {label!r}: an enrolled person is of one",
                row=row,
            )
    return group_of


@dataclass
class _Declared:
    """Every search once: its name, the person of its probe, its groups, whether it failed, and its
    session.

    of_nobody: which probes are of nobody who is enrolled.
    """

    search: _Column
    probe: _Column
    of_nobody: Flags
    groups: dict[str, Any]
    failed: Flags | None
    session: Coded | None


def _open(source: Any, called: str, place: str) -> tables.Table:
    """Open a table, or arrays; logs of NIST have blanks between fields."""
    if isinstance(source, str | Path):
        path = files.check_file(source)
        if path.suffix.lower() in _ARRAYS:
            return tables.read_arrays(path)
        if path.suffix.lower() != ".parquet":
            content = text.read(path, failures=True)
            alone = " " if " " in content.first.strip() else ","  # of a single column
            return tables.read_text(content, tables.separator_of(content) or alone)
    return tables.read_source(source, called, place)


def _list_parts(path: Any, how: _How) -> list[Callable[[], tables.Table]]:
    """Return what opens each part of a log: its files, or some rows of them where not all
    candidates are kept.
    """
    if not isinstance(path, str | Path | list | tuple):
        return [partial(_open, path, "path", "the data frame")]
    parts: list[Callable[[], tables.Table]] = []
    for file in files.files_of(path, "candidates"):
        if how.layout.candidates is None or file.suffix.lower() != ".parquet":
            parts.append(partial(_open, file, "path", str(file)))
        else:
            parts += [
                partial(tables.of_parquet, file, start, end - start)
                for start, end in itertools.pairwise(_find_cuts(file, how))
            ]
    return parts


def _find_cuts(file: Path, how: _How) -> list[int]:
    """Return the rows at which to cut a Parquet file so that no search's rows are parted."""
    files.require_kind(file, ".parquet")
    with files.explain_reading(file):
        n = int(tables.scan_schema(file).select(files.polars().len()).collect().item())
    cuts = [0]
    while cuts[-1] + _ROWS_OF_A_PART < n:
        cut = cuts[-1] + _ROWS_OF_A_PART
        while cut < n:
            around = tables.of_parquet(file, cut - 1, _ROWS_OF_A_LIST)
            name = how.column(around, "search_id")
            search = around.columns([name])[name]
            others = search.ne_missing(search[0]).arg_true()
            if len(others):
                cut += int(others[0]) - 1
                break
            cut += len(search) - 1
        cuts.append(min(cut, n))
    return [*cuts, n] if cuts[-1] < max(n, 1) else cuts


def _read_declared(
    table: tables.Table, how: _How, rows: pl.DataFrame | None = None, *, are_named: bool = True
) -> _Declared:
    """Read the table of searches; rows: of candidates, where these alone tell of searches.
    are_named: whether searches have names, as all but the rows of arrays have.
    """
    name = how.column(table, "search_id") if are_named else None
    probe, failed = how.column(table, "probe"), how.column_if_there(table, "failed")
    attributes = how.attributes
    wanted = [*filter(None, [name]), probe, *how.labels(table), *filter(None, [failed])]
    candidates = rows
    if rows is None:
        rows = table.columns(wanted)
    else:
        pl = files.polars()
        key = wanted[0]
        distinct = rows.select(list(dict.fromkeys(wanted))).unique(maintain_order=True)
        texts = pl.col(pl.Categorical).cast(pl.String).str.strip_chars()
        distinct = distinct.with_columns(texts).unique(maintain_order=True)
        rows = distinct.unique(subset=key, keep="first", maintain_order=True)
        if rows.height < distinct.height:
            again = distinct.filter(distinct[key].is_duplicated())
            others = [
                attribute
                for attribute in wanted[1:]
                if again.filter(again[key] == again[key][0])[attribute].n_unique() > 1
            ]
            raise InputError(
                f"{table.place}: search {again[key][0]!r} has two entries in column {others[0]!r}:"
                " a search has one probe, in the same groups and session"
            )
    frame = FrameColumns(rows)
    with table.placed():
        search = None if name is None else _read_complete(frame, name, _EACH)
        groups = {attribute: frame.entries(attribute) for attribute in attributes}
        if candidates is None and name is not None:
            _refuse_twice(table, name, search)
        try:
            group_labels.attributes_by_policy(groups, how.policies.missing_labels)
        except InputError:
            whole = (
                frame if candidates is None else FrameColumns(candidates)
            )  # as the table has rows
            entries = {attribute: whole.entries(attribute) for attribute in attributes}
            group_labels.attributes_by_policy(entries, how.policies.missing_labels)
            raise
        return _Declared(
            search,
            *_read_probes(frame, probe, how),
            groups,
            None if failed is None else _read_flags(frame, failed),
            how.session(frame),
        )


_EACH = "each row needs the name of its search"
_TRUE, _FALSE = frozenset(["1", "true", "t", "yes", "y"]), frozenset(["0", "false", "f", "no", "n"])


def _read_flags(frame: FrameColumns, name: str) -> Flags:
    """Read a column that says whether searches failed; blank fields say that they did not."""
    texts, codes = frame.texts(name)
    said = ["0" if text is None else text.strip().lower().removesuffix(".0") for text in texts]
    wrong = next((k for k, text in enumerate(said) if text not in _TRUE | _FALSE), None)
    if wrong is not None:
        raise InputError(
            f"column {name!r} must say 1 or 0, or true or false, not {texts[wrong]!r}",
            row=int((codes == wrong).argmax()),
        )
    return np.array([text in _TRUE for text in said], np.bool_)[codes]


def _read_probes(frame: FrameColumns, name: str, how: _How) -> tuple[_Column, Flags]:
    """Return the people of probes, and which are of nobody: each has a label of its own."""
    nobody = how.layout.nobody
    if nobody is None:
        whose = how.people(name, _read_complete(frame, name, _OF_PROBES))
        return whose, np.zeros(frame.height, np.bool_)
    texts, codes = frame.texts(name)
    of_text = np.array([(text or "") == nobody.strip() for text in texts], np.bool_)
    lost = np.array([text is None for text in texts], np.bool_) & ~of_text
    if lost.any():
        raise InputError(
            f"column {name!r} has a blank field; {_OF_PROBES}", row=int(lost[codes].argmax())
        )
    if not of_text.any():
        raise InputError(f"no probe is {nobody!r} in column {name!r}, as ⟦nobody=⟧ says")
    alone = of_text[codes]
    people = np.array([text or "" for text in texts], object)[codes]
    if not alone.all():
        coded = _encode_column(name, how.people(name, encode("probe", people[~alone])))
        people[~alone] = coded.labels[coded.codes]
    people[alone] = [f"{_NOBODY} {k}" for k in np.flatnonzero(alone).tolist()]
    clash = [text for text in people[~alone].tolist() if text.startswith(_NOBODY)]
    if clash:
        raise InputError(f"column {name!r} has {clash[0]!r}: no person may be called {_NOBODY!r}")
    return encode("probe", people), alone


_NOBODY = "nobody who is enrolled, row"
_OF_PROBES = (
    'give a label, or say ⟦nobody=""⟧ where blank fields are of people who are not enrolled'
)


def _read_lists(
    parts: Sequence[Callable[[], tables.Table]],
    of_searches: tables.Table | None,
    gallery: _Gallery | None,
    how: _How,
) -> Searches:
    """Read rows of candidates, part by part."""
    if len(parts) > 1 and (of_searches is None or gallery is None):
        raise InputError(
            "a log that is read part by part needs the tables of searches and of the gallery: give"
            " ⟦searches=⟧ and ⟦enrolled=⟧"
        )
    reader: ListReader | None = None
    declared: _Declared | None = None
    by_code = None
    for opened in parts:
        file = opened()
        part, declared = _read_rows(file, of_searches, declared, how)
        names = part.names
        if part.of_codes is not None:
            failed = np.zeros(names.labels.size, np.bool_)
            failed[part.of_rows.codes[part.of_codes]] = True
            by_code = failed[names.codes] | (False if by_code is None else by_code)
        if not part.is_entry.any():
            continue
        with file.placed(part.is_entry):
            _require_usable(part.values, how.policies)
            if part.ranks is not None:
                _require_ranks(part.ranks, part.search, part.values, how)
            people, probe, enrolled = _read_people(file, part, declared, gallery, how)
        with files.name_file(file.place), file.placed(part.is_entry):
            reader = reader or ListReader(
                names,
                probe,
                enrolled,
                declared.groups or None,
                how.about["score_kind"],
                HowToSearch(how.layout.candidates, how.about["templates"], how.policies),
                declared.session,
            )
            reader.add(part.search, people, part.values)
    if reader is None or declared is None:
        raise InputError(f"{file.place} has no row with a candidate: no scores are known")
    lost = _failed_searches(declared, by_code, how.policies)
    with files.name_file(file.place):
        return reader.finish(how.layout.length, how.layout.least_score, lost)


class _Rows(NamedTuple):
    """Rows of candidates, and of these, `is_entry`, the entries of lists."""

    is_entry: Flags
    of_rows: Coded  # searches
    of_codes: Flags | None  # which rows say that the search failed
    names: Coded  # of all searches
    search: Coded  # of entries, as are the others
    listed: _Column
    column: str  # of the candidates
    values: AnyArray
    ranks: AnyArray | None


def _read_rows(
    file: tables.Table, of_searches: tables.Table | None, declared: _Declared | None, how: _How
) -> tuple[_Rows, _Declared]:
    """Read rows of candidates, and the searches where they were not read before."""
    search, candidate, score = (
        how.column(file, field_name) for field_name in ("search_id", "candidate", "score")
    )
    rank = how.column_if_there(file, "candidate_rank")
    roles = [search, candidate, score, *([] if rank is None else [rank])]
    codes = [field_name for field_name in (_RETURN_CODE, _ASSIGNED) if field_name in file.names]
    others = []
    if of_searches is None:
        if how.column_if_there(file, "probe") is None:
            raise InputError(
                f"{file.place} has no column {how.named['probe'] or 'probe'!r} with the person of"
                " each probe: name it with ⟦probe=⟧, or give a table of searches as ⟦searches=⟧"
            )
        failed = how.column_if_there(file, "failed")
        others = [how.column(file, "probe"), *how.labels(file)]
        others += [] if failed is None else [failed]
    numbers = [score, *([] if rank is None else [rank]), *codes]
    frame = file.columns([*roles, *others, *codes], numbers, coded=[search, candidate])
    columns = FrameColumns(frame)
    if declared is None:
        rows = frame if of_searches is None else None
        declared = _read_declared(of_searches or file, how, rows)
    with file.placed():
        values = columns.numbers(score)
        is_entry, of_codes = _find_entries(columns, candidate, values, codes)
        of_rows, names = _encode_searches(columns, search, declared)
        if of_searches is None and is_entry.all():
            _require_lists_alike(file, of_rows)
        ranks = None if rank is None else columns.numbers(rank)
        in_order = of_rows
        if not is_entry.all():
            frame = frame.filter(is_entry)
            values = values[is_entry]
            in_order = Coded(of_rows.labels, of_rows.codes[is_entry])
            ranks = None if ranks is None else ranks[is_entry]
    with file.placed(is_entry):
        listed = _read_column(FrameColumns(frame), candidate)
    read = _Rows(is_entry, of_rows, of_codes, names, in_order, listed, candidate, values, ranks)
    return read, declared


def _read_people(
    file: tables.Table, rows: _Rows, declared: _Declared, gallery: _Gallery | None, how: _How
) -> tuple[Coded, Coded, Coded]:
    """Return the people of candidates, of probes and of what is enrolled."""
    name = rows.column
    if gallery is not None:
        return gallery.named(name, rows.listed, declared.probe)
    whose = how.people(name, rows.listed)
    coded = _encode_columns({name: whose, "probe": declared.probe})
    people = coded[name]
    probe = coded["probe"]
    return people, probe, _gallery_of_lists(file, people, probe, declared.of_nobody, rows.search)


def _encode_searches(
    columns: FrameColumns, search: str, declared: _Declared
) -> tuple[Coded, Coded]:
    """Return the search of each row of candidates, and the names of those declared, with labels of
    one list.
    """
    column = _read_column(columns, search, _EACH)
    if isinstance(column, Coded):
        coded = _encode_columns({search: column, "searches": declared.search}, _EACH)
        return coded[search], coded["searches"]
    # the rows of a search follow each other as a rule
    if column.dtype == files.polars().String:
        heads = np.flatnonzero(column.ne_missing(column.shift(1)))
    else:
        codes = column.to_physical().to_numpy()
        heads = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    heads = np.union1d(0, heads)
    coded = _encode_columns({search: column.gather(heads), "searches": declared.search}, _EACH)
    lengths = np.diff(heads, append=len(column))
    return Coded(coded[search].labels, np.repeat(coded[search].codes, lengths)), coded["searches"]


def _find_entries(
    columns: FrameColumns,
    candidate: str,
    values: AnyArray,
    codes: Sequence[str],
) -> tuple[Flags, Flags | None]:
    """Tell which rows are entries of lists, and of which rows the search failed, as NIST's codes
    say.
    """
    is_entry = np.ones(values.size, np.bool_)
    failed = None
    if _RETURN_CODE in codes:
        failed = columns.numbers(_RETURN_CODE) != 0
        is_entry &= ~failed
    if _ASSIGNED in codes:
        is_filled = columns.numbers(_ASSIGNED) != 0
        leave_out(
            is_filled | ~is_entry,
            "entries of lists",
            "padding",
            f"as {_ASSIGNED} says that their places are empty",
        )
        is_entry &= is_filled
    unknown = np.flatnonzero(np.isnan(values) & is_entry)
    if unknown.size:
        texts, of_rows = FrameColumns(columns.polars([candidate])[unknown]).texts(candidate)
        blank = np.array([text is None or text in MISSING_TEXTS for text in texts], np.bool_)
        is_entry[unknown[blank[of_rows]]] = False
    return is_entry, failed


def _require_usable(values: AnyArray, policies: Policies) -> None:
    """Refuse missing scores of candidates, where policies do not say what to do with them."""
    lost = np.isnan(values)
    if policies.failures == "error" and lost.any():
        raise InputError(
            f"{int(lost.sum())} of {values.size} candidates have no score; {checks.FAILURES_DO}",
            row=int(lost.argmax()),
        )


def _require_lists_alike(file: tables.Table, search: Coded) -> None:
    """Refuse lists of several lengths where no table tells whether some are empty."""
    length = np.bincount(search.codes, minlength=search.labels.size)
    if length.min() < length.max():
        raise InputError(
            f"{file.place}: lists have from {length.min()} to {length.max()} candidates, so that"
            " searches without a candidate may be missing from it: give a table of all searches as"
            " ⟦searches=⟧, or a row for each of them without candidate and score"
        )


def _require_ranks(rank: AnyArray, search: Coded, values: AnyArray, how: _How) -> None:
    """Refuse ranks that have gaps, or that scores contradict."""
    from fastfair.kernels.candidate_lists import are_ranked

    codes = search.codes
    sign = -1.0 if how.about["score_kind"] == "distance" else 1.0
    is_seen = np.zeros(search.labels.size, np.bool_)
    if are_ranked(codes, values if sign > 0 else -values, rank, is_seen):
        return
    order = np.lexsort((rank, codes))
    at, ranks, scores = codes[order], rank[order], values[order]
    is_next = at[1:] == at[:-1]
    wrong = np.append(True, ~is_next) & (ranks != 1) & (ranks != ranks.min(initial=1))
    wrong[1:] |= is_next & (ranks[1:] != ranks[:-1] + 1)
    if wrong.any():
        row = int(order[wrong].min())
        raise InputError(
            f"search {search.at(row)!r} has the rank {rank[row]:g} without the"
            " one before it: ranks count the candidates of a search from 1, or from 0",
            row=row,
        )
    with np.errstate(invalid="ignore"):
        rises = np.flatnonzero(is_next & (sign * scores[1:] > sign * scores[:-1])) + 1
    if rises.size:
        k = rises[order[rises].argmin()]
        what = "falls" if sign < 0 else "rises"
        other = "similarity" if sign < 0 else "distance"
        raise InputError(
            f"search {search.labels.item(at[k])!r}: the score {what} from {scores[k - 1]:g} at rank"
            f" {ranks[k - 1]:g} to {scores[k]:g} at rank {ranks[k]:g} ({rises.size} such"
            f' rows): correct one of the columns, or say ⟦score_kind="{other}"⟧',
            row=int(order[k]),
        )


def _failed_searches(
    declared: _Declared, by_code: Flags | None, policies: Policies
) -> Flags | None:
    """Tell which declared searches failed; refuse them where policies do not say what to do.

    by_code: which failed as codes in rows of candidates say.
    """
    failed = declared.failed
    if by_code is not None:
        failed = by_code | (False if failed is None else failed)
    if failed is not None and failed.any() and policies.failures == "error":
        raise InputError(
            f"{int(failed.sum())} of {failed.size} searches failed;"
            ' ⟦failures="non-match"⟧ counts them as misses, ⟦failures="exclude"⟧ leaves them out'
        )
    return failed


def _gallery_of_lists(
    file: tables.Table, people: Coded, probe: Coded, of_nobody: Flags, search: Coded
) -> Coded:
    """Return the people on lists, who are taken for the gallery; refuse to guess whether the person
    of a probe is enrolled.
    """
    is_listed = np.zeros(people.labels.size, np.bool_)
    is_listed[people.codes] = True
    is_listed &= ~np.isin(people.labels, _NO_ID)
    lost = np.unique(probe.codes[~of_nobody & ~is_listed[probe.codes]])
    if lost.size:
        raise InputError(
            f"{file.place}: {len(lost)} people of probes are on no list:"
            f" {list_some(probe.labels[lost].tolist())}. Whether they are enrolled decides what counts as an"
            " error: give the gallery as ⟦enrolled=⟧, or name what the probes of people who are not"
            " enrolled are called with ⟦nobody=⟧"
        )
    listed = np.flatnonzero(is_listed)
    if people.codes.size < listed.size * np.unique(search.codes).size:
        warn(
            f"the {listed.size:,} people who are on lists are taken for the gallery: give it as"
            " ⟦enrolled=⟧ where others are enrolled, too",
            FastfairWarning,
        )
    return Coded(people.labels, listed)


def _read_scores(table: tables.Table) -> tuple[AnyArray, AnyArray | None]:
    """Return the scores of a NumPy file, a row for each search, and the places in the gallery that
    they are of; None where they are of all.
    """
    assert table.take is not None
    arrays = {name: table.take(name) for name in table.names}
    wide = {name: array for name, array in arrays.items() if array.ndim == 2}
    floats = [name for name, array in wide.items() if array.dtype.kind == "f"]
    whole = [name for name, array in wide.items() if array.dtype.kind in "iu"]
    if len(floats) != 1 or len(whole) > 1 or "vectors" in floats:
        described = ", ".join(
            f"{name or 'an array'} {array.shape} {array.dtype}" for name, array in arrays.items()
        )
        raise FileFormatError(
            f"{table.place} must have one matrix of scores, and perhaps one of places in the"
            f" gallery, as FAISS returns them, but has {described}: of vectors, ⟦role=⟧ says which are"
            " references and which probes"
        )
    scores = wide[floats[0]]
    places = wide[whole[0]] if whole else None
    if places is not None and places.shape != scores.shape:
        raise FileFormatError(
            f"{table.place}: {floats[0]!r} is of shape {scores.shape}, {whole[0]!r} of"
            f" {places.shape}: both need a row for each search"
        )
    return scores, places


def _read_arrays(
    file: tables.Table, of_searches: tables.Table | None, gallery: _Gallery | None, how: _How
) -> Searches:
    """Read a matrix of scores, or arrays of lists, with rows and columns in the order of tables."""
    matrix, places = _read_scores(file)
    declared = _read_declared(of_searches or file, how, are_named=False)
    if gallery is None:
        if "enrolled" not in file.names:
            raise InputError(
                f"{file.place} does not say who is enrolled: give the gallery, in the order of its"
                " columns, as ⟦enrolled=⟧"
            )
        gallery = _Gallery.of(replace(file, names=["enrolled"]), how)
    coded = _encode_columns({"probe": declared.probe, "enrolled": gallery.whose})
    probe, enrolled = coded["probe"], coded["enrolled"]
    if places is None:
        return _search_matrix(file, matrix, probe, enrolled, declared, how)
    n_templates = enrolled.codes.size
    entries = places.ravel().astype(np.int64)
    if how.layout.gallery_id is None:
        outside = (entries < -1) | (entries >= n_templates)
        if outside.any():
            raise InputError(
                f"{file.place}: a candidate is {entries[outside][0]}, but {gallery.place} has"
                f" {n_templates} rows: places are counted from 0, and -1 is nobody; where they are"
                " names, say in which column with ⟦gallery_id=⟧"
            )
        labels = np.append(enrolled.labels.astype(object), "-1")
        codes = np.append(enrolled.codes.astype(np.int64), labels.size - 1)
        people = Coded(labels, codes[entries])
    else:
        names = files.polars().Series("candidate", entries).cast(files.polars().String)
        people, probe, enrolled = gallery.named("candidate", names, declared.probe)
    rows = np.arange(len(matrix))
    with files.name_file(file.place):
        return Searches.from_candidates(
            np.repeat(rows, matrix.shape[1]),
            people,
            matrix.ravel(),
            searches=rows,
            probe=probe,
            enrolled=enrolled,
            group=declared.groups or None,
            session=declared.session,
            length=how.layout.length,
            least_score=how.layout.least_score,
            failed=_failed_searches(declared, None, how.policies),
            **how.about,
        )


def _search_matrix(
    file: tables.Table,
    matrix: AnyArray,
    probe: Coded,
    enrolled: Coded,
    declared: _Declared,
    how: _How,
) -> Searches:
    """Look at a matrix whose rows are in the order of declared searches."""
    lost = _failed_searches(declared, None, how.policies)
    if lost is not None and lost.any():
        matrix = np.where(lost[:, None], np.nan, matrix)
    with files.name_file(file.place):
        return Searches.from_matrix(
            matrix,
            probe,
            enrolled,
            group=declared.groups or None,
            session=declared.session,
            candidates=how.layout.candidates or _KEPT_OF_MATRIX,
            **how.about,
        )


def _read_wide_table(
    file: tables.Table, of_searches: tables.Table | None, gallery: _Gallery | None, how: _How
) -> Searches:
    """Read a table with a row for each search and a column for each template."""
    name = how.column(file, "search_id")
    labels = [name]
    if of_searches is None:
        failed = how.column_if_there(file, "failed")
        labels += [how.column(file, "probe"), *how.labels(file), *filter(None, [failed])]
    columns = [wide_column for wide_column in file.names if wide_column not in labels]
    if not columns:
        raise InputError(
            f"{file.place} has no columns of scores, whose names are those of templates"
        )
    frame = file.columns([*labels, *columns], columns)
    declared = _read_declared(of_searches or file, how, frame if of_searches is None else None)
    values = FrameColumns(frame)
    with file.placed():
        matrix = np.column_stack([values.numbers(wide_column) for wide_column in columns])
        of_rows, names = _encode_searches(values, name, declared)
    row_of = np.full(names.labels.size, -1)
    row_of[names.codes] = np.arange(names.codes.size)
    rows = row_of[of_rows.codes]
    if not np.array_equal(np.sort(rows), np.arange(names.codes.size)):
        raise InputError(
            f"{file.place} has {rows.size:,} rows, and {names.codes.size:,} searches are declared: a"
            " matrix needs one row for each, with its name"
        )
    header = files.polars().Series("header", columns)
    if gallery is None:
        coded = _encode_columns({"header": how.people("header", header), "probe": declared.probe})
        people, probe = coded["header"], coded["probe"]
    else:
        people, probe, enrolled = gallery.named("header", header, declared.probe)
        if people.codes.size != enrolled.codes.size:
            raise InputError(
                f"{file.place} has columns of {people.codes.size:,} of {enrolled.codes.size:,}"
                " templates: a matrix needs all"
            )
    return _search_matrix(file, matrix[np.argsort(rows)], probe, people, declared, how)
