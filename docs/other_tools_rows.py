"""What the table of from_other_tools states of each tool. Tests compute every number here.

`tests/other_tools` draws 200 sets of tied scores, and runs each row's rule and, at night, the tool
itself.
"""

from __future__ import annotations

from dataclasses import dataclass

SETS = 200


@dataclass(frozen=True)
class Example:
    """Scores, what the tool says of them, and what fastfair says."""

    mated: tuple[int, ...]
    nonmated: tuple[int, ...]
    theirs: tuple[float, ...]
    ours: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """What a tool's call gives, and how often and where it differs from the call of fastfair.

    `key` names the rule and the tool's answer in the tests, `answer` ours there. Of `SETS` sets the
    tool refuses `refused`, and in `differing` others its answer is more than `tolerance` from ours.
    No set is smaller than the first example.
    """

    key: str
    tool: str
    theirs: str
    ours: str
    answer: str
    differing: int = 0
    examples: tuple[Example, ...] = ()
    refused: int = 0
    tolerance: float = 1e-9
    note: str = ""


EER = "{func}`ff.eer(c) <fastfair.eer>`"
MIN_DCF = "{func}`ff.min_dcf(c, ff.Costs(0.01)) <fastfair.min_dcf>`"
AT_FMR = "`ff.rates(c, ff.at_fmr(0.3))`"
AT_THRESHOLD = "`ff.rates(c, ff.at_threshold(2))`"
ROC = "{func}`ff.roc(c) <fastfair.roc>`"
RANK = "rank 1 of {class}`~fastfair.Searches`"
NEARER = "`ff.eer(c, 'nearest-max')`"
NAN = float("nan")

