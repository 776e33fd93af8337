"""Transactions: attempts of a subject against a reference, of which the best counts.

A transaction of up to k attempts is accepted at a threshold when any of its attempts is, and so
when the best of their scores is. The FNMR and the FMR of comparisons with these scores are the
false rejection rate (FRR) and the false acceptance rate (FAR) of ISO/IEC 19795-1. An attempt that
failed has no score; a transaction all of whose attempts failed is rejected at every threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import Natural, checked
from fastfair._lib.arrays import AnyArray, Indices, Integers
from fastfair._lib.label_codes import Labels, encode
from fastfair.errors import InputError

from . import checks, score_keys
from .comparisons import Comparisons
from .exclusions import gathering, leave_out
from .sessions import sessions_of
from .sorted_scores import RATES_OF_CLASSES, FailedComparisons, SortedSide

FRR_AND_FAR = {"fnmr": "frr", "fmr": "far"}  # of transactions, by the rates of comparisons
_CLASSES = ("mated", "non-mated")


@dataclass(frozen=True, eq=False)
class Attempts:
    """The attempts of mated, or of non-mated, transactions; those of one lie behind each other.

    Attributes
    ----------
    side : SortedSide
        The attempts, not by score but by transaction and then in the order in which they were made.
    first : (t,) ndarray of int
        Where each transaction begins.
    number : (n,) ndarray of int
        Of each attempt, how many of its transaction were made before it.
    """

    side: SortedSide
    first: Indices
    number: Integers

    def best(self, allowed: int) -> SortedSide:
        """Return the transactions with the best score of so many attempts, sorted by it."""
        keys = self.side.keys
        if not keys.size:
            return self.side
        counted = np.where(self.number < allowed, keys, np.iinfo(keys.dtype).min)
        best = np.maximum.reduceat(counted, self.first).astype(keys.dtype)
        order = np.argsort(best, kind="stable")
        transactions = self.side.take(self.first[order], best[order])
        return replace(transactions, reference_sample=None, probe_sample=None)

    def require_one_label(self, attributes: Sequence[str]) -> None:
        """Refuse a transaction whose attempts have several labels of an attribute, or several
        sessions.
        """
        start = np.repeat(self.first, np.diff(np.append(self.first, self.number.size)))
        labels: list[tuple[str, AnyArray]] = [
            (name, label) for name in attributes for label in self.side.attribute(name)
        ]
        labels += [("session", codes) for codes in sessions_of(self.side) or ()]
        for name, label in labels:
            apart = np.flatnonzero(label != label[start])
            if apart.size:
                assert self.side.rows is not None
                row = int(self.side.rows[apart[0]])
                raise InputError(
                    f"the attempts of a transaction differ in {name!r}, the first in row {row}"
                    " (counted from 0): a transaction has one label, so name transactions or"
                    " sessions that tell these attempts apart",
                    row=row,
                )


@dataclass(frozen=True, eq=False)
class Transactions:
    """What transactions are made of.

    Attributes
    ----------
    attempts : Comparisons
        All comparisons that were given, each an attempt.
    allowed : int
        The largest number of attempts of a transaction.
    sides : tuple of Attempts
        The attempts of mated and of non-mated transactions.
    """

    attempts: Comparisons
    allowed: int
    sides: tuple[Attempts, Attempts]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of mated and of non-mated transactions."""
        return tuple(of_class.first.size for of_class in self.sides)

    def allowing(self, allowed: int) -> Comparisons:
        """Return the same transactions where only so many attempts were allowed."""
        sides = [of_class.best(allowed) for of_class in self.sides]
        failed = self.attempts.failed
        if failed is not None:
            lost = [side.take(np.arange(score_keys.count_failed(side.keys))) for side in sides]
            failed = FailedComparisons(lost[0], lost[1], "non-match", failed.reported)
        return self.attempts._with_parts(
            mated=sides[0],
            nonmated=sides[1],
            samples=None,
            sample_subject=None,
            failed=failed,
            quality=None,
            pairing=None,
            attacks=None,
            transactions=replace(self, allowed=allowed),
            lacks={
                rate: f"there are no {name} transactions"
                for rate, name, side in zip(RATES_OF_CLASSES, _CLASSES, sides, strict=True)
                if not len(side)
            },
        )


