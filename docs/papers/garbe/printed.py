"""What paper 2 prints: Tables 1 and 2, and the numbers of section 4's text."""

from __future__ import annotations

NATIONALITIES = (
    "USA",
    "UK",
    "Germany",
    "Australia",
    "Italy",
    "India",
    "Ireland",
    "New Zealand",
    "Canada",
)
MATED = NONMATED = 2208  # comparisons of each nationality, section 3.2

# Table 1: FMR and FNMR in per cent, to two decimals, nationalities in the order above.
TABLE_1 = {
    "ERes2Net": (
        (1.22, 0.68, 0.59, 0.68, 1.95, 2.31, 0.18, 1.86, 1.13),
        (1.04, 0.45, 2.81, 0.27, 2.58, 0.09, 2.04, 0.27, 1.31),
    ),
    "CAM++": (
        (1.40, 0.41, 0.63, 1.99, 1.40, 1.90, 0.82, 1.86, 1.40),
        (1.54, 0.14, 4.26, 0.14, 2.72, 0.14, 2.31, 0.18, 0.86),
    ),
    "ECAPA": (
        (1.13, 0.72, 2.49, 1.90, 2.58, 2.76, 0.77, 2.17, 1.31),
        (1.45, 0.23, 6.34, 0.27, 3.85, 1.00, 1.45, 0.27, 1.22),
    ),
    "ResNetSE34V2": (
        (1.36, 0.50, 2.31, 0.86, 3.26, 6.11, 0.45, 0.95, 1.13),
        (1.68, 0.50, 6.34, 0.77, 2.54, 0.00, 2.36, 1.18, 1.63),
    ),
    "ResNetSE34L": (
        (2.76, 2.08, 4.17, 1.54, 3.53, 5.53, 0.86, 1.86, 5.30),
        (2.08, 1.90, 8.11, 1.72, 4.08, 0.09, 4.21, 2.67, 2.17),
    ),
}
# The last row of Table 1, per cent to two decimals.
POOLED_EER = {
    "ERes2Net": 1.18,
    "CAM++": 1.37,
    "ECAPA": 1.79,
    "ResNetSE34V2": 1.88,
    "ResNetSE34L": 3.01,
}

# Table 2: whether FDR, IR and GARBE meet each criterion.
TABLE_2 = {
    "FFMC.1": {"fdr": False, "inequity_rate": True, "garbe": True},
    "FFMC.2": {"fdr": True, "inequity_rate": False, "garbe": True},
    "FFMC.3": {"fdr": True, "inequity_rate": False, "garbe": True},
}

# Values over alpha in [0, 1] (sections 4.1 and 4.2), at an FMR of 0.1 % and at FMRs of 0.1 to 10 %.
RANGES_AT = {"fdr": (0.82, 1.0), "garbe": (0.19, 0.61)}
RANGES_OVER = {"fdr": (0.72, 1.0), "garbe": (0.0, 1.0)}
IR_LARGEST = 200.0  # section 4.2.2, Fig. 5
# Medians of GARBE's terms FPD and FND (sections 4.1.3 and 4.2.3).
GARBE_TERMS_AT = (0.55, 0.29)
GARBE_TERMS_OVER = (0.21, 0.88)

# IR (sections 4.1.2 and 4.2.2): at an FMR of 0.1 % one system's value, the others' not computable;
# share computable at FMRs of 0.1 to 10 %.
IR_AT = {"ResNetSE34V2": 13.35}
IR_COMPUTABLE = 0.086

# The FMR where one of the terms FPD and FND overtakes the other (section 4.2.3).
SWAPS = {"fdr": 0.009, "garbe": 0.004}
