#!/usr/bin/env python3
"""Writes docs/sanitizer.md: the emulator's verdict on every case beside those of compute-sanitizer.

usage: table.py EMULATOR GPU > docs/sanitizer.md

EMULATOR is what tests.sanitize --write FILE makes, GPU the h200.tsv of run_on_gpu (the one kept here: h200.tsv).
"""

import pathlib
import re
import sys
from collections import defaultdict

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
HEAD = """# The emulator beside compute-sanitizer

Made by `tests/sanitize/table.py`; the cases and how they are run are in `tests/sanitize/README.md`.

{faulty} kernels with one fault each, {clean} without: the emulator with every check on, and the four tools of
compute-sanitizer on an H200 (`tests/sanitize/h200.tsv`: 2026-11-30, driver 580.159.04, CUDA 13.0). A number is the source line that is reported; `x` found without a line of the file.

| | faulty | found by the emulator | by compute-sanitizer | by both | by the emulator alone | by compute-sanitizer alone |
|---|---|---|---|---|---|---|
{summary}

False alarms on the {clean} clean kernels: the emulator {our_alarms}, compute-sanitizer {their_alarms}.
"""


def field(text, key):
    found = re.search(rf"^// {key}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def fault_class(name):
    stem = name.split("/")[1]
    for prefix, title in [("bounds", "out of bounds"), ("misaligned", "misaligned"),
                          ("uninitialised", "uninitialised"), ("global_race", "race in global memory"),
                          ("race", "race in shared memory"), ("barrier", "barriers and warps"),
                          ("warp", "barriers and warps"), ("mbarrier", "barriers and warps")]:
        if stem.startswith(prefix):
            return title
    return "other"


def read_gpu(path):
    gpu = defaultdict(dict)
    for line in path.read_text().splitlines():
        case, tool, verdict, errors, lines, message = line.split("\t")
        gpu[case][tool] = (verdict, lines, message)
    return gpu


def cell(run):
    """What one tool says of one case."""
    if run is None:
        return ""
    verdict, lines, _ = run
    if verdict == "found":
        return "x" if lines == "-" else lines.split(",")[0]
    return "" if verdict == "clean" else verdict


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    emulator = {}
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        case, kind, number = line.split("\t")
        emulator[case] = (kind, number)
    gpu = read_gpu(pathlib.Path(sys.argv[2]))
    rows = {"faulty": [], "clean": []}
    classes = defaultdict(lambda: [0] * 6)
    alarms = {"emulator": 0, "gpu": 0}
    for folder in rows:
        for path in sorted((HERE / folder).glob("*.cu")):
            name = f"{folder}/{path.stem}"
            kind, number = emulator.get(name, ("not run", "0"))
            ours = "" if kind in ("-", "not run") else f"{kind}, {number}"
            runs = gpu.get(name, {})
            cells = [cell(runs.get(tool)) for tool in TOOLS]
            theirs = any(r[0] in ("found", "hang") for r in runs.values())
            rows[folder].append((path.stem, ours, cells, path.read_text(), theirs))
            if folder == "clean":
                alarms["emulator"] += 1 if ours else 0
                alarms["gpu"] += 1 if theirs else 0
                continue
            for key in (fault_class(name), "all"):
                for i, holds in enumerate([True, bool(ours), theirs, ours and theirs,
                                           ours and not theirs, theirs and not ours]):
                    classes[key][i] += 1 if holds else 0
    order = [k for k in classes if k != "all"] + ["all"]
    summary = "\n".join(f"| {k} | " + " | ".join(map(str, classes[k])) + " |" for k in order)
    print(HEAD.format(faulty=len(rows["faulty"]), clean=len(rows["clean"]), summary=summary,
                      our_alarms=alarms["emulator"] or "none", their_alarms=alarms["gpu"] or "none"))
    print("## Faulty kernels\n\n| case | emulator | " + " | ".join(TOOLS) + " |")
    print("|---|---|---|---|---|---|")
    for stem, ours, cells, text, _ in rows["faulty"]:
        print(f"| {stem} | {ours} | " + " | ".join(cells) + " |")
    differences = [(stem, field(text, "sanitizer"), [t for t, c in zip(TOOLS, cells) if c])
                   for stem, _, cells, text, _ in rows["faulty"]]
    differences = [d for d in differences
                   if (d[1] in TOOLS and d[1] not in d[2]) or (d[1] == "none" and d[2])]
    if differences:
        print("\n## Where compute-sanitizer says other than expected\n\n| case | expected | found by |")
        print("|---|---|---|")
        for stem, expected, found in differences:
            print(f"| {stem} | {expected} | {', '.join(found) or 'none'} |")
    reported = [(stem, ours, cells) for stem, ours, cells, _, theirs in rows["clean"] if ours or theirs]
    print("\n## Clean kernels\n")
    print(f"{len(rows['clean'])}: " + ", ".join(r[0] for r in rows["clean"]) + ".")
    if reported:
        print("\n| reported | emulator | " + " | ".join(TOOLS) + " |\n|---|---|---|---|---|---|")
        for stem, ours, cells in reported:
            print(f"| {stem} | {ours} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
