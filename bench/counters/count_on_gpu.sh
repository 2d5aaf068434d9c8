#!/usr/bin/env bash
# The counters of a GPU for every launch of an emulated.json, by Nsight Compute, as CSV. Clocks are left alone; caches are
# flushed before each pass, as the emulator's start empty.
#
#   bench/counters/count_on_gpu.sh EMULATED.json OUT.csv
set -euo pipefail
cd "$(dirname "$0")/../.."
emulated=$1
out=$2
names=$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))
print("|".join(sorted({l["kernel"].split("<")[0].split("::")[-1] for r in rows for l in r["launches"]})))' "$emulated")
metrics=smsp__inst_executed.sum,smsp__thread_inst_executed_per_inst_executed.ratio
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum,l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics+=,l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
metrics+=,dram__bytes_read.sum,dram__bytes_write.sum,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct
metrics+=,smsp__sass_thread_inst_executed_op_fadd_pred_on.sum,smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
metrics+=,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,smsp__sass_thread_inst_executed_op_integer_pred_on.sum
ncu --csv --page raw --print-units base --clock-control none --kernel-name-base function -k "regex:^($names)\$" \
  --metrics "$metrics" --log-file "$out" python3 bench/counters/run_on_gpu.py "$emulated"
grep -c '^"[0-9]' "$out"
