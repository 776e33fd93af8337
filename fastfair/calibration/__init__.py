"""Log-likelihood ratios: what their decisions cost, how far from calibrated they are, and how to
calibrate scores.
"""

from fastfair import _lazily

__getattr__, __dir__, __all__ = _lazily(__name__, __file__)
