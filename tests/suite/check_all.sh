#!/usr/bin/env bash
# check_all.sh OPTIML SUITE_FOLDER
#
# Every task of the suite with an empty cache, two at a time: its own kernel must pass all checks, and
# its checks must reject wrong kernels (`--battery`). One task must take less than 20 s, all together
# less than 3 minutes. Prints one line a task, as they end.
set -uo pipefail

optiml=$(realpath "$1")
suite=$(realpath "$2")
export optiml
export max_seconds=20
max_total_seconds=180
at_once=2

work=$(mktemp -d "${TMPDIR:-/tmp}/optiml-suite.XXXXXX")
trap 'rm -rf "$work"' EXIT
export work
export XDG_CACHE_HOME="$work/cache"
unset OPTIML_CACHE_DIR

now_ms() { echo $(($(date +%s%N) / 1000000)); }
export -f now_ms

# Fails where one of the task's checks fails; the output of what failed follows the line.
check_one() {
  local folder=$1 name begin ms status battery_status
  name=$(basename "$folder")
  begin=$(now_ms)
  "$optiml" check "$folder" --threads 1 >"$work/$name.check" 2>&1
  status=$?
  "$optiml" check "$folder" --threads 1 --battery >"$work/$name.battery" 2>&1
  battery_status=$?
  ms=$(($(now_ms) - begin))
  local verdict failed=0 details=""
  verdict=$(head -1 "$work/$name.check")
  if [ $status -ne 0 ]; then
    failed=1
    details+="  FAILED with status $status: $(cat "$work/$name.check")"$'\n'
  fi
  if [ $battery_status -ne 0 ]; then
    failed=1
    details+="  FAILED: the task's checks are too weak: $(cat "$work/$name.battery")"$'\n'
  fi
  if [ $ms -gt $((max_seconds * 1000)) ]; then
    failed=1
    details+="  FAILED: took more than $max_seconds s"$'\n'
  fi
  printf '%-22s %4d.%03d s  %s\n%s' "$name" $((ms / 1000)) $((ms % 1000)) "$verdict" "$details"
  return $failed
}
export -f check_one

shopt -s nullglob
tasks=("$suite"/*/task.toml)
if [ ${#tasks[@]} -eq 0 ]; then
  echo "there is no task in $suite"
  exit 1
fi
begin=$(now_ms)
printf '%s\0' "${tasks[@]%/task.toml}" | xargs -0 -P $at_once -I '{}' bash -c 'check_one "$1"' check_one '{}'
failed=$?
total=$((($(now_ms) - begin) / 1000))
echo "all ${#tasks[@]} tasks: $total s"
if [ $total -gt $max_total_seconds ]; then
  echo "  FAILED: all together took more than $max_total_seconds s"
  failed=1
fi
[ $failed -eq 0 ]
