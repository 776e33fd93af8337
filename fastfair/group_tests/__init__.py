"""Tests whether the error rates of groups differ by more than chance, and margins of error."""
