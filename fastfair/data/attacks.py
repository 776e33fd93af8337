"""Presentation attacks: a third class of rows beside mated and non-mated comparisons, of species
and against people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastfair._lib.arguments import Array, checked
from fastfair._lib.arrays import AnyFloats, Flags
from fastfair._lib.label_codes import Coded, Labels, encode
from fastfair.errors import InputError

from . import checks, score_keys
from .checks import natural
from .columns import Failures, Policies
from .comparisons import Comparisons
from .exclusions import gathering, leave_out
from .sessions import Sessions, refuse_sessions, session_columns
from .sorted_scores import at_least_float32

SPECIES = "species"  # the attribute of decisions on attacks
_BLOCKED, _PASSED = 1.0, 0.0  # what decisions on attacks score


@dataclass(frozen=True, eq=False)
class Attacks:
    """The attack presentations that belong to comparisons.

    Attributes
    ----------
    scores : (n,) ndarray
        The score of each, on the scale of the comparisons; NaN where there was none, so that
        nothing was accepted.
    keys : (n,) ndarray of int
        The same as keys of similarities.
    species : Coded
        The species of the presentation attack instrument.
    subject : Coded
        Who is imitated, or whose presentation it is.
    session : tuple of two Coded, or None
        The sessions of the references that are attacked and of the presentations.
    """

    scores: AnyFloats
    keys: score_keys.Keys
    species: Coded
    subject: Coded
    session: tuple[Coded, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The species as text."""
        return tuple(map(str, self.species.labels.tolist()))

    def __len__(self) -> int:
        return int(self.keys.size)

    def __str__(self) -> str:
        return f"{len(self)} attacks of {len(self.names)} species"


@checked
def add_attacks(
    comparisons: Comparisons,
    scores: Array,
    species: Labels,
    subject: Labels,
    session: Sessions | None = None,
) -> Comparisons:
    """Add presentation attacks to comparisons, for `evaluate_attacks`, `check` and `claim`.

    Parameters
    ----------
    comparisons : Comparisons
        Bona fide comparisons: those of a verification system; or of a detector of attacks, whose
        bona fide presentations are all called mated, and compare each person with himself.
    scores : (n,) array_like of float
        The score of each attack presentation, on the scale of the comparisons. One that is NaN got
        no score, and is taken for blocked.
    species : (n,) array_like
        The species of the attack instrument, such as "print" or "A07".
    subject : (n,) array_like
        Who is imitated: the subject of the reference that is attacked. Their groups are those that
        they have in `comparisons`.
    session : (n,) array_like, or a pair of these, optional
        What each attack presentation shares with attempts of other people, such as its day, as in
        `Comparisons`; needed where these have sessions.

    Returns
    -------
    Comparisons
        The same comparisons, with attacks.

    Raises
    ------
    InputError
        For lengths that differ, missing labels and infinite scores, for comparisons without
        subjects, and where comparisons or attacks alone have sessions.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.8, 0.1], [1, 1, 0], list("aba"), list("abb"))
    >>> ff.add_attacks(c, [0.7, 0.2, 0.3], ["print", "print", "mask"], list("aab"))
    Comparisons(2 mated, 1 non-mated, similarity, 2 subjects, 3 attacks of 2 species)
    """
    if comparisons.subjects is None:
        raise InputError(
            "the comparisons have no subjects, whom attacks imitate: give reference and probe"
        )
    if (comparisons.sessions is None) != (session is None):
        which = "attacks" if comparisons.sessions is None else "comparisons"
        raise InputError(
            f"only the {which} have sessions, which people share: give ⟦session=⟧ of comparisons and"
            " of attacks, or of neither"
        )
    values = checks.scores(checks.with_nan(scores)).astype(comparisons.score_dtype)
    columns = {"species": species, "subject": subject, **session_columns(session)}
    coded = {name: encode(name, column) for name, column in columns.items()}
    checks.same_length({"scores": values.size} | {name: c.codes.size for name, c in coded.items()})
    if not values.size:
        raise InputError("there are no attacks")
    if np.isinf(values).any():
        raise checks.not_usable(values)
    similar = 0 - values if comparisons.score_kind == "distance" else values
    similar = at_least_float32(np.where(np.isnan(similar), values.dtype.type(-np.inf), similar))
    keys = score_keys.encode(np.ascontiguousarray(similar))
    of_species, of_subject, *in_sessions = coded.values()
    added = Attacks(values, keys, of_species, of_subject, tuple(in_sessions) or None)
    return comparisons._with_parts(attacks=added)


