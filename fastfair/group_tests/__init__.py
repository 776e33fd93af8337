"""Tests whether the error rates of groups differ by more than chance, margins of error, and failure
counts.
"""
