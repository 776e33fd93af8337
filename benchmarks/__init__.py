"""Benchmarks: asv suites that follow the library over time, and `versus`, which holds it against
other tools."""
