"""The slow, obvious oracle of how concentrated errors are."""

from collections.abc import Hashable


def concentration(errors: list[tuple[Hashable, Hashable]], subjects: list[Hashable]) -> float:
    """Share of the errors (pairs of subjects) that involve one of the 5 % of subjects, rounded up,
    with most errors.

    Of subjects with as many errors the first count; a mated error counts twice for its subject.
    """
    own = {k: sum((a == k) + (b == k) for a, b in errors) for k in subjects}
    n_top = -(-len(subjects) * 5 // 100)
    top = sorted(subjects, key=lambda k: (-own[k], subjects.index(k)))[:n_top]
    return sum(a in top or b in top for a, b in errors) / len(errors)
