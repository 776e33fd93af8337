"""What the tools of this environment answer to the questions of docs/other_tools_situations: for
each question, and each `tool: call`, numbers or a word."""

import importlib.machinery
import importlib.util
import json
import sys
import types
import warnings
from collections.abc import Callable

import numpy as np
from answers import flags_and_scores

warnings.simplefilter("ignore")

TIE = np.array([1.0]), np.array([1.0])
APART = np.array([1.0]), np.array([0.0])
RATIOS = np.array([1.0]), np.array([-1.0])
ASKED = np.array([1.0]), np.array([0.0, 2.0])  # no threshold has an FMR of 0.3
# Two groups, of which the second has no mated comparison, and one that has no label.
FLAGS, ACCEPTED, GROUPS = np.array([1, 1, 0]), np.array([1, 0, 1]), np.array([0, 0, 1])
LABELS, ERRORS = ["a", "a", None], [0, 1, 1]

Scores = Callable[[np.ndarray, np.ndarray], object]
answers: dict[str, dict[str, object]] = {}


def has(module: str) -> bool:
    return importlib.util.find_spec(module.partition(".")[0]) is not None


def ask(key: str, call: str, function: Callable[[], object]) -> None:
    """Keep what a function returns; where a tool raises, it refuses."""
    try:
        value = function()
    except Exception:  # whatever a tool raises is its answer
        value = "refused"
    if not isinstance(value, str):
        value = np.atleast_1d(np.asarray(value, dtype=float)).tolist()
    answers.setdefault(key, {})[call] = value


def ask_eer(call: str, function: Scores) -> None:
    ask("eer-tie", call, lambda: function(*TIE))
    ask("eer-apart", call, lambda: function(*APART))


def ask_auc(call: str, function: Scores) -> None:
    ask("auc-tie", call, lambda: function(*TIE))
    ask("auc-apart", call, lambda: function(*APART))


def fate(groups: set[object]) -> str:
    """Say what became of the label that is missing."""
    return "left out" if groups == {"a"} else "a group"


if has("sklearn.metrics"):
    from sklearn.metrics import log_loss, roc_auc_score, roc_curve

    def trainer_eer(mated: np.ndarray, nonmated: np.ndarray) -> float:
        fpr, tpr, _ = roc_curve(*flags_and_scores(mated, nonmated))
        nearest = np.nanargmin(np.absolute(1 - tpr - fpr))
        return max(fpr[nearest], 1 - tpr[nearest])

    def nearest_fmr() -> list[float]:
        fpr, tpr, _ = roc_curve(*flags_and_scores(*ASKED))
        nearest = np.argmin(np.abs(fpr - 0.3))
        return [fpr[nearest], 1 - tpr[nearest]]

    def base_of_log_loss() -> float:
        flags, ratios = flags_and_scores(*RATIOS)
        return log_loss(flags, 1 / (1 + np.exp(-ratios))) / np.log(2)

    ask_eer("scikit-learn: EER of trainers", trainer_eer)
    ask("fmr-not-there", "scikit-learn: nearest of roc_curve", nearest_fmr)
    ask_auc("scikit-learn: roc_auc_score", lambda *s: roc_auc_score(*flags_and_scores(*s)))
    ask("base", "scikit-learn: log_loss", base_of_log_loss)

if has("bob"):
    import bob.measure as bob
    from bob.measure.calibration import cllr as bob_cllr

    def far_threshold() -> tuple[float, float]:
        mated, nonmated = ASKED
        return bob.farfrr(nonmated, mated, bob.far_threshold(nonmated, mated, 0.3))

    ask_eer("bob.measure: eer", lambda mated, nonmated: bob.eer(nonmated, mated))
    ask("fmr-not-there", "bob.measure: far_threshold", far_threshold)
    rank = bob.recognition_rate([(TIE[1], TIE[0])])
    ask("rank-tie", "bob.measure: recognition_rate", lambda: [rank, rank])
    ask("base", "bob.measure: cllr", lambda: bob_cllr(RATIOS[1], RATIOS[0]))

