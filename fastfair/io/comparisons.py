"""`read_comparisons` and `write_comparisons`: comparisons out of a score file and a table of
metadata, and into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import AnyFloats, Flags, Floats
from fastfair._lib.frames import FrameColumns
from fastfair._lib.label_codes import Coded, Labels
from fastfair._lib.text import list_some
from fastfair._lib.warnings import give_warnings, hold_warnings
from fastfair.data import checks, group_labels
from fastfair.data.attacks import read_attacks
from fastfair.data.checks import ScoreKind
from fastfair.data.columns import USUAL, Policies, checked_columns, without_diagonal
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import NamedVectors
from fastfair.data.exclusions import gathering, leave_out
from fastfair.data.group_labels import MissingLabels
from fastfair.data.label_bands import banded, read_bands
from fastfair.data.sessions import ROLES
from fastfair.data.sorted_scores import BOTH_COLUMNS, CheckedColumns, SortedSide
from fastfair.data.transactions import transactions
from fastfair.errors import InputError

from . import files, formats, tables
from .embeddings import as_text, cut_subjects, read_named_vectors, take
from .formats import USUAL_LAYOUT, Groups, HowToRead, Layout, ScoreTable
from .metadata import Metadata

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

BothSides = tuple[Coded, Coded]
_SIDES = ("reference", "probe")


@files.refuse_changes()
@checked
def read_comparisons(
    path: str | Path | IntoDataFrame,
    score: str | None = None,
    mated: str | None = None,
    reference: str | None = None,
    probe: str | None = None,
    subject_pattern: str | None = None,
    metadata: str | Path | IntoDataFrame | None = None,
    groups: Groups | None = None,
    *,
    trials: str | Path | None = None,
    embeddings: str | Path | IntoDataFrame | NamedVectors | None = None,
    score_kind: ScoreKind = "similarity",
    layout: Layout = USUAL_LAYOUT,
    policies: Policies = USUAL,
) -> Comparisons:
    r"""Read a score file, and optionally a table with metadata of its subjects or samples.

    Parameters
    ----------
    path : path or data frame
        The score file; text files may be compressed with gzip, bzip2 or xz. A data frame (pandas,
        polars, pyarrow, ...) is taken as a file with named columns.
    score : str, optional
        Column of scores, by default "score"; in a ``.npz`` the name of the matrix.
    mated : str, optional
        Column of mated or non-mated, by default "mated". Without it, comparisons of a subject with
        itself are mated.
    reference : str, optional
        Column of the reference's subject or path, by default "reference". That of samples is
        "reference_sample".
    probe : str, optional
        Column of the probe's subject or path, by default "probe". That of samples is
        "probe_sample".
    subject_pattern : str, optional
        Regular expression (Rust syntax) that finds the subject id in `reference` and `probe`, such
        as ``"^([^/]+)/"`` for "id10001/Y8hIVOBuels/00001.wav": its first group, or else the whole
        match, is the subject id. The full text is then the id of the sample.
    metadata : path or data frame, optional
        Table with one row for each subject or sample, whose id comes first: CSV, TSV or Parquet.

        Or any data frame.
    groups : str or sequence of str or of pairs of str, optional
        Attributes that make the groups: columns of `metadata` if it is given, else of the score
        file. An attribute x of the score file is one column x for reference and probe, or two
        columns "reference_x" and "probe_x" (bob: "bio_ref_x" and "probe_x"). Columns with other
        names are given as pairs, that of the references first: ``[("race_1", "race_2")]`` makes the
        attribute "race", the part that the names share. Several attributes make intersections.

        `Comparisons.by` chooses among several attributes later.
    trials : path, optional
        The trial list, if `path` holds only scores: one on each line in the list's order, or lines
        "enrol test score"; or a table of trials, whose named columns `path` shares but for the
        scores.
    embeddings : path, data frame or NamedVectors, optional
        Vectors with names, to score the pairs with that `path` lists without scores: a file of
        named columns, a VoxCeleb list (label enrol test) or a Kaldi list (enrol test target). A
        pair's names are in columns "reference_sample" and "probe_sample", or else in `reference`
        and `probe`; a column of scores is not read.

        A file is read by `read_named_vectors`.
    score_kind : {"similarity", "distance", "log-likelihood-ratio", "log10-likelihood-ratio"}
        Whether high or low scores indicate the same subject, or scores are logarithms of likelihood
        ratios, natural ones or to base 10; the latter are made natural.
    layout : Layout
        How the files are laid out, where they differ from the usual: their format, and further
        columns.
    policies : Policies
        What to do with comparisons that failed, contradict their labels, or lack one.

    Returns
    -------
    Comparisons

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, of another format or ambiguous, and for text where a
        number belongs (the line is named).
    InputError
        For columns that do not exist (the message suggests the nearest names), names without a
        vector, a column of references or probes alone given for both, subjects without metadata,
        labels that contradict the metadata, and as `Comparisons` does.

    Warns
    -----
    DroppedWarning
        For what `policies` leaves out.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "s.csv").write_text("a,b,s\nann/1,ann/2,0.9\nann/1,bob/1,0.2\nbob/1,bob/2,0.8\n")
    >>> _ = (folder / "who.csv").write_text("name,sex\nann,f\nbob,m\n")
    >>> ff.read_comparisons(
    ...     folder / "s.csv", score="s", reference="a", probe="b", subject_pattern="^([^/]+)/",
    ...     metadata=folder / "who.csv", groups="sex",
    ... )
    Comparisons(2 mated, 1 non-mated, similarity, 2 subjects, 2 groups)
    """
    vectors = (
        None
        if embeddings is None
        else _vectors(embeddings, score, trials, score_kind, policies.failures)
    )
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
        trials,
        vectors,
    )
    if layout.impostor is not None:
        return _of_two_files(path, layout.impostor, how)
    if isinstance(path, str | Path):
        table = formats.read(files.check_file(path), how)
    else:
        table = formats.choose(
            tables.read_frame(path, "path", "the data frame"), how, formats.FORMATS["csv"]
        )
    apart = None
    if layout.attack is not None:
        table, apart = _apart(table, how)
    columns = code_rows(table, how)
    keep = columns.keep
    with table.placed(keep):
        comparisons = Comparisons._of_columns(columns, policies.failures)
    frame = FrameColumns(table.frame)
    if table.quality is not None:
        of_reference, of_probe = (frame.numbers(name)[keep] for name in table.quality)
        comparisons.quality = (
            of_reference if table.quality[0] == table.quality[1] else (of_reference, of_probe)
        )
    elif how.quality is not None:
        comparisons.quality = _quality_of_samples(how, columns)
    origin = {} if table.lines is None else {"line": np.asarray(table.lines, np.uint32)}
    origin |= {name: table.frame[name].to_numpy() for name in how.keep}
    comparisons.origin = {name: column[keep] for name, column in origin.items()}
    if apart is not None:
        comparisons = _with_attacks(comparisons, *apart, how)
    of_transactions = layout.of_transactions
    return transactions(comparisons, **of_transactions) if of_transactions else comparisons


def _quality_of_samples(how: HowToRead, columns: CheckedColumns) -> tuple[Floats, Floats]:
    """Look the quality of both samples of each comparison up in a table."""
    ids = columns.samples or columns.subjects
    if ids is None or how.quality is None:
        raise InputError(
            "quality of samples needs their ids: name their columns with ⟦reference=⟧ and ⟦probe=⟧"
        )
    sides = [Coded(ids[0], codes) for codes in ids[1:]]
    reference, probe = how.quality.quality_of(sides)
    lacking = [
        side.codes[np.isnan(of_side)]
        for side, of_side in zip(sides, (reference, probe), strict=True)
    ]
    lost = np.unique(np.concatenate(lacking))
    if lost.size and how.policies.failures == "error":
        named = list_some(list(map(str, ids[0][lost])))
        raise InputError(
            f"{lost.size} of {ids[0].size} samples have no quality in {how.quality.place}: {named};"
            " give one to each, or leave their comparisons out of curves, with"
            ' ⟦failures="exclude"⟧'
        )
    return reference, probe


def _vectors(
    embeddings: Any, score: str | None, trials: str | Path | None, score_kind: str, failures: str
) -> NamedVectors:
    """Return the vectors that trials are scored with; arguments are those of `read_comparisons`."""
    for name, is_given in (
        ("score", score),
        ("trials", trials),
        ("score_kind", score_kind != "similarity"),
    ):
        if is_given:
            raise InputError(
                f"with ⟦embeddings=⟧, leave ⟦{name}=⟧ out: scores are the similarities of what path"
                " lists"
            )
    if isinstance(embeddings, NamedVectors):
        return embeddings
    return read_named_vectors(embeddings, failures="error" if failures == "error" else "nan")


def _of_two_files(genuine: Any, impostor: str | Path, how: HowToRead) -> Comparisons:
    """Read the scores of mated comparisons from a file, and those of non-mated ones from
    another.
    """
    given = [
        f"⟦{name}=⟧"
        for name in (*how.names, "trials", "groups", "subject_pattern", "keep")
        if getattr(how, name)
    ]
    others = "quality", "mated_value", "attempts", "transaction", "session", "attack"
    given += [f"⟦{name}=⟧" for name in others if getattr(how.layout, name)]
    given += [] if how.described is None else ["⟦metadata=⟧"]
    if given or not isinstance(genuine, str | Path) or how.vectors is not None:
        raise InputError(
            "with ⟦impostor=⟧, path is a file of scores alone: leave"
            f" {' and '.join(given) or 'others'} out"
        )
    scores = [
        formats.read_scores(file, how.policies.failures != "error") for file in (genuine, impostor)
    ]
    mated = np.repeat([True, False], [of_class.size for of_class in scores])
    return Comparisons(
        np.concatenate(scores), mated, score_kind=how.score_kind, policies=how.policies
    )


def code_rows(table: ScoreTable, how: HowToRead) -> CheckedColumns:
    """Find subjects, samples and groups of the rows of a score file, and check and code all
    columns.
    """
    if how.subject_pattern and (table.reference is None or table.probe is None):
        raise InputError(
            "⟦subject_pattern=⟧ needs columns to cut: name them with ⟦reference=⟧ and ⟦probe=⟧"
        )
    if how.subject_pattern is not None:  # "" says that there are no subjects to find
        table.subject_pattern = how.subject_pattern or None
    columns = FrameColumns(table.frame)
    with gathering() as without_labels, table.placed():
        subjects, samples = _subjects_and_samples(table, how)
        sides, keep = _groups(table, how, subjects, samples)
        sessions, has_session = _sessions(table, how, subjects, samples)
        keep &= has_session
        of_attributes: dict[str, Any] = next(iter(sides.values()), {})
        bands = read_bands(how.layout.bands, tuple(of_attributes))
        with hold_warnings() as messages:
            sides = {name: banded(side, bands) for name, side in sides.items()}
        give_warnings(list(dict.fromkeys(messages)))
        if table.is_matrix and subjects is not None:
            of_sides = dict(zip(_SIDES, subjects, strict=True))
            values = table.frame["score"].to_numpy()
            keep &= without_diagonal(
                values, of_sides, how.score_kind, how.policies.self_comparisons
            )
        if table.attack is not None and how.layout.attack is None:
            keep &= _without_attacks(columns, table.attack)
        flags = (
            None
            if table.mated is None
            else _flags(columns.values(table.mated), how.layout.mated_value)
        )
        scores = None if table.score is None else columns.numbers(table.score)
    if scores is None:
        scores = _scored(how.vectors, table, samples or subjects, keep)
    elif not keep.all():
        scores = scores[keep]
    if subjects is not None:
        sides |= dict(zip(_SIDES, subjects, strict=True))
    if samples is not None:
        sides |= {f"{side}_sample": coded for side, coded in zip(_SIDES, samples, strict=True)}
    sides |= sessions
    if not keep.all():
        flags = None if flags is None else flags[keep]
        sides = take(sides, keep)
    if table.sessions is not None and len(set(table.sessions)) == 1:
        sides[ROLES[1]] = sides[ROLES[0]]  # one column of both sides is coded once

    def where(row: int) -> str:
        return table.where(int(np.flatnonzero(keep)[row]))

    if flags is None and how.layout.attack is not None and subjects is not None:
        # those of a detector compare each person with himself, and so have one class
        flags = sides["reference"].codes == sides["probe"].codes
    left_out = tuple(without_labels)
    if not scores.size:
        return CheckedColumns(
            scores, np.empty(0, np.bool_), None, None, {}, how.score_kind, left_out, keep
        )
    with table.placed(keep):
        coded = checked_columns(scores, flags, sides, how.score_kind, how.policies, where)
    if not keep.all():
        keep[keep] = coded.keep
        coded.keep = keep
    coded.left_out = (*left_out, *coded.left_out)
    return coded


def _subjects_and_samples(
    table: ScoreTable, how: HowToRead
) -> tuple[BothSides | None, BothSides | None]:
    """Return the subjects and the samples of both sides as codes, or None for those not known."""
    if table.reference is None or table.probe is None:
        return None, None
    looked_up = how.layout.metadata_subject is not None
    pattern = table.subject_pattern
    if table.names_samples and pattern is None and not looked_up:
        return None, None  # test ids are utterances, whose speakers are not in the list
    columns = FrameColumns(table.frame)
    names = table.reference, table.probe
    samples = None if table.samples is None else columns.labels_of_both(*table.samples)
    if looked_up and pattern is not None:
        raise InputError(
            "both ⟦subject_pattern=⟧ and ⟦metadata_subject=⟧ say whose the samples are: give one of"
            " them"
        )
    subjects = named = columns.labels_of_both(*names)
    if pattern is not None:
        cut = cut_subjects(list(zip(names, named, strict=True)), pattern)
        subjects = (cut[0], cut[1])
        samples = samples or (as_text(named[0]), as_text(named[1]))
    if looked_up and how.described is not None:
        samples = samples or subjects
        subjects = how.described.subjects_of(samples)
    return subjects, samples


def _groups(
    table: ScoreTable, how: HowToRead, subjects: BothSides | None, samples: BothSides | None
) -> tuple[dict[str, Any], Flags]:
    """Return the groups of both sides, of the metadata or of columns, and which rows to keep, as
    they have labels.
    """
    columns = FrameColumns(table.frame)
    described = how.described
    if described is not None:
        per_sample = described.per == "sample"
        others = subjects if per_sample else samples
        ids = _described(described, subjects, samples)
        other_labels = None if others is None else others[0].labels
        keep = described.kept(ids, how.policies.missing_labels, "comparisons", other_labels)
        keep = described.agreeing(
            how.policies.label_conflicts, columns, table.attributes, ids, keep
        )
        groups = (
            dict(zip(_SIDES, described.groups_of(ids), strict=True)) if described.attributes else {}
        )
        return {f"{side}_group": of_side for side, of_side in groups.items()}, keep
    keep = np.ones(table.frame.height, np.bool_)
    if not table.attributes:
        return {}, keep
    policy = how.policies.missing_labels
    sides: dict[str, dict[str, Coded]] = {f"{side}_group": {} for side in _SIDES}
    lacking: dict[str, Flags] = {}
    for attribute, pair in table.attributes.items():
        of_sides, without = _coded_pair(columns, pair, policy)
        lacking |= without
        for side, coded in zip(_SIDES, of_sides, strict=True):
            sides[f"{side}_group"][attribute] = coded
    return sides, keep & group_labels.flag_labelled(lacking, policy, keep.size, "comparisons")


def _coded_pair(
    columns: FrameColumns, pair: tuple[str, str], policy: MissingLabels
) -> tuple[list[Coded], dict[str, Flags]]:
    """Code the labels of both sides, in one column or two; return also which rows have none, by
    column.
    """
    entries = {f"column {name!r}": columns.entries(name) for name in dict.fromkeys(pair)}
    coded, lacking = group_labels.labels_by_policy(entries, policy)
    return [coded[f"column {name!r}"] for name in pair], lacking


def _described(
    described: Metadata, subjects: BothSides | None, samples: BothSides | None
) -> BothSides:
    """Return what the metadata describe: the samples or the subjects of both sides."""
    per_sample = described.per == "sample"
    ids = samples if per_sample else subjects
    if ids is None:
        raise InputError(_NEEDS_SAMPLES if per_sample else _NEEDS_SUBJECTS)
    return ids


def _sessions(
    table: ScoreTable, how: HowToRead, subjects: BothSides | None, samples: BothSides | None
) -> tuple[dict[str, Coded], Flags]:
    """Return what references and probes share, of columns or of the metadata, and which rows to
    keep, as they have such labels.
    """
    policy = how.policies.missing_labels
    n_rows = table.frame.height
    if table.sessions is not None:
        of_sides, lacking = _coded_pair(FrameColumns(table.frame), table.sessions, policy)
        keep = group_labels.flag_labelled(lacking, policy, n_rows, "comparisons")
        return dict(zip(ROLES, of_sides, strict=True)), keep
    keep = np.ones(n_rows, np.bool_)
    described = how.described
    if described is None or described.session is None:
        return {}, keep
    of_both = described.sessions_of(_described(described, subjects, samples))
    return dict(zip(ROLES, of_both, strict=True)), keep


_NEEDS_SAMPLES = (
    "⟦metadata=⟧ needs the samples of the comparisons: name them with ⟦reference=⟧ and ⟦probe=⟧ and"
    " say how to find their subjects, with ⟦subject_pattern=⟧ or ⟦metadata_subject=⟧; or give"
    " columns called reference_sample and probe_sample"
)
_NEEDS_SUBJECTS = (
    "⟦metadata=⟧ needs the subjects of the comparisons: name their columns with ⟦reference=⟧ and"
    " ⟦probe=⟧"
)


def _without_attacks(columns: FrameColumns, name: str) -> Flags:
    """Leave out the rows of presentation attacks, which are neither mated nor non-mated
    comparisons.
    """
    texts, codes = columns.texts(name)
    attacks = np.array([text is not None for text in texts])[codes]
    if attacks.any():
        kinds = ", ".join(repr(text) for text in texts if text is not None)
        because = f"as they are attacks by {name!r} ({kinds}), and so neither mated nor non-mated"
        leave_out(~attacks, "comparisons", "attack", because)
    return np.asarray(~attacks)


_BONA_FIDE = ("", "bonafide", "bona fide", "bona_fide", "bona-fide", "-")


def _apart(table: ScoreTable, how: HowToRead) -> tuple[ScoreTable, tuple[ScoreTable, Labels]]:
    """Part bona fide rows from those of attacks, whose species are returned, too."""
    assert table.attack is not None
    texts, codes = FrameColumns(table.frame).texts(table.attack)
    asked = how.layout.attack
    of_text = [
        text == asked[1] if isinstance(asked, tuple) else (text or "").lower() in _BONA_FIDE
        for text in texts
    ]
    is_bona_fide = np.array(of_text)[codes]
    if is_bona_fide.all() or not is_bona_fide.any():
        which = "attack" if is_bona_fide.all() else "bona fide"
        raise InputError(
            f"{table.place}: column {table.attack!r} has no {which} row, only"
            f" {', '.join(map(repr, texts))}: say which value means bona fide, behind the column in"
            " ⟦attack=⟧"
        )
    bona_fide, attacks = (_rows(table, which) for which in (is_bona_fide, ~is_bona_fide))
    names = [str(text) for text in texts]
    return bona_fide, (attacks, [names[code] for code in codes[~is_bona_fide].tolist()])


def _rows(table: ScoreTable, which: Flags) -> ScoreTable:
    """Return some of the rows, which know their places."""
    rows = np.flatnonzero(which)
    lines = None if table.lines is None else np.asarray(table.lines)[rows]
    return replace(table, frame=table.frame[rows], lines=lines, numbers=rows)


def _with_attacks(
    comparisons: Comparisons, table: ScoreTable, species: Labels, how: HowToRead
) -> Comparisons:
    """Add attacks: their scores, their sessions, and the subjects of the references that they are
    made on.
    """
    table.subject_pattern = how.subject_pattern or table.subject_pattern
    subjects, samples = _subjects_and_samples(table, how)
    if subjects is None:
        raise InputError(
            "⟦attack=⟧ needs the people who are imitated: name columns with ⟦reference=⟧ and"
            " ⟦probe=⟧"
        )
    everything = np.ones(table.frame.height, np.bool_)
    with table.placed():
        scores: AnyFloats = (
            _scored(how.vectors, table, samples or subjects, everything)
            if table.score is None
            else FrameColumns(table.frame).numbers(table.score)
        )
        with gathering() as without_labels:
            sessions, keep = _sessions(table, how, subjects, samples)
        comparisons.left_out += tuple(without_labels)
        coded = [column.take(keep) for column in (subjects[0], *sessions.values())]
        columns = scores[keep], np.array(species, object)[keep], coded
        return read_attacks(comparisons, columns, how.score_kind, how.policies)


def _flags(values: Any, mated_value: object) -> Flags:
    """Return which comparisons are mated; lists of trials say so as truth values."""
    is_known = isinstance(values, np.ndarray) and values.dtype == np.bool_
    return checks.mated_flags(values, None if is_known else mated_value)


def _scored(
    vectors: NamedVectors | None,
    table: ScoreTable,
    named: BothSides | None,
    keep: Flags,
) -> AnyFloats:
    """Score the rows of a list of trials that are kept. named: what the list calls both sides, if
    it is known.
    """
    assert vectors is not None  # else the table has scores
    if table.reference is None or table.probe is None:
        raise InputError(
            "⟦embeddings=⟧ needs the names of vectors: name their columns with ⟦reference=⟧ and"
            " ⟦probe=⟧"
        )
    sides = named or FrameColumns(table.frame).labels_of_both(table.reference, table.probe)
    with table.placed(keep):
        return vectors.scores(*(as_text(side.take(keep)) for side in sides))


_SUFFIXES = (".csv", ".tsv", ".parquet")


@checked
def write_comparisons(comparisons: Comparisons, path: str | Path) -> None:
    """Write a score file with named columns, from which `read_comparisons` makes the same
    comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons to write, in their original order if subjects or groups are known, else the
        mated ones first.
    path : path
        A name that ends in .csv, .tsv or .parquet. A file of this name is replaced.

    Raises
    ------
    OutputError
        Where the file cannot be written; an existing file of this name is then unchanged.
    InputError
        For another suffix, and for labels or names of attributes that reading the file would
        change.

    See Also
    --------
    read_comparisons : takes `score_kind` and `groups`, which the file does not hold.

    Notes
    -----
    The columns are score, mated, reference and probe, reference_sample and probe_sample,
    reference_session and probe_session (read by ``Layout(session="session")``), and for each
    attribute x reference_x and probe_x, as far as they are known. Scores are read back to the
    last bit, from text files as float64. Text files turn all labels into text; Parquet keeps
    integers. Comparisons that failed have no score: give `read_comparisons` the same `failures`.

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
        raise InputError(
            f"path must end in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}, not {path.name!r}"
        )
    if comparisons.attacks is not None:
        raise InputError("a score file is written without attacks, and these comparisons have some")
    frame = _written_frame(comparisons, as_text=path.suffix != ".parquet")
    if path.suffix != ".parquet":
        whole_files.write_csv(frame, path, "\t" if path.suffix == ".tsv" else ",")
        return
    with whole_files.written(path) as file:
        frame.write_parquet(file)


