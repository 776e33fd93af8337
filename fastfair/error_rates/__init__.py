"""Error rates, curves, equal error rates and costs of comparisons, and the operating points they are taken at."""
