#!/usr/bin/env bash
# Puts a corpus to a scheduler and holds what it decides against a baseline; for Prow, Jenkins or a shell.
#
#   CORPUS=corpus.jsonl.gz ENGINE=exec:./my-scheduler BASELINE=baseline.json bash gate.sh
#
# Into $ARTIFACTS (Prow sets it) go junit_scheduler.xml, decisions.md for the pull request with names, reasons and the
# commands that reproduce, the new baseline, and diff.html and diff.md: what is better and worse than the old one.
# The exit code is that of cpsched check. Arguments are handed to it: --github, --max-gap, --require optimal.
set -euo pipefail

: "${CORPUS:?names the corpus}" "${ENGINE:?names the engine}" "${BASELINE:?names the baseline}"
ARTIFACTS=${ARTIFACTS:-artifacts}
options=(--engine "$ENGINE" --time-limit "${TIME_LIMIT:-30}" --jobs "${JOBS:-2}")
mkdir -p "$ARTIFACTS"

code=0
cpsched check "$CORPUS" "${options[@]}" --baseline "$BASELINE" "$@" \
	--junit "$ARTIFACTS/junit_scheduler.xml" --markdown "$ARTIFACTS/decisions.md" || code=$?

if [ "$code" -le 1 ]; then
	# What this pull request comes to as a whole; it becomes the baseline if it is accepted.
	cpsched check "$CORPUS" "${options[@]}" --baseline "$ARTIFACTS/baseline.json" --update >/dev/null
	for form in html md; do
		cpsched diff "$BASELINE" "$ARTIFACTS/baseline.json" --corpus "$CORPUS" -o "$ARTIFACTS/diff.$form" || [ $? -eq 1 ]
	done
fi
exit "$code"
