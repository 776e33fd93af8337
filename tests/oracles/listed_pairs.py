"""The slow, obvious oracle of listed pairs of names: every vector of the one name with every vector
of the other."""

import math
from collections.abc import Hashable, Sequence

Vector = Sequence[float]


def score(
    vectors: Sequence[Vector],
    names: Sequence[Hashable],
    reference: Hashable,
    probe: Hashable,
    similarity: str = "cosine",
    same_name: str = "raise",
) -> float:
    """The score of one pair of names; several vectors of a name are its "max" or "mean"."""
    sides = []
    for name in (reference, probe):
        of_name = [
            list(map(float, v)) for v, own in zip(vectors, names, strict=True) if own == name
        ]
        assert of_name
        assert same_name != "raise" or len(of_name) == 1
        if same_name == "mean":
            if similarity == "cosine":
                of_name = [[x / math.hypot(*v) for x in v] for v in of_name]
            of_name = [[math.fsum(column) / len(of_name) for column in zip(*of_name, strict=True)]]
        sides.append(of_name)
    return max(_similarity(a, b, similarity) for a in sides[0] for b in sides[1])


def _similarity(a: Vector, b: Vector, similarity: str) -> float:
    if similarity == "negative_euclidean":
        return -math.dist(a, b)
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return product / (math.hypot(*a) * math.hypot(*b)) if similarity == "cosine" else product
