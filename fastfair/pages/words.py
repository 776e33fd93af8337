"""The words that pages explain: terms, what each measure asks, and how intervals are made."""

from __future__ import annotations

from fastfair.measures._names import printed_name

_QUESTIONS = {
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
    ("mated, non-mated", "A comparison of two samples of the same person; of two people."),
    ("FNMR", "False non-match rate: the share of mated comparisons that are wrongly rejected."),
    ("FMR", "False match rate: the share of non-mated comparisons that are wrongly accepted."),
    ("FRR and FAR", "FNMR and FMR where comparisons without a score, as a sample failed, count as rejected."),
    ("FTA and FTE", "Failure-to-acquire and failure-to-enrol rate: shares of samples, and of references, that failed."),
    ("threshold", "The lowest score that is accepted."),
    ("operating point", "What fixes the threshold, such as an FMR of 0.1 % over all comparisons."),
    ("EER", "Equal error rate: the rate at the threshold where FMR and FNMR are equal."),
    ("minDCF", "The least weighted sum of FMR and FNMR that any threshold gives."),
    ("Cllr", "Cost of scores that are read as log-likelihood ratios; without meaning for other scores."),
    ("DET curve", "FNMR over FMR at all thresholds, on scales of normal deviates. Lower is better."),
    ("interval", "The plausible range for similar people: in about 95 of 100 studies it holds the true value."),
    ("simultaneous intervals", "Wider ones that hold for all groups together in about 95 of 100 studies."),
    ("effective sample size", "The number of independent comparisons that would be as informative."),
    ("fewer than 30 errors", "The rule of 30: so few errors say little about a rate. Such rates are in italics."),
    ("undecided", "The data show neither that a requirement is met nor that it is not."),
    ("fair value", "The value of a measure for a system whose groups have equal rates."),
    *((printed_name(name), question) for name, question in _QUESTIONS.items()),
)  # fmt: skip
METHOD = (
    "Intervals tell how far numbers may be off because other people could have been in the data. They allow for "
    "comparisons that share people, but not for wrong labels, for errors that are alike on one day or device, or for "
    "use under other conditions.",
    "Groups are those of the labels given. Rates may differ within a group.",
    "This page states differences and how certain they are. It does not judge fairness.",
)
