#!/usr/bin/env bash
# examples.sh OPTIML EXAMPLES_FOLDER
#
# The main job on every example with default options and an empty cache: each must end with a kept
# chain of at least one edit (relu, which is at its limit, may end without), replay from its store, stay
# under 60 s and 1.5 GB, and all together under 6 minutes. Prints one line an example.
set -uo pipefail

optiml=$(realpath "$1")
examples=$(realpath "$2")
max_seconds=60
max_kilobytes=1500000
max_total_seconds=360

work=$(mktemp -d "${TMPDIR:-/tmp}/optiml-examples.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export XDG_CACHE_HOME="$work/cache"

failures=0
complain() {
  echo "  FAILED: $*"
  failures=$((failures + 1))
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }

total_begin=$(now_ms)
printf '%-12s %8s %10s  %s\n' example seconds 'peak MB' result
for folder in "$examples"/*/; do
  name=$(basename "$folder")
  [ -e "$folder/task.toml" ] || continue
  begin=$(now_ms)
  "$optiml" optimize "$folder" --out "$name" --json >"$name.json" 2>"$name.log" &
  pid=$!
  peak=0
  while kill -0 $pid 2>/dev/null; do
    now=$(awk '/VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null)
    [ -n "$now" ] && peak=$now
    sleep 0.2
  done
  wait $pid
  status=$?
  ms=$(($(now_ms) - begin))
  kept=$(grep -c '"mark": "KEEP"' "$name/report.json" 2>/dev/null)
  gain=$(grep -m1 -A1 '"gain": {' "$name.json" | grep -o '[0-9][0-9.]*' | head -1)
  printf '%-12s %4d.%03d %10d  status %d, kept %s, gain %.4s\n' "$name" $((ms / 1000)) $((ms % 1000)) $((peak / 1000)) \
    $status "${kept:-0}" "${gain:--}"
  if [ "$name" = relu ] && [ $status -eq 1 ]; then
    :
  elif [ $status -ne 0 ]; then
    complain "status $status: $(tail -1 "$name.log")"
  elif [ "${kept:-0}" -lt 1 ]; then
    complain "no edit was kept"
  fi
  [ $status -gt 1 ] || "$optiml" replay "$name" >/dev/null || complain "the store does not replay"
  [ $ms -le $((max_seconds * 1000)) ] || complain "took more than $max_seconds s"
  [ "$peak" -le $max_kilobytes ] || complain "took more than $max_kilobytes kB"
done
total=$((($(now_ms) - total_begin) / 1000))
echo "all examples: $total s, $failures failures"
[ $total -le $max_total_seconds ] || complain "all together took more than $max_total_seconds s"
[ $failures -eq 0 ]
