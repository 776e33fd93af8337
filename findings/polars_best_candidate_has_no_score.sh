#!/bin/sh
# polars 2.1.0: the best candidate of a list is one whose score is not a number, but for max.
#
# NaN, as comparisons that failed often have, counts as greater than all numbers: sorted from the highest score it comes first,
# top_k returns it, and it is at or above every threshold. max and arg_max leave it out, so that they name another candidate.
#
# Seen:
#   sorted ['failed', 'mate', 'other']
#   top_k ['failed']
#   at or above 5 ['failed']
#   max 0.9 of mate
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0
cat > "$folder/finding.py" <<'PYTHON'
import polars as pl

candidates = pl.DataFrame({"name": ["mate", "other", "failed"], "score": [0.9, 0.2, float("nan")]})
print("sorted", candidates.sort("score", descending=True)["name"].to_list())
print("top_k", candidates.top_k(1, by="score")["name"].to_list())
print("at or above 5", candidates.filter(pl.col("score") >= 5)["name"].to_list())
print("max", candidates["score"].max(), "of", candidates["name"][candidates["score"].arg_max()])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
sorted ['failed', 'mate', 'other']
top_k ['failed']
at or above 5 ['failed']
max 0.9 of mate
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
