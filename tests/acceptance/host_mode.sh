#!/usr/bin/env bash
# host_mode.sh OPTIML TASK
#
# A task whose own kernel reads device data back: check, profile and a short run work on it, candidates
# of the run are accepted, and everything that is shown says what host mode does not promise.
set -uo pipefail

optiml=$(realpath "$1")
task=$(realpath "$2")
said='host mode: the launcher reads device data back to decide'

work=$(mktemp -d "${TMPDIR:-/tmp}/optiml-host-mode.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export XDG_CACHE_HOME="$work/cache"

failures=0
complain() {
  echo "  FAILED: $*"
  failures=$((failures + 1))
}
says() { grep -qi "$said" "$1" || complain "$1 does not say it"; }

"$optiml" check "$task" >check.txt || complain "check: status $?"
"$optiml" check "$task" --skip-timed --json >check.json || complain "check --json: status $?"
"$optiml" profile "$task" >profile.txt || complain "profile: status $?"
grep -q predicted profile.txt || complain "profile has no time"
"$optiml" optimize "$task" --candidates 2 --out run >run.txt 2>run.log
status=$?
[ $status -le 1 ] || complain "optimize: status $status"
grep -q '2: 2 accepted' run.txt || complain "optimize: $(grep candidates run.txt)"
for file in check.txt check.json profile.txt run.txt run/report.html run/report.md run/report.json; do
  says "$file"
done
cat run.log run.txt
[ $failures -eq 0 ]
