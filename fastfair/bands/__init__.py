"""ROC curves, and fairness measures over the FMR, with pointwise intervals and simultaneous
bands.
"""