@checked
def transactions(
    comparisons: Comparisons,
    attempts: Natural | None = None,
    *,
    transaction: str | Labels | None = None,
    session: str | Labels | None = None,
) -> Comparisons:
    """Make transactions of attempts: each is accepted when any of its attempts is.

    Parameters
    ----------
    comparisons : Comparisons
        The attempts, in the order in which they were made; with subjects.
    attempts : int, optional
        How many attempts a transaction allows; later ones do not count. Without `transaction`, so
        many consecutive attempts of a subject against a reference make one.
    transaction : str or (n,) array_like, optional
        The transaction of each comparison, or the name of a column that `read_comparisons` was told
        to keep. Those of other subjects, or against other references, are other transactions.
    session : str or (n,) array_like, optional
        Without `transaction`, the session of each comparison, such as a visit or an instance: no
        transaction goes on in another one. Intervals take what sessions share where `comparisons`
        have sessions of their own, and else people alone, as a note says.

    Returns
    -------
    Comparisons
        One comparison for each transaction, with the best score of its attempts. Their FNMR and FMR
        are the FRR and the FAR.

    Raises
    ------
    InputError
        Without subjects, or where neither `attempts` nor `transaction` is given; where attempts of a
        transaction differ in a label of their group; and where there is no transaction.

    Warns
    -----
    DroppedWarning
        Where `attempts` are consecutive, for those at the end that are too few for a transaction.

    Notes
    -----
    Consecutive are attempts of the same two subjects, of a session if there are sessions, in the
    order of rows, whatever rows of others stand between them. A transaction that is named may have
    fewer attempts than are allowed, as nobody goes on who was accepted. Of equal scores it does not
    matter which is the best. Attempts that failed (`Policies`) count as rejected, whether or not
    they are left out of `comparisons`.

    References
    ----------
    ISO/IEC 19795-1:2021, "Biometric performance testing and reporting".

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = [0.2, 0.8, 0.3, 0.4, 0.1, 0.6]
    >>> c = ff.Comparisons(scores, [1, 1, 1, 1, 0, 0], list("aabbaa"), list("aabbbb"))
    >>> t = ff.transactions(c, attempts=2)
    >>> t, ff.rates(t, ff.at_threshold(0.5)).fnmr
    (Comparisons(2 mated, 1 non-mated, similarity, 2 subjects, transactions), 0.5)
    """
    if attempts is None and transaction is None:
        raise InputError("give ⟦attempts=⟧, ⟦transaction=⟧ or both: what makes a transaction")
    if transaction is not None and session is not None:
        raise InputError("⟦transaction=⟧ names transactions, so leave ⟦session=⟧ out")
    if comparisons.subjects is None:
        raise InputError(
            "the comparisons have no subjects, whose attempts make transactions: give reference and"
            " probe"
        )
    failed = comparisons.failed
    apart = failed.sides if failed is not None and failed.policy == "exclude" else ()
    sides = [comparisons.mated, comparisons.nonmated]
    if apart:
        sides = [SortedSide.joined(parts) for parts in zip(apart, sides, strict=True)]
    codes = [
        _codes(comparisons, name, given, sides)
        for name, given in (("transaction", transaction), ("session", session))
    ]
    longest = attempts if transaction is None else None
    with gathering() as left_out:
        made = [
            _attempts(side, [of_side[k] for of_side in codes if of_side], longest)
            for k, side in enumerate(sides)
        ]
        if not any(of_class.first.size for of_class in made):
            raise InputError(f"no subject has {attempts} attempts against a reference")
        _leave_out(made, sides, longest)
    several = [name for name in comparisons.attributes if name not in comparisons.mated.of_subject]
    for of_class in made:
        of_class.require_one_label(several)
    most = 1 + max(int(of_class.number.max(initial=0)) for of_class in made)
    allowed = most if attempts is None else attempts
    if session is not None and comparisons.sessions is None:
        comparisons = comparisons._with_parts(ignores_sessions=True)
    of_all = Transactions(comparisons, allowed, (made[0], made[1])).allowing(allowed)
    of_all.left_out = (*comparisons.left_out, *left_out)
    return of_all


def _codes(
    comparisons: Comparisons, name: str, given: Any, sides: Sequence[SortedSide]
) -> list[AnyArray]:
    """Return the number of the transaction, or session, of each comparison of both sides; nothing
    where it is not given.
    """
    if given is None:
        return []
    rows: list[Any] = [side.rows for side in sides]
    column: Any = given
    if isinstance(given, str):
        column = comparisons.origin[validation.choice(name, given, tuple(comparisons.origin))]
    else:
        sizes = {name: len(given), "comparisons": sum(map(len, sides))}
        checks.same_length(sizes)
    codes = encode(f"⟦{name}⟧", column).codes
    return [codes[of_side] for of_side in rows]


def _attempts(side: SortedSide, codes: Sequence[AnyArray], longest: int | None) -> Attempts:
    """Put the attempts of each transaction behind each other; longest: how many consecutive ones
    make one, None where codes name them.
    """
    reference, probe = side.compared()
    columns = [reference, probe, *codes]
    assert side.rows is not None
    order = np.lexsort((side.rows, *columns))
    begins = np.zeros(order.size, np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= np.diff(column[order]) != 0
    first = np.flatnonzero(begins)
    sizes = np.diff(first, append=order.size)
    number = np.arange(order.size) - np.repeat(first, sizes)
    if longest is not None:
        whole = number - number % longest + longest <= np.repeat(sizes, sizes)
        order, number = order[whole], number[whole] % longest
        first = np.flatnonzero(number == 0)
    return Attempts(side.take(order), first, number)


def _leave_out(made: Sequence[Attempts], sides: Sequence[SortedSide], longest: int | None) -> None:
    """Warn of attempts at the end that are too few for a transaction."""
    kept = [of_class.number.size for of_class in made]
    keep = np.concatenate([np.arange(len(side)) < n for side, n in zip(sides, kept, strict=True)])
    leave_out(
        keep,
        "attempts",
        "incomplete transaction",
        f"as they are fewer than the {longest} of a transaction",
        mated=np.repeat([True, False], list(map(len, sides))),
    )
