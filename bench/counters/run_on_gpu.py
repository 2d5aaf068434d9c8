#!/usr/bin/env python3
"""Runs every kernel of an emulated.json once on a GPU, in order; to be run under Nsight Compute.

    bash bench/counters/count_on_gpu.sh counters/emulated.json counters/ncu.csv

Needs: nvcc, PyTorch with CUDA.
"""

import ctypes
import json
import pathlib
import re
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gpu"))
import time_kernels as gpu  # noqa: E402
import torch  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse_arg(text):
    """"x=f32[n,2*n]:in:randint(0,100)" as task.toml has it."""
    name, rest = text.split("=", 1)
    if rest == "size":
        return name, {}
    match = re.fullmatch(r"(\w+)(?:\[(.*?)\])?((?::[^:]+)*)", rest)
    arg = {"dtype": match[1]}
    if match[2] is not None:
        arg["shape"] = match[2].split(",")
    for word in filter(None, match[3].split(":")):
        if word in ("in", "out", "inout", "workspace"):
            arg["role"] = word
        else:
            kind, *parameters = re.split(r"[(),]", word.rstrip(")"))
            arg["fill"] = kind
            if kind == "randint":
                arg["min"], arg["max"] = (int(p) for p in parameters)
    return name, arg


def make_buffer(arg, shape, sizes, generator):
    if arg.get("role", "in") in ("out", "workspace"):
        return torch.zeros(shape, dtype=gpu.DTYPES[arg["dtype"]], device="cuda")
    if arg.get("fill") == "permutation":
        return torch.randperm(shape[0], device="cuda", generator=generator).to(gpu.DTYPES[arg["dtype"]])
    if arg.get("fill") == "offsets":  # row starts of a sparse matrix: not falling, from 0 to "total"
        most = int(gpu.size_value(arg["total"], sizes))
        inner = torch.randint(0, most + 1, (shape[0] - 2,), device="cuda", generator=generator).sort().values
        ends = torch.tensor([0], device="cuda"), torch.tensor([most], device="cuda")
        return torch.cat([ends[0], inner, ends[1]]).to(gpu.DTYPES[arg["dtype"]])
    return gpu.fill(arg, shape, sizes, generator)


def main():
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
    arch = "sm_%d%d" % torch.cuda.get_device_capability()
    sources = sorted({row.get("source") or f"{row['task']}/kernel.cu" for row in rows})
    with tempfile.TemporaryDirectory() as folder:
        items = [(i, (source, str(ROOT / source)), folder, arch) for i, source in enumerate(sources)]
        with gpu.concurrent.futures.ThreadPoolExecutor(16) as pool:
            built = {source: out for source, out, _ in pool.map(gpu.compile_library, items)}
        generator = torch.Generator(device="cuda").manual_seed(1)
        for row in rows:
            sizes = {k: int(v) for k, v in (pair.split("=") for pair in row["sizes"].split(","))}
            if "task" in row:
                spec = tomllib.loads((ROOT / row["task"] / "task.toml").read_text())
                entry, library = spec["task"]["entry"], built[f"{row['task']}/kernel.cu"]
            else:
                spec = {"args": dict(parse_arg(a) for a in row["args"])}
                entry, library = row["entry"], built[row["source"]]
            if library is None:
                sys.exit(f"{row['name']}: nvcc refuses it")
            copy = {}
            for name, arg in spec["args"].items():
                if "shape" in arg:
                    shape = [int(gpu.size_value(e, sizes)) for e in arg["shape"]]
                    copy[name] = make_buffer(arg, shape, sizes, generator)
            launcher = getattr(ctypes.CDLL(str(library)), entry)
            launcher.restype = None
            launcher(*gpu.arguments(spec, copy, sizes))
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()
