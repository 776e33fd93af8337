#!/bin/sh
# case-benchmark 1.0.0: a system with twice as many errors over a codec as without has a score of 1, which means no degradation.
#
# compute_case_score is documented as the weighted mean of equal error rates over that of clean speech, and 1 as ideal. The rate of clean
# speech is in the mean as well, as the one category that is not divided: 0.01 instead of 1. So no degradation is 0.505 or, with all of the
# five kinds that it knows, 0.835, and a score below 1 is no sign of errors that become fewer. The worse clean speech is, the higher the score
# of the same ratios. The README warns of the ratios, for another reason.
#
# Seen:
#   codec clean 0.01 degraded 0.01 score 0.505 by hand 1.0
#   codec clean 0.01 degraded 0.02 score 1.005 by hand 2.0
#   codec clean 0.2 degraded 0.2 score 0.6 by hand 1.0
#   codec clean 0.2 degraded 0.4 score 1.1 by hand 2.0
#   all five kinds clean 0.01 degraded 0.01 score 0.835 by hand 1.0
#   all five kinds clean 0.01 degraded 0.02 score 1.668 by hand 2.0
#   all five kinds clean 0.2 degraded 0.2 score 0.867 by hand 1.0
#   all five kinds clean 0.2 degraded 0.4 score 1.7 by hand 2.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps case-benchmark==1.0.0
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 tqdm==4.70.1 soundfile==0.14.0
cat > "$folder/finding.py" <<'PYTHON'
from case_benchmark.metrics import compute_case_score

codec = ["clean_codec_gsm"]
all_kinds = ["clean_codec_gsm", "clean_reverb_hall", "clean_noise_babble", "clean_mic_phone", "clean_playback_room"]
for name, kinds in (("codec", codec), ("all five kinds", all_kinds)):
    for clean in (0.01, 0.2):
        for times in (1, 2):
            rates = {"clean_clean": {"eer": clean}} | {kind: {"eer": times * clean} for kind in kinds}
            by_hand = sum(rates[kind]["eer"] / clean for kind in kinds) / len(kinds)
            score = compute_case_score(rates).case_score
            print(name, "clean", clean, "degraded", times * clean, "score", round(score, 3), "by hand", by_hand)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
codec clean 0.01 degraded 0.01 score 0.505 by hand 1.0
codec clean 0.01 degraded 0.02 score 1.005 by hand 2.0
codec clean 0.2 degraded 0.2 score 0.6 by hand 1.0
codec clean 0.2 degraded 0.4 score 1.1 by hand 2.0
all five kinds clean 0.01 degraded 0.01 score 0.835 by hand 1.0
all five kinds clean 0.01 degraded 0.02 score 1.668 by hand 2.0
all five kinds clean 0.2 degraded 0.2 score 0.867 by hand 1.0
all five kinds clean 0.2 degraded 0.4 score 1.7 by hand 2.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
