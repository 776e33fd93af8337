"""`Searches`: what identification needs of each search of a gallery, in one pass over its scores.

Of a search count the mate's score, how many others score at least as high, and the best few others,
one for each person. A false positive and how it depends on single enrolled people, the mate's rank,
and rates in smaller galleries follow from these, so that no matrix of scores is kept. Scores are
similarities. A template is what ISO/IEC 2382-37 calls a biometric reference, of an enrolled person.
Ties count against the system: a score equal to the threshold makes a candidate, and another person
with the mate's score outranks the mate.

A score of -inf stands for none, as of a template or a probe that failed: nobody is a candidate with
it, at any rank or threshold. A mated search whose mate has none misses the mate, and a search
without any score returns nobody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import validation
from fastfair._lib.arguments import AtLeastTwo, checked
from fastfair._lib.arrays import (
    AnyArray,
    AnyFloats,
    Codes,
    Flags,
    Floats,
    Indices,
    Integers,
)
from fastfair._lib.label_codes import Coded, Labels, encode, encode_together, look_up
from fastfair._lib.notebook import Shown
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Executor
from fastfair.data import checks, group_labels
from fastfair.data.checks import Similarity
from fastfair.data.columns import (
    NOBODY,
    USUAL,
    Policies,
    is_of_a_set_with_itself,
    plain_label,
    warn_of_look_alikes,
)
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import (
    Exclusions,
    Reason,
    gathering,
    leave_out,
    merge_exclusions,
)
from fastfair.data.group_labels import GroupLabels
from fastfair.data.pair_search import lengths, padded_for_products
from fastfair.data.sample_names import advice_on_samples
from fastfair.data.score_keys import given_similarities
from fastfair.data.sorted_scores import read_only
from fastfair.errors import InputError, LookAlikeWarning, ReversedScoresWarning

from .candidate_lists import KeptLists
from .kept_candidates import MatrixScores, ProductScores, Scores, search_gallery

Templates = Literal["refuse", "best"]
SearchScores = Literal["similarity", "distance"]
# standard errors by which mates' mean rank is worse than chance where scores look like distances
_SURE = 2.5
_ROUNDING = 256  # machine epsilons by which scores of samples with themselves may differ
_FEWEST_OF_A_SET = 3  # searches that tell a gallery searched by itself from equal scores by chance
_UNKNOWN = frozenset([*map(str, NOBODY), "unknown", "unk", "n/a", "na", "none", "null", "nan"])


class HowToSearch(NamedTuple):
    """How a gallery is searched, as in `Searches.from_matrix`; candidates: None for all."""

    candidates: int | None
    templates: str = "refuse"
    policies: Policies = USUAL
    n_threads: int | None = 1
    executor: Executor = None


class Searches(Shown):
    """Searches of a gallery, of scores, matrices, candidate lists, vectors or embeddings with
    roles.

    A search whose person is enrolled is mated, any other one is non-mated. A probe of an unknown
    person gets a label of its own.

    Attributes
    ----------
    n_enrolled : int
        The number N of enrolled people.
    groups : tuple of str
        The groups of probes; empty without.
    dtype : dtype
        The type of the scores, to which thresholds are rounded: where 0.7 is kept as float32, that
        is a threshold of 0.7, too.
    score_kind : {"similarity", "distance"}
        What scores were given. Those kept here are similarities: of distances the negative.
        Operating points and the thresholds of results are of the kind given.
    labels : (people,) ndarray
        Whose probes and templates these are; all others name people by position here.
    enrolled : (n_enrolled,) ndarray of int32
        The enrolled people.
    subject, group : (searches,) ndarray of int32
        The person and the group of each search's probe; groups are all 0 without labels.
    sessions : ndarray or None
        What searches of several people share, such as days or devices, sorted; None where it is not
        known.
    session : (searches,) ndarray of int32
        The session of each search's probe, as a position in `sessions`; all 0 without these.
    is_mated : (searches,) ndarray of bool
        Whether that person is enrolled.
    mate_score : (searches,) ndarray
        The mate's score; -inf for non-mated searches and where the mate has none, NaN where a
        candidate list lacks the mate.
    rank : (searches,) ndarray of int64
        1 + the number of other people with at least that score; 0 for non-mated searches,
        n_enrolled + 1 where the mate has no score. Where a candidate list lacks the mate, or ends
        with its score, the least that it can be.
    last_rank : (searches,) ndarray of int64
        The most that the rank can be: `rank`, but n_enrolled where a list lacks the mate or ends
        with its score, as others with that score may be missing from it.
    failed : (searches,) ndarray of bool
        Which searches failed: those without any score, and mated ones whose mate has none.
    best : (searches, k) ndarray
        The highest scores of other people, descending; -inf where there are fewer.
    candidate : (searches, k) ndarray of int32
        These people, -1 for none.
    reach : (searches,) ndarray
        The score above which all candidates are known; -inf where all are.
    left_out : tuple of Exclusion
        What was left out of the data that were searched: searches that failed, lack a label or have
        a template for a probe, entries that fill places of lists, and vectors.

    Examples
    --------
    >>> import fastfair as ff
    >>> searches = ff.Searches.from_matrix([[0.9, 0.2], [0.4, 0.3]], ["ann", "eve"], ["ann", "bob"])
    >>> searches
    Searches(2 searches of 2 enrolled people, 1 mated, 1 non-mated)
    >>> searches.rank, searches.best[:, 0]
    (array([1, 0]), array([0.2, 0.4]))
    """

    n_enrolled: int
    groups: tuple[str, ...]
    dtype: np.dtype[Any]
    score_kind: SearchScores = "similarity"
    labels: AnyArray
    enrolled: Codes
    subject: Codes
    group: Codes
    sessions: AnyArray | None = None
    session: Codes
    is_mated: Flags
    mate_score: Floats
    rank: Integers
    last_rank: Integers
    failed: Flags
    best: Floats
    candidate: Codes
    reach: Floats
    left_out: Exclusions = ()
    _lacking: dict[str, Flags]  # which searches lack a label of an attribute

    def __init__(self) -> None:
        raise InputError(
            "searches are made by from_scores, from_matrix, from_candidates or from_vectors"
        )

    @classmethod
    @checked
    def from_matrix(
        cls,
        scores: ArrayLike,
        probe: Labels,
        enrolled: Labels,
        *,
        group: GroupLabels | None = None,
        score_kind: SearchScores = "similarity",
        candidates: AtLeastTwo = 20,
        templates: Templates = "refuse",
        policies: Policies = USUAL,
        session: Labels | None = None,
        n_threads: int | None = None,
        executor: Executor = None,
    ) -> Searches:
        """Keep what is needed of a matrix of scores; a memory-mapped one is read in blocks.

        Parameters
        ----------
        scores : (searches, templates) array_like
            The score of each probe and each enrolled template.
        probe : (searches,) array_like
            The person of each probe.
        enrolled : (templates,) array_like
            The person of each template.
        group : (searches,) array_like or dict of str to (searches,) array_like, optional
            The group of each probe; of several attributes their intersections.
        score_kind : {"similarity", "distance"}
            Whether high or low scores speak for the same person.
        candidates : int, default 20
            How many of the best other people are kept of each search. Rates in the whole gallery
            need two; selectivity and rates in smaller galleries need all at or above the threshold.
        templates : {"refuse", "best"}
            What several templates of one person are: an error, or one enrolment whose score is the
            best of them.
        policies : Policies
            What to do with scores that failed, NaN or `failure_score`: by `failures`, an error;
            "non-match": nobody is a candidate with one, as with -inf; "exclude": the same, and
            searches that failed are left out, with a warning. By `self_comparisons`, whether a
            gallery may be searched by itself: it is refused, or kept. By `missing_labels`, what to
            do with searches that lack the label of a group.
        session : (searches,) array_like, optional
            What the searches of several people share: the day, device or site of each probe.
            Intervals then say that their errors depend on each other.
        n_threads : int, optional
            Number of threads; all processors by default. With an executor, those of each task, 1 by
            default.
        executor : object with a method `submit`, optional
            What looks at the scores, as tasks of a 64th of the searches: an executor of
            `concurrent.futures`, the Client of Dask, or alike.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            For scores that are NaN or infinite (-inf, of distances inf, stands for none), whole numbers above 2^53, an
            empty gallery, no searches, lengths that differ, people with several templates where
            `templates` refuses them, and a symmetric matrix whose diagonal has nothing but the best
            scores, as of a gallery searched by itself.

        Warns
        -----
        ReversedScoresWarning
            Where mates score lower than others, as distances do.
        LookAlikeWarning
            Where names of people, or of groups, differ in Unicode forms, letter case or leading
            zeros alone.
        DroppedWarning
            Where searches are left out.

        Examples
        --------
        >>> import fastfair as ff
        >>> scores = [[0.9, 0.8, 0.2], [0.4, 0.1, 0.3]]
        >>> ff.Searches.from_matrix(scores, ["ann", "eve"], ["ann", "ann", "bob"], templates="best").best
        array([[ 0.2, -inf],
               [ 0.4,  0.3]])
        """
        array = validation.numbers_in("scores", scores)
        if array.ndim != 2:
            raise InputError(
                f"scores must be a matrix, a row for each search, but its shape is {array.shape}"
            )
        made = cls._with_people(array.shape, probe, enrolled, group, policies, session)
        made.score_kind = score_kind
        made._search_matrix(
            array, HowToSearch(candidates, templates, policies, n_threads, executor)
        )
        return made

    @classmethod
    @checked
    def from_scores(
        cls,
        search: Labels,
        probe: Labels,
        enrolled: Labels,
        scores: ArrayLike,
        *,
        group: GroupLabels | None = None,
        score_kind: SearchScores = "similarity",
        candidates: AtLeastTwo = 20,
        policies: Policies = USUAL,
        session: Labels | None = None,
    ) -> Searches:
        """Keep what is needed of rows, one for each search and enrolled person.

        Parameters
        ----------
        search : (n,) array_like
            The search, such as the name of the probe's sample.
        probe : (n,) array_like
            The person of the probe, the same in all rows of a search.
        enrolled : (n,) array_like
            The enrolled person. Every search needs one row for each.
        scores : (n,) array_like
            The scores.
        group : (n,) array_like or dict of str to (n,) array_like, optional
            The group of the probe, the same in all rows of a search.
        score_kind, candidates, policies
            As in `from_matrix`.
        session : (n,) array_like, optional
            What searches share, as there, the same in all rows of a search.

        Returns
        -------
        Searches
            Sorted by search.

        Raises
        ------
        InputError
            As `from_matrix` does, for two people in one search, for a pair that occurs twice, for
            searches that lack some enrolled people, as candidate lists do, and for rows of nobody
            (-1) that fill places of such lists.

        Examples
        --------
        >>> import fastfair as ff
        >>> rows = ["p", "p", "q", "q"], ["ann", "ann", "eve", "eve"], ["ann", "bob", "ann", "bob"]
        >>> ff.Searches.from_scores(*rows, [0.9, 0.2, 0.4, 0.3]).rank
        array([1, 0])
        """
        values = checks.scores(scores)
        given = {"search": search, "probe": probe, "enrolled": enrolled, "session": session}
        coded = {name: encode(name, column) for name, column in given.items() if column is not None}
        of_search, column = coded["search"], coded["enrolled"]
        _refuse_padding(column, values)
        groups, lacking = group_labels.attributes_by_policy(group, policies.missing_labels)
        sizes = {name: of_rows.codes.size for name, of_rows in (coded | groups).items()}
        checks.same_length(sizes | {"scores": values.size}, "row")
        n, width = of_search.labels.size, column.labels.size
        cell = of_search.codes.astype(np.int64) * width + column.codes
        order = np.argsort(cell, kind="stable")
        again = np.flatnonzero(np.diff(cell[order]) == 0)
        if again.size:
            row = int(order[again[0] + 1])
            raise InputError(
                f"search {of_search.at(row)!r} has two scores against {column.at(row)!r}: fuse a"
                " person's templates to one score before",
                row=row,
            )
        if cell.size < n * width:
            rows = np.bincount(of_search.codes, minlength=n)
            least = int(rows.argmin())
            raise InputError(
                f"search {of_search.labels.item(least)!r} has scores against {rows[least]} of"
                f" {width} enrolled people: every search needs all; give candidate lists to"
                " from_candidates"
            )
        first = order[::width]
        of_probes = {name: coded[name] for name in ("probe", "session") if name in coded}
        for name, of_rows in [*of_probes.items(), *groups.items()]:
            other = np.flatnonzero(of_rows.codes != of_rows.codes[first][of_search.codes])
            if other.size:
                row = int(other[0])
                raise InputError(
                    f"search {of_search.at(row)!r} has two labels of {name!r},"
                    f" {of_rows.at(row)!r} in row {row} (counted from 0)",
                    row=row,
                )
        of_probes = {name: of_rows.take(first) for name, of_rows in of_probes.items()}
        made = cls._with_people(
            (n, width),
            of_probes["probe"],
            column.labels,
            {name: of_rows.take(first) for name, of_rows in groups.items()},
            policies,
            of_probes.get("session"),
        )
        made.score_kind = score_kind
        made._lacking = {name: rows[first] for name, rows in lacking.items()}
        made._warn_of_samples(of_search.labels)
        made._search_matrix(
            values[order].reshape(n, width), HowToSearch(candidates, policies=policies)
        )
        return made

    @classmethod
    @checked
    def from_vectors(
        cls,
        probes: ArrayLike,
        probe: Labels,
        templates_of: ArrayLike,
        enrolled: Labels,
        *,
        group: GroupLabels | None = None,
        similarity: Similarity = "cosine",
        candidates: AtLeastTwo = 20,
        templates: Templates = "refuse",
        policies: Policies = USUAL,
        session: Labels | None = None,
        n_threads: int | None = None,
        executor: Executor = None,
    ) -> Searches:
        """Compare the vectors of probes with those of enrolled people, block by block; no matrix of
        scores is kept.

        Parameters
        ----------
        probes : (searches, d) array_like
            A vector for each probe.
        probe : (searches,) array_like
            The person of each probe.
        templates_of : (templates, d) array_like
            A vector for each enrolled template.
        enrolled : (templates,) array_like
            The person of each template.
        group : (searches,) array_like or dict of str to (searches,) array_like, optional
            The group of each probe.
        similarity : {"cosine", "inner_product"}
            The score of two vectors.
        candidates, templates, session, n_threads, executor
            As in `from_matrix`.
        policies : Policies
            What to do with vectors that failed, which are not finite or, with the cosine, zero: by
            `failures`, as with scores in `from_matrix`; and with missing labels, as there. By
            `self_comparisons`, searches whose probe is a template of the same person are left out,
            with a warning, or kept.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            As `from_matrix` does, for vectors of different lengths or that failed, and where all
            mated searches have a probe that is a template.

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.Searches.from_vectors([[1, 0.1], [0, 1]], ["ann", "ann"], [[2, 0], [0, 1]], ["ann", "bob"]).rank
        array([1, 2])
        """
        if similarity == "negative_euclidean":
            raise InputError(
                "similarity must be 'cosine' or 'inner_product': for others give their scores to"
                " from_matrix, of distances the negative"
            )
        sides = [checks.vectors(values) for values in (probes, templates_of)]
        if sides[0].shape[1] != sides[1].shape[1]:
            raise InputError(
                f"vectors of probes have {sides[0].shape[1]} elements, of templates"
                f" {sides[1].shape[1]}"
            )
        made = cls._with_people(
            (len(sides[0]), len(sides[1])), probe, enrolled, group, policies, session
        )
        made.dtype = np.result_type(*sides)
        if made.enrolled.size > made.n_enrolled and templates == "refuse":
            _refuse_twice("enrolled", made.labels, made.enrolled)
        usable = []
        for k, name in enumerate(("probes", "templates")):
            of_side = np.ones(len(sides[k]), np.bool_)
            if policies.failures != "error":
                of_side = ~checks.unusable(sides[k], similarity)
            if not of_side.any():
                raise InputError(f"all vectors of {name} failed: they are zero or not finite")
            sides[k] = sides[k] if of_side.all() else sides[k][of_side]
            checks.require_usable(sides[k], similarity)
            usable.append(of_side)
        themselves = np.zeros(made.subject.size, np.bool_)
        if policies.self_comparisons == "drop":
            people = made.subject[usable[0]], made.enrolled[usable[1]]
            themselves[usable[0]] = _are_templates(sides[0], people[0], sides[1], people[1])
            if themselves.any() and themselves[made.is_mated].all():
                raise InputError(
                    f"every probe of an enrolled person is a template of that person: {_ITSELF}"
                )
        ready = padded_for_products(sides[1].astype(made.dtype, copy=False), similarity)
        products = ProductScores(
            sides[0].astype(made.dtype, copy=False), ready, similarity, float(lengths(ready).max())
        )
        how = HowToSearch(candidates, templates, policies, n_threads, executor)
        if all(of_side.all() for of_side in usable):
            made._search(products, how)
        else:
            part = made._part(*usable)
            part._search(products, how)
            made._complete(part, usable[0])
        made._exclude(policies, themselves)
        return made._finish()

    @classmethod
    @checked
    def from_embeddings(
        cls,
        embeddings: Embeddings,
        *,
        candidates: AtLeastTwo = 20,
        templates: Templates = "refuse",
        n_threads: int | None = None,
        executor: Executor = None,
    ) -> Searches:
        """Search the references of vectors, which are the gallery, with their probes.

        Parameters
        ----------
        embeddings : Embeddings
            Vectors with roles, such as `read_embeddings` reads. Those that failed and were kept
            (``failures="non-match"``) are of searches that failed, and of templates that nobody
            finds.
        candidates, templates, n_threads, executor
            As in `from_matrix`. Where templates score as the best of their vectors
            (`Embeddings.enrolled`), several vectors of a person are one enrolment.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            For vectors without roles, and as `from_vectors` does.

        Examples
        --------
        >>> import fastfair as ff
        >>> vectors, people = [[1, 0], [0, 1], [2, 1], [1, 3], [-1, 1]], list("ababc")
        >>> e = ff.Embeddings(vectors, people, role=["reference"] * 2 + ["probe"] * 3)
        >>> ff.Searches.from_embeddings(e)
        Searches(3 searches of 2 enrolled people, 2 mated, 1 non-mated)
        """
        if embeddings.is_probe is None:
            raise InputError(
                "the embeddings have no roles: say which are references, the gallery, and which"
                " probes"
            )
        part_of = embeddings.template
        position = np.arange(len(embeddings.vectors)) if part_of is None else part_of
        subject, is_probe = embeddings.subject[position], embeddings.is_probe[position]
        people = embeddings.subjects[subject]
        groups = np.array(embeddings.groups, object)
        policies = USUAL if embeddings.failed is None else Policies(failures="non-match")
        session = None
        if embeddings.sessions is not None and embeddings.session is not None:
            session = Coded(embeddings.sessions, embeddings.session[position[is_probe]])
        made = cls.from_vectors(
            embeddings.vectors[is_probe],
            people[is_probe],
            embeddings.vectors[~is_probe],
            people[~is_probe],
            group=groups[embeddings.subject_group[subject[is_probe]]] if groups.size else None,
            similarity=embeddings.similarity,
            candidates=candidates,
            templates=templates if part_of is None else "best",
            n_threads=n_threads,
            executor=executor,
            policies=policies,
            session=session,
        )
        made.left_out = (*embeddings.left_out, *made.left_out)
        return made

    @classmethod
    @checked
    def from_candidates(
        cls,
        search: Labels,
        candidate: Labels,
        scores: ArrayLike,
        *,
        searches: Labels,
        probe: Labels,
        enrolled: Labels,
        group: GroupLabels | None = None,
        score_kind: SearchScores = "similarity",
        length: int | None = None,
        least_score: float | None = None,
        failed: Labels | None = None,
        templates: Templates = "refuse",
        policies: Policies = USUAL,
        session: Labels | None = None,
    ) -> Searches:
        """Read candidate lists: the best few enrolled people of each search, with their scores.

        Parameters
        ----------
        search, candidate : (n,) array_like
            The search and the person of each entry of a list.
        scores : (n,) array_like
            Its score.
        searches : (searches,) array_like
            Every search once, also those whose list is empty.
        probe : (searches,) array_like
            The person of each probe.
        enrolled : (people,) array_like
            Every enrolled person once; with ``templates="best"``, once for each template.
        group : (searches,) array_like or dict of str to (searches,) array_like, optional
            The group of each probe.
        score_kind : {"similarity", "distance"}
            Whether high or low scores speak for the same person.
        length : int, optional
            How long lists can be; by default as long as the longest is. Below the last score of a
            full list nothing is known.
        least_score : float, optional
            The score from which on people are put on lists, of distances the greatest; by default
            the least that occurs. Below it nothing is known of a list that is not full.
        failed : (searches,) array_like of bool, optional
            Which searches failed, and so have no list: misses at every rank and threshold, where
            they are mated.
        templates : {"refuse", "best"}
            What a person who is on a list several times is: an error, or someone with several
            templates, of whom the best counts.
        policies : Policies
            By `failures`, what to do with scores that failed, NaN or `failure_score`, as in
            `from_matrix`, and whether searches that failed are counted, or left out ("exclude"); by
            `self_comparisons`, whether lists may be of a gallery that is searched by itself; by
            `missing_labels`, what to do with searches that lack the label of a group.
        session : (searches,) array_like, optional
            As in `from_matrix`.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            For searches and candidates that are not declared or declared twice, someone twice on a
            list, lists longer than `length`, scores that are not finite, and lists that all begin
            with their own person and the best score of all, as of a gallery searched by itself.

        Warns
        -----
        DroppedWarning
            For entries that fill places for which an index found nobody, with the candidate -1,
            which are left out.
        ReversedScoresWarning, LookAlikeWarning
            As `from_matrix` does.

        Notes
        -----
        Ties count against the system, and where a full list ends with the mate's score, someone
        with that score may be missing from it. Rates at ranks are then known within bounds, which
        limits and notes of `identify` allow for; lists that are longer by one tell.

        Examples
        --------
        >>> import fastfair as ff
        >>> lists = ["p", "p", "q"], ["ann", "bob", "cid"], [0.9, 0.4, 0.3]
        >>> ff.Searches.from_candidates(*lists, searches=["p", "q"], probe=["ann", "eve"],
        ...                             enrolled=["ann", "bob", "cid", "dan"])
        Searches(2 searches of 4 enrolled people, 1 mated, 1 non-mated)
        """
        how = HowToSearch(None, templates, policies)
        reader = ListReader(searches, probe, enrolled, group, score_kind, how, session)
        reader.add(search, candidate, scores)
        return reader.finish(length, least_score, failed)

    def _similarities_of_lists(self, values: AnyFloats, policies: Policies) -> Floats:
        """Return the scores of entries of lists as similarities, those that failed as -inf."""
        failed = policies._find_failed(values)
        if failed is None and not np.isfinite(values).all():
            raise InputError("scores of candidates must be finite: leave out those that have none")
        similarities = values.astype(np.float64, copy=False)
        if self.score_kind == "distance":
            similarities = -similarities
        if failed is not None:
            similarities = np.where(failed, -np.inf, similarities)
        return similarities

    def _reach_of(self, lists: KeptLists, length: int | None, least_score: float | None) -> Floats:
        """Return above which score all candidates of each list are known."""
        longest, lowest = lists.longest, lists.lowest
        if length is not None and longest > length:
            raise InputError(f"a list has {longest} candidates, more than ⟦length={length}⟧")
        if lowest == np.inf:
            raise InputError("all lists are empty: no scores are known")
        sign = self._sign
        least = lowest if least_score is None else sign * least_score
        if lowest < least:
            raise InputError(
                f"a candidate has the score {sign * lowest:g}, {'below' if sign > 0 else 'above'}"
                f" ⟦least_score={sign * least:g}⟧"
            )
        n_templates = self.enrolled.size
        # Someone with the very score of the last place of a full list may be missing.
        is_full = lists.length >= min(length or longest, n_templates)
        of_full = np.where(lists.length >= n_templates, -np.inf, lists.end)
        return np.where(is_full, of_full, np.nextafter(least, -np.inf))

    @property
    def _sign(self) -> float:
        """1.0, or -1.0 of distances, of which similarities are the negative."""
        return -1.0 if self.score_kind == "distance" else 1.0

    def _flag_entries(self, of_person: Coded, values: AnyFloats) -> Flags:
        """Tell which entries of lists name somebody; warn of those that fill places for which an
        index found nobody.
        """
        padding = _are_padding(of_person, values)
        if padding.any():
            is_somebody = _positions(of_person, self.labels) < self.labels.size
            padding &= ~is_somebody[of_person.codes]
        if padding.any():
            because = "as they fill places for which an index found nobody, with the candidate -1"
            with gathering() as excluded:
                leave_out(~padding, "entries of lists", "padding", because)
            self.left_out = merge_exclusions((self.left_out, tuple(excluded)))
        return ~padding

    def _take_lists(
        self, lists: KeptLists, length: int | None, least_score: float | None, policy: str
    ) -> None:
        """Take over what is kept of lists."""
        self.reach = self._reach_of(lists, length, least_score)
        self.enrolled = np.unique(self.enrolled)
        self.best, self.candidate = lists.together()
        self.mate_score = np.where(self.is_mated, lists.mate_score, -np.inf)
        self._refuse_lists_of_itself(policy)
        self.rank = np.where(self.is_mated, lists.n_ahead + 1, 0)
        with np.errstate(invalid="ignore"):
            is_open = self.is_mated & (self.reach > -np.inf) & ~(self.mate_score > self.reach)
        self.last_rank = np.where(is_open, self.n_enrolled, self.rank)
        # that a list lacks the mate tells the mate's score down to the end of the whole list
        is_cut = ~np.isnan(self.mate_score)
        self.reach[is_cut] = np.maximum(self.reach, lists.cut)[is_cut]

    def _warn_of_samples(self, searches: AnyArray) -> None:
        """Warn where the gallery has names of samples, which searches have, in place of people."""
        if self.is_mated.any():
            return
        enrolled = set(self.labels[self.enrolled].tolist())
        names = searches.tolist()
        are_names = all(isinstance(name, str) for name in names)  # numbers may count searches
        if are_names and enrolled.issuperset(names):
            warn(
                "no probe is of an enrolled person, but each search has the name of one: where"
                " these are names of samples, give the people that they are of, and no search of a"
                " gallery by itself",
                LookAlikeWarning,
            )

    def _take_failed(self, failed: Labels | None, without: Flags, length: Integers) -> None:
        """Take over which searches failed. A list whose entries have no score is a failure; an
        empty one is none by itself.

        without, length: (searches,) whose entries have no score, and how many entries lists have.
        """
        flags = without | (self.is_mated & (self.mate_score == -np.inf))
        if failed is not None:
            given = validation.column("failed", failed)
            if given.dtype != np.bool_:
                raise InputError(
                    f"failed must be True or False for each search, but its type is {given.dtype}"
                )
            checks.same_length({"searches": flags.size, "failed": given.size}, "search")
            listed = np.flatnonzero(given & (length > 0) & ~without)
            if listed.size:
                raise InputError(
                    f"search {listed[0]} (counted from 0) failed, but has a list",
                    row=int(listed[0]),
                )
            without = without | given
            flags |= given
        self.failed = flags
        self.reach[without] = -np.inf
        of_mated = flags & self.is_mated
        self.mate_score[of_mated] = -np.inf
        self.rank[of_mated] = self.last_rank[of_mated] = self.n_enrolled + 1

    @classmethod
    def _with_people(
        cls,
        shape: tuple[int, int | None],
        probe: Labels,
        enrolled: Labels,
        group: GroupLabels | None,
        policies: Policies,
        session: Labels | None = None,
    ) -> Searches:
        """Make searches that have people, groups and sessions, but no scores yet.

        shape: numbers of searches, and of templates, None where these are not counted.
        """
        made = object.__new__(cls)
        made.labels, (subject, columns) = encode_together(["probe", "enrolled"], [probe, enrolled])
        made.subject, made.enrolled = subject.astype(np.int32), columns.astype(np.int32)
        made.dtype = np.dtype(np.float64)
        if not made.enrolled.size:
            raise InputError("enrolled is empty: there is no gallery to search")
        if not made.subject.size:
            raise InputError("probe is empty: there are no searches")
        coded, made._lacking = group_labels.attributes_by_policy(group, policies.missing_labels)
        shared = {} if session is None else {"session": encode("session", session)}
        sizes = {name: column.codes.size for name, column in (coded | shared).items()}
        checks.same_length({"scores": shape[0], "probe": subject.size} | sizes, "search")
        made.session = np.zeros(subject.size, np.int32)
        for of_sessions in shared.values():
            made.sessions, made.session = of_sessions.labels, of_sessions.codes.astype(np.int32)
        if shape[1] is not None:
            checks.same_length(
                {"columns of scores": shape[1], "enrolled": columns.size}, "template"
            )
        warn_of_look_alikes("person", made.labels.tolist())
        _warn_of_nobody(made.labels, made.subject)
        for name, column in coded.items():
            warn_of_look_alikes(f"group {name!r}", column.labels.tolist())
        made.groups, of_group = group_labels.groups_of(coded)
        made.group = np.zeros(subject.size, np.int32)
        if of_group is not None:
            made.group[:] = of_group
        made.is_mated = np.isin(made.subject, made.enrolled)
        if not made.is_mated.any() and (advice := advice_on_samples(made.labels[made.enrolled])):
            warn(f"no probe is of an enrolled person. {advice}", LookAlikeWarning)
        made.n_enrolled = int(np.unique(made.enrolled).size)
        return made

    def _search_matrix(self, matrix: AnyArray, how: HowToSearch) -> None:
        """Look at the scores of a matrix."""
        if matrix.dtype in (np.float16, np.float32):
            self.dtype = matrix.dtype
        if (
            how.policies.self_comparisons == "drop"
            and matrix.shape[0] == matrix.shape[1]
            and self.is_mated.all()
        ):
            is_same = np.array_equal(self.subject, self.enrolled)
            columns = (
                np.arange(self.enrolled.size)
                if is_same
                else _columns_of(self.subject, self.enrolled)
            )
            alike = matrix if self._sign > 0 else -matrix
            if columns is not None and is_of_a_set_with_itself(alike, columns):
                raise InputError(
                    f"the matrix is symmetric with the best scores alone on its diagonal: {_ITSELF}"
                )
        self._search(MatrixScores(matrix, how.policies, self.score_kind == "distance"), how)
        self._exclude(how.policies)
        self._finish()

    def _refuse_lists_of_itself(self, policy: str) -> None:
        """Refuse lists of which each begins with its own person, with the best score of all."""
        n = self.subject.size
        is_of_a_set = n == self.n_enrolled == np.unique(self.subject).size
        is_of_a_set = is_of_a_set and bool((self.mate_score > -np.inf).all())
        if policy == "keep" or not is_of_a_set or n < _FEWEST_OF_A_SET:
            return
        near = _ROUNDING * float(np.finfo(self.dtype).eps * np.abs(self.mate_score).max())
        is_best = np.ptp(self.mate_score) <= near and self.best.max() <= self.mate_score.max()
        if (
            is_best
            and self.mate_score.max() - self.best[self.best > -np.inf].min(initial=np.inf) > near
        ):
            raise InputError(
                f"each list begins with its own person, all with the best score of all: {_ITSELF}"
            )

    def _search(self, scores: Scores, how: HowToSearch) -> None:
        """Keep what is needed of all searches; `scores` writes it for some of them at a time."""
        if self.enrolled.size > self.n_enrolled and how.templates == "refuse":
            _refuse_twice("enrolled", self.labels, self.enrolled)
        width = self.enrolled.size
        order: Indices | None = np.argsort(self.enrolled, kind="stable")
        people, begin = np.unique(self.enrolled[order], return_index=True)
        if width == people.size:  # columns stay where they are
            people, order = self.enrolled, None
        column_of = np.full(self.labels.size, -1, np.int32)
        column_of[people] = np.arange(people.size)
        kept = min(how.candidates or self.n_enrolled, self.n_enrolled)
        if order is not None:
            scores = scores.reorder(order)
        begin = np.append(begin, width)
        self.mate_score, self.rank, self.best, who = search_gallery(
            scores, begin, column_of[self.subject], kept, how.n_threads, how.executor
        )
        others = self.n_enrolled - self.is_mated
        self.reach = np.where(others > kept, self.best[:, -1], -np.inf)
        self.candidate = np.where(who >= 0, people[who], -1).astype(np.int32)
        self.enrolled = people
        has_mate = self.mate_score > -np.inf
        self.rank = np.where(self.is_mated & ~has_mate, self.n_enrolled + 1, self.rank)
        self.failed = np.where(self.is_mated, ~has_mate, self.best[:, 0] == -np.inf)
        self.last_rank = self.rank

    def _of_group(self, code: int) -> Searches:
        """Return the searches of one group of probes, without groups."""
        part = copy(self)
        rows = self.group == code
        for name in _OF_SEARCHES:
            setattr(part, name, getattr(self, name)[rows])
        part.groups = ()
        part.group = np.zeros(int(rows.sum()), np.int32)
        return part

    def _part(self, searches: Flags, templates: Flags) -> Searches:
        """Return some searches of some templates, of a gallery of as many people."""
        part = copy(self)
        part.enrolled = self.enrolled[templates]
        for name in ("subject", "group", "session", "is_mated"):
            setattr(part, name, getattr(self, name)[searches])
        return part

    def _complete(self, part: Searches, rows: Flags) -> None:
        """Take over what is kept of a part of the searches, (searches,) which; the others
        failed.
        """
        n = self.subject.size
        k = part.best.shape[1]
        self.enrolled = np.unique(self.enrolled)
        self.mate_score = np.full(n, -np.inf)
        self.reach = np.full(n, -np.inf)
        self.failed = np.ones(n, np.bool_)
        self.rank = np.where(self.is_mated, self.n_enrolled + 1, 0)
        self.best = np.full((n, k), -np.inf)
        self.candidate = np.full((n, k), -1, np.int32)
        for name in ("mate_score", "reach", "failed", "rank", "best", "candidate"):
            getattr(self, name)[rows] = getattr(part, name)
        self.last_rank = self.rank

    def _exclude(self, policies: Policies, themselves: Flags | None = None) -> None:
        """Leave out searches as policies say, with warnings; themselves: (searches,) whose probe is
        a template.
        """
        n = self.subject.size
        keep = np.ones(n, np.bool_)
        with gathering() as excluded:
            keep &= group_labels.flag_labelled(
                self._lacking, policies.missing_labels, n, "searches"
            )
            if themselves is not None:
                because = "as their probe is a template of the same person itself"
                self._leave_out(
                    keep, themselves, "self-comparison", because, 'self_comparisons="drop"'
                )
            if policies.failures == "exclude":
                self._leave_out(keep, self.failed, "failed", "as they failed", 'failures="exclude"')
        self.left_out = (*self.left_out, *excluded)
        self._lacking = {}
        if not keep.any():
            raise InputError(
                f"nothing is left of {n} searches: {'; '.join(map(str, self.left_out))}"
            )
        if not keep.all():
            for name in _OF_SEARCHES:
                setattr(self, name, getattr(self, name)[keep])
            if self.groups:
                used, codes = np.unique(self.group, return_inverse=True)
                self.groups = tuple(self.groups[k] for k in used)
                self.group = codes.astype(np.int32)

    def _leave_out(
        self, keep: Flags, rows: Flags, reason: Reason, because: str, policy: str
    ) -> None:
        """Leave some rows out of those to keep, (searches,), with a warning that counts those not
        left out before.
        """
        leave_out(~(rows & keep), "searches", reason, because, policy, mated=self.is_mated)
        keep &= ~rows

    def _finish(self) -> Searches:
        """Make arrays read-only, and ask about scores that look like distances."""
        for name in ("labels", "enrolled", *_OF_SEARCHES):
            read_only(getattr(self, name))
        # Below its end a list knows nobody.
        n_others = np.full(len(self), self.n_enrolled - 1)
        ends = np.flatnonzero(self.last_rank > self.rank)
        n_listed = (self.candidate[ends] >= 0).sum(axis=1)
        n_others[ends] = np.maximum(n_listed, self.rank[ends] - 1)
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero(self.is_mated & (self.mate_score > -np.inf) & (n_others > 0))
        mate = self.mate_score[rows, None]
        best = self.best[rows]
        # Ties outrank a mate, but are no sign of distances. Those beyond the candidates kept are
        # not known.
        ahead = np.where(mate[:, 0] < best[:, -1], self.rank[rows] - 1, (best > mate).sum(axis=1))
        share = float((ahead / n_others[rows]).mean()) if rows.size else 0.0
        n_people = np.unique(self.subject[rows]).size
        # By chance the share of others ahead of a mate is uniform on (0, 1), with the standard
        # deviation 1 / sqrt(12).
        if share > 0.5 + _SURE / math.sqrt(12 * max(n_people, 1)):
            warn(
                f"mates score lower than other people: on average {100 * share:.0f} % of them"
                ' outrank a mate. If the scores are distances say ⟦score_kind="distance"⟧, else look'
                " whether the names of probes and of enrolled people are right",
                ReversedScoresWarning,
            )
        return self

    def _shown(self) -> Sequence[str]:
        n = self.subject.size
        n_mated = int(self.is_mated.sum())
        said = (
            f"{n:,} searches of {self.n_enrolled:,} enrolled people, {n_mated:,} mated,"
            f" {n - n_mated:,} non-mated"
        )
        if self.sessions is not None:
            said += f", {self.sessions.size} sessions"
        if self.groups:
            said += f", {len(self.groups)} groups"
        if self.failed.any():
            said += f", {int(self.failed.sum()):,} failed"
        return [said]

    def _shown_tables(self) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        return []

    @cached_property
    def _highest(self) -> Floats:
        """(k,) the highest score that other people have at each place of a list."""
        return np.asarray(self.best.max(axis=0))

    def __len__(self) -> int:
        return self.subject.size


class ListReader:
    """Reads candidate lists, in one part or several, as `Searches`.

    Parameters
    ----------
    searches, probe, enrolled, group, score_kind, session
        As in `Searches.from_candidates`.
    how : HowToSearch
        How many of the best other people of each search are kept, what several templates of a
        person are, and policies.
    """

    def __init__(
        self,
        searches: Labels,
        probe: Labels,
        enrolled: Labels,
        group: GroupLabels | None,
        score_kind: SearchScores,
        how: HowToSearch,
        session: Labels | None = None,
    ) -> None:
        self._searches = encode("searches", searches)
        n = self._searches.codes.size
        self._policies = how.policies
        made = Searches._with_people((n, None), probe, enrolled, group, how.policies, session)
        self._made = made
        made.score_kind = score_kind
        self._names = self._searches.labels[self._searches.codes]
        _refuse_twice("searches", self._searches.labels, self._searches.codes)
        made._warn_of_samples(self._names)
        if how.templates == "refuse":
            _refuse_twice("enrolled", made.labels, made.enrolled)
        self._is_enrolled = np.isin(np.arange(made.labels.size + 1), made.enrolled)
        self._lists = KeptLists(made.subject, how.candidates, how.templates == "best")
        self._dtypes: list[np.dtype[Any]] = []

    def add(self, search: Labels, candidate: Labels, scores: ArrayLike) -> None:
        """Add the lists of some searches, of which no others come; the arguments are as in
        `Searches.from_candidates`.
        """
        made = self._made
        values = checks.scores(scores)
        of_person = encode("candidate", candidate)
        names, (row, declared) = encode_together(["search", "searches"], [search, self._searches])
        checks.same_length(
            {"search": row.size, "candidate": of_person.codes.size, "scores": values.size}, "entry"
        )
        self._dtypes.append(values.dtype)
        kept = made._flag_entries(of_person, values)
        if not kept.all():
            row = row[kept]
            values = values[kept]
            of_person = of_person.take(kept)
        similarities = made._similarities_of_lists(values, self._policies)
        position = np.full(names.size, -1, np.int64)
        position[declared] = np.arange(declared.size)
        _require_known("search", names, row, position < 0)
        people = _positions(of_person, made.labels)
        is_unknown = ~self._is_enrolled[people]
        _require_known("candidate", of_person.labels, of_person.codes, is_unknown)
        if not row.size:
            return
        lists = self._lists
        has_list = (position >= 0) & (lists.length[position] > 0)
        again = has_list[row] if has_list.any() else has_list[:0]
        if again.any():
            raise InputError(
                f"the rows of search {names.item(row[again.argmax()])!r} do not follow each other,"
                " as they have to in a log that is read part by part: sort it by search",
                row=int(np.flatnonzero(kept)[again.argmax()]),
            )
        twice = lists.add(row, of_person.codes, similarities, (position, people))
        if twice is not None:
            which, who = twice
            raise InputError(
                f"{made.labels.item(who)!r} is twice on the list of search"
                f' {self._names.item(which)!r}: say ⟦templates="best"⟧ where people have several'
                " templates, or keep the best of them"
            )

    def finish(
        self,
        length: int | None = None,
        least_score: float | None = None,
        failed: Labels | None = None,
    ) -> Searches:
        """Return the searches; the arguments are as in `Searches.from_candidates`."""
        made, lists = self._made, self._lists
        made.dtype = np.result_type(*self._dtypes)
        made._take_lists(lists, length, least_score, self._policies.self_comparisons)
        made._take_failed(failed, (lists.length > 0) & ~lists.has_score, lists.length)
        made._exclude(self._policies)
        return made._finish()


_OF_SEARCHES = (
    "subject", "group", "session", "is_mated", "mate_score", "rank", "last_rank", "failed", "best", "candidate",
    "reach",
)  # fmt: skip


_ITSELF = (
    "a gallery that is searched by itself finds every sample. Give probes of other samples; with"
    " several templates of a person give the scores of samples with themselves as -inf;"
    " policies=ff.Policies(self_comparisons='keep') keeps them"
)


def _positions(coded: Coded, labels: AnyArray) -> Integers:
    """Return the position of each label of a column among the labels of people; their number where
    it is none of these.
    """
    if coded.labels is labels:
        return np.arange(labels.size)
    position = {label: k for k, label in enumerate(labels.tolist())}
    return np.array([position.get(label, labels.size) for label in coded.labels.tolist()], np.int64)


def _require_known(name: str, labels: AnyArray, codes: AnyArray, is_unknown: Flags) -> None:
    """Refuse labels of a column that are not known; is_unknown: (labels,)."""
    unknown = np.flatnonzero(look_up(codes, is_unknown)) if is_unknown.any() else codes[:0]
    if unknown.size:
        row = int(unknown[0])
        among = "searches" if name == "search" else "enrolled"
        raise InputError(
            f"{name} {labels.item(codes[row])!r} in row {row} (counted from 0) is not in {among}",
            row=row,
        )


def _refuse_twice(name: str, labels: AnyArray, codes: AnyArray) -> None:
    counts = np.bincount(codes, minlength=labels.size)
    if counts.max(initial=0) > 1:
        what = (
            'has several templates: say ⟦templates="best"⟧, or fuse them'
            if name == "enrolled"
            else "is named twice"
        )
        raise InputError(f"{labels.item(int((counts > 1).argmax()))!r} in {name} {what}")


def rounded_threshold(threshold: float, dtype: np.dtype[Any]) -> float:
    """Return a threshold, which may be infinite, as it is compared with scores, rounded to their
    type.
    """
    return (
        threshold
        if math.isinf(threshold)
        else float(given_similarities(np.array([threshold]), dtype)[0])
    )


def _columns_of(subject: Codes, enrolled: Codes) -> Indices | None:
    """Return the column of each search's mate where searches and templates are of the same people,
    each once.
    """
    if not np.array_equal(np.unique(subject), np.sort(enrolled)):
        return None
    order = np.argsort(enrolled)
    return np.asarray(order[np.searchsorted(enrolled[order], subject)])


def _are_padding(people: Coded, values: AnyFloats) -> Flags:
    """Tell which entries fill places for which an index found nobody, as FAISS does: -1 with the
    least float.
    """
    of_label = np.array([label in NOBODY for label in people.labels.tolist()], np.bool_)
    if not of_label.any():
        return np.zeros(people.codes.size, np.bool_)
    nobody = of_label[people.codes]
    if nobody.any():
        nobody &= ~np.isfinite(values) | checks.are_fillers(values.astype(np.float64))
    return np.asarray(nobody)


def _warn_of_nobody(labels: AnyArray, subject: Codes) -> None:
    """Warn where several probes have a label that says that nobody knows whose they are."""
    counts = np.bincount(subject, minlength=labels.size)
    for label, n in zip(labels.tolist(), counts.tolist(), strict=True):
        if n > 1 and plain_label(str(label)) in _UNKNOWN:
            warn(
                f"{n} probes are of the person {label!r}, who is taken for one person: where it"
                " says that nobody knows whose they are, give each a label of its own",
                LookAlikeWarning,
            )


def _refuse_padding(enrolled: Coded, values: AnyArray) -> None:
    rows = np.flatnonzero(_are_padding(enrolled, values.astype(np.float64)))
    if rows.size:
        raise InputError(
            f"{rows.size} rows, the first row {rows[0]} (counted from 0), are of nobody (-1) with"
            f" the score {values[rows[0]]:g}, as an index fills places of lists for which it found"
            " nobody: give lists to from_candidates, which leaves such entries out",
            row=int(rows[0]),
        )


def _are_templates(probes: AnyArray, subject: Codes, templates: AnyArray, enrolled: Codes) -> Flags:
    """Tell which probes, (searches, d), are templates of the same person, number for number."""
    is_template = np.zeros(len(probes), np.bool_)
    begin = set(zip(enrolled.tolist(), templates[:, 0].tolist(), strict=True))
    suspects = [
        k
        for k, key in enumerate(zip(subject.tolist(), probes[:, 0].tolist(), strict=True))
        if key in begin
    ]
    people = set(subject[suspects].tolist())
    kind = np.result_type(probes, templates)
    of_people = {
        (person, templates[k].astype(kind).tobytes())
        for k, person in enumerate(enrolled.tolist())
        if person in people
    }
    for k in suspects:
        is_template[k] = (int(subject[k]), probes[k].astype(kind).tobytes()) in of_people
    return is_template
