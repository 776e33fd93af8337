"""The picture of the page on failures, drawn by `make docs`."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import fastfair as ff


def failing() -> Figure:
    """Draw FNMR, FRR and FTA of three groups, whose fingers fail to be acquired unlike often."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    people = np.arange(180)
    age = np.repeat(["18-40", "41-65", "66+"], 60)
    often = rng.gamma(2, 0.5, 180) * np.repeat([0.02, 0.03, 0.15], 60)
    probe = np.repeat(people, 4)
    failed = rng.random(probe.size) < often[probe]
    others = probe[:, None] // 60 * 60 + (probe[:, None] + np.arange(1, 9)) % 60
    reference = np.r_[probe, others.ravel()]
    probes, lost = np.r_[probe, np.repeat(probe, 8)], np.r_[failed, np.repeat(failed, 8)]
    mated = reference == probes
    scores = rng.normal(size=mated.size) + 4 * mated
    scores[lost] = np.nan
    c = ff.Comparisons(
        scores,
        mated,
        reference,
        probes,
        age[reference],
        age[probes],
        policies=ff.Policies(failures="exclude"),
    )
    ev = ff.evaluate(c, ff.at_fmr(0.01), measures=(), metrics=(), rng=0)
    figure, (rates, acquired) = plt.subplots(1, 2, figsize=(7.8, 2.9), layout="constrained")
    rows = np.arange(len(ev.groups))
    for name, label, marker, shift in (
        ("fnmr", "FNMR, without failures", "o", -0.13),
        ("frr", "FRR, with them", "D", 0.13),
    ):
        found = [ev.quantity(name, group) for group in ev.groups]
        estimates = np.array([one.estimate for one in found])
        ends = np.array([[one.low, one.high] for one in found]).T
        rates.errorbar(
            estimates,
            rows + shift,
            xerr=np.abs(ends - estimates),
            fmt=marker,
            label=label,
            markersize=5,
        )
    rates.set(xlabel="Error rate at an FMR of 1 %", xlim=(0, None), ylim=(rows[-1] + 0.5, -0.5))
    rates.set_yticks(rows, ev.groups)
    rates.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    rates.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ff.fnmr_test(
        ff.FailureCounts.from_decisions(failed, probe, age[probe], rate="fta"), rng=0
    ).plot(acquired)
    return figure
