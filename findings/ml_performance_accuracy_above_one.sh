#!/bin/sh
# ml-performance 0.2.0 (npm): eight scores, all on their side of a threshold, have an accuracy of 4.
#
# getMeasure is documented to give accuracy and error rate. The accuracy is divided by the number of different scores instead of that of
# all, which is right without ties alone. Of the error rate only the false positives are divided, by the same: where nothing is accepted
# it is the number of mated scores. The rates of ROC and DET curves are right.
#
# Seen:
#   four scores accuracy 0.5 0.75 1 0.75 0.5 error 2 1 0 0.25 0.5
#   four scores by hand 0.5 0.75 1 0.75 0.5 error 0.5 0.25 0 0.25 0.5
#   twice each accuracy 1 1.5 2 1.5 1 error 4 2 0 0.5 1
#   twice each by hand 0.5 0.75 1 0.75 0.5 error 0.5 0.25 0 0.25 0.5
#   two scores accuracy 2 4 2 error 4 0 2
#   two scores by hand 0.5 1 0.5 error 0.5 0 0.5
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --silent --no-fund --no-audit ml-performance@0.2.0 > "$folder/npm.txt"
cat > "$folder/finding.js" <<'NODE'
const Performance = require("ml-performance");

const tested = [
  ["four scores", [0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]],
  ["twice each", [0.9, 0.8, 0.2, 0.1, 0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0, 1, 1, 0, 0]],
  ["two scores", [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1], [1, 1, 1, 1, 0, 0, 0, 0]],
];
for (const [name, scores, mated] of tested) {
  const performance = new Performance([scores], [mated], { all: true, max: true });
  const thresholds = [Infinity, ...new Set(scores)];
  const wrong = thresholds.map((at) => scores.filter((score, i) => (score >= at) !== (mated[i] === 1)).length);
  console.log(name, "accuracy", ...performance.getMeasure("acc"), "error", ...performance.getMeasure("err"));
  console.log(name, "by hand", ...wrong.map((n) => 1 - n / scores.length), "error", ...wrong.map((n) => n / scores.length));
}
NODE
cat > "$folder/expected.txt" <<'TEXT'
four scores accuracy 0.5 0.75 1 0.75 0.5 error 2 1 0 0.25 0.5
four scores by hand 0.5 0.75 1 0.75 0.5 error 0.5 0.25 0 0.25 0.5
twice each accuracy 1 1.5 2 1.5 1 error 4 2 0 0.5 1
twice each by hand 0.5 0.75 1 0.75 0.5 error 0.5 0.25 0 0.25 0.5
two scores accuracy 2 4 2 error 4 0 2
two scores by hand 0.5 1 0.5 error 0.5 0 0.5
TEXT
node "$folder/finding.js" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
