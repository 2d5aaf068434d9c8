#!/usr/bin/env bash
# one_definition.sh BUILD_FOLDER
#
# No function or variable is defined by two of our libraries: the linker would take one of them in
# silence. (Inline ones are weak and do not count.)
set -euo pipefail
twice=$(for library in "$1"/src/*/liboptiml_*.a; do
  nm -C --defined-only "$library" 2>/dev/null | sed -n 's/^[0-9a-f]* [TDBR] //p' | sort -u
done | sort | uniq -d)
[ -z "$twice" ] || { printf 'defined by two libraries:\n%s\n' "$twice" >&2; exit 1; }
