#!/usr/bin/env python3
"""Compares golden.json with PyTorch: interaction and router on golden.mot.gguf, out of torch's own modules.

Shares no code with golden.py or src/mot and reads the bundle with the package gguf. The attention is made
twice: as torch.nn.MultiheadAttention, whose bias_k and bias_v are the null key and its value, and by
scaled_dot_product_attention. Only the rows and the code are taken from golden.json, nothing in between.
Then the same with a mistake on purpose, one at a time: each has to be seen.

    python3 -m venv /tmp/t && /tmp/t/bin/pip install torch numpy gguf && /tmp/t/bin/python tests/mot/torch_parity.py

Runs on the CPU, with torch 2.4 or later (rms_norm). Ends with status 1 if a difference is beyond its bound or
a mistake was not seen.
"""
import contextlib
import importlib.metadata
import json
import pathlib
import sys
from typing import NamedTuple
from unittest import mock

import gguf
import torch
from torch.nn import functional as F

# Of a case's greatest difference, in parts of its greatest number: what golden_test.cpp allows graphs and reference.
BOUNDS = {torch.float32: 1e-5, torch.float64: 1e-12}
PRIMARY, PEER = 0, 1


class Bundle(NamedTuple):
    tensors: dict
    heads: int
    epsilon: float
    null: bool = True  # is there a null key?

    def at(self, boundary, *names):
        return [self.tensors[f"mot.q{boundary}.{name}"] for name in names]

    def norm(self, rows):
        return F.rms_norm(rows, rows.shape[-1:], eps=self.epsilon)


def load(path, dtype):
    reader = gguf.GGUFReader(path)
    tensors = {t.name: torch.tensor(t.data, dtype=dtype) for t in reader.tensors}
    return Bundle(tensors, *(reader.get_field(key).contents() for key in ("mot.heads", "mot.norm_eps")))


def latents_of(bundle, q, peer):
    return F.linear(bundle.norm(peer), *bundle.at(q, f"in.{PEER}", f"type.{PEER}"))


def by_module(bundle, q, primary, peer):
    wq, wk, wv, wo, null, down, up = bundle.at(q, "wq", "wk", "wv", "wo", "null_k", f"down.{PRIMARY}", f"up.{PRIMARY}")
    attention = torch.nn.MultiheadAttention(len(wq), bundle.heads, bias=False, add_bias_kv=bundle.null, dtype=wq.dtype)
    state = {"in_proj_weight": torch.cat([wq, wk, wv]), "out_proj.weight": wo}
    if bundle.null:
        state |= {"bias_k": null.view(1, 1, -1), "bias_v": torch.zeros(1, 1, len(null))}
    attention.load_state_dict(state)
    latents = latents_of(bundle, q, peer)
    # It returns the weights too, and therefore does not call scaled_dot_product_attention itself.
    mixed, _ = attention.eval()(F.linear(bundle.norm(primary), down), latents, latents)
    return F.linear(mixed, up)


def by_function(bundle, q, primary, peer):
    wq, wk, wv, wo, null, down, up = bundle.at(q, "wq", "wk", "wv", "wo", "null_k", f"down.{PRIMARY}", f"up.{PRIMARY}")
    query = F.linear(F.linear(bundle.norm(primary), down), wq)
    key, value = (F.linear(latents_of(bundle, q, peer), weights) for weights in (wk, wv))
    if bundle.null:
        key, value = torch.cat([key, null[None]]), torch.cat([value, torch.zeros_like(null)[None]])
    split = (rows.unflatten(1, (bundle.heads, -1)).transpose(0, 1) for rows in (query, key, value))
    mixed = F.scaled_dot_product_attention(*split).transpose(0, 1).flatten(1)
    return F.linear(F.linear(mixed, wo), up)


def router(bundle, code):
    w1, b1, w2, b2 = (bundle.tensors[f"mot.router.{name}"] for name in ("w1", "b1", "w2", "b2"))
    return F.linear(F.silu(F.linear(bundle.norm(code), w1, b1)), w2, b2).softmax(-1)


def cases(bundle, golden):
    """Name, what torch gives, what is expected."""
    def rows(numbers, like):
        return torch.tensor(numbers, dtype=bundle.tensors["mot.router.w1"].dtype).view(-1, like.shape[1])
    for q, expected in enumerate(golden["boundaries"], 1):
        wk, wv, into, down = bundle.at(q, "wk", "wv", f"in.{PEER}", f"down.{PRIMARY}")
        peer, primary = rows(expected["peer"], into), rows(expected["primary"], down)
        yield f"keys {q}", F.linear(latents_of(bundle, q, peer), wk), expected["keys"]
        yield f"values {q}", F.linear(latents_of(bundle, q, peer), wv), expected["values"]
        yield f"update {q}, MultiheadAttention", by_module(bundle, q, primary, peer), expected["update"]
        yield f"update {q}, scaled_dot_product", by_function(bundle, q, primary, peer), expected["update"]
    yield "router", router(bundle, rows(golden["code"], bundle.tensors["mot.router.w1"])), golden["scores"]