def _written_frame(comparisons: Comparisons, as_text: bool) -> pl.DataFrame:
    pl = files.polars()
    failed = comparisons.failed
    apart = failed.sides if failed is not None and failed.policy == "exclude" else ()
    sides = comparisons.mated, comparisons.nonmated, *apart
    similarities = np.concatenate([side.similarities for side in sides])
    scores = 0 - similarities if comparisons.score_kind == "distance" else similarities
    if as_text:  # float32 would be written with too few digits to read back as float64
        scores = scores.astype(np.float64)
    mated = np.repeat([True, False] * (len(sides) // 2), [len(side) for side in sides])
    frame = pl.DataFrame(
        {"score": scores, "mated": mated, **_written_labels(comparisons, sides, as_text)}
    )
    if failed is not None:
        frame = frame.with_columns(score=pl.when(pl.col("score").is_finite()).then(pl.col("score")))
    rows = [side.rows for side in sides if side.rows is not None]
    return frame[np.argsort(np.concatenate(rows))] if rows else frame


def _written_labels(
    comparisons: Comparisons, sides: Sequence[SortedSide], as_text: bool
) -> dict[str, pl.Series]:
    """Return the columns of subjects, samples, sessions and attributes."""
    pl = files.polars()
    columns: dict[str, tuple[Any, list[Any]]] = {}  # the labels, and each side's codes of them
    for called, names in BOTH_COLUMNS.items():
        all_labels = getattr(comparisons, called)
        if all_labels is not None:
            whole = not as_text and all(type(label) is int for label in all_labels.tolist())
            labels = pl.Series(all_labels.tolist() if whole else list(map(str, all_labels)))
            columns |= {name: (labels, [getattr(side, name) for side in sides]) for name in names}
    for name, texts in comparisons.attributes.items():
        if name == "sample":
            raise InputError("an attribute called 'sample' would be read as the samples: rename it")
        if name == "session" and comparisons.sessions is not None:
            raise InputError("an attribute called 'session' is none beside sessions: rename it")
        if as_text and set(name) & set("\t\r\n"):
            raise InputError(
                f"{name!r} cannot head a column of a text file: rename it, or write .parquet"
            )
        for role, *codes in zip(_SIDES, *(side.attribute(name) for side in sides), strict=True):
            columns[f"{role}_{name}"] = pl.Series(texts), codes
    for name, (labels, _) in columns.items() if as_text else ():
        wrong = [text for text in (name, *labels.to_list()) if set(text) & set("\0\ufeff")]
        if wrong:
            raise InputError(
                f"{name!r}: no text file can hold {wrong[0]!r}, for its NUL or byte order mark:"
                " write .parquet"
            )
    return {name: labels.gather(np.concatenate(codes)) for name, (labels, codes) in columns.items()}