if has("fairlearn"):
    from fairlearn.metrics import MetricFrame, false_negative_rate

    def fnmr_of_groups(groups: list[object]) -> MetricFrame:
        return MetricFrame(
            metrics=false_negative_rate, y_true=FLAGS, y_pred=ACCEPTED, sensitive_features=groups
        )

    ask(
        "nobody",
        "fairlearn: MetricFrame.by_group",
        lambda: fnmr_of_groups(["a", "a", "b"]).by_group["b"],
    )
    ask(
        "no-label", "fairlearn: MetricFrame", lambda: fate({*fnmr_of_groups(LABELS).by_group.index})
    )

if has("pyeer"):
    from pyeer.eer_info import get_eer_stats

    ask_eer("pyeer: get_eer_stats", lambda *s: get_eer_stats(*s).eer)

if has("lir"):
    from lir.data.models import LLRData
    from lir.metrics import cllr as lir_cllr

    def base_of_lir() -> float:
        flags, ratios = flags_and_scores(*RATIOS)
        return lir_cllr(LLRData(features=ratios[:, None], labels=flags))

    ask("base", "lir: cllr", base_of_lir)

if has("llreval"):
    from llreval.quick_eval import tarnon_2_auc, tarnon_2_eer, tarnon_2_eer_cllr_mincllr

    ask_eer("llreval: tarnon_2_eer", tarnon_2_eer)
    ask("auc-apart", "llreval: tarnon_2_auc", lambda: tarnon_2_auc(*APART))
    ask(
        "base",
        "llreval: tarnon_2_eer_cllr_mincllr",
        lambda: tarnon_2_eer_cllr_mincllr(*RATIOS)[1],
    )

if has("pyannote"):
    from pyannote.metrics.binary_classification import det_curve

    ask_eer("pyannote.metrics: det_curve", lambda *s: det_curve(*flags_and_scores(*s))[3])

if has("score_analysis"):
    from score_analysis import Scores as Analysed

    def threshold_at_fpr() -> list[float]:
        scores = Analysed(*ASKED)
        threshold = scores.threshold_at_fpr(0.3)
        return [scores.fpr(threshold), scores.fnr(threshold)]

    ask_eer("score-analysis: eer", lambda *s: Analysed(*s).eer()[1])
    ask("fmr-not-there", "score-analysis: threshold_at_fpr", threshold_at_fpr)

if has("aif360"):
    import pandas as pd
    from aif360.datasets import BinaryLabelDataset
    from aif360.metrics import ClassificationMetric
    from aif360.sklearn.metrics import equal_opportunity_difference

    def dataset(groups: list[float]) -> BinaryLabelDataset:
        return BinaryLabelDataset(
            df=pd.DataFrame({"mated": FLAGS, "group": groups}),
            label_names=["mated"],
            protected_attribute_names=["group"],
        )

    def classified() -> float:
        truth = dataset([0, 0, 1])
        predicted = truth.copy()
        predicted.labels = ACCEPTED[:, None].astype(float)
        groups = {"unprivileged_groups": [{"group": 1}], "privileged_groups": [{"group": 0}]}
        return ClassificationMetric(truth, predicted, **groups).false_negative_rate(False)

    def fnmr_of_nobody() -> float:
        """Return 1 less the recall that is as far below that of the privileged, half of whom are
        accepted, as the difference says."""
        truth = pd.Series(FLAGS, pd.Index(GROUPS, name="group"))
        below = equal_opportunity_difference(truth, ACCEPTED, prot_attr="group", priv_group=0)
        return 1 - (0.5 + below)

    def with_whom() -> str:
        """Say whether a difference moves with the prediction of somebody without a label."""
        index = pd.Index([0, 0, 1, None], name="group")
        first, second = (
            equal_opportunity_difference(
                pd.Series([1, 1, 1, 1], index),
                np.array([1, 0, 1, last]),
                prot_attr="group",
                priv_group=0,
            )
            for last in (0, 1)
        )
        return "with the unprivileged" if (first, second) == (0, 0.5) else "left out"

    ask("nobody", "aif360: ClassificationMetric", classified)
    ask("nobody", "aif360: equal_opportunity_difference", fnmr_of_nobody)
    ask(
        "no-label",
        "aif360: BinaryLabelDataset",
        lambda: fate({*dataset([0, 0, np.nan]).protected_attributes[:, 0]}),
    )
    ask("no-label", "aif360: equal_opportunity_difference", with_whom)