def read_attacks(
    comparisons: Comparisons,
    columns: tuple[AnyFloats, Labels, Sequence[Coded]],
    score_kind: str,
    policies: Policies,
) -> Comparisons:
    """Add attacks of a file: scores, species, and subjects followed by sessions; those without a
    score as policies say.

    score_kind: that of the file, whose scores may be logarithms to another base.
    """
    scores, species, others = columns
    failed = policies._are_failed(scores)
    if failed.any() and policies.failures == "error":
        raise InputError(
            f"{np.count_nonzero(failed)} of {failed.size} attack presentations have no score;"
            f" {checks.FAILURES_DO}"
        )
    values = natural(np.where(failed, np.nan, scores), score_kind)
    keep: Flags = ~failed | (policies.failures == "non-match")
    with gathering() as left_out:
        leave_out(keep, "attack presentations", "failed", "as they failed", 'failures="exclude"')
    of_species, subject, *sessions = (
        column.take(keep) for column in (encode(SPECIES, species), *others)
    )
    in_sessions: Any = tuple(sessions) or None
    made = add_attacks(comparisons, values[keep], of_species, subject, in_sessions)
    made.left_out = (*comparisons.left_out, *left_out)
    return made


def attacks_of(comparisons: Comparisons) -> Attacks:
    """Return the attacks of comparisons; refuse comparisons without."""
    attacks: Attacks | None = comparisons.attacks
    if attacks is None:
        raise InputError(
            "these comparisons have no attacks: add them with add_attacks, or read them with"
            " ⟦attack=⟧, the column of their species"
        )
    return attacks


def attack_decisions(comparisons: Comparisons, threshold: float) -> Comparisons:
    """Return the decisions on attacks at a threshold, as mated comparisons of who is imitated.

    Returns
    -------
    Comparisons
        At a threshold of 0.5 their FNMR is the share of attacks that are accepted. Attributes are
        those of people, and `SPECIES`, of which their groups are made.
    """
    attacks = attacks_of(comparisons)
    is_accepted = attacks.keys >= comparisons.to_key(threshold)
    scores = np.where(is_accepted, _PASSED, _BLOCKED).astype(np.float32)
    return _presentations(comparisons, attacks, scores, mated=True, kind="similarity")


def attack_presentations(comparisons: Comparisons) -> Comparisons:
    """Return attacks as non-mated comparisons with those who are imitated, whose false matches are
    attacks that pass. Attributes are as in `attack_decisions`.
    """
    attacks = attacks_of(comparisons)
    return _presentations(
        comparisons, attacks, attacks.scores, mated=False, kind=comparisons.score_kind
    )


def _presentations(
    comparisons: Comparisons, attacks: Attacks, scores: AnyFloats, *, mated: bool, kind: Any
) -> Comparisons:
    """Make comparisons of attacks with those who are imitated, whose groups are species."""
    labels = dict[str, Any](_attributes_of_people(comparisons, attacks))
    if SPECIES in labels:
        raise InputError(f"an attribute of people is called {SPECIES!r}: rename it")
    labels[SPECIES] = np.array(attacks.names, object)[attacks.species.codes]
    sides = attacks.subject, attacks.subject, labels
    flags = np.full(len(attacks), mated)
    policies = _as_marked(scores)
    how: dict[str, Any] = {"score_kind": kind, "policies": policies, "session": attacks.session}
    return Comparisons(scores, flags, *sides, **how).by(SPECIES)


