"""Curves over false match rates with pointwise intervals and simultaneous bands."""
