#!/usr/bin/env python3
"""Our hardware counters (CUPTI, `optiml profile`) against Nsight Compute's, of the very same launches.

    python3 bench/gpu/compare_counters.py --optiml build/release/bin/optiml [--kernels N] [--keep FOLDER] [--seconds S]

Each kernel of bench/counters/kernels.toml is profiled by `optiml profile --device cuda`, which keeps what it counted (cubin, plan,
contents) in a file (OPTIML_KEEP_COUNTED). One `ncu` then follows one process that executes these files in order, once each and
nothing else (`optiml cuda-run`). Counters are compared by name, summed over the launches of a plan. Exact counters must agree
within --tolerance; those of caches and memory are shown, as their state before the second launch of a plan is not the same.
Exit status: 0 all exact counters agree on at least 20 kernels; 1 not; 2 nothing could be compared (it says why).
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/counters"))
import emulate  # noqa: E402

LEAST_KERNELS = 20
# Counts that do not depend on caches or on the order of warps.
EXACT = [
    "smsp__thread_inst_executed.sum",
    "smsp__inst_executed.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
    "smsp__inst_executed_pipe_xu.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
]
# Of these two runs of one profiler differ, too.
LOOSE = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
]
RATES = {"l1tex__t_sector_hit_rate.ratio": "l1tex__t_sector_hit_rate.pct",
         "lts__t_sector_hit_rate.ratio": "lts__t_sector_hit_rate.pct"}
SHARES = ["dram__throughput.avg.pct_of_peak_sustained_elapsed", "lts__throughput.avg.pct_of_peak_sustained_elapsed",
          "smsp__inst_issued.avg.pct_of_peak_sustained_elapsed"]
ATOM = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"
OWN = "optiml_read"  # our flush: one before each plan


def find_ncu():
    found = shutil.which("ncu")
    places = [found] if found else []
    for folder in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if folder:
            places.append(f"{folder}/bin/ncu")
    places += sorted((str(p) for p in pathlib.Path("/opt/nvidia/nsight-compute").glob("*/ncu")), reverse=True)
    return next((p for p in places if pathlib.Path(p).exists()), None)


def profile(optiml, name, arguments, sizes, file):
    command = [optiml, "profile", *arguments, "--json", "--device", "cuda", "--unconfined"]
    if "--timed" in arguments:  # a lone kernel: small sizes to check it with, that fill its tiles
        small = 256 if any("[n,n]" in argument for argument in arguments) else 4096
        command += ["--checked", re.sub(r"=\d+", f"={small}", sizes)]
    else:
        command += ["--timed", sizes]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "OPTIML_KEEP_COUNTED": str(file)})
    except subprocess.TimeoutExpired:
        return None, "more than 60 s"
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, f"exit status {done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}"
    if not result["accepted"]:
        return None, f"rejected at {result['stage']}: {result['reason']}"
    if result["metrics_from"] != "CUPTI":
        return None, f"counters by {result['metrics_from']}: {result.get('no_hardware_counters')}"
    if not file.exists():
        return None, "nothing was kept"
    return {k: v["value"] for k, v in result["metrics"].items()}, None


def run_ncu(ncu, optiml, files, table):
    wanted = [*EXACT, *LOOSE, *RATES.values(), *SHARES, ATOM.replace("_atom", "_red")]
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(wanted),
               "--log-file", str(table), optiml, "cuda-run", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    text = table.read_text() if table.exists() else ""
    rows = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))
    rows = [row for row in rows if row.get("ID")]  # the second line holds the units
    if done.returncode or not rows:
        print(f"ncu: exit status {done.returncode}: {(done.stdout + done.stderr + text).strip()[-600:]}")
    return rows


def number(row, name):
    text = (row.get(name) or "").replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def by_plan(rows, count):
    """Rows of each plan: our own flush stands before each."""
    plans = []
    for row in rows:
        if row["Kernel Name"].split("(")[0].strip() == OWN:
            plans.append([])
        elif plans:
            plans[-1].append(row)
    if len(plans) != count:
        print(f"ncu saw {len(plans)} plans, {count} were executed")
    return plans


def of_ncu(plan, metric):
    if metric in RATES or metric in SHARES:
        value = number(plan[0], RATES.get(metric, metric)) if len(plan) == 1 else None
        return None if value is None else value / 100
    parts = [metric, metric.replace("_atom", "_red")] if metric == ATOM else [metric]
    values = [number(row, part) for row in plan for part in parts]
    return None if None in values else sum(values)


def difference(ours, theirs):
    return abs(ours - theirs) / max(abs(ours), abs(theirs)) if ours or theirs else 0.0


def report(names, ours, plans, tolerance):
    worst_exact, compared, bad = 0.0, set(), 0
    for metric in [*EXACT, *LOOSE, *RATES, *SHARES]:
        rows = []
        for name, counted, plan in zip(names, ours, plans):
            theirs = of_ncu(plan, metric) if plan else None
            if metric in counted and theirs is not None:
                rows.append((difference(counted[metric], theirs), name, counted[metric], theirs))
        if not rows:
            print(f"{metric:62s} not on both sides")
            continue
        rows.sort(reverse=True)
        over = [row for row in rows if row[0] > tolerance]
        print(f"{metric:62s} worst {rows[0][0]:8.3%}  {len(rows) - len(over):3d} of {len(rows)} within {tolerance:.0%}"
              f"{'' if metric in EXACT else '   (not exact)'}")
        for value, name, mine, theirs in over[:5]:
            print(f"    {name:50s} ours {mine:16,.6g}  ncu {theirs:16,.6g}  {value:8.3%}")
        if metric in EXACT:
            worst_exact = max(worst_exact, rows[0][0])
            bad += len(over)
            compared |= {row[1] for row in rows}
    print(f"{len(compared)} kernels; worst difference of the exact counters {worst_exact:.3%}; {bad} values beyond {tolerance:.0%}")
    return 0 if bad == 0 and len(compared) >= LEAST_KERNELS else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optiml", required=True)
    parser.add_argument("--kernels", type=int, default=30, help="at most so many")
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("--seconds", type=float, default=75, help="no further kernel is profiled after so long")
    parser.add_argument("--keep", help="a folder for the files and ncu's table")
    options = parser.parse_args()
    optiml = str(pathlib.Path(options.optiml).resolve())
    ncu = find_ncu()
    if ncu is None:
        print("no ncu (Nsight Compute) on PATH, in CUDA_HOME or /usr/local/cuda")
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        names, ours, files, skipped = [], [], [], 0
        began = time.monotonic()
        rows = list(emulate.items())
        step = max(1, len(rows) // options.kernels)
        ordered = rows[::step] + [row for i, row in enumerate(rows) if i % step]
        for name, arguments, where in ordered:
            if len(names) == options.kernels or time.monotonic() - began > options.seconds:
                break
            file = folder / f"{len(names):03d}.counted"
            counted, problem = profile(optiml, name, arguments, where["sizes"], file)
            if problem:
                skipped += 1
                print(f"left out: {name}: {problem}", flush=True)
                if skipped >= 5 and not names:
                    print("five kernels without counters by CUPTI, and none with: given up")
                    return 2
                continue
            names.append(name)
            ours.append(counted)
            files.append(file)
        passes = {counted.get("profiler__replayer_passes") for counted in ours}
        print(f"{len(names)} kernels profiled in {time.monotonic() - began:.1f} s, passes {sorted(p for p in passes if p)}", flush=True)
        began = time.monotonic()
        counted_by_ncu = run_ncu(ncu, optiml, files, folder / "ncu.csv")
        print(f"ncu: {len(counted_by_ncu)} launches in {time.monotonic() - began:.1f} s", flush=True)
        if not counted_by_ncu:
            return 2
        return report(names, ours, by_plan(counted_by_ncu, len(files)), options.tolerance)


if __name__ == "__main__":
    sys.exit(main())
