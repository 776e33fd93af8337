#!/usr/bin/env bash
# Run `fastfair check`, and hand over the outcome, the files and a summary. Inputs are variables of the environment, never
# a part of this text, so that names of files and groups cannot run commands.
set -uo pipefail

words=("$SCORES" --seed "$SEED" --output "$OUTPUT" --junit "$OUTPUT/junit.xml" --no-progress)
while IFS= read -r line; do
    [ -z "$line" ] || words+=(--require "$line")
done <<< "$REQUIREMENTS"
while IFS= read -r word; do
    [ -z "$word" ] || words+=("$word")
done <<< "$OPTIONS"

said=$(mktemp)
fastfair check "${words[@]}" | tee "$said"
code=${PIPESTATUS[0]}
case $code in
    0) outcome="met" ;;
    1) outcome="not met" ;;
    3) outcome="undecided" ;;
    *) outcome="error" ;;
esac
{
    echo "outcome=$outcome"
    echo "json=$OUTPUT/check.json"
    echo "junit=$OUTPUT/junit.xml"
} >> "$GITHUB_OUTPUT"
{
    printf '### fastfair check: %s\n\n' "$outcome"
    sed 's/^/    /' "$said"
} >> "$GITHUB_STEP_SUMMARY"
rm "$said"
exit "$code"
