"""`evaluate` and `compare`: the whole way from comparisons to rates, measures and their intervals."""
