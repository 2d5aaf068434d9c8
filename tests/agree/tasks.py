#!/usr/bin/env python3
"""Results of tasks' kernels, and of what the catalogue makes of them, on the emulator beside a GPU's.

    python3 tests/agree/tasks.py list    FOLDER [--build build/dev]   # here: kernels as .cu files, sizes
    python3 tests/agree/tasks.py run     FOLDER                       # where a GPU is: inputs and outputs as .npy
    python3 tests/agree/tasks.py compare FOLDER [--build build/dev]   # here: the emulator's outputs against them

A kernel is run at the last checked row of its task. `compare` gives each kernel's recorded outputs to `optiml check` as the
reference, with tolerance 0: accepted means bit for bit, with every check of the emulator on. Kernels that differ are tried again
with wider tolerances, down to one that holds. Needs for `run`: nvcc, PyTorch with CUDA; for `compare`: NumPy.
"""

import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PER_TASK = 14
# Relative and absolute allowance, narrowest first; the last is what sums in another order differ by.
LEVELS = [("bit for bit", 0, 0), ("within 2 ulp", 2.4e-7, 1e-30), ("within 1e-6", 1e-6, 1e-6), ("within 1e-4", 1e-4, 1e-4),
          ("within 1e-2", 1e-2, 1e-2)]


def tasks():
    for root in ("examples", "suite"):
        for folder in sorted((ROOT / root).iterdir()):
            if (folder / "task.toml").exists():
                spec = tomllib.loads((folder / "task.toml").read_text())
                if not any(arg.get("role") == "inout" for arg in spec["args"].values()):
                    yield f"{root}/{folder.name}", spec


