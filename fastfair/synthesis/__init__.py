"""Simulated comparisons, embeddings and decisions whose error rates are known."""

from fastfair import _lazily

__getattr__, __dir__, __all__ = _lazily(__name__, __file__)
