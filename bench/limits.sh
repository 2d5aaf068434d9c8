#!/usr/bin/env bash
# Measures what has a limit on a machine without a GPU: the start of the program, an incremental build after a change in one rewrite, and the examples.
#
#   bench/limits.sh [BUILD]      (default build/dev; it must be up to date)
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/dev}
ninja -C "$build" bin/optiml >/dev/null
grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'
echo "cores $(nproc), $(date -I), $(git rev-parse --short HEAD)"

python3 - "$build/bin/optiml" <<'PY'
import statistics, subprocess, sys, time
times = []
for _ in range(21):
    start = time.perf_counter()
    subprocess.run([sys.argv[1], "--help"], check=True, stdout=subprocess.DEVNULL)
    times.append(time.perf_counter() - start)
print(f"optiml --help: median {statistics.median(times) * 1e3:.0f} ms, largest {max(times) * 1e3:.0f} ms")
PY

rewrite=src/rewrite/schedule/coarsen.cpp
saved=$(mktemp)
cp "$rewrite" "$saved"
trap 'cp "$saved" "$rewrite"; rm -f "$saved"' EXIT
echo "// $(date +%N)" >>"$rewrite" # other text: a compiler cache does not know it
start=$(date +%s.%N)
ninja -C "$build" bin/optiml >/dev/null
echo "incremental build after a change in $rewrite: $(echo "$(date +%s.%N) - $start" | bc | xargs printf '%.1f') s"

cp "$saved" "$rewrite"
ninja -C "$build" bin/optiml >/dev/null
tests/acceptance/examples.sh "$build/bin/optiml" examples
