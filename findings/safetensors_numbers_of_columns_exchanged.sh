#!/bin/sh
# safetensors 0.8.0: numbers of an array that is stored column after column come back in other places.
#
# save_file of safetensors.numpy writes the memory of an array, and its shape, but not that its order is that of columns, as of a
# transposed array or of numpy.asfortranarray. Nothing is raised, and shape, type and sum are right. Of a view that has every
# second column as many numbers of the memory are written, from the first on, of other columns as well.
#
# Seen:
#   rows [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] become [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
#   columns [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] become [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
#   selected [[0.0, 2.0], [3.0, 5.0]] become [[0.0, 1.0], [2.0, 3.0]]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check safetensors==0.8.0 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from safetensors.numpy import load, save

vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
for name, array in (("rows", vectors), ("columns", np.asfortranarray(vectors)), ("selected", vectors[:, ::2])):
    print(name, array.tolist(), "become", load(save({"vectors": array}))["vectors"].tolist())
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
rows [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] become [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
columns [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] become [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
selected [[0.0, 2.0], [3.0, 5.0]] become [[0.0, 1.0], [2.0, 3.0]]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
