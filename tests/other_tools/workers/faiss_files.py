"""An index of FAISS, and its vectors as FAISS gives them back, in the folder that is the
argument."""

import sys
from pathlib import Path

import faiss
import numpy as np

folder = Path(sys.argv[1])
vectors = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
index = faiss.IndexFlatIP(3)
index.add(vectors)
faiss.write_index(index, str(folder / "faces.index"))
np.save(folder / "faces.npy", index.reconstruct_n(0, index.ntotal))
np.save(folder / "expected.npy", vectors)
