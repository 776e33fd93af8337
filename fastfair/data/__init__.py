"""Comparisons and embeddings: validated, sorted once, grouped, matched between systems."""
