#!/bin/sh
# tie-aware-retrieval-metrics 0.1.1: the precision expected over all orders of tied candidates is lower than in any of them.
#
# Its README has the score expected over all orders of ties, and the range of scores between the worst and the best. Where fewer candidates
# are in a list than are looked at, the expected precision and F1 divide by the number asked for, those of the worst and best order by the
# number there is. The cut-offs looked at by default go up to 100. Ties make no difference there, and the range is 0.
#
# Seen:
#   first 1 precision expected 0.5 from 0.0 1.0 inside: True
#   first 1 f1 expected 0.5 from 0.0 1.0 inside: True
#   first 2 precision expected 0.5 from 0.5 0.5 inside: True
#   first 2 f1 expected 0.6667 from 0.6667 0.6667 inside: True
#   first 3 precision expected 0.3333 from 0.3333 0.3333 inside: True
#   first 3 f1 expected 0.5 from 0.5 0.5 inside: True
#   first 10 precision expected 0.1 from 0.3333 0.3333 inside: False
#   first 10 f1 expected 0.1818 from 0.5 0.5 inside: False
#   first 100 precision expected 0.01 from 0.3333 0.3333 inside: False
#   first 100 f1 expected 0.0198 from 0.5 0.5 inside: False
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tie-aware-retrieval-metrics==0.1.1
cat > "$folder/finding.py" <<'PYTHON'
import trm

for k in (1, 2, 3, 10, 100):
    result = trm.evaluate([[0.9, 0.9, 0.7]], [[True, False, False]], metrics=["precision", "f1"], k_list=[k])
    for metric in ("precision", "f1"):
        at = result.metrics[metric][k]
        expected, ends = round(at.expected, 4), [round(at.minimum, 4), round(at.maximum, 4)]
        print("first", k, metric, "expected", expected, "from", *ends, "inside:", ends[0] <= expected <= ends[1])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
first 1 precision expected 0.5 from 0.0 1.0 inside: True
first 1 f1 expected 0.5 from 0.0 1.0 inside: True
first 2 precision expected 0.5 from 0.5 0.5 inside: True
first 2 f1 expected 0.6667 from 0.6667 0.6667 inside: True
first 3 precision expected 0.3333 from 0.3333 0.3333 inside: True
first 3 f1 expected 0.5 from 0.5 0.5 inside: True
first 10 precision expected 0.1 from 0.3333 0.3333 inside: False
first 10 f1 expected 0.1818 from 0.5 0.5 inside: False
first 100 precision expected 0.01 from 0.3333 0.3333 inside: False
first 100 f1 expected 0.0198 from 0.5 0.5 inside: False
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
