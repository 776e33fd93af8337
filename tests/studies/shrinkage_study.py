"""How often intervals of shrunken rates hold the groups' true rates, and how far the rates are off,
beside raw ones.

`python -m studies shrinkage_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

import fastfair as ff

from .populations import Floats, chances_of_subjects, compared
from .processes import of_data_sets, study_parser
from .tables import print_table

RESAMPLES = 500
ATTEMPTS = 4
CORRELATION = 0.1  # of a subject's attempts
UNEQUAL = (10, 15, 20, 30, 40, 60, 100, 200)
HEADS = (
    "raw holds (%)", "shrunken holds (%)", "smallest group: raw", "shrunken", "last group: raw", "shrunken", "width",
    "squared error",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """Groups whose true FNMRs vary: normally on the scale of log odds, and the last one's by
    more."""

    name: str
    sizes: tuple[int, ...]
    spread: float
    fnmr: float = 0.05
    apart: float = 0.0


SETTINGS = (
    Setting("8 groups of 10 to 200, alike", UNEQUAL, 0.0),
    Setting("8 groups of 10 to 200, spread 0.3", UNEQUAL, 0.3),
    Setting("8 groups of 10 to 200, spread 0.8", UNEQUAL, 0.8),
    Setting("8 groups, the last 4 times the odds", UNEQUAL, 0.0, apart=float(np.log(4))),
    Setting("8 groups, the smallest 4 times the odds", UNEQUAL[::-1], 0.0, apart=float(np.log(4))),
    Setting("4 groups of 20 to 80, spread 0.3", (20, 30, 50, 80), 0.3),
    Setting("30 groups of 20, spread 0.5", (20,) * 30, 0.5),
    Setting("30 groups of 20, FNMR 0.01, spread 0.5", (20,) * 30, 0.5, fnmr=0.01),
)


def _draw(setting: Setting, seed: int) -> tuple[ff.Comparisons, Floats]:
    """Draw comparisons, and the groups' true FNMRs."""
    rng, n_groups = np.random.default_rng([seed, len(setting.name)]), len(setting.sizes)
    odds = np.log(setting.fnmr / (1 - setting.fnmr)) + setting.spread * rng.normal(size=n_groups)
    odds[-1] += setting.apart
    true = 1 / (1 + np.exp(-odds))
    group = np.repeat(np.arange(n_groups), setting.sizes)
    own = chances_of_subjects(rng, true[group], CORRELATION)
    failed = rng.random((group.size, ATTEMPTS)) < own[:, None]
    subject = np.arange(group.size)
    start = np.repeat(np.cumsum([0, *setting.sizes[:-1]]), setting.sizes)
    other = start + (subject - start + 1) % np.repeat(setting.sizes, setting.sizes)
    mated, nonmated = np.where(failed.ravel(), 0.2, 0.8), np.where(subject % 7 == 0, 0.7, 0.1)
    labels = np.array([f"{k:02}" for k in range(n_groups)])[group]
    return compared(mated, nonmated, np.repeat(subject, ATTEMPTS), subject, other, labels), true


def _look(setting: Setting, seed: int) -> Floats | None:
    """Say whether raw, and shrunken, intervals hold; their widths; and the squared errors; (6,
    groups)."""
    c, true = _draw(setting, seed)
    ev = ff.evaluate(
        c, ff.at_threshold(0.5), [], metrics=[], n_resamples=RESAMPLES, rng=seed, n_threads=1
    )
    if not ev.value("fnmr"):
        return None
    row = ff.shrunken_rates(ev)
    return np.array(
        [
            (row.raw_low <= true) & (true <= row.raw_high),
            (row.low <= true) & (true <= row.high),
            row.raw_high - row.raw_low,
            row.high - row.low,
            (row.raw - true) ** 2,
            (row.shrunken - true) ** 2,
        ],
        np.float64,
    )


def study(setting: Setting, n_data_sets: int, processes: int | None = 1) -> tuple[float, ...]:
    """Return what `HEADS` names, shares in per cent."""
    looked = of_data_sets(functools.partial(_look, setting), n_data_sets, processes)
    found = np.array([numbers for numbers in looked if numbers is not None])
    held, small = 100 * found[:, :2].mean(axis=0), int(np.argmin(setting.sizes))
    width = np.median(found[:, 3] / found[:, 2])
    errors = found[:, 4:].mean(axis=(0, 2))
    return (
        *held.mean(axis=1).tolist(),
        *held[:, small].tolist(),
        *held[:, -1].tolist(),
        float(width),
        float(errors[1] / errors[0]),
    )


def _row(name: str, found: tuple[float, ...]) -> list[str]:
    return [
        name,
        *(f"{share:.1f}" for share in found[:-2]),
        *(f"{ratio:.2f}" for ratio in found[-2:]),
    ]


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000, named=False).parse_args()
    rows = (
        _row(setting.name, study(setting, asked.data_sets, asked.processes)) for setting in SETTINGS
    )
    print_table(["Groups", *HEADS], rows)
