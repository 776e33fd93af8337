"""Pictures of the guide, drawn by `make docs`. The README shows a copy of `overview` in
`docs/_static`.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.figure import Figure

import fastfair as ff
from fastfair import measures


def overview() -> Figure:
    """Draw what comes out for VoxCeleb1-H: error curves with bands, and error rates of groups with
    intervals.
    """
    c = ff.datasets.voxceleb1_h("resnetse34v2", groups=["Gender", "Nationality"])
    figure, (curves, groups) = plt.subplots(1, 2, figsize=(7.8, 3.1), layout="constrained")
    for label, group in (("women", "f"), ("men", "m")):
        band = ff.roc_band(c.by("Gender").within_group(group), np.geomspace(3e-4, 0.2), rng=0)
        band.plot(curves, det=True, label=label)
    curves.set_title("Trade-off of the two errors, by gender", fontsize="medium")
    curves.legend()
    ff.fnmr_test(c.by("Nationality"), ff.at_fmr(0.001), rng=0).plot(groups)
    groups.set_title("FNMR at an FMR of 0.1 %, by nationality", fontsize="medium")
    return figure


def decisions() -> Figure:
    """Draw the distributions of mated and non-mated scores with a threshold and the errors it
    makes.
    """
    c = ff.datasets.voxceleb1_h("resnetse34v2")
    mated, nonmated = c.mated.similarities, c.nonmated.similarities
    threshold = ff.rates(c, ff.at_fmr(0.01)).threshold
    bins = np.linspace(-1.6, -0.4, 121)
    figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    ax.hist(nonmated, bins, color="C1", alpha=0.3, label="non-mated comparisons")
    ax.hist(mated, bins, color="C0", alpha=0.3, label="mated comparisons")
    ax.hist(nonmated[nonmated >= threshold], bins, color="C1", label="false matches")
    ax.hist(mated[mated < threshold], bins, color="C0", label="false non-matches")
    ax.axvline(threshold, color="black", label="threshold at an FMR of 1 %")
    ax.set(xlabel="comparison score (similarity)", ylabel="comparisons")
    ax.legend(fontsize="small")
    return figure


def reactions() -> Figure:
    """Draw four measures over the factor by which one of four groups has more false matches."""
    factor = np.geomspace(1, 50, 60)
    fmr = np.full((factor.size, 4), 0.001)
    fmr[:, 3] *= factor
    fnmr = np.full_like(fmr, 0.02)
    panels = (
        ("FDR (higher is fairer)", measures.fdr(fmr, fnmr), 1),
        ("IR (lower is fairer)", measures.inequity_rate(fmr, fnmr), 1),
        ("GARBE (lower is fairer)", measures.garbe(fmr, fnmr), 0),
        ("max-geomean ratio (lower is fairer)", measures.max_geomean_ratio(fmr), 1),
    )
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.7), sharex=True, layout="constrained")
    for ax, (title, values, fair) in zip(axes, panels, strict=True):
        ax.semilogx(factor, values)
        ax.axhline(fair, color="0.5", linestyle=":")
        ax.set_title(title, fontsize="small")
        ax.set_xticks([1, 2, 5, 10, 50], ["1", "2", "5", "10", "50"])
        ax.grid(alpha=0.3)
    figure.supxlabel("FMR of one group as a multiple of the others'", fontsize="medium")
    return figure


def replicates() -> Figure:
    """Draw a rate in its replicates, and the interval made of them."""
    c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    ev = ff.evaluate(c, ff.at_fmr(0.001), rng=0)
    estimate, (low, high) = ev.value("fnmr", "f"), ev.interval("fnmr", "f")
    figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
    count = ax.hist(100 * ev.replicates("fnmr", "f"), bins=40, alpha=0.4, label="2,000 replicates")[
        0
    ].max()
    ax.axvline(100 * estimate, color="black", label="the data")
    ax.plot(
        [100 * low, 100 * high],
        2 * [-0.08 * count],
        "|-",
        color="C3",
        linewidth=3,
        label="95 % interval",
    )
    ax.set(xlabel="FNMR of women at an overall FMR of 0.1 % (%)", ylabel="replicates")
    ax.legend(fontsize="small")
    return figure


def differences() -> Figure:
    """Draw the error rates of two systems replicate by replicate, and their differences."""
    first, second = (
        ff.datasets.voxceleb1_h(name, groups="Gender") for name in ("resnetse34v2", "resnetse34l")
    )
    found = ff.compare(first, second, ff.at_fmr(0.001), rng=0)
    x, y = (100 * system.replicates("fnmr", "m") for system in found.evaluations)
    d = found.contrast("fnmr", "m")
    figure, (pairs, bars) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    pairs.plot(x, y, ".", markersize=3, alpha=0.4)
    pairs.set(title="One point for each replicate", xlabel="FNMR of the first system (%)")
    pairs.set_ylabel("FNMR of the second system (%)")
    count = bars.hist(x - y, bins=40, alpha=0.4)[0].max()
    bars.plot(
        [100 * d.low, 100 * d.high],
        2 * [-0.08 * count],
        "|-",
        color="C3",
        linewidth=3,
        label="95 % interval",
    )
    bars.axvline(0, color="0.5", linestyle=":", label="no difference")
    bars.set(
        title="Their differences",
        xlabel="first minus second (percentage points)",
        ylabel="replicates",
    )
    bars.legend(fontsize="small")
    return figure


def speaker_systems() -> dict[str, ff.Comparisons]:
    """Return the four systems that the page on many systems ranks."""
    trials, scores = None, []
    for name in ("resnetse34v2", "resnetse34l"):
        with tempfile.TemporaryDirectory() as folder:
            ff.write_comparisons(
                ff.datasets.voxceleb1_h(name, groups="Gender"), f"{folder}/trials.parquet"
            )
            trials = pl.read_parquet(f"{folder}/trials.parquet")
        scores.append(trials["score"])
    first, second = scores
    columns = {side: side for side in ("reference", "probe")}
    columns |= {f"{side}_group": f"{side}_Gender" for side in columns}
    made = {
        "first": first,
        "second": second,
        "mean": (first + second) / 2,
        "first, coarse": (first * 50).floor() / 50,
    }
    return {
        name: ff.Comparisons.from_frame(trials.with_columns(score=one), **columns)
        for name, one in made.items()
    }


def ranking() -> Figure:
    """Draw the FNMRs of four systems, and their ranks."""
    found = ff.compare(speaker_systems(), at=ff.at_fmr(0.001), measures=[], metrics=[], rng=0)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 3.2), width_ratios=(5.6, 3.6), layout="constrained"
    )
    found.plot(left)
    found.plot(right, show="ranks").set_yticklabels([])
    return figure


def _people() -> ff.Embeddings:
    """The vectors that the page on embeddings draws."""
    sex = np.where(np.arange(300) % 2, "f", "m")
    drawn = ff.VonMisesFisherIdentities.random(300, dim=64, concentration=(60, 180), rng=0)
    people = ff.VonMisesFisherIdentities(
        drawn.centers, np.where(sex == "f", 0.85, 1) * drawn.concentrations
    )
    n_samples = np.arange(300) % 5 + 2
    subject = np.repeat(np.arange(300), n_samples)
    return ff.Embeddings(people.draw(n_samples, rng=1), subject, group=sex[subject])


def embeddings_by_group() -> Figure:
    """Draw FNMR over FMR for both groups of simulated vectors."""
    e = _people()
    figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
    for group, label in (("f", "women"), ("m", "men")):
        ff.roc_band(e, group=group, rng=0).plot(ax, label=label)
    ax.legend()
    return figure


def normalized() -> Figure:
    """Draw the error rates of women and men of half of VoxCeleb1-H before and after scores are
    normalised.
    """
    with tempfile.TemporaryDirectory() as folder:
        ff.write_comparisons(
            ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender"), f"{folder}/trials.parquet"
        )
        trials = pl.read_parquet(f"{folder}/trials.parquet")
    even = [pl.col(side).str.slice(-1).is_in(list("02468")) for side in ("reference", "probe")]
    sides = {"reference": "reference", "probe": "probe"}
    sides |= {"reference_group": "reference_Gender", "probe_group": "probe_Gender"}
    parts = [even[0] & even[1], ~even[0] | ~even[1], ~even[0] & ~even[1]]
    before, cohort, others = (
        ff.Comparisons.from_frame(trials.filter(part), **sides) for part in parts
    )
    systems = {
        "before": before,
        **{m.upper(): ff.normalize_scores(before, cohort, m) for m in "zts"},
    }
    systems["S by group"] = ff.normalize_scores(before, others, by="group")
    figure, panels = plt.subplots(1, 2, figsize=(7.8, 3), layout="constrained")
    for name, ax in zip(("fmr", "fnmr"), panels, strict=True):
        for k, (label, group) in enumerate((("women", "f"), ("men", "m"))):
            rates = [
                ff.evaluate(one, ff.at_fmr(0.001), [], metrics=[], n_resamples=0).quantity(
                    name, group
                )
                for one in systems.values()
            ]
            ends = np.array([[q.estimate - q.low, q.high - q.estimate] for q in rates]).T
            place = np.arange(len(rates)) + 0.16 * k - 0.08
            ax.errorbar(
                place,
                [100 * q.estimate for q in rates],
                100 * ends,
                fmt="os"[k],
                capsize=3,
                label=label,
            )
        ax.set_xticks(range(len(systems)), list(systems))
        ax.set(ylabel=f"{name.upper()} (%)", ylim=(0, None))
        ax.grid(axis="y", alpha=0.3)
    panels[0].legend()
    return figure


def _speakers() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate the people of the page from a folder to a report: vectors, six of each, whose they
    are, and genders.
    """
    sex = np.where(np.arange(160) % 2, "f", "m")
    drawn = ff.VonMisesFisherIdentities.random(160, dim=64, concentration=(45, 130), rng=0)
    people = ff.VonMisesFisherIdentities(
        drawn.centers, np.where(sex == "f", 0.85, 1) * drawn.concentrations
    )
    subject = np.repeat(np.arange(160), 6)
    return people.draw(6, rng=1), subject, sex[subject]


