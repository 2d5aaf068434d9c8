#!/usr/bin/env bash
# installed.sh BUILD_FOLDER | TARBALL
#
# What `cmake --install` or `cmake --workflow --preset package` leaves, moved to a folder whose name has a
# space, with an empty environment, outside the repository: the program starts, reads its own data, and
# checks an example that came with it. Of a tarball besides: it needs no shared library but the C
# library's, none of it newer than glibc 2.36 (Debian 12; Ubuntu 24.04 has 2.39), and is relocatable.
set -euo pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/optiml-installed.XXXXXX")
trap 'rm -rf "$work"' EXIT
root="$work/some where/optiml"
mkdir -p "$root"
fail() { echo "FAILED: $*" >&2; exit 1; }

if [ -d "$1" ]; then
  cmake --install "$1" --prefix "$root" --strip >"$work/install.log" || { cat "$work/install.log"; exit 1; }
else
  tar -xzf "$1" -C "$root" --strip-components=1
  needed=$(readelf -d "$root/bin/optiml" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
  [ "$needed" = 'ld-linux-x86-64.so.2 libc.so.6 libm.so.6 ' ] || fail "the program needs $needed"
  newest=$(readelf --version-info "$root/bin/optiml" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
  [ "$(printf '%s\n' "$newest" GLIBC_2.36 | sort -V | tail -1)" = GLIBC_2.36 ] || fail "the program needs $newest"
  if readelf -d "$root/bin/optiml" | grep -qE 'RPATH|RUNPATH'; then fail 'the program has a run path'; fi
fi
for file in bin/optiml share/doc/optiml/README.md share/doc/optiml/LICENSE share/doc/optiml/docs/cli.md; do
  [ -s "$root/$file" ] || fail "$file is missing"
done

cd "$work"
run() { env -i PATH=/usr/bin:/bin HOME="$work" ${OPTIML_CUDA_HOME:+OPTIML_CUDA_HOME="$OPTIML_CUDA_HOME"} "$root/bin/optiml" "$@"; }
run --version
run doctor >"$work/doctor.txt" || true
grep -q NVRTC "$work/doctor.txt" || { cat "$work/doctor.txt"; fail 'doctor says nothing of NVRTC'; }
for example in "$root"/share/optiml/examples/*/task.toml; do
  [ -s "$example" ] || fail 'no examples'
done
[ -s "$root/share/optiml/suite/softmax/task.toml" ] || fail 'no suite'
run check "$root/share/optiml/examples/relu" --device emulator | tee "$work/check.txt"
grep -qi accepted "$work/check.txt" || fail 'the example was not accepted'
echo 'installed: passed'
