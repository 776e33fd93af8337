#!/usr/bin/env bash
# Run `fastfair check` or `fastfair identify`, and hand over the outcome, the files and a summary. Inputs are variables of
# the environment, never a part of this text, so that names of files and groups cannot run commands.
set -uo pipefail

words=("$SCORES" --output "$OUTPUT" --junit "$OUTPUT/junit.xml")
case $VERB in
    check) words+=(--seed "$SEED" --no-progress) ;;
    identify) ;;
    *) echo "verb is check or identify, not $VERB" >&2; VERB="none" ;;
esac
while IFS= read -r line; do
    [ -z "$line" ] || words+=(--require "$line")
done <<< "$REQUIREMENTS"
while IFS= read -r word; do
    [ -z "$word" ] || words+=("$word")
done <<< "$OPTIONS"

[ -z "$LOOKS" ] || words+=(--looks "$LOOKS")
[ -z "$PREVIOUS" ] || words+=(--previous "$PREVIOUS")

said=$(mktemp)
fastfair "$VERB" "${words[@]}" | tee "$said"
code=${PIPESTATUS[0]}
# With --allow-undecided the exit code is 0 for what is undecided, too: the verdict is that of the result itself, whose
# own keys are indented by one blank.
outcome="error"
case $code in
    0 | 1 | 3) outcome=$(sed -n 's/^ "verdict": "\([a-z ]*\)",*$/\1/p' "$OUTPUT/check.json") ;;
esac
{
    echo "outcome=$outcome"
    echo "json=$OUTPUT/check.json"
    echo "junit=$OUTPUT/junit.xml"
} >> "$GITHUB_OUTPUT"
{
    printf '### fastfair %s: %s\n\n' "$VERB" "$outcome"
    sed 's/^/    /' "$said"
} >> "$GITHUB_STEP_SUMMARY"
rm "$said"
exit "$code"
