"""Errors as a function of several attributes at once, and rates by one attribute within values of
another.
"""
