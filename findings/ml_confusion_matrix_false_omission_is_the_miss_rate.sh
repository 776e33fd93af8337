#!/bin/sh
# ml-confusion-matrix 2.0.0 (npm): the false omission rate is the miss rate, ten times as high here.
#
# getFalseOmissionRate is documented as the false omission rate (FOR), which is the share of mated among those rejected, 1 less the negative
# predictive value. It divides the misses by the mated instead, so that it does not change with the number of others, and makes more than
# 1 with getNegativePredictiveValue of the same matrix.
#
# Seen:
#   10 of 100 missed 5 of 1000 accepted: false omission 0.1 by hand 0.01 miss rate 0.1 NPV 0.99
#   10 of 100 missed 50 of 1000 accepted: false omission 0.1 by hand 0.0104 miss rate 0.1 NPV 0.9896
#   50 of 100 missed 5 of 1000 accepted: false omission 0.5 by hand 0.0478 miss rate 0.5 NPV 0.9522
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --silent --no-fund --no-audit ml-confusion-matrix@2.0.0 > "$folder/npm.txt"
cat > "$folder/finding.js" <<'NODE'
const { ConfusionMatrix } = require("ml-confusion-matrix");

for (const [missed, accepted] of [[10, 5], [10, 50], [50, 5]]) {
  const matrix = new ConfusionMatrix([[100 - missed, missed], [accepted, 1000 - accepted]], ["mated", "other"]);
  const [omission, value, miss] = [
    matrix.getFalseOmissionRate("mated"),
    matrix.getNegativePredictiveValue("mated"),
    matrix.getFalseNegativeRate("mated"),
  ].map((rate) => Number(rate.toFixed(4)));
  const byHand = Number((missed / (missed + 1000 - accepted)).toFixed(4));
  console.log(missed, "of 100 missed", accepted, "of 1000 accepted: false omission", omission, "by hand", byHand, "miss rate", miss, "NPV", value);
}
NODE
cat > "$folder/expected.txt" <<'TEXT'
10 of 100 missed 5 of 1000 accepted: false omission 0.1 by hand 0.01 miss rate 0.1 NPV 0.99
10 of 100 missed 50 of 1000 accepted: false omission 0.1 by hand 0.0104 miss rate 0.1 NPV 0.9896
50 of 100 missed 5 of 1000 accepted: false omission 0.5 by hand 0.0478 miss rate 0.5 NPV 0.9522
TEXT
node "$folder/finding.js" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
