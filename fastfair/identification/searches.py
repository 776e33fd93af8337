"""`Searches`: what identification needs of each search of a gallery, in one pass over its scores.

Of a search count the mate's score, how many others score at least as high, and the best few others, one for each
person. A false positive and how it depends on single enrolled people, the mate's rank, and rates in smaller galleries
follow from these, so that no matrix of scores is kept. Scores are similarities. Ties count against the system: a score
equal to the threshold makes a candidate, and another person with the mate's score outranks the mate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import AtLeastTwo, checked
from fastfair._lib.executors import results
from fastfair._lib.label_codes import Coded, Labels, encode, encode_together
from fastfair._lib.notebook import Shown
from fastfair._lib.threads import one_blas_thread, run_blocks
from fastfair._lib.workers import Executor
from fastfair.data import checks, group_labels
from fastfair.data.checks import Similarity
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import Exclusions
from fastfair.data.pair_search import lengths, padded_for_products, products_apart
from fastfair.data.sorted_scores import read_only
from fastfair.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Kept = tuple[Floats, NDArray[np.int64], Floats, Codes]  # mates' scores and ranks, the best others' scores, and who
Templates = Literal["refuse", "best"]
GroupLabels = Labels | Mapping[str, Labels]
# A tile is some searches of the whole gallery: its size depends on the gallery's alone, and tasks are whole tiles.
_TILE_SCORES = 2**23  # which take 32 MB
_TILE_ROWS = 512
_TASKS = 64  # of an executor, at most


class Searches(Shown):
    """Searches of a gallery, of scores, matrices, candidate lists, vectors or embeddings with roles.

    A search whose person is enrolled is mated, any other one is non-mated. A probe of an unknown person gets a label of
    its own.

    Attributes
    ----------
    n_enrolled : int
        The number N of enrolled people.
    groups : tuple of str
        The groups of probes; empty without.
    labels : (people,) ndarray
        Whose probes and templates these are; all others name people by position here.
    enrolled : (n_enrolled,) ndarray of int32
        The enrolled people.
    subject, group : (searches,) ndarray of int32
        The person and the group of each search's probe; groups are all 0 without labels.
    is_mated : (searches,) ndarray of bool
        Whether that person is enrolled.
    mate_score : (searches,) ndarray
        The mate's score; -inf for non-mated searches, NaN where a candidate list lacks the mate.
    rank : (searches,) ndarray of int64
        1 + the number of other people with at least that score; 0 for non-mated searches. Where a list lacks the mate,
        the least that it can be.
    best : (searches, k) ndarray
        The highest scores of other people, descending; -inf where there are fewer.
    candidate : (searches, k) ndarray of int32
        These people, -1 for none.
    reach : (searches,) ndarray
        The score above which all candidates are known; -inf where all are.
    left_out : tuple of Exclusion
        What was left out of the data that were searched.

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
    labels: NDArray[Any]
    enrolled: Codes
    subject: Codes
    group: Codes
    is_mated: NDArray[np.bool_]
    mate_score: Floats
    rank: NDArray[np.int64]
    best: Floats
    candidate: Codes
    reach: Floats
    left_out: Exclusions = ()

    def __init__(self) -> None:
        raise InputError("searches are made by from_scores, from_matrix, from_candidates or from_vectors")

    @classmethod
    @checked
    def from_matrix(
        cls,
        scores: ArrayLike,
        probe: Labels,
        enrolled: Labels,
        *,
        group: GroupLabels | None = None,
        candidates: AtLeastTwo = 20,
        templates: Templates = "refuse",
        n_threads: int | None = None,
        executor: Executor = None,
    ) -> Searches:
        """Keep what is needed of a matrix of scores; a memory-mapped one is read in blocks.

        Parameters
        ----------
        scores : (searches, templates) array_like
            The similarity of each probe and each enrolled template; of distances give the negative.
        probe : (searches,) array_like
            The person of each probe.
        enrolled : (templates,) array_like
            The person of each template.
        group : (searches,) array_like or dict of str to (searches,) array_like, optional
            The group of each probe; of several attributes their intersections.
        candidates : int, default 20
            How many of the best other people are kept of each search. Rates in the whole gallery need two; selectivity
            and rates in smaller galleries need all at or above the threshold.
        templates : {"refuse", "best"}
            What several templates of one person are: an error, or one enrolment whose score is the best of them.
        n_threads : int, optional
            Number of threads; all processors by default. With an executor, those of each task, 1 by default.
        executor : object with a method `submit`, optional
            What looks at the scores, as tasks of a 64th of the searches: an executor of `concurrent.futures`, the
            Client of Dask, or alike.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            For scores that are NaN or infinite (-inf stands for none), an empty gallery, no searches, lengths that
            differ, and people with several templates where `templates` refuses them.

        Examples
        --------
        >>> import fastfair as ff
        >>> scores = [[0.9, 0.8, 0.2], [0.4, 0.1, 0.3]]
        >>> ff.Searches.from_matrix(scores, ["ann", "eve"], ["ann", "ann", "bob"], templates="best").best
        array([[ 0.2, -inf],
               [ 0.4,  0.3]])
        """
        array = np.asarray(scores)
        if array.dtype.kind not in "iufb" or array.ndim != 2:
            raise InputError(f"scores must be a matrix of numbers, not {array.dtype} of shape {array.shape}")
        wide = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
        made = cls._prepared(array.shape, probe, enrolled, group)
        made._search(_Matrix(array, wide), candidates, templates, n_threads, executor)
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
        candidates: AtLeastTwo = 20,
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
            Similarities.
        group : (n,) array_like or dict of str to (n,) array_like, optional
            The group of the probe, the same in all rows of a search.
        candidates : int, default 20
            As in `from_matrix`.

        Returns
        -------
        Searches
            Sorted by search.

        Raises
        ------
        InputError
            As `from_matrix` does, for two people in one search, for a pair that occurs twice, and for searches that
            lack some enrolled people, as candidate lists do.

        Examples
        --------
        >>> import fastfair as ff
        >>> rows = ["p", "p", "q", "q"], ["ann", "ann", "eve", "eve"], ["ann", "bob", "ann", "bob"]
        >>> ff.Searches.from_scores(*rows, [0.9, 0.2, 0.4, 0.3]).rank
        array([1, 0])
        """
        values = checks.scores(scores)
        of_search, of_probe, column = encode("search", search), encode("probe", probe), encode("enrolled", enrolled)
        groups = {} if group is None else {
            name: encode(f"group {name!r}", one) for name, one in group_labels.columns_of("group", group).items()
        }  # fmt: skip
        sizes = {"search": of_search.codes.size, "probe": of_probe.codes.size, "enrolled": column.codes.size}
        checks.same_length(sizes | {"scores": values.size} | {n: one.codes.size for n, one in groups.items()}, "row")
        n, width = of_search.labels.size, column.labels.size
        cell = of_search.codes.astype(np.int64) * width + column.codes
        order = np.argsort(cell, kind="stable")
        again = np.flatnonzero(np.diff(cell[order]) == 0)
        if again.size:
            row = int(order[again[0] + 1])
            raise InputError(
                f"search {of_search.labels.item(of_search.codes[row])!r} has two scores against "
                f"{column.labels.item(column.codes[row])!r}: fuse a person's templates to one score before",
                row=row,
            )
        if cell.size < n * width:
            rows = np.bincount(of_search.codes, minlength=n)
            least = int(rows.argmin())
            raise InputError(
                f"search {of_search.labels.item(least)!r} has scores against {rows[least]} of {width} enrolled people: "
                "every search needs all; give candidate lists to from_candidates"
            )
        first = order[::width]
        for name, column_of in ({"probe": of_probe} | groups).items():
            other = np.flatnonzero(column_of.codes != column_of.codes[first][of_search.codes])
            if other.size:
                row = int(other[0])
                raise InputError(
                    f"search {of_search.labels.item(of_search.codes[row])!r} has two labels of {name!r}, "
                    f"{column_of.labels.item(column_of.codes[row])!r} in row {row} (counted from 0)",
                    row=row,
                )
        made = cls._prepared(
            (n, width), of_probe.take(first), column.labels, {name: one.take(first) for name, one in groups.items()}
        )
        matrix = values[order].reshape(n, width)
        made._search(_Matrix(matrix, np.float64), candidates, "refuse", 1)
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
        n_threads: int | None = None,
        executor: Executor = None,
    ) -> Searches:
        """Compare the vectors of probes with those of enrolled people, block by block; no matrix of scores is kept.

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
        candidates, templates, n_threads, executor
            As in `from_matrix`.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            As `from_matrix` does, and for vectors of different lengths, that are not finite, or zero with the cosine.

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.Searches.from_vectors([[1, 0.1], [0, 1]], ["ann", "ann"], [[2, 0], [0, 1]], ["ann", "bob"]).rank
        array([1, 2])
        """
        if similarity == "negative_euclidean":
            raise InputError("similarity must be 'cosine' or 'inner_product': give distances as a matrix")
        sides = [checks.vectors(values) for values in (probes, templates_of)]
        if sides[0].shape[1] != sides[1].shape[1]:
            raise InputError(f"vectors of probes have {sides[0].shape[1]} elements, of templates {sides[1].shape[1]}")
        for side in sides:
            checks.require_usable(side, similarity)
        made = cls._prepared((len(sides[0]), len(sides[1])), probe, enrolled, group)
        wider = np.result_type(*sides)
        ready = padded_for_products(sides[1].astype(wider, copy=False), similarity)
        products = _Products(sides[0].astype(wider, copy=False), ready, similarity, float(lengths(ready).max()))
        made._search(products, candidates, templates, n_threads, executor)
        return made

    @classmethod
    @checked
    def from_embeddings(
        cls, embeddings: Embeddings, *, candidates: AtLeastTwo = 20, templates: Templates = "refuse",
        n_threads: int | None = None, executor: Executor = None,
    ) -> Searches:  # fmt: skip
        """Search the references of vectors, which are the gallery, with their probes.

        Parameters
        ----------
        embeddings : Embeddings
            Vectors with roles, such as `read_embeddings` reads.
        candidates, templates, n_threads, executor
            As in `from_matrix`. Where templates score as the best of their vectors (`Embeddings.enrolled`), several
            vectors of a person are one enrolment.

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
            raise InputError("the embeddings have no roles: say which are references, the gallery, and which probes")
        part_of = embeddings.template
        place = np.arange(len(embeddings.vectors)) if part_of is None else part_of
        subject, is_probe = embeddings.subject[place], embeddings.is_probe[place]
        people, groups = embeddings.subjects[subject], np.array(embeddings.groups, object)
        made = cls.from_vectors(
            embeddings.vectors[is_probe], people[is_probe], embeddings.vectors[~is_probe], people[~is_probe],
            group=groups[embeddings.subject_group[subject[is_probe]]] if groups.size else None,
            similarity=embeddings.similarity, candidates=candidates,
            templates=templates if part_of is None else "best", n_threads=n_threads, executor=executor,
        )  # fmt: skip
        made.left_out = embeddings.left_out
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
        length: int | None = None,
        least_score: float | None = None,
    ) -> Searches:
        """Read candidate lists: the best few enrolled people of each search, with their scores.

        Parameters
        ----------
        search, candidate : (n,) array_like
            The search and the person of each entry of a list.
        scores : (n,) array_like
            Its score, a similarity.
        searches : (searches,) array_like
            Every search once, also those whose list is empty.
        probe : (searches,) array_like
            The person of each probe.
        enrolled : (people,) array_like
            Every enrolled person once.
        group : (searches,) array_like or dict of str to (searches,) array_like, optional
            The group of each probe.
        length : int, optional
            How long lists can be; by default as long as the longest is. Below the last score of a full list nothing is
            known.
        least_score : float, optional
            The score from which on people are put on lists; by default the least that occurs. Below it nothing is known
            of a list that is not full.

        Returns
        -------
        Searches

        Raises
        ------
        InputError
            For searches and candidates that are not declared or declared twice, someone twice on a list, and lists
            longer than `length`.

        Examples
        --------
        >>> import fastfair as ff
        >>> lists = ["p", "p", "q"], ["ann", "bob", "cid"], [0.9, 0.4, 0.3]
        >>> ff.Searches.from_candidates(*lists, searches=["p", "q"], probe=["ann", "eve"],
        ...                             enrolled=["ann", "bob", "cid", "dan"])
        Searches(2 searches of 4 enrolled people, 1 mated, 1 non-mated)
        """
        values = checks.scores(scores).astype(np.float64)
        if not np.isfinite(values).all():
            raise InputError("scores of candidates must be finite: leave out those that have none")
        names, (row, declared) = encode_together(["search", "searches"], [search, searches])
        made = cls._prepared((declared.size, None), probe, enrolled, group)
        _refuse_twice("searches", names, declared)
        _refuse_twice("enrolled", made.labels, made.enrolled)
        place = np.full(names.size, -1, np.int64)
        place[declared] = np.arange(declared.size)
        _require_known("search", names, row, place)
        of_person = encode("candidate", candidate)
        checks.same_length({"search": row.size, "candidate": of_person.codes.size, "scores": values.size}, "entry")
        person = _positions(of_person, made.labels)[of_person.codes]
        is_enrolled = np.full(made.labels.size + 1, -1, np.int64)
        is_enrolled[made.enrolled] = made.enrolled
        _require_known("candidate", of_person.labels, of_person.codes, is_enrolled[_positions(of_person, made.labels)])
        at = place[row]
        twice = np.sort(at * made.labels.size + person)
        if (np.diff(twice) == 0).any():
            which = int(twice[:-1][np.diff(twice) == 0][0])
            raise InputError(
                f"{made.labels.item(which % made.labels.size)!r} is twice on the list of search "
                f"{names.item(declared[which // made.labels.size])!r}: keep the best of a person's templates"
            )
        full = np.bincount(at, minlength=declared.size)
        longest = int(full.max(initial=0))
        if length is not None and longest > length:
            raise InputError(f"a list has {longest} candidates, more than length={length}")
        most = min(length or longest, made.n_enrolled)
        order = np.lexsort((-values, at))
        column = np.arange(row.size) - np.repeat(np.cumsum(full) - full, full)
        listed, who = np.full((declared.size, longest), -np.inf), np.full((declared.size, longest), -1, np.int32)
        listed[at[order], column], who[at[order], column] = values[order], person[order]
        least = values.min() if least_score is None else least_score
        if values.min() < least:
            raise InputError(f"a candidate has the score {values.min():g}, below least_score={least:g}")
        # Someone with the very score of the last place of a full list may be missing.
        open_ended = np.nextafter(least, -np.inf)
        made.reach = np.where(full >= made.n_enrolled, -np.inf, np.where(full >= most, listed[:, -1], open_ended))
        own = who == made.subject[:, None]
        has_own = own.any(axis=1)
        made.mate_score = np.where(made.is_mated, np.where(own, listed, -np.inf).max(axis=1), -np.inf)
        made.mate_score[made.is_mated & ~has_own] = np.nan
        made.rank = np.where(has_own, ((listed >= made.mate_score[:, None]) & (who >= 0)).sum(axis=1), full + 1)
        made.rank[~made.is_mated] = 0
        last = np.argsort(own, axis=1, kind="stable")  # the mate leaves the list, and others move up
        made.best = np.take_along_axis(np.where(own, -np.inf, listed), last, 1)
        made.candidate = np.take_along_axis(np.where(own, -1, who), last, 1).astype(np.int32)
        return made._finished()

    @classmethod
    def _prepared(
        cls, shape: tuple[int, int | None], probe: Labels, enrolled: Labels, group: GroupLabels | None
    ) -> Searches:
        """Make searches with their people and groups; shape: numbers of searches, and of templates or None."""
        made = object.__new__(cls)
        made.labels, (subject, columns) = encode_together(["probe", "enrolled"], [probe, enrolled])
        made.subject, made.enrolled = subject.astype(np.int32), columns.astype(np.int32)
        if not made.enrolled.size:
            raise InputError("enrolled is empty: there is no gallery to search")
        if not made.subject.size:
            raise InputError("probe is empty: there are no searches")
        named = {} if group is None else group_labels.columns_of("group", group)
        coded = {name: encode(f"group {name!r}", column) for name, column in named.items()}
        sizes = {"scores": shape[0], "probe": subject.size} | {name: one.codes.size for name, one in coded.items()}
        checks.same_length(sizes, "search")
        if shape[1] is not None:
            checks.same_length({"columns of scores": shape[1], "enrolled": columns.size}, "template")
        texts = {name: group_labels.attribute(name, one.labels) for name, one in coded.items()}
        codes = {name: one.codes.astype(np.uint16) for name, one in coded.items()}
        made.groups, of_groups = group_labels.intersections(tuple(texts), texts, [codes])
        made.group = of_groups[0].astype(np.int32) if of_groups else np.zeros(subject.size, np.int32)
        made.is_mated = np.isin(made.subject, made.enrolled)
        made.n_enrolled = int(np.unique(made.enrolled).size)
        return made

    def _search(
        self, scores: _Matrix | _Products, candidates: int, templates: str, n_threads: int | None,
        executor: Executor = None,
    ) -> None:  # fmt: skip
        """Look at the scores of all searches, which `scores` returns for some of them at a time."""
        if self.enrolled.size > self.n_enrolled and templates == "refuse":
            _refuse_twice("enrolled", self.labels, self.enrolled)
        n, width = self.subject.size, self.enrolled.size
        order: NDArray[np.intp] | None = np.argsort(self.enrolled, kind="stable")
        people, begin = np.unique(self.enrolled[order], return_index=True)
        if width == self.n_enrolled:  # columns stay where they are
            people, order = self.enrolled, None
        column_of = np.full(self.labels.size, -1, np.int32)
        column_of[people] = np.arange(people.size)
        kept = max(1, min(candidates, self.n_enrolled))
        if order is not None:
            scores = scores.sorted(order)
        begin = np.append(begin, width)
        n_rows = max(1, min(_TILE_ROWS, _TILE_SCORES // width))
        work = _Search(scores, begin, column_of[self.subject], kept, n_rows)
        if executor is None:
            parts = [work.run((0, n), n_threads)]
        else:
            step = -(-n // (_TASKS * n_rows)) * n_rows
            tasks = [(start, min(start + step, n)) for start in range(0, n, step)]
            done = dict(results(executor, work, tasks, n_threads or 1))
            parts = [done[task] for task in tasks]
        self.mate_score, self.rank, self.best, who = (np.concatenate(side) for side in zip(*parts, strict=True))
        others = self.n_enrolled - self.is_mated
        self.reach = np.where(others > kept, self.best[:, -1], -np.inf)
        self.candidate = np.where(who >= 0, people[who], -1).astype(np.int32)
        self.enrolled = people
        self._finished()

    def _finished(self) -> Searches:
        for name in ("labels", "enrolled", "subject", "group", "is_mated", "mate_score", "rank", "best", "candidate",
                     "reach"):  # fmt: skip
            read_only(getattr(self, name))
        return self

    def _shown(self) -> Sequence[str]:
        n, n_mated = self.subject.size, int(self.is_mated.sum())
        of_groups = f", {len(self.groups)} groups" if self.groups else ""
        return [
            f"{n:,} searches of {self.n_enrolled:,} enrolled people, {n_mated:,} mated, {n - n_mated:,} non-mated"
            + of_groups
        ]

    def _shown_tables(self) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        return []

    def __len__(self) -> int:
        return self.subject.size


@dataclass(frozen=True)
class _Matrix:
    """The scores of a matrix; `order`: of templates, None where they stay where they are."""

    scores: NDArray[Any]
    dtype: Any
    order: NDArray[np.intp] | None = None

    def sorted(self, order: NDArray[np.intp]) -> _Matrix:
        """Return the same with templates in another order."""
        return replace(self, order=order)

    def keep(self, rows: slice, begin: NDArray[np.intp], mate: Codes, kept: Kept) -> None:
        """Write what is kept of some searches; begin, mate: as in `_Search`.

        Raises
        ------
        InputError
            For scores that are NaN or infinite.
        """
        from fastfair.kernels.searches import keep_candidates

        scores = self.scores[rows].astype(self.dtype, copy=False)
        scores = _best_of_templates(scores if self.order is None else scores[:, self.order], begin)
        wrong = keep_candidates(scores, mate[rows], *kept)
        if wrong >= 0:
            row = rows.start + int(wrong)
            raise InputError(
                f"search {row} (counted from 0) has a score that is NaN or infinite: leave searches and templates that "
                "failed out, or give them the score -inf",
                row=row,
            )


@dataclass(frozen=True)
class _Products:
    """The similarities of probes and templates.

    probes: (searches, d), as given; templates: (templates, d), as `padded_for_products` makes them; longest: the
    length of the longest template
    """

    probes: NDArray[Any]
    templates: NDArray[Any]
    similarity: str
    longest: float

    def sorted(self, order: NDArray[np.intp]) -> _Products:
        """Return the same with templates in another order."""
        return replace(self, templates=self.templates[order])

    def keep(self, rows: slice, begin: NDArray[np.intp], mate: Codes, kept: Kept) -> None:
        """Do the same as `_Matrix` does.

        The last bits of a product of matrices depend on the processor and on where a template stands. So it only finds
        the scores that decide, which are computed again.
        """
        from fastfair.kernels.searches import keep_by_products

        probes = padded_for_products(self.probes[rows], self.similarity)
        with one_blas_thread():
            scores = _best_of_templates(probes @ self.templates.T, begin)
        apart = products_apart(probes, lengths(probes) * self.longest)
        keep_by_products(scores, (probes, self.templates, begin), apart, mate[rows], kept)


def _best_of_templates(scores: NDArray[Any], begin: NDArray[np.intp]) -> NDArray[Any]:
    """Return (searches, enrolled) the highest score of each person's templates, which follow each other."""
    if begin.size == scores.shape[1] + 1:
        return validation.contiguous(scores)
    return np.asarray(np.maximum.reduceat(scores, begin[:-1], axis=1))


@dataclass(frozen=True)
class _Search:
    """What is kept of each search, computed in threads or by workers.

    Attributes
    ----------
    scores : _Matrix or _Products
        The scores, with templates sorted by person.
    begin : (enrolled + 1,) ndarray
        Where each person's templates begin, and the number of all.
    mate : (searches,) ndarray of int32
        Whose column the mate's is, -1 for none.
    n_kept, n_rows : int
        How many candidates are kept, and how many searches a tile has.
    """

    scores: _Matrix | _Products
    begin: NDArray[np.intp]
    mate: Codes
    n_kept: int
    n_rows: int

    def run(self, task: tuple[int, int], n_threads: int | None, _: None = None) -> Kept:
        """Return what is kept of the searches from start to stop."""
        start, stop = task
        n = stop - start
        made = np.empty(n), np.empty(n, np.int64), np.empty((n, self.n_kept)), np.empty((n, self.n_kept), np.int32)

        def work(first: int) -> None:
            rows = slice(first, min(first + self.n_rows, stop))
            here = slice(rows.start - start, rows.stop - start)
            mate_score, rank, best, who = made
            self.scores.keep(rows, self.begin, self.mate, (mate_score[here], rank[here], best[here], who[here]))

        run_blocks(work, range(start, stop, self.n_rows), n, self.n_rows, n_threads, None)
        return made


def _positions(coded: Coded, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of each label of a column among the labels of people, the last position + 1 for none."""
    known = {label: k for k, label in enumerate(labels.tolist())}
    return np.array([known.get(label, labels.size) for label in coded.labels.tolist()], np.int64)


def _require_known(name: str, labels: NDArray[Any], codes: NDArray[Any], place: NDArray[Any]) -> None:
    unknown = np.flatnonzero(place[codes] < 0)
    if unknown.size:
        row = int(unknown[0])
        among = "searches" if name == "search" else "enrolled"
        raise InputError(f"{name} {labels.item(codes[row])!r} in row {row} (counted from 0) is not in {among}", row=row)


def _refuse_twice(name: str, labels: NDArray[Any], codes: NDArray[Any]) -> None:
    counts = np.bincount(codes, minlength=labels.size)
    if counts.max(initial=0) > 1:
        what = 'has several templates: say templates="best", or fuse them' if name == "enrolled" else "is named twice"
        raise InputError(f"{labels.item(int((counts > 1).argmax()))!r} in {name} {what}")