def _as_marked(scores: AnyFloats) -> Policies:
    """Return policies for scores that may be NaN, of comparisons that are as they are marked."""
    failures: Failures = "non-match" if np.isnan(scores).any() else "error"
    return Policies(failures, label_conflicts="keep")


def _attributes_of_people(comparisons: Comparisons, attacks: Attacks) -> dict[str, Any]:
    """Look up the labels that those who are imitated have in comparisons."""
    of_subject = comparisons.mated.of_subject
    if not of_subject:
        return {}
    assert comparisons.subjects is not None
    position = {who: k for k, who in enumerate(comparisons.subjects.tolist())}
    people = attacks.subject.labels.tolist()
    unknown = [who for who in people if who not in position]
    if unknown:
        raise InputError(
            f"{len(unknown)} of {len(people)} people who are imitated, such as {unknown[0]!r}, are"
            " in no comparison, so that their groups are not known: add their bona fide"
            " comparisons, or take comparisons without groups"
        )
    places = np.array([position[who] for who in people])[attacks.subject.codes]
    return {
        name: np.array(comparisons.attributes[name], object)[codes[places]]
        for name, codes in of_subject.items()
    }


@checked
def against_attacks(
    comparisons: Comparisons, species: str | Sequence[str] | None = None, *, impostors: bool = False
) -> Comparisons:
    """Hold mated comparisons against attacks, which are then the non-mated ones, for `det`, `eer`
    and `roc_band`.

    Parameters
    ----------
    comparisons : Comparisons
        With attacks.
    species : str or sequence of str, optional
        The species of attacks; by default all.
    impostors : bool, default False
        Whether non-mated comparisons are among them, too.

    Returns
    -------
    Comparisons
        Their FMR at a threshold is the IAPAR, or of a detector of attacks the APCER. They have no
        groups.

    Raises
    ------
    InputError
        For comparisons without attacks, or with sessions, and unknown species.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.8, 0.1], [1, 1, 0], list("aba"), list("abb"))
    >>> c = ff.add_attacks(c, [0.95, 0.2, 0.3], ["print", "print", "mask"], list("aab"))
    >>> ff.eer(ff.against_attacks(c, "print")).value, ff.eer(ff.against_attacks(c, "mask")).value
    (0.5, 0.0)
    """
    attacks = attacks_of(comparisons)
    refuse_sessions(
        comparisons.sessions, "what holds mated comparisons against attacks", "use evaluate_attacks"
    )
    asked = [species] if isinstance(species, str) else attacks.names if species is None else species
    unknown = [name for name in asked if name not in attacks.names]
    if unknown:
        raise InputError(f"species must be some of {', '.join(attacks.names)}, not {unknown[0]!r}")
    chosen = np.isin(np.array(attacks.names), list(asked))[attacks.species.codes]
    sides = [comparisons.mated, *([comparisons.nonmated] if impostors else [])]
    assert comparisons.subjects is not None
    scores = [
        0 - side.similarities if comparisons.score_kind == "distance" else side.similarities
        for side in sides
    ]
    people = [
        np.concatenate(
            [
                *(comparisons.subjects[side.compared()[k]].astype(object) for side in sides),
                attacks.subject.labels[attacks.subject.codes][chosen].astype(object),
            ]
        )
        for k in (0, 1)
    ]
    values = np.concatenate([*scores, attacks.scores[chosen]])
    values = np.where(np.isinf(values), np.nan, values)
    return Comparisons(
        values,
        np.arange(values.size) < len(comparisons.mated),
        reference=people[0],
        probe=people[1],
        score_kind=comparisons.score_kind,  # type: ignore[arg-type]
        policies=_as_marked(values),
    )
