"""What the comparisons of a scan cost, summed bucket by bucket."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.threads import in_threads
from fastfair.error_rates.exact_costs import ExactCosts

from .partner_costs import Floats, RatioCosts, Strata, without_errors
from .partners import Partners
from .scanned_partners import ScannedPartners

_BYTES_OF_A_UNIT = 112  # in a list: sums of comparisons and of costs


@dataclass(frozen=True, eq=False)
class ScannedCosts(RatioCosts):
    """The costs of the mated, or of the non-mated, comparisons of a scan.

    Attributes
    ----------
    partners : ScannedPartners
        The comparisons, grouped with their costs.
    exact, sizes
        As in `RatioCosts`.
    """

    partners: ScannedPartners
    exact: ExactCosts
    sizes: NDArray[np.int64]

    def _sums(self) -> NDArray[np.int64]:
        from fastfair.kernels import cost_sums

        words, lock = np.zeros((cost_sums.WORDS, self.sizes.size), np.int64), Lock()

        def add(partners: Partners) -> None:
            own = np.empty_like(words)
            cost_sums.sum_costs(partners.runs, partners.words, own)
            with lock:
                words.__iadd__(own)

        for _ in self.partners.each_bucket(add):
            pass
        cost_sums.carry(words)
        return words

    def _variances(self, means: Floats, scale: float, strata: Strata) -> Floats:
        from fastfair.kernels import cost_sums, pair_walk

        stratum, stratum_size = strata
        n_units, lists = stratum.size, range(means.size)
        memory.require(
            _BYTES_OF_A_UNIT * means.size * n_units,
            f"sums over the costs of {n_units:,} subjects in {means.size:,} groups",
            "use fewer groups, or leave Cllr out",
        )
        of_numbers = self.partners.in_order_of_numbers(stratum)
        varies = stratum_size[of_numbers] > 1
        sums = [(pair_walk.new_sums(1, n_units, stratum_size.size), cost_sums.new_costs(n_units)) for _ in lists]
        locks, no_errors = [Lock() for _ in lists], without_errors(n_units)

        def add(partners: Partners) -> None:
            def add_list(k: int) -> None:
                chosen, (counts, costs), seen = partners.runs_of_list(k), sums[k], np.empty(n_units, np.int64)
                with locks[k]:
                    pair_walk.add_runs(partners.runs, chosen, no_errors, of_numbers, varies, counts, seen)
                    cost_sums.add_costs(partners.runs, partners.words, chosen, (means[k], scale), varies, costs)

            in_threads(int(self.sizes[0]), add_list, lists, self.partners.n_threads)

        for _ in self.partners.each_bucket(add):
            pass
        found = np.empty((means.size, 3))
        for k, (counts, costs) in enumerate(sums):
            in_rows = self.partners.in_order_of_rows
            counts = counts._replace(
                comparisons=in_rows(counts.comparisons), repeats_squared=in_rows(counts.repeats_squared)
            )
            costs = costs._replace(costs=in_rows(costs.costs), squares=in_rows(costs.squares))
            cost_sums.finish_costs(counts, costs, (means[k], scale), strata, found[k])
        return found
