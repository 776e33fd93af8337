"""The words that pages explain: what each measure asks, and terms."""

from __future__ import annotations

QUESTIONS = {
    "fdr": "How far apart are the two groups with the most different FMRs, and FNMRs?",
    "inequity_rate": "By which factor does the worst group exceed the best, in FMR and FNMR?",
    "gini": "How unequally is the rate spread over groups?",
    "garbe": "How unequally are FMR and FNMR spread over groups?",
    "std": "How much does the rate scatter about the mean of the groups?",
    "skewed_error_ratio": "By which factor does the worst group exceed the best?",
    "mape": "How far are groups from the rate of all comparisons, relative to it?",
    "sed": "How far are groups from the overall rates, at the mean of the groups' EER thresholds?",
    "nrb": "How far are groups from the performance of all comparisons, on average?",
    "max_min_ratio": "By which factor does the worst group exceed the best?",
    "max_geomean_ratio": "By which factor does the worst group exceed the geometric mean?",
    "log_geomean_sum": "How far are groups from their geometric mean, on a logarithmic scale?",
}
GLOSSARY = (
    ("mated", "A comparison of two samples of the same subject."),
    ("non-mated", "A comparison of samples of two subjects."),
    ("FMR", "False match rate: the share of non-mated comparisons that are accepted."),
    ("FNMR", "False non-match rate: the share of mated comparisons that are rejected."),
    (
        "FRR and FAR",
        "False rejection and false acceptance rate: FNMR and FMR of all comparisons, where those without a score, as a "
        "sample failed, count as rejected.",
    ),
    (
        "FTA and FTE",
        "Failure-to-acquire and failure-to-enrol rate: the shares of samples, and of references, that failed.",
    ),
    ("threshold", "The score from which on comparisons are accepted."),
    ("operating point", "What fixes the threshold, such as an FMR of 0.1 % over all comparisons."),
    ("EER", "Equal error rate: the rate at the threshold where FMR and FNMR are equal."),
    ("minDCF", "The least weighted sum of FMR and FNMR that any threshold gives."),
    ("Cllr", "Cost of scores that are read as logarithms of likelihood ratios; without meaning for other scores."),
    ("DET curve", "FNMR over FMR at all thresholds, on scales that make curves of many systems nearly straight."),
    (
        "interval",
        "Where the value of other people like these would be expected: 95 % intervals made in this way hold the true "
        "value in about 95 of 100 studies.",
    ),
    (
        "intervals for all groups together",
        "They are wider, so that in about 95 of 100 studies all of them hold: for looking at groups side by side.",
    ),
    (
        "fewer than 30 errors",
        "Doddington's rule of 30: so few errors say little about a rate. Such rates are drawn lighter.",
    ),
    ("fair value", "The value of a measure for a system whose groups are all alike."),
)
