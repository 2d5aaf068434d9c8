#!/usr/bin/env python3
"""The emulator's counters beside a GPU's, as a table: each metric's largest difference and where it is.

    python3 bench/counters/compare.py counters/emulated.json counters/ncu.csv > bench/logs/DATE-DEVICE-counters.txt
"""

import argparse
import csv
import json
import pathlib
import sys

# metric, the GPU's name when it differs, allowed difference (None: only shown)
METRICS = [
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 0.01),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0.01),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 0.01),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 0.01),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", 0.01),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 0.01),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 0.01),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", None),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", None),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", None),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", None),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 0.01),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0.01),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0.01),
    ("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", None),
    ("smsp__thread_inst_executed_per_inst_executed.ratio", None),
    ("smsp__inst_executed.sum", None),
    ("dram__bytes_read.sum", 0.10),
    ("dram__bytes_write.sum", 0.10),
    ("l1tex__t_sector_hit_rate.ratio", None),
    ("lts__t_sector_hit_rate.ratio", None),
]


def read_ncu(path):
    lines = [line for line in pathlib.Path(path).read_text().splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return [row for row in rows if row["ID"]]  # the second line holds the units


def of_gpu(row, metric):
    def number(name):
        text = (row.get(name) or "").replace(",", "")
        return float(text) if text and text not in ("n/a", "nan") else None
    if metric.endswith("hit_rate.ratio"):
        value = number(metric.replace(".ratio", ".pct"))
        return None if value is None else value / 100
    if metric.endswith("op_atom.sum"):
        parts = [number(metric), number(metric.replace("op_atom", "op_red"))]
        return None if None in parts else sum(parts)
    return number(metric)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("emulated")
    parser.add_argument("ncu")
    parser.add_argument("--metric", help="every launch's values of one metric")
    options = parser.parse_args()
    emulated = json.loads(pathlib.Path(options.emulated).read_text())
    counted = read_ncu(options.ncu)
    launches = [(item["name"], launch) for item in emulated for launch in item["launches"]]
    if len(launches) != len(counted):
        sys.exit(f"{len(launches)} launches were emulated, {len(counted)} were counted on the GPU")
    worst_of_all = 0
    for metric, allowed in METRICS:
        rows = []
        for (name, launch), row in zip(launches, counted):
            if launch["kernel"].split("<")[0].split("::")[-1] not in row["Kernel Name"]:
                sys.exit(f"{name}: {launch['kernel']} was emulated, {row['Kernel Name']} counted")
            ours, theirs = launch["metrics"].get(metric), of_gpu(row, metric)
            if ours is None or theirs is None:
                continue
            difference = abs(ours - theirs) / max(abs(theirs), abs(ours)) if ours or theirs else 0.0
            rows.append((difference, name, ours, theirs))
        if not rows:
            print(f"{metric:62s} not counted")
            continue
        rows.sort(reverse=True)
        over = [r for r in rows if allowed is not None and r[0] > allowed]
        verdict = "" if allowed is None else f"  {len(rows) - len(over)} of {len(rows)} within {allowed:.0%}"
        worst_of_all += len(over)
        print(f"{metric:62s} worst {rows[0][0]:7.2%}{verdict}")
        shown = rows if options.metric == metric else (over if allowed is not None else rows[:4])
        for difference, name, ours, theirs in shown:
            if difference > 0.005 or options.metric == metric:
                print(f"    {name:52s} emulated {ours:14,.6g}  GPU {theirs:14,.6g}  {difference:7.2%}")
    print(f"{len(launches)} launches; {worst_of_all} values outside of what is allowed")


if __name__ == "__main__":
    main()
