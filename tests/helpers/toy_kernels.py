"""Two files of kernels, the first of which calls one of the second, for a package with the
compiler's decorator."""

from __future__ import annotations

CALLER = """
from ._jit import jit
from .helper import shift

@jit
def call(x):
    return shift(x)

@jit
def other(x):
    return x - 1
"""
HELPER = """
from ._jit import helper

@helper
def shift(x):
    return x + {amount}
"""