ROWS = (
    Row(
        "sklearn-roc",
        "scikit-learn",
        "`roc_curve(y, s, drop_intermediate=False)`",
        ROC,
        "roc",
        note="FPR is {term}`FMR`, 1 − TPR is {term}`FNMR`",
    ),
    Row(
        "sklearn-roc-default",
        "scikit-learn",
        "`roc_curve(y, s)`",
        ROC,
        "roc",
        differing=51,
        examples=(Example((2,), (0, 1), (1, 0, 0, 0, 0, 1), (1, 0.5, 0, 0, 0, 0, 0, 1)),),
        note="It drops points between two others in line; those left are the same",
    ),
    Row(
        "sklearn-det",
        "scikit-learn",
        "`det_curve(y, s)`",
        ROC,
        "roc",
        differing=169,
        examples=(Example((1,), (0,), (0, 0), (1, 0, 0, 0, 0, 1)),),
        note=(
            "It begins at the last point of FNMR 0 and ends at the first of FMR 0; those points are"
            " the same"
        ),
    ),
    Row(
        "sklearn-counts",
        "scikit-learn",
        "`confusion_matrix_at_thresholds(y, s)`",
        "`ff.roc(c)` times the numbers",
        "counts",
        note="All but the point that accepts nothing",
    ),
    Row(
        "sklearn-log-loss",
        "scikit-learn",
        "`log_loss` of posteriors, weighted by the prior",
        "`ff.cllr(c, p_target)`",
        "cllr-0.02",
        note="Divided by the entropy of the prior",
    ),
    Row(
        "trainer-eer",
        "scikit-learn",
        "`max(fpr[k], fnr[k])` at the nearest point of all",
        NEARER,
        "eer-nearest-max",
        differing=7,
        examples=(Example((1,), (0, 2), (1,), (0.5,)),),
        note=(
            "Where two points are equally near they take the higher threshold, or the one that"
            " rounding prefers"
        ),
    ),
    Row(
        "trainer-eer-default",
        "scikit-learn",
        "the same after `roc_curve(y, s)`, as VoxCeleb trainers have it",
        NEARER,
        "eer-nearest-max",
        differing=13,
        examples=(Example((1,), (0, 2), (1,), (0.5,)), Example((2, 3), (0, 4), (1,), (0.5,))),
        note="The nearest point may be one that was dropped",
    ),
    Row(
        "brentq-eer",
        "scikit-learn",
        "`brentq` on the interpolated curve",
        "`ff.eer(c, 'interpolated')`",
        "eer-interpolated",
        tolerance=1e-6,
        note="To the tolerance of `brentq`; what was dropped does not matter",
    ),
    Row(
        "trainer-min-dcf",
        "scikit-learn",
        "`compute_min_dcf` of Kaldi and VoxCeleb trainers",
        "`ff.min_dcf(c, ff.Costs(0.05, normalize=True))`",
        "min-dcf-0.05-normalized",
        note="Without normalisation it is the bare cost, as in VoxCeleb papers",
    ),
    Row(
        "nearest-fmr",
        "scikit-learn",
        "`tpr[argmin(abs(fpr - 0.3))]`, as in insightface's IJB scripts",
        AT_FMR,
        "at-fmr",
        differing=141,
        examples=(Example((1,), (0,), (0, 1), (0, 0)), Example((0,), (0, 1), (0.5, 1), (0, 1))),
        note="The first nearest point may exceed the FMR, or reject more than needed",
    ),
    Row(
        "fairlearn-groups",
        "fairlearn",
        "`MetricFrame(...).by_group`",
        AT_THRESHOLD,
        "groups",
        differing=41,
        examples=(Example((0,), (0, 0), (0, 1, 0, 0), (0, 1, 0, NAN)),),
        note=(
            "A group without a comparison of a kind has the rate 0; ours is NaN. Of comparisons"
            " inside groups"
        ),
    ),
    Row(
        "pyeer-eer",
        "pyeer",
        "`get_eer_stats(mated, nonmated).eer`",
        EER,
        "eer",
        differing=56,
        examples=(
            Example((1,), (1,), (1,), (0.5,)),
            Example((1,), (0, 1), (1,), (0.25,)),
            Example((0, 2), (1,), (0.25,), (0.75,)),
        ),
        note=(
            "Of the two points about the crossing it takes the one with the smaller sum, and 1"
            " where only the threshold that accepts nothing lies beyond"
        ),
    ),
    Row(
        "pyeer-fmr10",
        "pyeer",
        "`.fmr10`, likewise `.fmr20`, `.fmr100`",
        "`ff.rates(c, ff.at_fmr(0.1)).fnmr`",
        "fnmr-at-0.1",
        differing=61,
        examples=(Example((1,), (1,), (0,), (1,)),),
        note=(
            "It takes the *nearest* FMR, here 1, which may be above the one asked for; ours never"
            " exceeds it"
        ),
    ),
    Row(
        "bob-farfrr",
        "bob.measure",
        "`farfrr(neg, pos, 2)`",
        AT_THRESHOLD,
        "at-threshold",
        note="A score equal to the threshold is accepted",
    ),
    Row(
        "bob-eer",
        "bob.measure",
        "`eer(neg, pos)`",
        EER,
        "eer",
        differing=7,
        examples=(
            Example((1,), (0, 1, 2), (2 / 3,), (1 / 3,)),
            Example((2,), (0, 2, 3), (2 / 3,), (1 / 3,)),
        ),
        note=(
            "Of points equally near it takes the highest threshold, as far as its running sums"
            " agree"
        ),
    ),
    Row(
        "bob-far",
        "bob.measure",
        "`far_threshold(neg, pos, 0.3)`",
        AT_FMR,
        "at-fmr",
        differing=3,
        examples=(Example((1,), (0, 0, 0, 2), (0.25, 1), (0.25, 0)),),
        refused=23,
        note=(
            "The same FMR; ours is the lowest such threshold, so its FNMR is as low or lower. It"
            " refuses a single score"
        ),
    ),
    Row(
        "bob-frr",
        "bob.measure",
        "`frr_threshold(neg, pos, 0.3)`",
        "`ff.rates(c, ff.at_fnmr(0.3))`",
        "at-fnmr",
        differing=81,
        examples=(Example((0, 0), (1,), (1, 1), (1, 0)),),
        refused=20,
        note=(
            "Scores that tie with the threshold count as rejected, and if even the lowest is too"
            " much the FNMR exceeds the one asked for"
        ),
    ),
    Row(
        "bob-min-dcf",
        "bob.measure",
        "cost at `min_weighted_error_rate_threshold(neg, pos, 0.99)`",
        MIN_DCF,
        "min-dcf-0.01",
        differing=38,
        examples=(Example((1,), (1,), (0.99,), (0.01,)), Example((3,), (0, 3), (0.495,), (0.01,))),
        note=(
            "To accept nothing it returns the highest score, which is accepted, if it is mated and"
            " non-mated"
        ),
    ),
    Row(
        "bob-cllr",
        "bob.measure",
        "`calibration.cllr(neg, pos)`",
        "{func}`ff.cllr(c) <fastfair.cllr>`",
        "cllr",
    ),
    Row(
        "bob-rank",
        "bob.measure",
        "`recognition_rate`",
        RANK,
        "rank-1",
        note="A tie with a non-mate is a miss",
    ),
    Row(
        "kaldi-eer",
        "Kaldi",
        "`compute-eer`",
        EER,
        "eer",
        differing=126,
        examples=(Example((1,), (1,), (0,), (0.5,)),),
        note=(
            "It steps over mated scores and reports the FNMR there; with thousands of scores a step"
            " is small"
        ),
    ),
    Row(
        "speechbrain-eer",
        "speechbrain",
        "`EER(pos, neg)`",
        EER,
        "eer",
        differing=4,
        examples=(Example((1,), (0, 1, 2), (2 / 3,), (1 / 3,)),),
        tolerance=1e-6,
        note="In 32 bits; where two points are equally near, rounding chooses",
    ),
    Row(
        "speechbrain-min-dcf",
        "speechbrain",
        "`minDCF(pos, neg)`",
        MIN_DCF,
        "min-dcf-0.01",
        tolerance=1e-6,
    ),
    Row(
        "speechbrain-min-dcf-0.9",
        "speechbrain",
        "`minDCF(pos, neg, p_target=0.9)`",
        "`ff.min_dcf(c, ff.Costs(0.9))`",
        "min-dcf-0.9",
        differing=47,
        examples=(Example((1,), (1,), (0.9,), (0.1,)), Example((0, 1), (0,), (0.45,), (0.1,))),
        tolerance=1e-6,
        note="To accept everything is not tried",
    ),
    Row(
        "torchmetrics-eer",
        "torchmetrics",
        "`binary_eer(s, y)` of scores from 0 to 1",
        EER,
        "eer",
        differing=11,
        examples=(Example((1,), (0, 2), (0.75,), (0.25,)),),
        tolerance=1e-6,
        note=(
            "Where two points are equally near, the higher threshold or the one that rounding to 32"
            " bits prefers. Scores outside 0 to 1 pass through a sigmoid, each batch by itself"
        ),
    ),
    Row(
        "torchmetrics-rank",
        "torchmetrics",
        "`retrieval_hit_rate(s, y, top_k=1)`",
        RANK,
        "rank-1",
        differing=35,
        examples=(Example((1,), (1,), (1, 0), (0, 0)),),
        note="In small galleries the first of equal scores wins",
    ),
    Row(
        "metric-learning-rank",
        "pytorch-metric-learning",
        "`precision_at_1` of queries and references",
        RANK,
        "rank-1",
        differing=35,
        examples=(Example((1,), (1,), (1, 0), (0, 0)),),
        note="The first of equal distances wins",
    ),
    Row(
        "faiss-rank-of-one",
        "faiss-cpu",
        "`IndexFlatIP`, one candidate",
        RANK,
        "rank-1",
        differing=35,
        examples=(Example((1,), (1,), (1, 0), (0, 0)),),
        note="The first of equal products wins",
    ),
    Row(
        "faiss-rank-of-all",
        "faiss-cpu",
        "`IndexFlatIP`, all candidates",
        RANK,
        "rank-1",
        differing=35,
        examples=(Example((1,), (1,), (0, 1), (0, 0)),),
        note="The *last* of equal products wins",
    ),
    Row(
        "llreval-eer",
        "llreval",
        "`tarnon_2_eer(tar, non)`",
        "`ff.eer(c, 'convex-hull')`",
        "eer-convex-hull",
        tolerance=1e-8,
    ),
    Row(
        "llreval-cllr",
        "llreval",
        "Cllr of `tarnon_2_eer_cllr_mincllr(tar, non)`",
        "`ff.cllr(c)`",
        "cllr",
    ),
    Row(
        "llreval-min-cllr",
        "llreval",
        "minCllr of the same",
        "{func}`ff.min_cllr(c) <fastfair.min_cllr>`",
        "min-cllr",
    ),
    Row(
        "lir-cllr",
        "lir",
        "`cllr(llrs)`",
        "`ff.cllr(c)`",
        "cllr",
        note="Its ratios are logarithms to base 10: ours are theirs times ln 10",
    ),
    Row(
        "lir-min-cllr",
        "lir",
        "`cllr_min(llrs)`",
        "`ff.min_cllr(c)`",
        "min-cllr",
        note="Of any scale",
    ),
    Row(
        "score-analysis-eer",
        "score-analysis",
        "`Scores(pos, neg).eer()`",
        "`ff.eer(c, 'interpolated')`",
        "eer-interpolated",
        differing=138,
        examples=(Example((1,), (1,), (0,), (0.5,)),),
        tolerance=1e-6,
        note=(
            "It interpolates thresholds, not rates; where the lowest mated score ties with the"
            " highest non-mated one it is 0"
        ),
    ),
    Row(
        "score-analysis-fmr",
        "score-analysis",
        "`threshold_at_fpr(0.3)`",
        AT_FMR,
        "at-fmr",
        differing=200,
        examples=(Example((1,), (0,), (1, 0), (0, 0)),),
        note=(
            "The FMR at its threshold is above the one asked for, by one non-mated comparison if"
            " none are tied"
        ),
    ),
    Row(
        "pyannote-eer",
        "pyannote.metrics",
        "`det_curve(y, s)`",
        "`ff.eer(c, 'interpolated')`",
        "eer-interpolated",
        differing=179,
        examples=(Example((1,), (0,), (0.25,), (0,)),),
        note=(
            "The mean of four rates about the crossing, of a curve with dropped points: without an"
            " error up to 0.25"
        ),
    ),
    Row(
        "proc-roc",
        "pROC",
        "`roc(y, s, levels=c(0, 1), direction='<')`",
        ROC,
        "roc",
        note="`1 - specificities`, `1 - sensitivities`; thresholds lie between scores",
    ),
    Row(
        "proc-words",
        "pROC",
        "`roc(words, s)` with *genuine* and *impostor*",
        AT_THRESHOLD,
        "at-threshold",
        differing=153,
        examples=(Example((1,), (0,), (1, 0), (0, 1)),),
        note=(
            "The second word in the alphabet is the case: the impostors, so that FMR and FNMR"
            " change places; where the median genuine score is not the higher one, each is also"
            " taken from 1"
        ),
    ),
    Row("rocr-roc", "ROCR", "`performance(prediction(s, y), 'fpr', 'fnr')`", ROC, "roc"),
    Row(
        "rocr-words",
        "ROCR",
        "`prediction(s, words)` with *genuine* and *impostor*",
        AT_THRESHOLD,
        "at-threshold",
        differing=165,
        examples=(Example((2,), (0,), (1, 1), (0, 0)),),
        note=(
            "Impostors, the second word, are to have the high scores: its rates are 1 − FNMR and 1"
            " − FMR"
        ),
    ),
    Row(
        "cutpointr-youden",
        "cutpointr",
        "mean of FMR and FNMR at `cutpointr(metric=youden)`",
        "`ff.min_dcf(c, ff.Costs(0.5))`",
        "min-dcf-0.5",
        differing=5,
        examples=(Example((1, 3), (0, 2), (0.5,), (0.25,)),),
        note="Of equally good cutpoints it returns the median, which may be worse than each",
    ),
)
