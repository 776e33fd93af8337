"""The public names of this room, which stand in no other place."""

from .curves import bayes_error as bayes_error
from .curves import tippett as tippett
