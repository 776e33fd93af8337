#!/bin/sh
# hnswlib 0.8.0: of more candidates than people are left, the rest are people who were deleted.
#
# BFIndex looks at as many of its places as candidates are asked for. A deleted person is returned again, and whoever was moved to a
# deleted one's place is returned twice. Its documentation says nothing of it; the package's other index refuses to return more than
# there are. (pip compiles it.)
#
# Seen:
#   11, 12, 13 enrolled: 3 candidates: [(11, 0.0), (12, 0.4), (13, 2.0)]
#   13 deleted: 2 candidates: [(11, 0.0), (12, 0.4)]
#   13 deleted: 3 candidates: [(11, 0.0), (12, 0.4), (13, 2.0)]
#   11 deleted: 2 candidates: [(12, 0.4), (12, 0.4)]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check hnswlib==0.8.0 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import hnswlib
import numpy as np

index = hnswlib.BFIndex("cosine", 2)
index.init_index(3)
index.add_items(np.array([[1, 0], [0.6, 0.8], [-1, 0]], np.float32), [11, 12, 13])


def show(event, k):
    labels, distances = index.knn_query(np.array([1, 0], np.float32), k)
    print(event, k, "candidates:", [*zip(labels[0].tolist(), [round(float(d), 3) for d in distances[0]])])


show("11, 12, 13 enrolled:", 3)
index.delete_vector(13)
show("13 deleted:", 2)
show("13 deleted:", 3)
index.delete_vector(11)
show("11 deleted:", 2)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
11, 12, 13 enrolled: 3 candidates: [(11, 0.0), (12, 0.4), (13, 2.0)]
13 deleted: 2 candidates: [(11, 0.0), (12, 0.4)]
13 deleted: 3 candidates: [(11, 0.0), (12, 0.4), (13, 2.0)]
11 deleted: 2 candidates: [(12, 0.4), (12, 0.4)]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