if has("jurity"):
    from jurity.fairness import BinaryFairnessMetrics

    def of_jurity(metric: str, groups: list[float]) -> float:
        return getattr(BinaryFairnessMetrics, metric)().get_score(
            FLAGS, ACCEPTED, np.array(groups), [1]
        )

    ask("nobody", "jurity: FNRDifference", lambda: of_jurity("FNRDifference", [0, 0, 1]))
    ask(
        "no-label",
        "jurity: EqualOpportunity",
        lambda: of_jurity("EqualOpportunity", [0, 1, np.nan]),
    )

if has("confidenceinterval"):
    import confidenceinterval

    ask_auc(
        "confidenceinterval: roc_auc_score",
        lambda *s: confidenceinterval.roc_auc_score(*flags_and_scores(*s))[0],
    )
    ask(
        "no-errors",
        "confidenceinterval: tpr_score",
        lambda: 1 - confidenceinterval.tpr_score([1] * 10, [1] * 10)[1][0],
    )

if has("MLstatkit"):
    from MLstatkit import Delong_test

    def delong_auc(mated: np.ndarray, nonmated: np.ndarray) -> float:
        flags, scores = flags_and_scores(np.repeat(mated, 5), np.repeat(nonmated, 5))
        return Delong_test(flags, scores, scores)[4]

    ask_auc("MLstatkit: Delong_test", delong_auc)

if has("statsmodels"):
    from statsmodels.stats.proportion import proportion_confint

    ask("no-errors", "statsmodels: proportion_confint", lambda: proportion_confint(0, 10)[1])
    ask(
        "no-errors",
        "statsmodels: proportion_confint(method=beta)",
        lambda: proportion_confint(0, 10, method="beta")[1],
    )

if has("scipy"):
    from scipy.stats import binomtest

    interval = binomtest(0, 10).proportion_ci
    ask("no-errors", "scipy: binomtest().proportion_ci()", lambda: interval().high)
    ask("no-errors", "scipy: proportion_ci(method=wilson)", lambda: interval(method="wilson").high)

if has("confidence_intervals"):
    from confidence_intervals import evaluate_with_conf_int

    def of_rows() -> float:
        def rate(errors: np.ndarray, _: object = None) -> float:
            return float(np.mean(errors))

        return evaluate_with_conf_int(np.zeros(10), rate, None, num_bootstraps=50, alpha=5)[1][1]

    ask("no-errors", "confidence_intervals: evaluate_with_conf_int", of_rows)

if has("pytrec_eval"):
    import pytrec_eval

    def by_name() -> object:
        """Return the answer of two names of the mate, each as enrolled first and last."""
        hits = []
        for mate in ("ann", "zoe"):
            evaluator = pytrec_eval.RelevanceEvaluator({"q": {mate: 1}}, {"success_1"})
            for run in ({mate: 1.0, "bob": 1.0}, {"bob": 1.0, mate: 1.0}):
                hits.append(evaluator.evaluate({"q": run})["q"]["success_1"])
        return "by name" if hits == [0, 0, 1, 1] else hits

    ask("rank-tie", "pytrec-eval-terrier: success_1", by_name)

if has("ranx"):
    from ranx import Qrels, Run, evaluate

    def hit_rates() -> list[float]:
        mate = Qrels({"q": {"ann": 1}})
        runs = {"ann": 1.0, "bob": 1.0}, {"bob": 1.0, "ann": 1.0}
        return [evaluate(mate, Run({"q": run}), "hit_rate@1") for run in runs]

    ask("rank-tie", "ranx: hit_rate@1", hit_rates)

