"""The public names of this room, which stand in no other place."""

from .coverage import coverage_experiment as coverage_experiment
from .hill_climbing import synthesize_each as synthesize_each
from .simulators import Binormal as Binormal
from .simulators import binormal_comparisons as binormal_comparisons