def list_kernels(folder, build):
    for task, spec in tasks():
        out = folder / task.replace("/", "_")
        subprocess.run([build / "bench/list_variants", ROOT / task, out, "400", "2"], check=True, stdout=subprocess.DEVNULL)
        manifest = json.loads((out / "manifest.json").read_text())
        rest = manifest[1:]
        count = min(PER_TASK - 1, len(rest))
        chosen = manifest[:1] + [rest[i * len(rest) // count] for i in range(count)]
        keep = {row["file"] for row in chosen}
        for file in out.glob("*.cu"):
            if file.name not in keep:
                file.unlink()
        sizes = spec["sizes"]["checked"][-1]
        (out / "manifest.json").write_text(json.dumps({"task": task, "sizes": sizes, "kernels": chosen}, indent=1))
        print(f"{out.name}: {len(chosen)}")


def run(folder):
    sys.path.insert(0, str(ROOT / "bench/counters"))
    sys.path.insert(0, str(ROOT / "bench/gpu"))
    import numpy
    import run_on_gpu
    import time_kernels as gpu
    import torch
    arch = "sm_%d%d" % torch.cuda.get_device_capability()
    out = pathlib.Path(os.environ.get("OUT", folder))
    groups = [(path.parent, json.loads(path.read_text())) for path in sorted(folder.glob("*/manifest.json"))]
    with tempfile.TemporaryDirectory() as built_in, tempfile.TemporaryDirectory() as made_in:
        items = [(i, (str(path), str(path)), built_in, arch) for i, path in enumerate(
            path / row["file"] for path, group in groups for row in group["kernels"])]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            built = {name: library for name, library, _ in pool.map(gpu.compile_library, items)}
        made = pathlib.Path(made_in)
        for path, group in groups:
            spec = tomllib.loads((ROOT / group["task"] / "task.toml").read_text())
            sizes = {name: int(value) for name, value in group["sizes"].items()}
            generator = torch.Generator(device="cuda").manual_seed(1)
            inputs = {name: run_on_gpu.make_buffer(arg, [int(gpu.size_value(e, sizes)) for e in arg["shape"]], sizes, generator)
                      for name, arg in spec["args"].items() if "shape" in arg}
            target = made / path.name
            target.mkdir()

            def save(name, tensor):
                values = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
                numpy.save(target / name, values.cpu().numpy())
            for name, arg in spec["args"].items():
                if arg.get("role", "in") == "in" and "shape" in arg:
                    save(f"{name}.npy", inputs[name])
            for row in group["kernels"]:
                library = built[str(path / row["file"])]
                if library is None:
                    print(f"{path.name}/{row['file']}: nvcc refuses it")
                    continue
                buffers = {name: tensor.clone() for name, tensor in inputs.items()}
                launcher = getattr(ctypes.CDLL(str(library)), spec["task"]["entry"])
                launcher.restype = None
                launcher(*gpu.arguments(spec, buffers, sizes))
                torch.cuda.synchronize()
                for name, arg in spec["args"].items():
                    if arg.get("role") == "out":
                        save(f"{row['file'][:-3]}.{name}.npy", buffers[name])
        with tarfile.open(out / "outputs.tar.gz", "w:gz") as tar:
            tar.add(made, arcname=".")
    print(f"{len(items)} kernels")


def inline(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {inline(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def level_of(optiml, spec, group, path, row):
    """The first level that holds, or why none does."""
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        shutil.copy(path / row["file"], work / "kernel.cu")
        files = {}
        for name, arg in spec["args"].items():
            role = arg.get("role", "in")
            if "shape" not in arg or role == "workspace":
                continue
            stored = path / (f"{name}.npy" if role == "in" else f"{row['file'][:-3]}.{name}.npy")
            if not stored.exists():
                return f"no output on the GPU ({name})"
            shutil.copy(stored, work / f"{name}.npy")
            files[name] = f"{name}.npy"
        said = ""
        for title, relative, absolute in LEVELS:
            lines = ["[task]", 'name = "recorded"', 'source = "kernel.cu"', f'entry = {json.dumps(spec["task"]["entry"])}', "[sizes]",
                     f"checked = [ {inline(group['sizes'])} ]", f"timed = [ {inline(group['sizes'])} ]", "[args]"]
            for name, arg in spec["args"].items():
                arg = {k: v for k, v in arg.items() if k in ("dtype", "shape", "role", "value")}
                if "shape" not in arg and name not in group["sizes"] and "value" not in arg:
                    arg["value"] = 0.5
                lines.append(f"{name} = {inline(arg)}")
            lines += ["[reference]", 'kind = "recorded"', f"files = {inline(files)}"]
            if any(arg.get("role") == "out" and arg["dtype"].startswith(("f", "bf")) for arg in spec["args"].values()):
                lines += ["[tolerance]", f"absolute = {absolute!r}", f"relative = {relative!r}"]
            (work / "task.toml").write_text("\n".join(lines) + "\n")
            done = subprocess.run([optiml, "check", work, "--kernel", work / "kernel.cu", "--threads", "1"], capture_output=True, text=True)
            said = (done.stdout + done.stderr).strip()
            if done.returncode == 0:
                return title
            if "rejected at L1" not in said and "differs" not in said and "expected" not in said:
                break
        return said.split("\n")[0][:200]


def compare(folder, build, jobs):
    counts = {}
    others = []
    work = []
    for manifest in sorted(folder.glob("*/manifest.json")):
        group = json.loads(manifest.read_text())
        spec = tomllib.loads((ROOT / group["task"] / "task.toml").read_text())
        work += [(spec, group, manifest.parent, row) for row in group["kernels"]]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        levels = pool.map(lambda item: level_of(build / "bin/optiml", *item), work)
        for (spec, group, path, row), level in zip(work, levels):
            counts[level if any(level == l[0] for l in LEVELS) else "other"] = counts.get(
                level if any(level == l[0] for l in LEVELS) else "other", 0) + 1
            if level != LEVELS[0][0]:
                others.append(f"  {group['task']:28} {'+'.join(row['chain']) or 'original':60} {level}")
    print(f"{len(work)} kernels: " + ", ".join(f"{count} {level}" for level, count in counts.items()))
    print("\n".join(others))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["list", "run", "compare"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.step == "list":
        list_kernels(options.folder, options.build)
    elif options.step == "run":
        run(options.folder)
    else:
        compare(options.folder, options.build, options.jobs)


if __name__ == "__main__":
    main()
