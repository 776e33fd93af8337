"""Intervals of the quantities that evaluations and bands report."""
