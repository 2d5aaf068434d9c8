#!/usr/bin/env python3
"""Times CUDA files of one task on a real GPU, beside each other, with rotated buffers.

    python3 bench/gpu/time_kernels.py --task examples/softmax --sizes rows=8192,cols=8192 \
        naive=examples/softmax/kernel.cu best=run/best.cu --out times.json

Each file is compiled by nvcc into a shared library; its launcher is called through ctypes with the task's arguments.
Clock: rotation over enough copies of all buffers to exceed four times L2 (at least two), CUDA events around each
launcher call, kernels interleaved within each round, median over the rounds with a bootstrap interval. The launcher's
own host work is part of the time; it is below 10 us. Outputs are compared with those of the first file.

Needs: nvcc, PyTorch with CUDA, Python 3.11.
"""

import argparse
import concurrent.futures
import ctypes
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import tomllib

import torch

DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u32": torch.int32, "u64": torch.int64, "u16": torch.int16, "bool": torch.bool,
}
SCALARS = {
    "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
    "f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool,
    "i16": ctypes.c_int16, "u16": ctypes.c_uint16, "i8": ctypes.c_int8, "u8": ctypes.c_uint8,
}


def size_value(text, sizes):
    """An integer expression of size names, as task.toml writes it."""
    if isinstance(text, (int, float)):
        return text
    scope = dict(sizes, min=min, max=max, ceil_div=lambda a, b: -(-a // b))
    return eval(text.replace("/", "//"), {"__builtins__": {}}, scope)  # the user's own task file


def fill(arg, shape, sizes, generator):
    dtype = DTYPES[arg["dtype"]]
    kind = arg.get("fill", "normal")
    spec = kind if isinstance(kind, dict) else {"kind": kind, **arg}
    kind = spec.get("kind", spec.get("fill", "normal"))
    if kind == "randint" or (kind == "normal" and not dtype.is_floating_point):
        low = size_value(spec.get("min", 0), sizes)
        high = size_value(spec.get("max", 256), sizes)
        return torch.randint(int(low), int(high), shape, dtype=dtype, device="cuda", generator=generator)
    if kind == "uniform":
        low, high = (float(size_value(spec.get(k, d), sizes)) for k, d in (("min", 0), ("max", 1)))
        return (torch.rand(shape, device="cuda", generator=generator) * (high - low) + low).to(dtype)
    if kind in ("zeros", "constant"):
        return torch.full(shape, spec.get("value", 0), dtype=dtype, device="cuda")
    if kind == "normal":
        return torch.randn(shape, device="cuda", generator=generator).to(dtype)
    sys.exit(f"fill {kind!r} is not known to this script")


def compile_library(item):
    index, (name, path), folder, arch = item
    out = pathlib.Path(folder) / f"{index}.so"  # names may hold what nvcc does not take
    command = ["nvcc", "-w", "-O3", f"-arch={arch}", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "-o", str(out), path]
    done = subprocess.run(command, capture_output=True, text=True)
    return name, (out if done.returncode == 0 else None), done.stderr.strip()


def arguments(spec, copy, sizes):
    values = []
    for name, arg in spec["args"].items():
        if "shape" in arg:
            values.append(ctypes.c_void_p(copy[name].data_ptr()))
        elif name in sizes:
            values.append(SCALARS[arg.get("dtype", "i32")](sizes[name]))
        else:
            values.append(SCALARS[arg["dtype"]](arg.get("value", 0.5)))
    return values


def interval(samples, rng, rounds=400):
    medians = sorted(statistics.median(rng.choices(samples, k=len(samples))) for _ in range(rounds))
    return medians[int(0.025 * rounds)], medians[int(0.975 * rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", required=True)
    parser.add_argument("--sizes", required=True, help="rows=8192,cols=8192")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--out")
    parser.add_argument("kernels", nargs="+", help="name=file.cu")
    options = parser.parse_args()

    spec = tomllib.loads((pathlib.Path(options.task) / "task.toml").read_text())
    sizes = {k: int(v) for k, v in (pair.split("=") for pair in options.sizes.split(","))}
    entry = spec["task"]["entry"]
    properties = torch.cuda.get_device_properties(0)

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(16) as pool:
        items = [(i, pair.split("=", 1), folder, options.arch) for i, pair in enumerate(options.kernels)]
        launchers, failed = {}, {}
        for name, library, log in pool.map(compile_library, items):
            if library is None:
                failed[name] = "nvcc: " + log[-300:]
            else:
                launchers[name] = getattr(ctypes.CDLL(str(library)), entry)
                launchers[name].restype = None

        generator = torch.Generator(device="cuda").manual_seed(1)
        buffers = {n: a for n, a in spec["args"].items() if "shape" in a}
        shapes = {n: [int(size_value(e, sizes)) for e in a["shape"]] for n, a in buffers.items()}

        def make_copy():
            copy = {}
            for n, a in buffers.items():
                if a.get("role", "in") in ("in", "inout"):
                    copy[n] = fill(a, shapes[n], sizes, generator)
                else:
                    copy[n] = torch.zeros(shapes[n], dtype=DTYPES[a["dtype"]], device="cuda")
            return copy

        first = make_copy()
        total = sum(t.numel() * t.element_size() for t in first.values())
        count = max(2, -(-4 * properties.L2_cache_size // max(total, 1)))
        copies = [first] + [{n: t.clone() for n, t in first.items()} for _ in range(count - 1)]
        outputs = [n for n, a in buffers.items() if a.get("role", "in") in ("out", "inout")]

        expected, worst = None, {}
        for name, launcher in list(launchers.items()):
            for n in outputs:
                if buffers[n].get("role") == "out":
                    copies[0][n].fill_(0 if not copies[0][n].dtype.is_floating_point else float("nan"))
            launcher(*arguments(spec, copies[0], sizes))
            torch.cuda.synchronize()
            got = {n: copies[0][n].double() for n in outputs}
            if expected is None:
                expected = got
            scale = max(max(t.abs().max().item() for t in expected.values()), 1e-30)
            error = max((got[n] - expected[n]).abs().max().item() for n in outputs) / scale
            worst[name] = error
            if not error < 1e-3:
                failed[name] = f"wrong: largest difference from the first kernel is {error:.3g} of the largest value"
                del launchers[name]

        samples = {name: [] for name in launchers}
        for round_index in range(options.rounds + 3):
            for name, launcher in launchers.items():
                begin = [torch.cuda.Event(enable_timing=True) for _ in copies]
                end = [torch.cuda.Event(enable_timing=True) for _ in copies]
                for i, copy in enumerate(copies):
                    values = arguments(spec, copy, sizes)
                    begin[i].record()
                    launcher(*values)
                    end[i].record()
                torch.cuda.synchronize()
                if round_index >= 3:
                    samples[name] += [b.elapsed_time(e) * 1e-3 for b, e in zip(begin, end)]

    rng = random.Random(1)
    rows = []
    base = statistics.median(next(iter(samples.values()))) if samples else None
    print(f"{spec['task']['name']}  {options.sizes}  {properties.name}  {count} copies")
    for name, values in samples.items():
        low, high = interval(values, rng)
        median = statistics.median(values)
        rows.append({"kernel": name, "median_s": median, "low_s": low, "high_s": high, "samples": len(values),
                     "speedup": base / median, "difference": worst[name]})
        print(f"  {name:28s} {median * 1e3:9.4f} ms [{low * 1e3:.4f}, {high * 1e3:.4f}]  {base / median:7.2f}x"
              f"  difference {worst[name]:.1e}")
    for name, reason in failed.items():
        print(f"  {name:28s} FAILED {reason}")
    if options.out:
        result = {"task": spec["task"]["name"], "sizes": sizes, "device": properties.name, "rows": rows, "failed": failed}
        pathlib.Path(options.out).write_text(json.dumps(result, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
