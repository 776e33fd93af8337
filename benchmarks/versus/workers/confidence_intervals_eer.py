"""confidence_intervals' bootstrap of the EER, the reference's speaker as condition: EER and
interval."""

from confidence_intervals import evaluate_with_conf_int
from eers import by_sorting
from serve import load, serve

scores, mated, speaker = load("scores"), load("mated"), load("reference")


def bootstrap() -> list[float]:
    eer, interval = evaluate_with_conf_int(scores, by_sorting, mated, speaker, num_bootstraps=4)
    return [eer, *interval]


serve(
    {"four-replicates": bootstrap, "eer": lambda: by_sorting(mated, scores)},
    ["confidence_intervals", "scikit-learn", "numpy"],
)
