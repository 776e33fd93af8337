"""What tools on top of PyTorch compute: torchmetrics, speechbrain, pytorch-metric-learning and
faiss."""

import importlib.machinery
import sys
import types

import faiss
import numpy as np
import torch
from answers import answer, flags_and_scores

# speechbrain imports torchaudio, whose wheels want CUDA, and needs nothing of it here.
sys.modules["torchaudio"] = types.ModuleType("torchaudio")
sys.modules["torchaudio"].__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)

from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator  # noqa: E402
from speechbrain.utils.metric_stats import EER, minDCF  # noqa: E402
from torchmetrics.functional.classification import binary_eer  # noqa: E402
from torchmetrics.functional.retrieval import retrieval_hit_rate  # noqa: E402

HIGHEST = 10  # no score is higher; torchmetrics wants numbers from 0 to 1


def tensors(mated: np.ndarray, nonmated: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(mated, dtype=torch.float32), torch.tensor(nonmated, dtype=torch.float32)


def torchmetrics_eer(mated: np.ndarray, nonmated: np.ndarray) -> float:
    flags, scores = flags_and_scores(mated, nonmated)
    return float(
        binary_eer(torch.tensor(scores / HIGHEST, dtype=torch.float32), torch.tensor(flags))
    )


def searches(mated: np.ndarray, nonmated: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """Return the scores of a gallery whose mate is first, and of one whose mate is last, and where
    the mate is."""
    return [(np.append(mated[0], nonmated), 0), (np.append(nonmated, mated[0]), nonmated.size)]


def torchmetrics_rank(mated: np.ndarray, nonmated: np.ndarray) -> list[float]:
    hits = []
    for scores, mate in searches(mated, nonmated):
        is_mate = torch.arange(scores.size) == mate
        hits.append(float(retrieval_hit_rate(torch.tensor(scores / HIGHEST), is_mate, top_k=1)))
    return hits


def metric_learning_rank(mated: np.ndarray, nonmated: np.ndarray) -> list[float]:
    """Compare a probe at 0 with templates whose distance is the less, the higher the score."""
    calculator, hits = AccuracyCalculator(include=("precision_at_1",), k=1), []
    for scores, mate in searches(mated, nonmated):
        templates = torch.tensor(HIGHEST - scores, dtype=torch.float32)[:, None]
        of_mate = torch.tensor([mate])
        found = calculator.get_accuracy(
            torch.zeros(1, 1), of_mate, templates, torch.arange(scores.size)
        )
        hits.append(found["precision_at_1"])
    return hits


def faiss_rank(mated: np.ndarray, nonmated: np.ndarray, all_candidates: bool) -> list[bool]:
    """Compare a probe of 1 with templates that are the scores; with all candidates asked for, or
    with one."""
    hits = []
    for scores, mate in searches(mated, nonmated):
        index = faiss.IndexFlatIP(1)
        index.add(scores.astype(np.float32)[:, None])
        _, people = index.search(np.ones((1, 1), np.float32), scores.size if all_candidates else 1)
        hits.append(people[0, 0] == mate)
    return hits


answer(
    {
        "torchmetrics-eer": torchmetrics_eer,
        "torchmetrics-rank": torchmetrics_rank,
        "speechbrain-eer": lambda mated, nonmated: EER(*tensors(mated, nonmated))[0],
        "speechbrain-min-dcf": lambda mated, nonmated: minDCF(*tensors(mated, nonmated))[0],
        "speechbrain-min-dcf-0.9": lambda mated, nonmated: minDCF(
            *tensors(mated, nonmated), p_target=0.9
        )[0],
        "metric-learning-rank": metric_learning_rank,
        "faiss-rank-of-one": lambda mated, nonmated: faiss_rank(
            mated, nonmated, all_candidates=False
        ),
        "faiss-rank-of-all": lambda mated, nonmated: faiss_rank(
            mated, nonmated, all_candidates=True
        ),
    }
)
