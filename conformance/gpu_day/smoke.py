"""Runs the small programs on a GPU and on the CPU, and says of each whether both agree.

A program that broke may have spoilt the process, as an illegal address does for every later call:
the programs after it run in a fresh one. A program that ends its process is reported as such.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.gpu_day.programs import PROGRAMS
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json

__all__ = ["difference", "main", "run_program"]

#: How far numbers of a GPU may be from those of a CPU: of float32 and wider, of 16 bits.
_TOLERANCE: Final = {"rtol": 2e-4, "atol": 2e-5}
_HALF_TOLERANCE: Final = {"rtol": 2e-2, "atol": 2e-2}
#: Programs whose sums are of 16 bits.
_IN_HALF: Final = ("half-products",)
#: How long one program may take, in seconds: its kernels are compiled for it.
_PROGRAM_S: Final = 120


def _values(tf: Namespace, name: str, device: str) -> list[Any]:
    """What the program fetches, placed on the device where its operations can be."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        fetches = PROGRAMS[name](tf)
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            values = session.run(fetches)
    return list(values) if isinstance(values, list | tuple) else [values]


def difference(got: Sequence[Any], want: Sequence[Any], tolerance: dict[str, float]) -> str | None:
    """The first value that the GPU has otherwise than the CPU, in words; None if there is none."""
    for index, (left, right) in enumerate(zip(got, want, strict=True)):
        mine, theirs = np.asarray(left), np.asarray(right)
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return (
                f"value {index}: {mine.dtype}{list(mine.shape)} on the GPU, "
                f"{theirs.dtype}{list(theirs.shape)} on the CPU"
            )
        if mine.dtype.kind in "fc":
            same = np.isclose(mine, theirs, equal_nan=True, **tolerance)
        else:
            same = np.asarray(mine == theirs)
        if not same.all():
            first = tuple(np.argwhere(~same)[0].tolist()) if same.ndim else ()
            return (
                f"value {index}: {int((~same).sum())} of {same.size} elements differ, the first at "
                f"{list(first)}: {mine[first]} on the GPU, {theirs[first]} on the CPU"
            )
    return None


def run_program(tf: Namespace, name: str) -> dict[str, Json]:
    """Whether the program gives on the GPU what it gives on the CPU, and what is wrong if not."""
    tolerance = _HALF_TOLERANCE if name in _IN_HALF else _TOLERANCE
    started = time.perf_counter()
    try:
        wrong = difference(_values(tf, name, "/gpu:0"), _values(tf, name, "/cpu:0"), tolerance)
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises is the answer
        wrong = f"{type(error).__name__}: {error}"
    line: dict[str, Any] = {"program": name, "passed": wrong is None}
    line["seconds"] = round(time.perf_counter() - started, 3)
    return line if wrong is None else line | {"wrong": wrong[:2000]}


def _here(spec: str, names: Sequence[str], *, go_on: bool) -> int:
    """Run programs in this process, a line of JSON for each, up to the first failure at least."""
    backend = load(spec)
    assert isinstance(backend, NamespaceBackend), spec
    if not any("GPU" in device for device in backend.describe().devices):
        # Else soft placement would have the CPU agree with itself.
        raise AdapterError(f"{spec} has no GPU")
    failed = 0
    for name in names:
        line = run_program(backend.namespace, name)
        print(json.dumps(line), flush=True)
        failed += not line["passed"]
        if failed and not go_on:
            return 1
    return 1 if failed else 0


def _in_fresh_processes(spec: str, output: Path) -> int:
    """Run all programs, each line into the file as it comes; 1 if one failed."""
    output.write_text("", encoding="utf-8")
    left, failed = list(PROGRAMS), 0
    while left:
        lines = _child(spec, left)
        with output.open("a", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(line) + "\n")
                print(f"{'passed' if line['passed'] else 'FAILED'} {line['program']}", flush=True)
        failed += sum(not line["passed"] for line in lines)
        left = left[len(lines) :]
    print(f"{len(PROGRAMS) - failed} of {len(PROGRAMS)} gave the same on both devices")
    return 1 if failed else 0


def _child(spec: str, names: Sequence[str]) -> list[dict[str, Json]]:
    """The lines of a process that runs these programs; at least that of the first one."""
    command = [sys.executable, "-m", __spec__.name, spec, "--here", *names]
    limit = _PROGRAM_S * len(names)
    try:
        done = subprocess.run(  # noqa: S603 - this module
            command, capture_output=True, text=True, timeout=limit, check=False
        )
        printed, end = done.stdout, f"its process ended with status {done.returncode}"
        reason = done.stderr.strip().splitlines()[-1:]
    except subprocess.TimeoutExpired as error:
        printed = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        end, reason = f"no answer in {limit} s", []
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    stopped = len(lines) < len(names) and (not lines or lines[-1]["passed"])
    if stopped:
        wrong = ": ".join([end, *reason])
        lines.append({"program": names[len(lines)], "passed": False, "wrong": wrong[:2000]})
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; 1 if a program failed."""
    parser = argparse.ArgumentParser(prog="smoke", description=__doc__)
    parser.add_argument("backend")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--output", type=Path, help="a file for the lines; processes of their own")
    way.add_argument("--here", nargs="+", help="these in this process, to the first failure")
    way.add_argument("--all", action="store_true", help="all in this process")
    args = parser.parse_args(argv)
    if args.output is not None:
        return _in_fresh_processes(args.backend, args.output)
    return _here(args.backend, args.here or list(PROGRAMS), go_on=args.all)


if __name__ == "__main__":
    sys.exit(main())
