#!/usr/bin/env python3
"""The material of the time model's fit: variants that the catalogue makes of many tasks, their measured times and their counts.

    python3 bench/time_model/variants.py list  FOLDER [--build build/dev]     # here: writes the variants as .cu files
    python3 bench/time_model/variants.py time  FOLDER                         # on the GPU: FOLDER/GROUP.times.json
    python3 bench/time_model/variants.py count FOLDER [--build build/dev]     # anywhere: FOLDER/GROUP.counts.json
    python3 bench/time_model/variants.py pack  FOLDER OUT.jsonl               # both, joined: one variant a line

A group is a task at one row of sizes (GROUPS below). Each has its original and a spread of chains of one and two edits, by
the order in which the catalogue proposes them; edits that leave the machine code nearly as it was (launch bounds, restrict)
take at most a quarter of the places.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PER_GROUP = 16
SLIGHT = ("launch_bounds", "restrict", "bounds(")

GROUPS = [
    # At the examples' own sizes.
    ("examples/softmax", "rows=4096,cols=2048"), ("examples/layernorm", "rows=4096,cols=2048"),
    ("examples/matmul", "m=1024,n=1024,k=1024"), ("examples/histogram", "n=16777216,bins=256"),
    ("examples/reduction", "n=16777216"), ("examples/relu", "n=16777216"), ("examples/stencil2d", "rows=2048,cols=2048"),
    ("examples/transpose", "rows=4096,cols=4096"),
    # At the suite's.
    ("suite/softmax", "rows=8192,cols=8192"), ("suite/layer_norm", "rows=16384,cols=4096"),
    ("suite/rms_norm", "rows=16384,cols=4096"), ("suite/matmul", "m=4096,n=4096,k=2048"),
    ("suite/matmul_f16", "m=2048,n=2048,k=2048"), ("suite/histogram", "n=67108864,bins=256"),
    ("suite/histogram", "n=67108864,bins=4096"), ("suite/histogram_float", "n=67108864,bins=256"),
    ("suite/reduction", "n=67108864"), ("suite/mse", "n=67108864"), ("suite/monte_carlo", "n=67108864"),
    ("suite/transpose", "rows=8192,cols=8192"), ("suite/matrix_copy", "rows=8192,cols=8192"),
    ("suite/reverse", "n=67108864"), ("suite/sigmoid", "n=67108864"), ("suite/gelu_bias", "rows=16384,cols=4096"),
    ("suite/gemv", "rows=8192,cols=8192"), ("suite/cross_entropy", "rows=8192,classes=32000"),
    ("suite/cross_entropy", "rows=4194304,classes=10"), ("suite/conv2d", "rows=2048,cols=2048,kernel_rows=24,kernel_cols=24"),
    ("suite/stencil7_3d", "nx=512,ny=512,nz=512"), ("suite/nbody", "n=16384"),
    ("suite/max_pool_3d", "batch=16,channels=32,depth=48,height=48,width=48,kernel=3,stride=2,padding=1,dilation=3"),
    ("suite/batched_small_matmul", "batch=65536,m=16,n=16,k=16"),
    ("suite/layer_norm_3d", "samples=16,channels=4,height=512,width=512"),
    ("suite/conv2d_channels", "images=4,channels=64,filters=64,height=64,width=64,size=3"),
]


def group_name(task, sizes):
    return task.replace("/", "_") + "__" + sizes.replace("=", "").replace(",", "_")


def spread(items, count):
    """`count` of the items, evenly over their order, the first always among them."""
    if len(items) <= count:
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def choose(manifest):
    plain = [row for row in manifest[1:] if not row["chain"][-1].startswith(SLIGHT)]
    slight = [row for row in manifest[1:] if row["chain"][-1].startswith(SLIGHT)]
    few = spread(slight, PER_GROUP // 4)
    single = [row for row in plain if len(row["chain"]) == 1]
    double = [row for row in plain if len(row["chain"]) == 2]
    left = PER_GROUP - 1 - len(few)
    chosen = spread(single, max(left * 2 // 3, left - len(double)))
    return manifest[:1] + chosen + spread(double, left - len(chosen)) + few


def list_variants(folder, build):
    for task, sizes in GROUPS:
        out = folder / group_name(task, sizes)
        subprocess.run([build / "bench/list_variants", ROOT / task, out, "400", "2"], check=True, stdout=subprocess.DEVNULL)
        chosen = choose(json.loads((out / "manifest.json").read_text()))
        keep = {row["file"] for row in chosen}
        for file in out.glob("*.cu"):
            if file.name not in keep:
                file.unlink()
        (out / "manifest.json").write_text(json.dumps(chosen, indent=1))
        print(f"{out.name}: {len(chosen)}")


def kernels_of(folder, task, sizes):
    group = folder / group_name(task, sizes)
    manifest = json.loads((group / "manifest.json").read_text())
    return ["{}={}".format("+".join(row["chain"]).replace("=", ":") or "original", group / row["file"]) for row in manifest]


def time_variants(folder):
    sys.path.insert(0, str(ROOT / "bench/gpu"))
    import time_kernels
    out = pathlib.Path(os.environ.get("OUT", folder))
    for task, sizes in GROUPS:
        sys.argv = ["time_kernels.py", "--task", str(ROOT / task), "--sizes", sizes, "--rounds", "6", "--out",
                    str(out / (group_name(task, sizes) + ".times.json")), *kernels_of(folder, task, sizes)]
        try:
            time_kernels.main()
        except (Exception, SystemExit) as error:  # the next group is timed all the same
            print(f"{task}  {sizes}  FAILED {error}")
        sys.stdout.flush()


def count_variants(folder, build, jobs):
    out = pathlib.Path(os.environ.get("OUT", folder))

    def count(group):
        task, sizes = group
        done = subprocess.run([build / "bench/time_model/count_kernels", ROOT / task, sizes,
                               out / (group_name(task, sizes) + ".counts.json"), *kernels_of(folder, task, sizes)],
                              capture_output=True, text=True)
        return f"{task} {sizes}: {done.returncode} {done.stderr.strip()}\n{done.stdout}"

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for text in pool.map(count, GROUPS):
            print(text, flush=True)


def pack(folder, out):
    lines = []
    for task, sizes in GROUPS:
        name = group_name(task, sizes)
        times = json.loads((folder / f"{name}.times.json").read_text())
        counts = json.loads((folder / f"{name}.counts.json").read_text())
        measured = {row["kernel"]: row for row in times["rows"]}
        for row in counts["rows"]:
            if row["kernel"] in measured:
                at = measured[row["kernel"]]
                lines.append({"task": task, "sizes": sizes, "chain": row["kernel"], "device": times["device"],
                              "median_s": at["median_s"], "low_s": at["low_s"], "high_s": at["high_s"], "work": row["work"]})
    out.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{len(lines)} variants of {len(GROUPS)} groups")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["list", "time", "count", "pack"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.step == "list":
        list_variants(options.folder, options.build)
    elif options.step == "time":
        time_variants(options.folder)
    elif options.step == "count":
        count_variants(options.folder, options.build, options.jobs)
    else:
        pack(options.folder, options.out)


if __name__ == "__main__":
    main()
