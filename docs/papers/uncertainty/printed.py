"""What paper 5 prints: Tables 1 and 2 of its appendix B.1, to two digits."""

from __future__ import annotations

# Nominal coverage, estimated coverage of recentered intervals.
TABLE_1 = (
    (0.95, 0.96), (0.90, 0.90), (0.85, 0.87), (0.80, 0.82), (0.75, 0.78), (0.70, 0.72), (0.65, 0.67), (0.60, 0.62),
    (0.55, 0.57), (0.50, 0.51), (0.45, 0.49), (0.40, 0.42), (0.35, 0.37), (0.30, 0.32), (0.25, 0.26), (0.20, 0.23),
    (0.15, 0.18), (0.10, 0.11), (0.05, 0.04),
)  # fmt: skip

# Nominal coverage, estimated coverage of recentered, naive and Gaussian intervals, at another FMR.
TABLE_2 = (
    (0.95, 0.92, 0.55, 0.92),
    (0.90, 0.91, 0.54, 0.92),
    (0.85, 0.90, 0.50, 0.91),
    (0.80, 0.83, 0.45, 0.89),
    (0.75, 0.77, 0.40, 0.83),
    (0.70, 0.74, 0.34, 0.77),
    (0.65, 0.68, 0.30, 0.76),
    (0.60, 0.62, 0.30, 0.70),
    (0.55, 0.53, 0.30, 0.67),
    (0.50, 0.48, 0.28, 0.62),
    (0.45, 0.44, 0.23, 0.59),
)
