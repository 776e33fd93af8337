"""The slow, obvious oracle of sums over the distinct pairs of units of a list of comparisons."""

from __future__ import annotations


def of_list(comparisons: list[tuple[int, int]], n_errors: int, varies: list[bool]) -> list[float]:
    """Return the sums of T^2 and m^2 over units that vary, and of s^2, s m and m^2 over pairs.

    These three follow over the ends of pairs that vary, and over pairs both of whose ends vary.
    comparisons: both units of each, the first ones in error; with m comparisons of a pair or unit,
    s of them errors, and rate r, T is s - r m.
    """
    rate = n_errors / len(comparisons) if comparisons else 0.0
    pairs = [tuple(sorted(pair)) for pair in comparisons]
    found = [0.0] * 11
    for unit in set(sum(pairs, ())):
        if varies[unit]:
            m = sum(pair.count(unit) for pair in pairs)
            s = sum(pair.count(unit) for pair in pairs[:n_errors])
            found[0] += (s - rate * m) ** 2
            found[1] += m**2
    for pair in set(pairs):
        m, s = pairs.count(pair), pairs[:n_errors].count(pair)
        ends = varies[pair[0]] + varies[pair[1]]
        for k, value in enumerate((s * s, s * m, m * m)):
            found[2 + k] += value
            found[5 + k] += ends * value
            found[8 + k] += (ends == 2) * value
    return found
