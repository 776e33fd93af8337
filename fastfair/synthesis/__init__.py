"""Simulated comparisons, embeddings and decisions whose error rates are known."""