def enrolled_by_templates() -> Figure:
    """Draw the curves of a list of trials whose people are enrolled by one recording, or by three
    in two ways.
    """
    vectors, subject, _ = _speakers()
    recording = np.arange(subject.size) % 6
    rng = np.random.default_rng(2)
    pairs = [
        (k, 6 * other + n)
        for k in range(160)
        for other in (k, *rng.choice(np.delete(np.arange(160), k), 40, replace=False))
        for n in (3, 4, 5)
    ]
    enrolled, probe = np.array(pairs).T
    figure, ax = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
    for label, used, same_name in (
        ("one recording", 1, "raise"),
        ("best of three", 3, "max"),
        ("mean of three", 3, "mean"),
    ):
        kept = (recording < used) | (recording > 2)
        name = np.where(
            recording < 3, -1 - subject, np.arange(subject.size)
        )  # templates are numbered below 0
        scores = ff.NamedVectors(vectors[kept], name[kept], same_name=same_name).scores(
            -1 - enrolled, probe
        )
        c = ff.Comparisons(scores, None, enrolled, subject[probe])
        ff.roc_band(c, np.geomspace(2e-3, 0.2), rng=0).plot(ax, label=label)
    ax.set_ylim(bottom=0)
    ax.legend()
    return figure


def of_speakers(c: ff.Comparisons, half: int) -> ff.Comparisons:
    """Return the comparisons of every second speaker."""
    labels, parts = np.array(c.groups), []
    for mated, by_group in ((True, c.mated_by_group), (False, c.nonmated_by_group)):
        side = by_group.side
        kept = (side.reference % 2 == half) & (side.probe % 2 == half)
        groups = labels[by_group.reference_group], labels[by_group.probe_group]
        who = c.subjects[side.reference], c.subjects[side.probe]
        columns = (side.similarities, np.full(len(side), mated), *who, *groups)
        parts.append([column[kept] for column in columns])
    return ff.Comparisons(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def applied() -> Figure:
    """Draw false match rates of one half of the speakers at a threshold that is found on the other
    half.
    """
    c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    found = ff.apply_threshold(of_speakers(c, 1), ff.at_fmr(0.001), of_speakers(c, 0))
    return found.plot().figure


def over_thresholds() -> Figure:
    """Draw error rates of groups over thresholds, and expected performance curves of two
    systems.
    """
    systems = [
        ff.datasets.voxceleb1_h(name, groups="Gender") for name in ("resnetse34v2", "resnetse34l")
    ]
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 3.6), layout="constrained")
    thresholds = np.linspace(-1.1, -0.9, 41)
    points = [ff.at_threshold(threshold) for threshold in thresholds]
    rates = ff.evaluate(systems[0], points, [], metrics=[], n_resamples=0)
    for group in rates.groups:
        fmr = [rates.quantity("fmr", group, at) for at in points]
        left.fill_between(
            thresholds, [one.low for one in fmr], [one.high for one in fmr], alpha=0.2, linewidth=0
        )
        left.plot(thresholds, [one.estimate for one in fmr], label=group)
    left.set(xlabel="Threshold", ylabel="FMR", ylim=(0, None))
    left.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    left.legend(fontsize="small")
    for name, c in zip(("resnetse34v2", "resnetse34l"), systems, strict=True):
        curve = ff.thresholds.expected_performance_curve(of_speakers(c, 1), of_speakers(c, 0)).of()
        values, low, high = (
            np.array([getattr(row, end) for row in curve]) for end in ("estimate", "low", "high")
        )
        weights = [row.weight for row in curve]
        right.fill_between(weights, low, high, alpha=0.2, linewidth=0)
        right.plot(weights, values, label=name)
    right.set(xlabel="Weight of false matches", ylabel="Half total error rate", ylim=(0, None))
    right.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    right.legend(fontsize="small")
    return figure


