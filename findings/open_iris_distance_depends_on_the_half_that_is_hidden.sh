#!/bin/sh
# open-iris 1.11.2 (Python 3.11): an iris of which one half is hidden is at distance 0.225 from itself; with the other half hidden, at 0.
#
# HammingDistanceMatcher by default also compares both halves of the iris on their own, which its documentation treats alike, and weights
# them by the bits that are visible in both templates. Where there are none in the half that begins in the middle, as under a lid, the
# distance of the other half, which has them all, is replaced by 0.45, that of strangers. The same templates half a turn on, or with one
# more column visible, have the distance that is due. A mate is at 0.29 instead of 0.12, a stranger nearer than otherwise.
#
# Seen:
#   256 columns itself bits that differ 0.0 distance 0.0 turned 0.0
#   256 columns mate bits that differ 0.2012 distance 0.0609 turned 0.0609
#   256 columns other bits that differ 0.509 distance 0.552 turned 0.552
#   129 columns itself bits that differ 0.0 distance 0.0009 turned 0.0009
#   129 columns mate bits that differ 0.2025 distance 0.1234 turned 0.1234
#   129 columns other bits that differ 0.5098 distance 0.5288 turned 0.5288
#   128 columns itself bits that differ 0.0 distance 0.225 turned 0.0
#   128 columns mate bits that differ 0.2023 distance 0.2866 turned 0.1232
#   128 columns other bits that differ 0.5096 distance 0.4893 turned 0.5287
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check open-iris==1.11.2 numpy==1.24.4 pydantic==1.10.13 opencv-python==4.7.0.68
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from iris import HammingDistanceMatcher, IrisTemplate

random = np.random.default_rng(0)
codes = [random.random((16, 256, 2)) < 0.5 for _ in range(2)]
mates = [code ^ (random.random(code.shape) < 0.2) for code in codes]
others = [random.random(code.shape) < 0.5 for code in codes]


def template(bits, n_visible, turned):
    """Return a template of which the first columns are visible, and all of that half a turn on."""
    visible = np.zeros(bits[0].shape, dtype=bool)
    visible[:, :n_visible] = True
    shift = 128 if turned else 0
    return IrisTemplate(
        iris_codes=[np.roll(code, shift, axis=1) for code in bits],
        mask_codes=[np.roll(visible, shift, axis=1)] * 2,
        iris_code_version="v2.1",
    )


matcher = HammingDistanceMatcher(rotation_shift=0)
for n_visible in (256, 129, 128):
    for kind, bits in (("itself", codes), ("mate", mates), ("other", others)):
        distances = [
            round(float(matcher.run(template(codes, n_visible, turned), template(bits, n_visible, turned))), 4)
            for turned in (False, True)
        ]
        share = np.mean([(a != b)[:, :n_visible] for a, b in zip(codes, bits)])
        print(n_visible, "columns", kind, "bits that differ", round(float(share), 4), "distance", distances[0], "turned", distances[1])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
256 columns itself bits that differ 0.0 distance 0.0 turned 0.0
256 columns mate bits that differ 0.2012 distance 0.0609 turned 0.0609
256 columns other bits that differ 0.509 distance 0.552 turned 0.552
129 columns itself bits that differ 0.0 distance 0.0009 turned 0.0009
129 columns mate bits that differ 0.2025 distance 0.1234 turned 0.1234
129 columns other bits that differ 0.5098 distance 0.5288 turned 0.5288
128 columns itself bits that differ 0.0 distance 0.225 turned 0.0
128 columns mate bits that differ 0.2023 distance 0.2866 turned 0.1232
128 columns other bits that differ 0.5096 distance 0.4893 turned 0.5287
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