@torch.no_grad()
def differences(bundle, golden):
    """Of each case: the greatest difference, absolute and in parts of the greatest number."""
    result = {}
    for case, actual, expected in cases(bundle, golden):
        expected = torch.tensor(expected, dtype=torch.float64)
        difference = (actual.double().flatten() - expected).abs().max().item()
        result[case] = difference, difference / expected.abs().max().item()
    return result


def changed(bundle, last, change):
    """With `change` made to all tensors of that name."""
    return bundle._replace(tensors={name: change(tensor) if last in name.split(".") else tensor
                                    for name, tensor in bundle.tensors.items()})


def swapped(bundle, one, other):
    names = {name: name.replace(one, other) if one in name else name.replace(other, one) for name in bundle.tensors}
    return bundle._replace(tensors={name: bundle.tensors[source] for name, source in names.items()})


def other_heads(weights, heads):
    return torch.cat([*weights.chunk(heads)[1::-1], *weights.chunk(heads)[2:]])


# Beginnings of the names of the cases that it concerns, the wrong bundle, wrong functions.
UPDATE, PEERS, ALL = ("update",), ("keys", "values", "update"), ("",)
MISTAKES = {
    "two heads of the queries swapped": (UPDATE, lambda b: changed(b, "wq", lambda w: other_heads(w, b.heads)), {}),
    "divided by sqrt(s), not sqrt(s/heads)": (UPDATE, lambda b: changed(b, "wq", lambda w: w / b.heads ** 0.5), {}),
    "not divided": (UPDATE, lambda b: changed(b, "wq", lambda w: w * (len(w) / b.heads) ** 0.5), {}),
    "one head": (UPDATE, lambda b: b._replace(heads=1), {}),
    "no null key": (UPDATE, lambda b: b._replace(null=False), {}),
    "a null key of zeros": (UPDATE, lambda b: changed(b, "null_k", torch.zeros_like), {}),
    "wq transposed": (UPDATE, lambda b: changed(b, "wq", torch.t), {}),
    "wo transposed": (UPDATE, lambda b: changed(b, "wo", torch.t), {}),
    "wk and wv swapped": (PEERS, lambda b: swapped(b, "wk", "wv"), {}),
    "no type": (PEERS, lambda b: changed(b, "type", torch.zeros_like), {}),
    "epsilon of 1e-5, not 1e-6": (ALL, lambda b: b._replace(epsilon=1e-5), {}),
    "layer_norm, not rms_norm": (ALL, lambda b: b, {"rms_norm": F.layer_norm}),
    "gelu, not silu": (("router",), lambda b: b, {"silu": F.gelu}),
}


def main():
    folder = pathlib.Path(__file__).parent
    golden = json.loads((folder / "golden.json").read_text())
    bundles = {dtype: load(folder / "golden.mot.gguf", dtype) for dtype in BOUNDS}
    versions = (f"{name} {importlib.metadata.version(name).split('+')[0]}" for name in ("torch", "gguf", "numpy"))
    print(", ".join(versions) + "; relative: in parts of the case's greatest number\n" + " " * 40
          + "".join(f"{str(dtype)[6:]}, bound {bound:g}".rjust(24) for dtype, bound in BOUNDS.items())
          + "\n" + "greatest difference".ljust(40) + f"{'absolute':>13}{'relative':>11}" * len(BOUNDS))
    failures = 0
    right = {dtype: differences(bundle, golden) for dtype, bundle in bundles.items()}
    for case in right[torch.float64]:
        passed = all(right[dtype][case][1] <= bound for dtype, bound in BOUNDS.items())
        failures += not passed
        print(case.ljust(40) + "".join("{:13.1e}{:11.1e}".format(*right[dtype][case]) for dtype in BOUNDS)
              + ("" if passed else "  BEYOND"))
    print("\n" + "with a mistake: the least of the cases that it concerns")
    for mistake, (concerned, wrong, functions) in MISTAKES.items():
        least = {}
        for dtype, bundle in bundles.items():
            with mock.patch.multiple(F, **functions) if functions else contextlib.nullcontext():
                found = differences(wrong(bundle), golden)
            least[dtype] = min(relative for case, (_, relative) in found.items() if case.startswith(concerned))
        seen = any(least[dtype] > bound for dtype, bound in BOUNDS.items())
        failures += not seen
        print(mistake.ljust(40) + "".join(f"{least[dtype]:24.1e}" for dtype in BOUNDS) + ("" if seen else "  NOT SEEN"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
