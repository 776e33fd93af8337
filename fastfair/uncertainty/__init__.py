"""Confidence intervals, with notes, of the quantities that an evaluation reports."""
