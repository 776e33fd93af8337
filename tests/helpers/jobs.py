"""Jobs that workers of other processes can import."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fastfair.errors import InputError


@dataclass
class Squares:
    """The squares of numbers."""

    values: np.ndarray
    power: int = 2

    def run(self, steps, n_threads, told):
        found = self.values[steps.start : steps.stop] ** self.power
        if told is not None:
            told(len(steps), len(steps))
        return {"squares": found, "threads": np.array([n_threads or 0])}


@dataclass
class Refusing(Squares):
    """Refuses number 50."""

    def run(self, steps, n_threads, told):
        if 50 in steps:
            raise InputError("50 is refused", row=50)
        return super().run(steps, n_threads, told)


@dataclass
class Deadly(Squares):
    """Ends the process that works on number 50, as often as there are files in a folder to
    remove."""

    folder: str = ""

    def run(self, steps, n_threads, told):
        if 50 in steps:
            for path in Path(self.folder).iterdir():
                path.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().run(steps, n_threads, told)


@dataclass
class Slow(Squares):
    """Takes a second for each part."""

    def run(self, steps, n_threads, told):
        time.sleep(1)
        return super().run(steps, n_threads, told)
