#!/usr/bin/env bash
# Runs the arithmetic corpus on the GPU of this machine and compares the emulator with it.
#
#   tests/agree/arithmetic.sh [--agree BIN] [--out FOLDER] [--seed N] [LIST ...]
#
# In one go where both are built; else in two steps, since the GPU's machine needs no build of ours:
#   agree write FOLDER LIST...         here
#   tests/agree/arithmetic.sh --gpu FOLDER        there: FOLDER/outputs.bin
#   agree compare FOLDER LIST...       here
set -eu
here=$(cd "$(dirname "$0")" && pwd)
agree=$here/../../build/dev/tests/agree/agree
out=${TMPDIR:-/tmp}/optiml_agree
seed=1
gpu_only=
lists=()
while [ $# -gt 0 ]; do
  case $1 in
    --agree) agree=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --gpu) gpu_only=1; out=$2; shift 2 ;;
    *) lists+=("$1"); shift ;;
  esac
done
if [ ${#lists[@]} -eq 0 ]; then
  for topic in convert float16 float32 integer warp function matrix wmma wgmma texture dense; do
    lists+=("$here/$topic.txt")
  done
fi
run_on_gpu() {
  cuda=${CUDA_PATH:-/usr/local/cuda}
  g++ -O1 -std=c++17 -I "$cuda/include" "$here/run_on_gpu.cpp" -L "$cuda/lib64/stubs" -lcuda -o "$out/run_on_gpu"
  # ptxas of the toolkit, one text each; the driver would do them one after the other.
  if [ -x "$cuda/bin/ptxas" ]; then
    (cd "$out" && ls ./*.ptx | xargs -P "$(nproc)" -n 16 sh -c \
      'for f; do "$0" -arch=sm_90a "$f" -o "${f%.ptx}.cubin" || true; done' "$cuda/bin/ptxas")
  fi
  "$out/run_on_gpu" "$out"
}
if [ -n "$gpu_only" ]; then
  run_on_gpu
  exit
fi
rm -rf "$out"
"$agree" write "$out" "${lists[@]}" --seed "$seed"
run_on_gpu
"$agree" compare "$out" "${lists[@]}" --seed "$seed"
