"""`evaluate` and `compare`: error rates, fairness measures and their intervals from comparisons, in
one call.
"""
