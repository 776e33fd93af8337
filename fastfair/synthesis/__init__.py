"""Comparisons and embeddings made to order, with known error rates."""
