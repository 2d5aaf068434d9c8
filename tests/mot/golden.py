#!/usr/bin/env python3
"""Makes golden.mot.gguf, a tiny bundle, and golden.json, what its interaction and its router give.

An implementation of docs/mot.md of its own, in numpy with 64-bit floats, and a writer of the file
format of its own: tests/mot/golden_test.cpp compares the program's with both. Run it again only when
the format or the mathematics change, and torch_parity.py, which compares PyTorch with both, after it:

    python3 -m venv /tmp/v && /tmp/v/bin/pip install numpy && /tmp/v/bin/python tests/mot/golden.py
"""
import hashlib
import json
import pathlib
import struct

import numpy as np

SHARED, HEADS, EPSILON = 12, 3, 1e-6
WIDTHS = [10, 7]  # the primary, a peer
LAYERS, BOUNDARIES = [8, 12], [[1, 3, 5], [2, 5, 8]]
PRIMARY_ROWS, PEER_ROWS = 4, 5
CODE, HIDDEN = 6, 5
U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def typed(value):
    """The type and the bytes of a key's value."""
    if isinstance(value, bool):
        return BOOL, struct.pack("<B", value)
    if isinstance(value, int):
        return U32, struct.pack("<I", value)
    if isinstance(value, float):
        return F32, struct.pack("<f", value)
    if isinstance(value, str):
        return STRING, text(value)
    kind = typed(value[0])[0]
    return ARRAY, struct.pack("<IQ", kind, len(value)) + b"".join(typed(v)[1] for v in value)


def write_gguf(path, keys, tensors):
    """GGUF version 3: header, keys, tensor descriptions, tensors at multiples of 32 bytes."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for name, value in keys.items():
        kind, data = typed(value)
        head += text(name) + struct.pack("<I", kind) + data
    body = b""
    for name, array in tensors.items():
        shape = array.shape[::-1]  # the innermost dimension first
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        head += struct.pack("<IQ", 0, len(body))
        body += array.astype("<f4").tobytes()
        body += b"\0" * (-len(body) % 32)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + body)


def rms_norm(rows):
    return rows / np.sqrt(np.mean(rows * rows, axis=-1, keepdims=True) + EPSILON)


def peer_latents(t, q, m, rows):
    shared = rms_norm(rows) @ t[f"mot.q{q}.in.{m}"].T + t[f"mot.q{q}.type.{m}"]
    return shared @ t[f"mot.q{q}.wk"].T, shared @ t[f"mot.q{q}.wv"].T


def update(t, q, p, rows, keys, values):
    query = rms_norm(rows) @ t[f"mot.q{q}.down.{p}"].T @ t[f"mot.q{q}.wq"].T
    keys = np.vstack([t[f"mot.q{q}.null_k"][None, :], keys])
    values = np.vstack([np.zeros((1, SHARED)), values])
    width = SHARED // HEADS
    heads = []
    for h in range(HEADS):
        cut = slice(h * width, (h + 1) * width)
        scores = query[:, cut] @ keys[:, cut].T / np.sqrt(width)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ values[:, cut])
    return np.hstack(heads) @ t[f"mot.q{q}.wo"].T @ t[f"mot.q{q}.up.{p}"].T


def router(t, code):
    hidden = t["mot.router.w1"] @ rms_norm(code) + t["mot.router.b1"]
    hidden = hidden / (1 + np.exp(-hidden))
    scores = np.exp(t["mot.router.w2"] @ hidden + t["mot.router.b2"])
    return scores / scores.sum()


def bundle(random):
    sha = [hashlib.sha256(name).hexdigest() for name in (b"writer", b"reader", b"words", b"")]
    keys = {
        "general.architecture": "optiml-mot", "mot.format": 1, "mot.shared_dim": SHARED,
        "mot.heads": HEADS, "mot.norm_eps": EPSILON, "mot.peer_mode": "static",
        "mot.training": "random numbers", "mot.expert_count": 2, "mot.boundary_count": 3,
        "mot.router.encoder": "ngrams", "mot.router.code_width": CODE,
        "mot.router.hidden_width": HIDDEN, "mot.router.top_k": 2, "mot.router.encoder_sha256": "0" * 64,
    }
    for m, name in enumerate(["writer", "reader"]):
        keys.update({f"mot.expert.{m}.{key}": value for key, value in {
            "name": name, "file": f"{name}.gguf", "architecture": "qwen2", "layers": LAYERS[m],
            "width": WIDTHS[m], "sha256": sha[m], "vocabulary_sha256": sha[2],
            "prompt_format": "chatml", "view": [["prompt"], ["ptx", "profile"]][m],
            "can_be_primary": m == 0, "boundaries": BOUNDARIES[m]}.items()})
    shapes = {"mot.router.w1": (HIDDEN, CODE), "mot.router.b1": (HIDDEN,),
              "mot.router.w2": (2, HIDDEN), "mot.router.b2": (2,)}
    for q in (1, 2, 3):
        shapes.update({f"mot.q{q}.{name}": (SHARED, SHARED) for name in ("wq", "wk", "wv", "wo")})
        shapes[f"mot.q{q}.null_k"] = (SHARED,)
        for m, width in enumerate(WIDTHS):
            shapes[f"mot.q{q}.in.{m}"] = (SHARED, width)
            shapes[f"mot.q{q}.type.{m}"] = (SHARED,)
        shapes[f"mot.q{q}.down.0"] = (SHARED, WIDTHS[0])
        shapes[f"mot.q{q}.up.0"] = (WIDTHS[0], SHARED)
    # Stored as 32-bit floats: the mathematics start from those.
    tensors = {name: random.normal(0, shape[-1] ** -0.5, shape).astype(np.float32)
               for name, shape in shapes.items()}
    return keys, tensors


def main():
    random = np.random.default_rng(20261130)
    keys, tensors = bundle(random)
    folder = pathlib.Path(__file__).parent
    write_gguf(folder / "golden.mot.gguf", keys, tensors)
    t = {name: array.astype(np.float64) for name, array in tensors.items()}
    golden = {"boundaries": []}
    for q in (1, 2, 3):
        peer = random.normal(0, 2, (PEER_ROWS, WIDTHS[1])).astype(np.float32)
        primary = random.normal(0, 2, (PRIMARY_ROWS, WIDTHS[0])).astype(np.float32)
        k, v = peer_latents(t, q, 1, peer.astype(np.float64))
        golden["boundaries"].append({
            "peer": peer.ravel().tolist(), "primary": primary.ravel().tolist(),
            "keys": k.ravel().tolist(), "values": v.ravel().tolist(),
            "update": update(t, q, 0, primary.astype(np.float64), k, v).ravel().tolist()})
    code = random.normal(0, 1, CODE).astype(np.float32)
    golden["code"] = code.tolist()
    golden["scores"] = router(t, code.astype(np.float64)).tolist()
    (folder / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
