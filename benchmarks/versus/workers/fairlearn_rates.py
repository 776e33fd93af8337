"""fairlearn's MetricFrame of both rates by group, with and without bootstrap."""

from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate
from serve import load, serve

mated, accepted, group = load("mated"), load("accepted"), load("group")


def frame(**bootstrap: object) -> MetricFrame:
    return MetricFrame(
        metrics={"fmr": false_positive_rate, "fnmr": false_negative_rate},
        y_true=mated,
        y_pred=accepted,
        sensitive_features=group,
        **bootstrap,
    )


serve(
    {
        "two-replicates": lambda: (
            frame(n_boot=2, ci_quantiles=[0.025, 0.975], random_state=0).by_group
        ),
        "by_group": lambda: frame().by_group,
        "overall": lambda: frame().overall,
    },
    ["fairlearn", "scikit-learn", "pandas", "numpy"],
)
