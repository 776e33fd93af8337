"""Operating points, and the error rates, ROC and DET curves, EERs and costs of comparisons."""
