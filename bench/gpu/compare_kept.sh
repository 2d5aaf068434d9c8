#!/usr/bin/env bash
# Times the kept kernels of optimised examples beside their naive versions on a GPU: at the examples' sizes and at suite-like ones.
#
#   bench/gpu/compare_kept.sh FOLDER      (FOLDER/EXAMPLE.cu: the best.cu of `optiml optimize examples/EXAMPLE`)
set -u
cd "$(dirname "$0")/../.."
folder=$1
nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv,noheader
nvcc --version | tail -1
while read -r task sizes; do
  [ -f "$folder/$task.cu" ] || continue
  python3 bench/gpu/time_kernels.py --task "examples/$task" --sizes "$sizes" \
    naive="examples/$task/kernel.cu" kept="$folder/$task.cu" || echo "  $task: failed"
done <<'SIZES'
relu n=16777216
relu n=67108864
transpose rows=4096,cols=4096
transpose rows=8192,cols=8192
softmax rows=8192,cols=8192
softmax rows=4096,cols=2048
reduction n=16777216
reduction n=67108864
matmul m=4096,n=4096,k=4096
matmul m=1024,n=1024,k=1024
histogram n=16777216,bins=256
histogram n=67108864,bins=256
layernorm rows=16384,cols=4096
layernorm rows=4096,cols=2048
stencil2d rows=2048,cols=2048
stencil2d rows=4096,cols=4096
SIZES
