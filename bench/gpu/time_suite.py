#!/usr/bin/env python3
"""Times the suite's naive kernels, and kept ones beside them, at every timed row of sizes on a real GPU.

    python3 bench/gpu/time_suite.py [--kept FOLDER] [TASK ...]

FOLDER/TASK.cu is the best.cu of `optiml optimize suite/TASK`; a task without one is timed alone. Clock and comparison are
those of time_kernels.py. Exit status 1 when a task failed or two kernels disagree.
"""

import argparse
import pathlib
import subprocess
import sys
import tomllib

import time_kernels

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suite"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=pathlib.Path)
    parser.add_argument("tasks", nargs="*", default=sorted(p.parent.name for p in SUITE.glob("*/task.toml")))
    options = parser.parse_args()

    query = "name,driver_version,clocks.sm,temperature.gpu"
    subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], check=False)
    failed = []
    for task in options.tasks:
        kernels = [f"naive={SUITE / task / 'kernel.cu'}"]
        if options.kept and (options.kept / f"{task}.cu").exists():
            kernels.append(f"kept={options.kept / f'{task}.cu'}")
        for row in tomllib.loads((SUITE / task / "task.toml").read_text())["sizes"]["timed"]:
            sizes = ",".join(f"{name}={value}" for name, value in row.items())
            sys.argv = ["time_kernels.py", "--task", str(SUITE / task), "--sizes", sizes, *kernels]
            try:
                status = time_kernels.main()
            except (Exception, SystemExit) as error:  # the next task is timed all the same
                print(f"{task}  {sizes}  FAILED {error}")
                status = 1
            sys.stdout.flush()
            if status:
                failed.append(task)
    print(f"failed: {' '.join(failed)}" if failed else "all timed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
