"""Compiled kernels: plain arrays in, plain arrays out; nothing of fastfair is imported here."""
