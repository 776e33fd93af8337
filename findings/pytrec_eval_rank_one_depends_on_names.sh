#!/bin/sh
# pytrec_eval-terrier 0.5.11: whether a tied mate is at rank one depends on the names of the others.
#
# The order of candidates in the run does not count: those with equal scores are sorted by name, the last of the alphabet first.
# Scores are kept as float32, so that a mate whose score is higher by 1e-9, or 16777217 against 16777216, is tied as well.
#
# Seen:
#   0.9 0.9 ann rank one: 1.0 reciprocal rank: 1.0
#   0.9 0.9 zoe rank one: 0.0 reciprocal rank: 0.5
#   0.900000001 0.9 zoe rank one: 0.0 reciprocal rank: 0.5
#   16777217.0 16777216.0 zoe rank one: 0.0 reciprocal rank: 0.5
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pytrec-eval-terrier==0.5.11 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import pytrec_eval

evaluator = pytrec_eval.RelevanceEvaluator({"probe": {"mate": 1}}, {"success", "recip_rank"})
for mate, other, name in ((0.9, 0.9, "ann"), (0.9, 0.9, "zoe"), (0.9 + 1e-9, 0.9, "zoe"), (16777217.0, 16777216.0, "zoe")):
    rates = evaluator.evaluate({"probe": {"mate": mate, name: other}})["probe"]
    print(mate, other, name, "rank one:", rates["success_1"], "reciprocal rank:", rates["recip_rank"])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
0.9 0.9 ann rank one: 1.0 reciprocal rank: 1.0
0.9 0.9 zoe rank one: 0.0 reciprocal rank: 0.5
0.900000001 0.9 zoe rank one: 0.0 reciprocal rank: 0.5
16777217.0 16777216.0 zoe rank one: 0.0 reciprocal rank: 0.5
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