if has("eer"):
    from eer import eer_tnt

    ask_eer("eer: eer_tnt", eer_tnt)

if has("aequitas"):
    import pandas as pd
    from aequitas.group import Group

    def crosstabs(groups: list[object]) -> object:
        frame = pd.DataFrame({"score": ACCEPTED, "label_value": FLAGS, "group": groups})
        return Group().get_crosstabs(frame, attr_cols=["group"])[0].set_index("attribute_value")

    ask("nobody", "aequitas: get_crosstabs", lambda: crosstabs(["a", "a", "b"]).loc["b", "fnr"])
    ask("no-label", "aequitas: get_crosstabs", lambda: fate({*crosstabs(LABELS).index}))

if has("pandas"):
    import pandas as pd

    frame = pd.DataFrame({"label": LABELS, "error": ERRORS})
    ask("no-label", "pandas: groupby", lambda: fate({*frame.groupby("label").error.mean().index}))

if has("duckdb"):
    import duckdb

    rows = duckdb.sql("SELECT label, avg(error) FROM frame GROUP BY label").fetchall()
    ask("no-label", "duckdb: GROUP BY", lambda: fate({row[0] for row in rows}))

if has("polars"):
    import polars as pl

    means = pl.DataFrame({"label": LABELS, "error": ERRORS}).group_by("label").mean()
    ask("no-label", "polars: group_by", lambda: fate({*means["label"]}))

if has("torch"):
    import faiss
    import torch

    # speechbrain imports torchaudio, whose wheels want CUDA, and needs nothing of it here.
    sys.modules["torchaudio"] = types.ModuleType("torchaudio")
    sys.modules["torchaudio"].__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)

    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from speechbrain.utils.metric_stats import EER
    from torchmetrics.functional.classification import binary_eer
    from torchmetrics.functional.retrieval import retrieval_hit_rate

    def speechbrain_eer(mated: np.ndarray, nonmated: np.ndarray) -> float:
        return EER(torch.tensor(mated).float(), torch.tensor(nonmated).float())[0]

    def torchmetrics_eer(mated: np.ndarray, nonmated: np.ndarray) -> float:
        flags, scores = flags_and_scores(mated, nonmated)
        return float(binary_eer(torch.tensor(scores).float(), torch.tensor(flags)))

    def hit_rate() -> list[float]:
        """Return whether the first, and whether the last, of two equal scores is a hit."""
        scores = torch.tensor([0.5, 0.5])
        return [
            float(retrieval_hit_rate(scores, torch.arange(2) == mate, top_k=1)) for mate in (0, 1)
        ]

    def precision_at_1() -> list[float]:
        calculator = AccuracyCalculator(include=("precision_at_1",), k=1)
        probe, templates, people = torch.zeros(1, 1), torch.ones(2, 1), torch.arange(2)
        return [
            calculator.get_accuracy(probe, torch.tensor([mate]), templates, people)[
                "precision_at_1"
            ]
            for mate in (0, 1)
        ]

    def first_of_index(n: int) -> list[bool]:
        index = faiss.IndexFlatIP(1)
        index.add(np.ones((2, 1), np.float32))
        _, people = index.search(np.ones((1, 1), np.float32), n)
        return [people[0, 0] == mate for mate in (0, 1)]

    ask_eer("speechbrain: EER", speechbrain_eer)
    ask_eer("torchmetrics: binary_eer", torchmetrics_eer)
    ask("rank-tie", "torchmetrics: retrieval_hit_rate", hit_rate)
    ask("rank-tie", "pytorch-metric-learning: precision_at_1", precision_at_1)
    ask("rank-tie", "faiss-cpu: IndexFlatIP, one candidate", lambda: first_of_index(1))
    ask("rank-tie", "faiss-cpu: IndexFlatIP, all candidates", lambda: first_of_index(2))

print(json.dumps(answers))
