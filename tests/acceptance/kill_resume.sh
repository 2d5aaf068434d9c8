#!/usr/bin/env bash
# kill_resume.sh OPTIML TASK [KILLS [CANDIDATES [SEED]]]
#
# Runs a task once without interruption. Then kills runs of the same task with the same seed by
# SIGKILL at random moments, KILLS times, each time going on with `optiml resume`, and checks that each
# run that comes to its end has the same best.cu and the same tree as the uninterrupted one, and that
# its store replays. Exits 0 when all agree; says the first difference otherwise.
set -uo pipefail

optiml=$(realpath "$1")
task=$(realpath "$2")
kills=${3:-20}
candidates=${4:-12}
seed=${5:-1}

work=$(mktemp -d "${TMPDIR:-/tmp}/optiml-kill.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
RANDOM=$((seed + 4711))

fail() {
  echo "kill_resume: $*" >&2
  exit 1
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

start=("$optiml" optimize "$task" --candidates "$candidates" --seed "$seed" --quiet --out)

# What must be equal: the best kernel, every variant's source, and the replayed tree's size and best
# node.
digest() {
  "$optiml" replay "$1" --json >"$1.replay" || fail "$1: the store does not replay"
  "$optiml" export "$1" --out "$1.export" >/dev/null || fail "$1: cannot be exported"
  grep -v '"run"' "$1.replay"
  (cd "$1.export" && find . -name '*.cu' | sort | xargs sha256sum)
}

# Compares a run that ended with status $2. A run that was killed after its last write has ended too;
# `resume` says so.
check_finished() {
  if [ "$2" -ne "$whole_status" ] && ! grep -q 'the run has ended' "$1.log"; then
    cat "$1.log" >&2
    fail "$1 ended with status $2"
  fi
  digest "$1" >actual
  diff expected actual >&2 || fail "$1 differs from the uninterrupted run after $killed kills in all"
  finished=$((finished + 1))
}

begin=$(now_ms)
"${start[@]}" whole >whole.log 2>&1
whole_status=$?
[ $whole_status -le 1 ] || { cat whole.log >&2; fail "the uninterrupted run ended with status $whole_status"; }
whole_ms=$(($(now_ms) - begin))
digest whole >expected
echo "uninterrupted: ${whole_ms} ms, status $whole_status"

killed=0
finished=0
run=0
attempts=0
while [ $killed -lt "$kills" ]; do
  [ $attempts -lt $((kills * 20)) ] || fail "only $killed kills in $attempts attempts"
  attempts=$((attempts + 1))
  # The store appears whole or not at all: without it there is nothing to resume.
  if [ -e "run$run/run.sqlite" ]; then
    "$optiml" resume "run$run" --quiet >"run$run.log" 2>&1 &
  else
    rm -rf "run$run"
    "${start[@]}" "run$run" >"run$run.log" 2>&1 &
  fi
  pid=$!
  delay_ms=$(((RANDOM * 32768 + RANDOM) % (whole_ms + 1)))
  sleep "$(printf '%d.%03d' $((delay_ms / 1000)) $((delay_ms % 1000)))"
  if kill -KILL $pid 2>/dev/null; then
    wait $pid 2>/dev/null
    status=$?
  else
    wait $pid
    status=$?
  fi
  if [ $status -eq 137 ]; then
    killed=$((killed + 1))
    continue
  fi
  check_finished "run$run" $status
  run=$((run + 1))
done

# The last run goes to its end undisturbed.
if [ -e "run$run/run.sqlite" ]; then
  "$optiml" resume "run$run" --quiet >"run$run.log" 2>&1
  check_finished "run$run" $?
fi
echo "killed $killed times, $finished runs came to the same end"
