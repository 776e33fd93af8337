"""Log-likelihood ratios: what their decisions cost, how far from calibrated they are, and how to calibrate scores."""
