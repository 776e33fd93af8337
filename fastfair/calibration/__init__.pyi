"""The public names of this room, which stand in no other place."""

from .evaluate_calibration import bayes_error as bayes_error
from .evaluate_calibration import tippett as tippett
