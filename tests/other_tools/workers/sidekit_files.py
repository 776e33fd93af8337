"""sidekit's files of scores and of a key, in the folder that is the argument."""

import importlib.util
import sys
import types
from pathlib import Path

import numpy as np

# sidekit imports all that it has, PyTorch as well: only its files of scores are wanted.
package = Path(importlib.util.find_spec("sidekit").submodule_search_locations[0])
for name, place in (("sidekit", package), ("sidekit.bosaris", package / "bosaris")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(place)]
sys.modules["sidekit"].PARALLEL_MODULE = "multiprocessing"

from sidekit.bosaris.key import Key  # noqa: E402
from sidekit.bosaris.scores import Scores  # noqa: E402

folder = Path(sys.argv[1])
models = np.array(["ann", "bob"], dtype=object)
segments = np.array(["ann/1", "bob/1", "bob/2"], dtype=object)
scores, key = Scores(), Key()
scores.modelset = key.modelset = models
scores.segset = key.segset = segments
scores.scoremask = np.array([[True, True, False], [True, True, True]])
scores.scoremat = np.float32([[1, 0.5, 0], [0.25, 0.75, 0.125]])
key.tar = np.array([[True, False, False], [False, True, True]])
key.non = scores.scoremask & ~key.tar
scores.write(str(folder / "scores.h5"))
key.write(str(folder / "key.h5"))
