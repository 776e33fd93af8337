#!/bin/sh
# scikit-learn 1.9.1: a vector of zeros is at distance 1 of any other in one function, and at 0.5 in the next.
#
# Vectors of zeros stand for samples of which no features could be had. cosine_distances and paired_cosine_distances are both
# documented as the cosine distance; the latter as half the squared Euclidean distance of vectors of norm 1, which zeros have not.
# For all other vectors the two agree. scipy's cosine of zeros is not a number.
#
# Seen:
#   two vectors all pairs [1.0] paired [1.0]
#   zeros and a vector all pairs [1.0] paired [0.5]
#   zeros and zeros all pairs [0.0] paired [0.0]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from sklearn.metrics.pairwise import cosine_distances, paired_cosine_distances

zeros, one, other = np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]])
for name, a, b in (("two vectors", one, other), ("zeros and a vector", zeros, one), ("zeros and zeros", zeros, zeros)):
    print(name, "all pairs", cosine_distances(a, b)[0].tolist(), "paired", paired_cosine_distances(a, b).tolist())
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
two vectors all pairs [1.0] paired [1.0]
zeros and a vector all pairs [1.0] paired [0.5]
zeros and zeros all pairs [0.0] paired [0.0]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
