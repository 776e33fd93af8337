"""`Embeddings`, whose pairs are compared later, tile by tile, and `NamedVectors`, by whose names
lists ask for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import Array, Probability, checked
from fastfair._lib.arrays import AnyArray, AnyFloats, Codes, Flags, Floats, Indices, Integers
from fastfair._lib.label_codes import Coded, Labels, encode, encode_together
from fastfair._lib.text import counted
from fastfair._lib.threads import run_blocks
from fastfair._lib.workers import Progress, Workers, reporting
from fastfair.errors import InputError

from . import checks, group_labels, score_keys
from .checks import Similarity
from .columns import warn_of_look_alikes
from .comparisons import Comparisons
from .exclusions import gathering, leave_out
from .group_labels import GroupLabels, MissingLabels
from .pair_search import PairFinder, Pairs, ready_for_products
from .sample_names import advice_on_samples
from .scans import KeptComparisons, ScannedComparisons
from .sorted_scores import RATES_OF_CLASSES, NotKept, SortedSide, read_only
from .vector_pairs import Pairing, PairsOfVectors

TemplateScore = Literal["mean", "max"]
_ROWS_AT_ONCE = 4096  # vectors, at a time


def templates_of(template: Labels | int | None, subject: Codes, is_probe: Flags) -> Indices:
    """Number the templates that references are part of, in the order of their first references.

    Parameters
    ----------
    template : (n,) array_like, int or None
        Labels of templates, those of probes playing no part; or how many references of a subject
        make one; or None where all do.
    subject, is_probe : (n,) ndarray
        The subject of each vector, and whether it is a probe.

    Returns
    -------
    (references,) intp

    Raises
    ------
    InputError
        For a template of two subjects.
    """
    references = np.flatnonzero(~is_probe)
    of = subject[references].astype(np.int64)
    if template is None or isinstance(template, int):
        which = np.zeros(of.size, np.int64)
        if template is not None:
            order = np.argsort(of, kind="stable")
            start = np.flatnonzero(np.diff(of[order], prepend=-1))
            which[order] = np.arange(of.size) - np.repeat(start, np.diff(start, append=of.size))
            which //= validation.count("template", template, 1)
        code = of * (which.max() + 1) + which
    else:
        coded = encode("template", template)
        checks.same_length({"vectors": subject.size, "template": coded.codes.size}, "vector")
        code = coded.codes[references].astype(np.int64)
        row = _row_of_two(code, of, references)
        if row is not None:
            raise InputError(
                f"template {coded.at(row)!r} has references of two subjects, the second in row"
                f" {row}: a template is of one subject",
                row,
            )
    _, at, number = np.unique(code, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(at))[number]


def mean_vectors(
    vectors: AnyFloats, similarity: str, rows: Indices, template: Indices
) -> AnyFloats:
    """Average the vectors of each template.

    Parameters
    ----------
    vectors : (n, d) ndarray
        All vectors; memory-mapped ones are read in parts.
    similarity : str
        As in `Embeddings`: with the cosine, vectors are scaled to length 1 before.
    rows, template : (m,) ndarray
        The row of each reference, and the number of its template, from 0.

    Returns
    -------
    (templates, d) ndarray
        Sums are taken in float64, in the order of `rows`, and rounded to the type of `vectors`.
    """
    sums = np.zeros((int(template.max()) + 1, vectors.shape[1]))
    for start in range(0, rows.size, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        np.add.at(
            sums,
            template[part],
            ready_for_products(vectors[rows[part]], similarity).astype(np.float64),
        )
    return (sums / np.bincount(template)[:, None]).astype(vectors.dtype)


def _row_of_two(template: Integers, whose: AnyArray, references: Indices) -> int | None:
    """Return the row of the first reference of another subject, or session, than one before it of
    its template; None where each template has one.
    """
    n, columns = int(template.max()) + 1, [(template, whose)]
    if group_labels.labels_of_subjects(n, columns) is not None:
        return None
    return int(references[group_labels.first_conflict(n, columns)[1]])


ROLES = "reference", "probe"


def probes_of(role: Labels) -> Flags:
    """Return whether each vector is a probe, and not a reference.

    Raises
    ------
    InputError
        For other roles.
    """
    coded = encode("role", role)
    unknown = [label for label in coded.labels.tolist() if label not in ROLES]
    if unknown:
        rows = np.flatnonzero(coded.labels[coded.codes] == unknown[0])
        raise InputError(
            f'role must be "reference" or "probe", not {unknown[0]!r} as in row {rows[0]}'
        )
    return np.asarray(coded.labels == "probe")[coded.codes]


_PAIRS_AT_ONCE = 2**16  # whose numbers stay in the cache


FailuresOfVectors = Literal["error", "exclude", "non-match"]
PairKinds = Literal["both", "mated", "non-mated"]


class Embeddings:
    """Vectors that a model computed from samples, with the subject of each vector and the group of
    each subject.

    Every two vectors are a comparison, which is mated if they are of the same subject; with roles,
    each reference with each probe.

    Parameters
    ----------
    vectors : (n, d) array_like
        One row for each sample. float32 and float64 arrays, memory-mapped ones included, are not
        copied but read in parts, if they are contiguous and in the machine's byte order; others are
        copied once. float16 and integers are converted to wider floats.
    subject : (n,) array_like
        The subject of each vector, of any label type; `Comparisons` says which labels count as the
        same.
    group : (n,) array_like or dict of str to (n,) array_like, optional
        The group of each vector's subject. A dict holds several attributes; the groups are then
        their intersections, labelled as in "f & USA".
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        The score of two vectors.
    role : (n,) array_like of {"reference", "probe"}, optional
        What each vector is, such as "reference" for those of a gallery: only references are
        compared with probes. Subjects may have vectors of either role or of both.
    failures : {"error", "exclude", "non-match"}
        What to do with vectors that are not finite or, with the cosine, zero, as of samples that
        failed: raise an error; leave them out with a warning that counts them; or keep them for
        searches (`Searches.from_embeddings`), which count them as misses. What compares every two
        vectors refuses these.
    missing_labels : {"error", "drop", "unknown"}
        What to do with vectors that lack a label in `group`: raise an error, leave them out with a
        warning that counts them, or take "unknown" for it.
    pair_kinds : {"both", "mated", "non-mated"}
        Which kinds of pairs there are: "non-mated" of one vector of each person, "mated" of those
        of one person. There is one of the two error rates, then.
    session : (n,) array_like, optional
        What several people share, as in `Comparisons`: the day, device, site or operator of each
        vector. Vectors with sessions are compared in memory.

    Attributes
    ----------
    vectors : (n, d) ndarray
        The vectors, as given.
    similarity : str
        The score of two vectors, as given.
    template : (n,) ndarray of int32 or None
        Where templates score as the best of their vectors do (`enrolled`), which of the templates
        and probes each vector is part of, from 0. They take the place of vectors in all that
        follows: there are m of them. None where each vector stands for itself.
    subjects : (k,) ndarray
        The distinct subjects, sorted.
    subject : (m,) ndarray of int32
        The subject of each vector, as a position in `subjects`.
    sessions : (d,) ndarray or None
        The distinct sessions, sorted.
    session : (m,) ndarray of int32, or None
        The session of each vector, as a position in `sessions`.
    attributes : dict of str to tuple of str
        The labels of each attribute, sorted.
    groups : tuple of str
        The groups in use, sorted; empty where no labels were given.
    grouping : tuple of str
        The attributes that the groups are made of.
    subject_group : (k,) ndarray of int32
        The group of each subject, as a position in `groups`; -1 where there are none.
    pairing : Pairing
        Which vectors are compared, as an order of them.
    pairs : tuple of two PairsOfVectors
        All mated, and all non-mated, pairs, as numbers of them.
    is_probe : (m,) ndarray of bool or None
        Whether each vector is a probe, and not a reference; None without roles.
    failed : (n,) ndarray of bool or None
        Which vectors failed and are kept, under ``failures="non-match"``; else None.
    n_samples : (k,) ndarray of int64
        Number of vectors of each subject.
    n_mated, n_nonmated : int
        Number of comparisons of vectors of the same subject, and of different subjects.
    left_out : tuple of Exclusion
        What was left out of the data, how much and why: each has what its warning said as text.

    Raises
    ------
    InputError
        For vectors that are not finite, that are zero (with the cosine), or so long or short that
        similarities are outside the range of their floats (with the other two); for lengths that
        differ, missing labels, a subject in two groups, and a single subject; and where there are
        no mated, or no non-mated, comparisons. Messages count rows from 0.

    Warns
    -----
    DroppedWarning
        Under ``failures="exclude"`` and ``missing_labels="drop"``.
    LookAlikeWarning
        Where names of subjects, or of groups, differ in Unicode forms, letter case or leading zeros
        alone.

    Examples
    --------
    >>> import fastfair as ff
    >>> vectors = [[1, 0], [2, 1], [0, 1], [0, 3], [-1, 1]]
    >>> e = ff.Embeddings(vectors, subject=["ann", "ann", "bob", "bob", "cy"], group=list("ffmmm"))
    >>> e
    Embeddings(5 x 2 float32, cosine, 3 subjects, 2 mated, 8 non-mated, 2 groups)
    >>> e.subjects[e.subject], e.groups
    (array(['ann', 'ann', 'bob', 'bob', 'cy'], dtype=object), ('f', 'm'))
    >>> role = ["reference", "probe", "reference", "probe", "probe"]
    >>> ff.Embeddings(vectors, subject=["ann", "ann", "bob", "bob", "cy"], role=role)
    Embeddings(5 x 2 float32, cosine, 3 subjects, 2 references, 3 probes, 2 mated, 4 non-mated)
    """

    template: Codes | None = None
    failed: Flags | None = None
    sessions: AnyArray | None = None
    session: Codes | None = None
    lacks: Mapping[str, str] = MappingProxyType({})  # the rate that pairs of one kind lack, and why

    @checked
    def __init__(
        self,
        vectors: Array,
        subject: Labels,
        group: GroupLabels | None = None,
        similarity: Similarity = "cosine",
        role: Labels | None = None,
        failures: FailuresOfVectors = "error",
        missing_labels: MissingLabels = "error",
        pair_kinds: PairKinds = "both",
        session: Labels | None = None,
    ) -> None:
        array = checks.vectors(vectors)
        given = {"subject": subject, "role": role, "session": session}
        columns = {
            name: encode(name, labels) for name, labels in given.items() if labels is not None
        }
        attributes, lacking = group_labels.attributes_by_policy(group, missing_labels)
        sizes = {name: coded.codes.size for name, coded in columns.items()}
        sizes |= {f"group {name!r}": coded.codes.size for name, coded in attributes.items()}
        checks.same_length({"vectors": len(array)} | sizes, "vector")
        is_probe = None if role is None else probes_of(columns["role"])
        with gathering() as left_out:
            keep = group_labels.flag_labelled(lacking, missing_labels, len(array), "vectors")
            keep &= rows_of_vectors(array, similarity, failures)
        if not keep.any():
            raise InputError(f"no vectors are left: {' and '.join(map(str, left_out))}")
        if not keep.all():
            array = array[keep]
            columns = {name: coded.take(keep) for name, coded in columns.items()}
            attributes = {name: coded.take(keep) for name, coded in attributes.items()}
            is_probe = None if is_probe is None else is_probe[keep]
        who, shared = columns["subject"], columns.get("session")
        subjects = who.labels
        codes = who.codes.astype(np.int32)
        warn_of_look_alikes("person", subjects.tolist())
        for name, coded in attributes.items():
            warn_of_look_alikes(f"group {name!r}", coded.labels.tolist())
        if subjects.size < 2 and pair_kinds != "mated":
            raise InputError(
                f"all vectors are of one subject, {subjects.tolist()[0]!r}: there are no non-mated"
                " pairs"
            )
        self.attributes = {
            name: group_labels.attribute(name, coded.labels) for name, coded in attributes.items()
        }
        self._subject_codes = {
            name: group_labels.label_of_each(who, name, coded) for name, coded in attributes.items()
        }
        if failures == "non-match":
            self.failed = read_only(checks.unusable(array, similarity))
            if self.failed.all():
                raise InputError(f"all {len(array)} vectors failed: they are zero or not finite")
        scored = array
        # rows keep their numbers, which messages name
        if self.failed is not None and self.failed.any():
            scored = np.where(self.failed[:, None], array[self.failed.argmin()], array)
        checks.require_usable(scored, similarity)
        self.vectors = read_only(array.view())
        self.similarity = similarity
        self.left_out = tuple(left_out)
        self.subjects, self.subject = read_only(subjects), read_only(codes)
        if shared is not None:
            self.sessions = read_only(shared.labels)
            self.session = read_only(shared.codes.astype(np.int32))
        self.is_probe = None if is_probe is None else read_only(is_probe)
        self.n_samples = read_only(np.bincount(codes, minlength=subjects.size))
        self._choose_groups(tuple(self.attributes))
        self._require_kinds(pair_kinds)

    @checked
    def by(self, *attributes: str) -> Embeddings:
        """Make groups from other attributes; the vectors are shared, not copied.

        Parameters
        ----------
        *attributes : str
            Names in `attributes`; several make intersections, labelled in the order given.

        Returns
        -------
        Embeddings

        Examples
        --------
        >>> import fastfair as ff
        >>> labels = {"sex": list("ffm"), "eyes": ["blue", "blue", "brown"]}
        >>> e = ff.Embeddings([[1, 0], [1, 1], [0, 1]], subject=list("aab"), group=labels)
        >>> e.groups, e.by("eyes").groups
        (('f & blue', 'm & brown'), ('blue', 'brown'))
        """
        return self._changed(group_labels.check_attributes(attributes, self.attributes))

    @checked
    def enrolled(
        self, template: Labels | int | None = None, score: TemplateScore = "mean"
    ) -> Embeddings:
        """Enrol references as templates: several vectors of a subject count as one.

        Parameters
        ----------
        template : (n,) array_like or int, optional
            The template that each reference is part of, of any label type; labels of probes play no
            part. A number: so many references of a subject make a template, in the order given, and
            the last one may have fewer. By default all references of a subject make one.
        score : {"mean", "max"}
            The score of a template with a probe: that of the mean of its vectors, or the highest
            that one of them has.

        Returns
        -------
        Embeddings
            The templates, in the order of their first references, and then the probes. Means take
            the place of the references: with the cosine, vectors have length 1 before they are
            averaged; with the other similarities they are averaged as they are. By "max" the
            vectors stay, and `Embeddings.template` says which are of which template.

        Raises
        ------
        InputError
            Where vectors have no roles or are templates already, for a template of two subjects,
            and for means without direction.

        Examples
        --------
        >>> import fastfair as ff
        >>> role = ["reference", "reference", "probe", "reference", "probe"]
        >>> e = ff.Embeddings([[1, 0], [0, 1], [2, 1], [0, 3], [-1, 1]], subject=list("aaabb"), role=role)
        >>> e.enrolled()
        Embeddings(4 x 2 float32, cosine, 2 subjects, 2 references, 2 probes, 2 mated, 2 non-mated)
        >>> e.enrolled().vectors[0]
        array([0.5, 0.5], dtype=float32)
        >>> best = e.enrolled(score="max")
        >>> best
        Embeddings(5 x 2 float32, cosine, 2 subjects, 2 templates, 2 probes, 2 mated, 2 non-mated)
        >>> e.comparisons().mated.similarities.round(3), best.comparisons().mated.similarities.round(3)
        (array([0.447, 0.707, 0.894], dtype=float32), array([0.707, 0.894], dtype=float32))
        """
        if self.is_probe is None:
            raise InputError(
                "templates are made of references, but the vectors have no roles: give role"
            )
        if self.template is not None:
            raise InputError(
                "the vectors are enrolled as templates already: enrol those that were given"
            )
        number = templates_of(template, self.subject, self.is_probe)
        references = np.flatnonzero(~self.is_probe)
        probes = np.flatnonzero(self.is_probe)
        first = references[np.unique(number, return_index=True)[1]]
        rows = np.concatenate((first, probes))
        of_session: dict[str, Any] = {}
        if self.session is not None:
            row = _row_of_two(number, self.session[references].astype(np.int64), references)
            if row is not None:
                raise InputError(
                    f"a template has references of two sessions, the second in row {row}: a"
                    " template is of one session, so name templates of one each, or make the"
                    " vectors without ⟦session=⟧",
                    row,
                )
            of_session = {"session": read_only(self.session[rows])}
        if score == "max":
            part_of = np.empty(len(self), np.int32)
            part_of[references] = number
            part_of[probes] = np.arange(first.size, rows.size)
            subject = self.subject[rows]
            return self._changed(
                self.grouping,
                template=read_only(part_of),
                subject=read_only(subject),
                is_probe=read_only(self.is_probe[rows]),
                n_samples=read_only(np.bincount(subject, minlength=self.subjects.size)),
                **of_session,
            )
        means = self._means(references, number)
        labels = {
            name: np.array(of_subjects, object)[self._subject_codes[name]][self.subject[rows]]
            for name, of_subjects in self.attributes.items()
        }
        role = np.repeat(np.array(ROLES, object), [first.size, probes.size])
        vectors = np.concatenate((means, self.vectors[probes]))
        try:
            of = self.subjects[self.subject[rows]], labels or None
            failures: FailuresOfVectors = "error" if self.failed is None else "non-match"
            made = Embeddings(vectors, *of, self.similarity, role, failures)
        except InputError as error:
            raise type(error)(f"with templates before probes, {error.marked}", error.row) from None
        of_session |= {"sessions": self.sessions} if of_session else {}
        return made._changed(self.grouping, left_out=self.left_out, **of_session)

    def _means(self, references: Indices, number: Indices) -> AnyFloats:
        """Average the references of each template, (references,), but those that failed; NaN where
        all did.
        """
        if self.failed is None:
            return mean_vectors(self.vectors, self.similarity, references, number)
        usable = ~self.failed[references]
        means = np.full((int(number.max()) + 1, self.vectors.shape[1]), np.nan, self.vectors.dtype)
        left, numbers = np.unique(number[usable], return_inverse=True)
        means[left] = mean_vectors(self.vectors, self.similarity, references[usable], numbers)
        return means

    def _changed(self, grouping: tuple[str, ...], **parts: Any) -> Embeddings:
        """Return the same vectors with groups of some attributes, and with other parts."""
        made = object.__new__(Embeddings)
        made.__dict__.update(self.__dict__, **parts)
        made._choose_groups(grouping)
        return made

    @checked
    def comparisons(
        self, *, n_threads: int | None = None, progress: Progress = False
    ) -> Comparisons:
        """Compare every two vectors, for `evaluate`, `rates`, `compare` and all other functions of
        `Comparisons`.

        Parameters
        ----------
        n_threads : int, optional
            All processors by default.
        progress : bool or callable, default False
            Whether to show a progress bar; or a function to call with the amounts of work done and
            in all.

        Returns
        -------
        Comparisons
            With subjects, groups and samples. The id of a sample is its row in `subject`; without
            roles the lower row of a pair is the reference. So `compare` can match the comparisons
            of two models that embed the same samples.

        Raises
        ------
        InputError
            For more pairs than fit into memory. `roc_band` and `fairness_band` keep only the mated
            and the most similar non-mated pairs.

        Examples
        --------
        >>> import fastfair as ff
        >>> e = ff.Embeddings([[1, 0], [2, 1], [0, 1], [0, 3], [-1, 1]], subject=["ann", "ann", "bob", "bob", "cy"])
        >>> e.comparisons()
        Comparisons(2 mated, 8 non-mated, similarity, 3 subjects)
        """
        workers = Workers(n_threads, progress)
        mated, nonmated = self._finder(workers).find(1.0)
        of_mated = self._side_of(mated, mated=True)
        of_nonmated = self._side_of(nonmated, mated=False)
        made = Comparisons._of_parts(
            **self._parts_of(of_mated, of_nonmated),
            samples=np.arange(self.subject.size),
            sample_subject=self.subject,
            sessions=self.sessions,
            pairing=self.pairing,
        )
        made.lacks = self.lacks
        return made

    def _parts_of(self, mated: SortedSide, nonmated: SortedSide) -> dict[str, Any]:
        """Return what comparisons of the vectors have, however they are kept."""
        return {
            "mated": mated,
            "nonmated": nonmated,
            "score_kind": "similarity",
            "score_dtype": score_keys.float_type(mated.keys),
            "subjects": self.subjects,
            "attributes": self.attributes,
            "grouping": self.grouping,
            "left_out": self.left_out,
        }

    @checked
    def scanned(
        self,
        fmr: Probability = 0.1,
        *,
        n_threads: int | None = None,
        progress: Progress = False,
    ) -> ScannedComparisons:
        """Compare every two vectors, and keep the pairs near the errors, to evaluate them with
        little memory.

        `evaluate`, `claim`, `compare` and tests of groups do so by themselves where they are given
        vectors. This chooses how many pairs are kept, and serves several of these calls.

        Parameters
        ----------
        fmr : float, default 0.1
            Share of the non-mated pairs to keep, the most similar: operating points, and the EERs
            of groups and of replicates, must have a lower FMR. Else `evaluate` raises an error.
        n_threads, progress
            As in `comparisons`.

        Returns
        -------
        ScannedComparisons
            Numbers and intervals are those of `comparisons`, to the last bit, but for limits of
            rates without errors that rest on pairs not kept: these are wider.

        Raises
        ------
        InputError
            For a share of 0, and for more pairs than fit into memory.

        Examples
        --------
        >>> import fastfair as ff
        >>> e = ff.von_mises_fisher_embeddings(40, 4, 16, concentration=40, rng=0)
        >>> evaluation = ff.evaluate(ff.Embeddings(e.vectors, e.subject).scanned(), ff.at_fmr(0.01), rng=0)
        >>> round(evaluation.value("fnmr"), 3)
        0.083
        """
        if self.lacks:
            raise InputError(
                f"a scan keeps pairs of both kinds, but {next(iter(self.lacks.values()))}: take"
                " comparisons(), or give the vectors themselves"
            )
        return self._scanned(fmr, Workers(n_threads, progress))

    def _scanned(self, share: float, workers: Workers) -> ScannedComparisons:
        """Keep a share of the non-mated pairs, all of them where it is 1."""
        if self.session is not None:
            raise InputError(
                "a scan draws people alone, and the vectors have sessions: take comparisons(), or"
                " give the vectors themselves"
            )
        sides = []
        for pairs, mated in zip(self._finder(workers).find(share), (True, False), strict=True):
            side = self._side_of(pairs, mated=mated)
            not_kept = None
            if not mated and not pairs.complete:
                not_kept = NotKept(self.n_nonmated - side.keys.size, int(side.keys[0]))
            sides.append(
                replace(
                    side, rows=None, reference_sample=None, probe_sample=None, not_kept=not_kept
                )
            )
        numbers = np.arange(self.subjects.size, dtype=np.int32)
        kept = KeptComparisons._of_parts(
            **self._parts_of(*sides), numbers=numbers, pairs=self.pairs
        )
        return ScannedComparisons(kept)

    def _side_of(self, pairs: Pairs, *, mated: bool) -> SortedSide:
        """Turn every mated, or every non-mated, pair into a comparison.

        Each vector is a sample; without roles the one with the lower row is the reference.
        """
        order = self.pairing.order.astype(np.int32)
        n, size = order.size, pairs.keys.size
        keys, firsts, seconds = pairs.keys, pairs.first, pairs.second
        if not mated:  # from the least similar on
            keys, firsts, seconds = ~keys[::-1], firsts[::-1], seconds[::-1]
        n_rows = n * n if self.pairing.two_sets else n * (n - 1) // 2
        rows = np.empty(size, np.uint32 if n_rows < 2**32 else np.int64)
        reference, probe, of_reference, of_probe = np.empty((4, size), np.int32)
        # what is written along the way stays in the processor's cache
        for start in range(0, size, _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            first, second = order[firsts[part]], order[seconds[part]]
            if not self.pairing.two_sets:
                first, second = np.minimum(first, second), np.maximum(first, second)
            i, j = first.astype(np.int64), second.astype(np.int64)
            # Of one set only the pairs above the diagonal are numbered.
            skipped = 0 if self.pairing.two_sets else (i + 1) * (i + 2) // 2
            rows[part] = i * n + j - skipped
            reference[part], probe[part] = first, second
            of_reference[part] = self.subject[first]
            of_probe[part] = self.subject[second]
        session = self.session
        return SortedSide(
            np.ascontiguousarray(keys),
            rows,
            of_reference,
            of_probe,
            of_subject=self._subject_codes,
            reference_sample=reference,
            probe_sample=probe,
            reference_session=None if session is None else session[reference],
            probe_session=None if session is None else session[probe],
        )

    def _finder(self, workers: Workers) -> PairFinder:
        """Return what computes similarities, for pairs that are numbered as `pairing` has them."""
        refuse_failed(self)
        if self.template is None:
            return PairFinder(self.vectors, self.similarity, self.pairing, workers)
        assert self.is_probe is not None
        of_vectors = Pairing.of(
            self.subject[self.template], self.subject_group, self.is_probe[self.template]
        )
        number = np.argsort(self.pairing.order).astype(np.int32)[self.template[of_vectors.order]]
        return PairFinder(self.vectors, self.similarity, of_vectors, workers, number=number)

    def _choose_groups(self, names: tuple[str, ...]) -> None:
        self.groups, codes = group_labels.intersections(
            names, self.attributes, [self._subject_codes]
        )
        self.grouping = names
        of_subject = (
            codes[0].astype(np.int32) if codes else np.full(self.subjects.size, -1, np.int32)
        )
        self.subject_group = read_only(of_subject)
        self.pairing = Pairing.of(self.subject, of_subject, self.is_probe)
        mated, nonmated = (
            PairsOfVectors(self.subject, self.is_probe, of_class) for of_class in (True, False)
        )
        self.pairs = mated, nonmated
        self.n_mated = int(mated.of_subjects().sum())
        self.n_nonmated = int(nonmated.of_subjects().sum() // 2)

    def _require_kinds(self, kinds: PairKinds) -> None:
        """Refuse vectors that lack a kind of pairs which they are to have, or have one which not."""
        if kinds == "both":
            self._require_both_kinds()
            return
        numbers = {"mated": self.n_mated, "non-mated": self.n_nonmated}
        (other,) = {*numbers} - {kinds}
        if numbers[other] or not numbers[kinds]:
            has = " and ".join(f"{n:,} {name}" for name, n in numbers.items())
            raise InputError(
                f"⟦pair_kinds={kinds!r}⟧ is of vectors whose pairs are all {kinds}, but there are {has}"
                " pairs: leave it out, or give vectors of one kind, as one of each person"
            )
        rate = RATES_OF_CLASSES[kinds == "mated"]
        words = f"there are no {other} comparisons among the {numbers[kinds]}"
        self.lacks = {rate: words}

    def _require_rates(self, what: str) -> None:
        """Raise an error where all pairs are of a kind, and `what` needs both rates."""
        for rate, why in self.lacks.items():
            raise InputError(f"{what} needs an {rate.upper()}, but {why}: give some")

    def _require_both_kinds(self) -> None:
        if self.is_probe is not None and (self.is_probe.all() or not self.is_probe.any()):
            missing = ROLES[int(not self.is_probe.any())]
            raise InputError(
                f"role has no {missing}: give both references and probes, or leave role out"
            )
        if self.n_mated == 0:
            lacking = "two vectors" if self.is_probe is None else "both a reference and a probe"
            advice = advice_on_samples(self.subjects)
            raise InputError(
                f"none of the {self.subjects.size} subjects has {lacking}: there are no mated pairs"
                + (f". {advice}" if advice else "")
            )

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        n, d = self.vectors.shape
        parts = [
            f"{n} x {d} {self.vectors.dtype.name}",
            self.similarity,
            f"{self.subjects.size} subjects",
        ]
        if self.pairing.n_references is not None:
            n_references = self.pairing.n_references
            enrolled = "references" if self.template is None else "templates"
            parts += [f"{n_references} {enrolled}", f"{self.subject.size - n_references} probes"]
        parts += [f"{self.n_mated} mated", f"{self.n_nonmated} non-mated"]
        if self.sessions is not None:
            parts.append(counted(self.sessions.size, "session"))
        if self.groups:
            parts.append(counted(len(self.groups), "group"))
        return f"Embeddings({', '.join(parts)})"


def rows_of_vectors(vectors: AnyFloats, similarity: str, failures: str) -> Flags:
    """Return which vectors, (n,), are of samples that did not fail; all where failures are not to
    be left out.
    """
    if failures != "exclude":
        return np.ones(len(vectors), np.bool_)
    failed = checks.unusable(vectors, similarity)
    leave_out(
        ~failed,
        "vectors",
        "failed",
        "as they failed, being zero or not finite",
        'failures="exclude"',
    )
    return ~failed


FailedVectors = Literal["error", "nan"]
SameName = Literal["raise", "max", "mean"]
_TRIALS_AT_ONCE = 2**15  # that a thread scores
# Lengths whose squares, and the squares of their inverses, are float64 numbers.
_SHORTEST = 1e-150
_LONGEST = 1e150


class NamedVectors:
    """Vectors with names, from which the pairs that a list of trials names are scored.

    Parameters
    ----------
    vectors : (n, d) array_like
        One row for each sample. float32 and float64 arrays, memory-mapped ones included, are not
        copied; others are copied once.
    name : (n,) array_like
        The name of each vector, of any label type, as lists of trials have it: that of a file, or
        of a template.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        The score of two vectors.
    same_name : {"raise", "max", "mean"}
        What several vectors of one name are: an error; a template, whose score is the highest that
        one of its vectors has; or a template that is the mean of its vectors, which with the cosine
        have length 1 before.

    failures : {"error", "nan"}
        What a vector is that is zero, if the similarity is the cosine, or not finite: an error; or
        that of a sample that failed. Scores of names all of whose vectors failed are NaN.

    Attributes
    ----------
    vectors : (m, d) ndarray
        The vectors that have a similarity; under ``same_name="mean"`` one for each name.
    names : (k,) ndarray
        The distinct names, sorted.
    similarity, same_name : str
        As given.
    n_failed : int
        Number of vectors that are zero or not finite.

    Raises
    ------
    InputError
        For vectors that are not finite or have no similarity, and two vectors of one name, unless
        `same_name` says what they are. Messages count rows from 0.

    See Also
    --------
    read_named_vectors : Read such vectors from a file.
    read_comparisons : Score a list of trials with them.

    Examples
    --------
    >>> import fastfair as ff
    >>> v = ff.NamedVectors([[3, 4], [0, 1], [1, 0]], name=["ann/1", "ann/2", "bob/1"])
    >>> v
    NamedVectors(3 x 2 float32, cosine, 3 names)
    >>> v.scores(["ann/1", "ann/1"], ["ann/2", "bob/1"])
    array([0.8, 0.6], dtype=float32)
    """

    @checked
    def __init__(
        self,
        vectors: Array,
        name: Labels,
        similarity: Similarity = "cosine",
        same_name: SameName = "raise",
        failures: FailedVectors = "error",
    ) -> None:
        array = checks.vectors(vectors)
        coded = encode("name", name)
        checks.same_length({"vectors": len(array), "name": coded.codes.size}, "vector")
        codes = coded.codes.astype(np.int64)
        size = np.bincount(codes, minlength=coded.labels.size)
        if same_name == "raise" and (size > 1).any():
            _refuse_same(coded, size)
        failed = (
            checks.unusable(array, similarity)
            if failures == "nan"
            else np.zeros(codes.size, np.bool_)
        )
        if failed.any():
            array, codes = array[~failed], codes[~failed]
            size = np.bincount(codes, minlength=coded.labels.size)
            if not codes.size:
                raise InputError(f"all {failed.size} vectors failed: they are zero, or not finite")
        checks.require_usable(array, similarity)
        scale = _scale_of(array, similarity)
        if same_name == "mean" and (size > 1).any():
            present, codes = np.unique(codes, return_inverse=True)
            array = mean_vectors(array, similarity, np.arange(codes.size), codes)
            codes = present
            size = (size > 0).astype(size.dtype)
            try:
                scale = _scale_of(array, similarity)
            except InputError as error:
                template = coded.labels.tolist()[codes[error.row]]
                raise InputError(
                    f"the vectors of {template!r} have a mean without direction"
                ) from None
        self.vectors = read_only(array.view())
        self.names = read_only(coded.labels)
        self.similarity = similarity
        self.same_name = same_name
        self.n_failed = int(failed.sum())
        self._scale = scale  # (m,) factors of inner products
        # Where the vectors of each name begin, and their rows.
        self._members = np.concatenate(([0], np.cumsum(size))), np.argsort(codes, kind="stable")

    @checked
    def scores(
        self,
        reference: Labels,
        probe: Labels,
        *,
        n_threads: int | None = None,
        progress: Progress = False,
    ) -> AnyFloats:
        """Score pairs of names.

        Parameters
        ----------
        reference, probe : (m,) array_like
            The names of each pair.
        n_threads : int, optional
            All processors by default; scores do not depend on it.
        progress : bool or callable, default False
            Whether to show a progress bar; or a function to call with the amounts of work done and
            in all.

        Returns
        -------
        (m,) ndarray
            Similarities, summed in float64 and rounded to the type of `vectors`. No pairs but these
            are computed.

        Raises
        ------
        InputError
            For names without a vector; the message has the row of the first, counted from 0.

        Examples
        --------
        >>> import fastfair as ff
        >>> v = ff.NamedVectors([[1, 0], [0, 1], [3, 4]], name=["ann", "ann", "x.wav"], same_name="max")
        >>> v.scores(["ann"], ["x.wav"])
        array([0.8], dtype=float32)
        """
        from fastfair.kernels import listed_pairs as kernels

        sides = self._positions(reference, probe)
        size = sides[0].size
        out = np.empty(size, self.vectors.dtype)
        euclidean = self.similarity == "negative_euclidean"

        def score(start: int) -> None:
            part = slice(start, min(start + _TRIALS_AT_ONCE, size))
            scores = np.empty(part.stop - start)
            kernels.highest_similarities(
                self.vectors,
                self._scale,
                self._members,
                sides[0][part],
                sides[1][part],
                euclidean,
                scores,
            )
            out[part] = scores

        with reporting(progress, "trials") as report:
            run_blocks(
                score, range(0, size, _TRIALS_AT_ONCE), size, _TRIALS_AT_ONCE, n_threads, report
            )
        failed = np.diff(self._members[0]) == 0
        out[failed[sides[0]] | failed[sides[1]]] = np.nan
        return out

    def _positions(self, reference: Labels, probe: Labels) -> list[Integers]:
        """Return the positions in `names` of both names of each pair."""
        numbered = Coded(self.names, np.arange(self.names.size))
        labels, codes = encode_together(
            ("name", "reference", "probe"), (numbered, reference, probe)
        )
        checks.same_length({"reference": codes[1].size, "probe": codes[2].size}, "pair")
        position = np.full(labels.size, -1, np.int64)
        position[codes[0]] = np.arange(self.names.size)
        positions = [position[of_side] for of_side in codes[1:]]
        if (position < 0).any():
            row = int((np.minimum(*positions) < 0).argmax())
            side = int(positions[0][row] >= 0)
            raise InputError(
                f"{ROLES[side]} {labels[codes[1 + side][row]]!r} in row {row} (counted from 0) has"
                f" no vector ({np.count_nonzero(position < 0):,} such names); names of vectors are"
                f" such as {self.names.item(0)!r}",
                row=row,
            )
        return positions

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        n, d = self.vectors.shape
        return (
            f"NamedVectors({n} x {d} {self.vectors.dtype.name}, {self.similarity},"
            f" {self.names.size} names)"
        )


def _scale_of(vectors: AnyFloats, similarity: str) -> Floats:
    """Return the factor of each vector in inner products: with the cosine, one divided by its
    length.
    """
    scale = np.ones(len(vectors))
    if similarity != "cosine":
        return scale
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        wide = vectors[part].astype(np.float64)
        with np.errstate(over="ignore", under="ignore"):
            length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        wrong = np.flatnonzero((length < _SHORTEST) | (length > _LONGEST))
        if wrong.size:
            row = start + int(wrong[0])
            raise InputError(
                f"the length of the vector in row {row} (counted from 0) is not between"
                f" {_SHORTEST:g} and {_LONGEST:g}; scale all vectors by one number, which changes"
                " no cosine",
                row=row,
            )
        scale[part] = 1 / length
    return scale


def _refuse_same(coded: Coded, size: Integers) -> None:
    code = coded.codes[(size > 1)[coded.codes].argmax()]
    first, second, *_ = np.flatnonzero(coded.codes == code).tolist()
    raise InputError(
        f"the vectors of rows {first} and {second} (counted from 0) have the same name"
        f" {coded.labels[code]!r}, and {int((size > 1).sum()):,} names have several vectors; if"
        ' these are templates, choose ⟦same_name="max"⟧ or ⟦same_name="mean"⟧',
        row=second,
    )


def refuse_failed(embeddings: Embeddings) -> None:
    """Refuse vectors that failed and count as non-matches, where every two are compared."""
    n = 0 if embeddings.failed is None else int(embeddings.failed.sum())
    if n:
        raise InputError(
            f"{n} of {len(embeddings)} vectors failed, and what compares every two vectors cannot"
            ' count them as non-matches: leave them out with ⟦failures="exclude"⟧; searches'
            " (identify) and lists of trials count them"
        )
