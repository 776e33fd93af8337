"""How much work goes into the pages of the papers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastfair import Embeddings

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """What every page is made with.

    Attributes
    ----------
    n_resamples : int
        Bootstrap replicates of real data.
    n_seeds : int
        Times that synthetic systems are made, each time with other random numbers.
    n_datasets : int
        Simulated data sets of coverage studies.
    seed : int
        Of all random numbers.
    quick : bool
        Whether there is less of everything than conclusions need.
    tell : callable
        Is told of every step before it begins.
    embeddings : Embeddings, optional
        The reader's own, which paper 5 is then remade on as well.
    """

    n_resamples: int
    n_seeds: int
    n_datasets: int
    seed: int = 0
    quick: bool = False
    tell: Tell = lambda step: None
    embeddings: Embeddings | None = None

    @classmethod
    def of(
        cls,
        *,
        quick: bool,
        seed: int = 0,
        tell: Tell | None = None,
        embeddings: Embeddings | None = None,
    ) -> Settings:
        """Return the settings of a quick run or of a complete one."""
        sizes = (200, 10, 100) if quick else (2000, 100, 1000)
        return cls(
            *sizes, seed=seed, quick=quick, tell=tell or (lambda step: None), embeddings=embeddings
        )
