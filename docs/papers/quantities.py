"""What the library calls measures and verdicts, as it writes them into results."""

from __future__ import annotations

from fastfair.measures import MEASURES, Estimand

WITHHELD = "withheld"  # the verdict of `compare` where the data cannot say which system is better
WHY_WITHHELD = "no p-value and no verdict for a measure that chance moves to either side"


def fairer(verdict: str, first: str, second: str) -> str:
    """Say for readers which of two systems is the fairer beyond chance, by a verdict of `compare`
    on a measure.
    """
    kinds = {
        "first": first,
        "second": second,
        "undecided": "not told apart",
        WITHHELD: WITHHELD,
        "": "not computable",
    }
    return kinds[verdict]


def measure_of(name: str) -> Estimand | None:
    """Return the measure behind a quantity's name such as "nrb(eer)" or "sed_mean"; None for no
    measure.
    """
    return MEASURES.get(name.partition("(")[0].removesuffix("_mean").removesuffix("_std"))
