#!/usr/bin/env python3
"""Emulates every kernel of kernels.toml and writes what was counted, launch by launch.

    python3 bench/counters/emulate.py --optiml build/release/bin/optiml --out counters/emulated.json
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def items():
    """(name, command-line arguments, description for the GPU's side) of every kernel."""
    spec = tomllib.loads((HERE / "kernels.toml").read_text())
    for group in spec.get("micro", []):
        flags = [flag for arg in group["args"] for flag in ("--arg", arg)]
        for entry in group["entries"]:
            source = "bench/counters/micro.cu"
            yield entry, [str(ROOT / source), "--entry", entry, *flags, "--timed", group["sizes"]], {
                "source": source, "entry": entry, "args": group["args"], "sizes": group["sizes"]}
    for task in spec.get("task", []):
        if not (ROOT / task["path"] / "task.toml").exists():
            continue
        yield f"{task['path']} {task['sizes']}", [str(ROOT / task["path"])], {
            "task": task["path"], "sizes": task["sizes"]}


def emulate(optiml, name, arguments, sizes):
    command = [optiml, "emulate", *arguments, "--checked", sizes, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {' '.join(command)}\n{done.stdout[-400:]}{done.stderr[-400:]}")
    launches = json.loads(done.stdout)["launches"]
    return [{"kernel": launch["kernel"], "grid": launch["grid"], "block": launch["block"],
             "metrics": {k: v["value"] for k, v in launch["metrics"].items()}} for launch in launches]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optiml", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = list(items())
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        launches = pool.map(lambda row: emulate(options.optiml, row[0], row[1], row[2]["sizes"]), rows)
        result = [{"name": name, **where, "launches": counted} for (name, _, where), counted in zip(rows, launches)]
    out = pathlib.Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1))
    print(f"{len(result)} kernels, {sum(len(r['launches']) for r in result)} launches -> {out}")


if __name__ == "__main__":
    main()