def discarding() -> Figure:
    """Draw error rates after discarding comparisons of low quality, and how much of each group is
    discarded.
    """
    rng = np.random.default_rng(0)
    people = np.arange(200)
    group = np.where(people < 100, "f", "m")
    who = np.repeat(people, 4)
    others = np.tile(people, 8), (np.tile(people, 8) + np.repeat(np.arange(1, 9), 200)) % 200
    reference, probe = np.r_[who, others[0]], np.r_[who, others[1]]
    quality = rng.normal(size=(2, reference.size)) - 0.5 * np.array(
        [group[reference] == "m", group[probe] == "m"]
    )
    mated = reference == probe
    scores = rng.normal(size=mated.size) + mated * (4.5 + np.minimum(quality.min(axis=0), 0))
    c = ff.Comparisons(scores, mated, reference, probe, group[reference], group[probe])
    curve = ff.discard_curve(c, ff.at_fmr(0.01), tuple(quality))
    figure, axes = plt.subplots(1, 2, figsize=(7.8, 3.6), layout="constrained")
    for ax, show in zip(axes, ("rate", "discarded"), strict=True):
        curve.plot(ax, show=show)
    return figure


def recentering() -> Figure:
    """Draw plain and recentered replicates of an FNMR, with what each of them lies about."""
    band = ff.roc_band(_people(), [0.001], unit="sample", rng=0)
    fnmr, v_statistic, drawn = band.fnmr[0], band.v_statistic[0], band.replicates[:, 0]
    figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
    ax.hist(drawn, bins=30, alpha=0.4, label="replicates")
    ax.hist(drawn - v_statistic + fnmr, bins=30, alpha=0.4, label="recentered replicates")
    ax.axvline(v_statistic, color="C0", linestyle="--", label="V-statistic")
    ax.axvline(fnmr, color="black", label="FNMR of the data")
    ax.set(xlabel="FNMR at an FMR of 0.1 %", ylabel="replicates")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def climbing() -> Figure:
    """Draw how hill climbing approaches an FMR."""
    figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
    ff.synthesize(3000, 3000, fmr=0.01, rng=0).plot(ax)
    return figure


