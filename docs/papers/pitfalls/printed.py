"""What paper 3 prints: "As Biased as You Measure", sections 4.1 to 4.3, on VoxCeleb1-I but for
`OVERALL`.

EERs are in per cent with three decimals, costs and rates have three decimals (costs two digits,
rates one), ratios and logarithms three decimals. Columns are gender and nationality, "All" being
the gender alone.
"""

from __future__ import annotations

from typing import Literal

Group = tuple[str, str]  # gender, nationality

NATIONALITIES = {
    "AUS": "Australia",
    "CA": "Canada",
    "DE": "Germany",
    "IE": "Ireland",
    "IN": "India",
    "NO": "Norway",
    "UK": "UK",
    "US": "USA",
}  # of section 3.2, and what they are called in the data
METRICS: tuple[Literal["eer", "min_dcf"], ...] = ("eer", "min_dcf")
FPR_AVERAGES = (0.001, 0.01, 0.025, 0.05, 0.1)
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)

OVERALL = {"VoxCeleb1-H": (2.402, 0.008), "VoxCeleb1-I": (3.657, 0.012)}  # EER, minCDet; section 4
FDR_READ, NRB_READ = (
    0.99,
    0.65,
)  # off figures 1 and 2 by the authors: alpha 1, FPR, at an average FPR of 0.001


def _of_columns(gender: str, columns: str, values: str) -> dict[Group, float]:
    return {
        (gender, name): float(x) for name, x in zip(columns.split(), values.split(), strict=True)
    }


_TABLE_2 = "All IN US AUS NO DE"
TABLE_2: dict[str, dict[Group, float]] = {
    "eer": _of_columns("male", _TABLE_2, "3.581 3.218 2.999 4.362 8.210 3.013")
    | _of_columns("female", _TABLE_2, "3.757 7.028 3.250 2.788 4.588 10.641"),
    "min_dcf": _of_columns("male", _TABLE_2, "0.011 0.018 0.010 0.012 0.025 0.009")
    | _of_columns("female", _TABLE_2, "0.012 0.023 0.011 0.011 0.014 0.019"),
}

_TABLE_3 = "All IN US AUS DE"
TABLE_3: dict[tuple[str, str], dict[Group, float]] = {  # by measure and base metric
    ("group_to_min_difference", "eer"): _of_columns(
        "male", _TABLE_3, "0.000 0.429 0.211 1.573 0.224"
    )
    | _of_columns("female", _TABLE_3, "0.176 4.240 0.462 0.000 7.853"),
    ("group_to_min_difference", "min_dcf"): _of_columns(
        "male", _TABLE_3, "0.000 0.010 0.001 0.003 0.000"
    )
    | _of_columns("female", _TABLE_3, "0.001 0.015 0.002 0.002 0.011"),
    ("group_to_average_ratio", "eer"): _of_columns(
        "male", _TABLE_3, "0.979 0.880 0.820 1.193 0.824"
    )
    | _of_columns("female", _TABLE_3, "1.027 1.922 0.889 0.762 2.909"),
    ("group_to_average_ratio", "min_dcf"): _of_columns(
        "male", _TABLE_3, "0.954 1.571 0.863 1.046 0.749"
    )
    | _of_columns("female", _TABLE_3, "1.059 1.986 0.937 0.945 1.662"),
    ("group_to_average_log_ratio", "eer"): _of_columns(
        "male", _TABLE_3, "0.021 0.128 0.198 -0.176 0.194"
    )
    | _of_columns("female", _TABLE_3, "-0.027 -0.653 0.118 0.271 -1.068"),
    ("group_to_average_log_ratio", "min_dcf"): _of_columns(
        "male", _TABLE_3, "0.047 -0.452 0.148 -0.045 0.289"
    )
    | _of_columns("female", _TABLE_3, "-0.057 -0.686 0.065 0.056 -0.508"),
}

_TABLE_4 = "IN US AUS DE"
TABLE_4: dict[str, dict[Group, float]] = {  # at an average FPR of 0.001
    "fmr": _of_columns("male", _TABLE_4, "0.005 0.000 0.001 0.002")
    | _of_columns("female", _TABLE_4, "0.003 0.001 0.002 0.001"),
    "group_to_min_difference": _of_columns("male", _TABLE_4, "0.005 0.000 0.001 0.002")
    | _of_columns("female", _TABLE_4, "0.003 0.000 0.001 0.001"),
    "group_to_average_log_ratio": _of_columns("male", _TABLE_4, "1.659 -0.912 0.000 0.654")
    | _of_columns("female", _TABLE_4, "1.201 -0.475 0.472 0.249"),
}

ATTEMPTS_PER_HOUR = 60  # section 4.3
HOURS_AT_DESIGN, HOURS_OF_WORST = 17.0, 3.5  # at FPRs of 0.001 and 0.005


def label(group: Group) -> str:
    """Return what a printed group is called in the data."""
    gender = group[0][0]
    return gender if group[1] == "All" else f"{gender} & {NATIONALITIES[group[1]]}"
