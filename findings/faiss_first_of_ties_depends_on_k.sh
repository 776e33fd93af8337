#!/bin/sh
# faiss-cpu 1.15.1: whom an inner-product search returns first, of equal scores, depends on how many are asked for.
#
# IndexFlatIP with one candidate returns the first person enrolled; with more candidates the one enrolled last of those
# that fit. So rank 1 of a list of five is not the list of one. IndexFlatL2 returns them in the order of enrolment.
#
# Seen:
#   IndexFlatIP 1 [0]
#   IndexFlatIP 2 [1, 0]
#   IndexFlatIP 5 [4, 3, 2, 1, 0]
#   IndexFlatL2 1 [0]
#   IndexFlatL2 2 [0, 1]
#   IndexFlatL2 5 [0, 1, 2, 3, 4]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check faiss-cpu==1.15.1 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import faiss
import numpy as np

for kind in (faiss.IndexFlatIP, faiss.IndexFlatL2):
    index = kind(2)
    index.add(np.ones((6, 2), np.float32))
    for k in (1, 2, 5):
        print(kind.__name__, k, index.search(np.ones((1, 2), np.float32), k)[1][0].tolist())
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
IndexFlatIP 1 [0]
IndexFlatIP 2 [1, 0]
IndexFlatIP 5 [4, 3, 2, 1, 0]
IndexFlatL2 1 [0]
IndexFlatL2 2 [0, 1]
IndexFlatL2 5 [0, 1, 2, 3, 4]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