def passes() -> Figure:
    """Draw sorted non-mated scores with their weights in three replicates, and what a pass reads of
    them.
    """
    rng = np.random.default_rng(3)
    n, errors = 24, 6
    drawn = rng.multinomial(
        10, np.full(10, 0.1), size=3
    )  # how often three replicates draw ten subjects
    first, second = rng.permuted(np.tile(np.arange(10), (n, 1)), axis=1)[:, :2].T
    weights = drawn[:, first] * drawn[:, second]
    figure, ax = plt.subplots(figsize=(8.5, 2.3), layout="constrained")
    ax.axvspan(-0.5, errors - 0.5, color="C1", alpha=0.2)
    ax.axvline(errors - 0.5, color="black", linewidth=1)
    ax.text(errors - 0.3, 3.9, "threshold", va="center", fontsize="small")
    ax.text(errors / 2 - 0.5, 3.9, "false matches", ha="center", va="center", fontsize="small")
    for place in range(n):
        ax.add_patch(
            plt.Rectangle((place - 0.4, 2.6), 0.8, 0.7, color="C1", alpha=1 - 0.035 * place)
        )
        for row in range(3):
            color = "black" if place < errors else "0.6"
            ax.text(
                place,
                2 - row,
                weights[row, place],
                ha="center",
                va="center",
                color=color,
                fontsize="small",
            )
    labels = [
        "non-mated scores,\nmost similar first",
        *(f"weights in replicate {row}" for row in (1, 2, 3)),
    ]
    ax.set_yticks([2.95, 2, 1, 0], labels)
    ax.set(xlim=(-0.6, n - 0.4), ylim=(-0.5, 4.3), xticks=[])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return figure


