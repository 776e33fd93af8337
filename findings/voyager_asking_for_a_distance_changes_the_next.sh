#!/bin/sh
# voyager 2.2.3: the distance of two vectors is another one after that of a longer vector was asked for.
#
# get_distance is documented as the distance between two provided vectors; for Space.InnerProduct that is 1 less the product, as in
# its searches. It remembers the largest norm that it was asked for, or that was added, and lengthens both vectors to that by one more
# number each. So whom a threshold accepts depends on who came before, and the nearest of three is another.
#
# Seen:
#   first itself get_distance 0.0 1 less the product 0.0
#   first orthogonal get_distance 1.0 1 less the product 1.0
#   first fivefold get_distance -4.0 1 less the product -4.0
#   after a distance to a vector of norm 10 itself get_distance -81.0 1 less the product 0.0
#   after a distance to a vector of norm 10 orthogonal get_distance -80.0 1 less the product 1.0
#   after a distance to a vector of norm 10 fivefold get_distance -76.0 1 less the product -4.0
#   search [0.0] get_distance -81.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check voyager==2.2.3 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
from voyager import Index, Space

index = Index(Space.InnerProduct, 2)
one, orthogonal, fivefold, long = [1.0, 0.0], [0.0, 1.0], [5.0, 0.0], [10.0, 0.0]
for event in ("first", "after a distance to a vector of norm 10"):
    for name, other in (("itself", one), ("orthogonal", orthogonal), ("fivefold", fivefold)):
        product = sum(a * b for a, b in zip(one, other))
        print(event, name, "get_distance", index.get_distance(one, other), "1 less the product", 1 - product)
    index.get_distance(one, long)
index.add_item(one)
print("search", index.query(one, 1)[1].tolist(), "get_distance", index.get_distance(one, one))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
first itself get_distance 0.0 1 less the product 0.0
first orthogonal get_distance 1.0 1 less the product 1.0
first fivefold get_distance -4.0 1 less the product -4.0
after a distance to a vector of norm 10 itself get_distance -81.0 1 less the product 0.0
after a distance to a vector of norm 10 orthogonal get_distance -80.0 1 less the product 1.0
after a distance to a vector of norm 10 fivefold get_distance -76.0 1 less the product -4.0
search [0.0] get_distance -81.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