def coverage() -> Figure:
    """Draw the coverage of intervals of an FMR of 0.01 in the tables of that page."""
    populations = ["60, weak", "60, strong", "200, weak", "200, strong"]
    populations += ["500, weak, 40 partners", "500, strong, 40 partners"]
    shares = {
        "the default: subjects, dyadic weights": [96.4, 94.5, 95.2, 94.2, 95.1, 95.4],
        "subjects, product weights": [99.8, 99.0, 99.7, 95.6, 99.9, 99.3],
        "comparisons": [93.6, 75.0, 87.3, 49.2, 93.5, 77.9],
    }
    figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for (label, share), marker in zip(shares.items(), "os^", strict=True):
        ax.plot(share, populations, marker, label=label)
    ax.axvline(95, color="0.5", linestyle=":", label="as it should be")
    ax.invert_yaxis()
    ax.set(xlabel="95 % intervals that hold the truth (%)", ylabel="subjects a group, effects")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return figure


# By `studies.size_study`, 150 data sets each, in per cent: before, by quantiles, F and vectors, and
# now.
_SUBJECTS = [10, 20, 40, 80, 160]
_BY_SIZE = {
    "FMR": ([100.0, 98.7, 97.3, 98.7, 96.7], [100.0, 99.3, 98.0, 100.0, 98.0]),
    "GARBE": ([34.7, 35.3, 43.3, 55.3, 54.0], [97.2, 97.3, 98.6, 98.7, 98.7]),
    "named": ([16.0, 20.7, 17.3, 23.3, 18.0], [2.7, 2.7, 2.7, 2.0, 0.7]),
    "found": ([46.7, 34.7, 42.7, 64.0, 64.7], [67.3, 54.0, 68.0, 77.3, 77.3]),
}


def _over_size(
    panels: dict[str, str], aims: list[float | None], label: str, methods: tuple[str, str]
) -> Figure:
    """Draw how often intervals hold the truth, or tests find something, over the number of subjects
    of a group.
    """
    figure, axes = plt.subplots(
        1,
        len(panels),
        figsize=(4.2 * len(panels), 3),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, (what, title), aim in zip(axes[0], panels.items(), aims, strict=True):
        other, default = _BY_SIZE[what]
        ax.plot(_SUBJECTS, other, "s--", color="0.5", label=methods[0])
        ax.plot(_SUBJECTS, default, "o-", label=methods[1])
        if aim is not None:
            ax.axhline(aim, color="0.3", linestyle=":", label="as it should be")
        ax.set_xscale("log")
        ax.set_xticks(_SUBJECTS, [str(n) for n in _SUBJECTS])
        ax.minorticks_off()
        ax.set(xlabel="subjects in each group", title=title, ylim=(0, 103))
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel(label)
    axes[0, -1].legend(fontsize="small")
    return figure


def intervals_over_size() -> Figure:
    """Draw the coverage of a group's FMR, and of GARBE, where groups have few false matches."""
    panels = {"FMR": "FMR of a group", "GARBE": "GARBE of a fair system"}
    return _over_size(
        panels, [95, 95], "intervals that hold the truth (%)", ("percentile", "default")
    )


def tests_over_size() -> Figure:
    """Draw how often `fmr_test` names a group that is like all others, and finds two that
    differ.
    """
    panels = {
        "named": "8 groups alike: a group is named",
        "found": "two of 8 differ: this is found",
    }
    return _over_size(panels, [5, None], "data sets (%)", ("F", "deviance, the default"))


def recentered_coverage() -> Figure:
    """Draw the coverage of three kinds of intervals over simulated embeddings at all confidence
    levels.
    """
    nominal = [0.95 - 0.05 * k for k in range(19)]
    found = ff.synthesis.coverage_experiment(
        200,
        200,
        identities=ff.VonMisesFisherIdentities.random(100, 64, (50, 150), rng=0),
        fmr=0.01,
        confidence_levels=nominal,
        rng=0,
    )
    figure, ax = plt.subplots(figsize=(4.5, 4), layout="constrained")
    found.plot(ax)
    return figure
