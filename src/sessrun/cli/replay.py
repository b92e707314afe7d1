"""Run one case again: a replay file, a vector's id, or a generated case's id."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

from sessrun.cli.failure import UserError
from sessrun.cli.simulated_gpu import add_simulated_gpu, with_simulated_gpu

#: How many lines of a log are shown.
_LOG_LINES: Final = 30

SUMMARY = "run one case again and say whether it still fails"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("case", help="a replay file, `subject/slug` or `property:seed:index`")
    parser.add_argument("--backend", default="reference", help="the backend (default: reference)")
    add_simulated_gpu(parser)
    parser.add_argument("--in-process", action="store_true", help="for debuggers")
    parser.add_argument("--python", action="store_true", help="print plain TensorFlow code only")
    parser.add_argument(
        "--shrink", type=Path, metavar="FILE", help="write the smallest case that fails alike"
    )
    parser.add_argument("--json", action="store_true", help="print the observations as JSON")


def run(args: argparse.Namespace) -> int:
    """Run it; 0 if it passes now, 1 if it does not."""
    from sessrun.cli.shrinking import shrink_case
    from sessrun.conformance.oracle import Oracle
    from sessrun.conformance.plan import case_of
    from sessrun.conformance.replay import finding_of, python_lines, read_replay, write_replay
    from sessrun.conformance.runner import Runner
    from sessrun.conformance.shrink import node_count, shrinkable
    from sessrun.spec.records import QUIET, blamed

    backend = with_simulated_gpu(args.backend, args.simulated_gpu)
    path = Path(args.case)
    is_file = path.suffix == ".json" or path.exists()
    case = read_replay(path) if is_file else case_of(args.case)
    if args.python:
        print("\n".join(python_lines(case, finding_of(path) if is_file else None)))
        return 0
    oracle = Oracle()
    logs: list[str] = []
    runner = Runner(
        backend,
        in_process=args.in_process,
        ask_oracle=oracle,
        on_log=logs.append,
        leaves_out=False,
    )
    try:
        line = runner.run_once(case)
        if args.shrink is not None and line["result"] == "fail":
            if not shrinkable(case):
                raise UserError(f"{case.id} expects fixed answers: only a generated case shrinks")
            small = shrink_case(case, runner, oracle, seconds=60.0)
            line = runner.run_once(small)
            write_replay(args.shrink, small, line, backend)
            print(f"shrunk from {node_count(case)} to {node_count(small)} nodes: {args.shrink}")
            case = small
    finally:
        runner.shutdown()
        oracle.shutdown()
    print(f"{case.id} on {backend}: {line['result']} in {line['seconds']:.3f} s")
    print(f"the rule: {case.title} [{', '.join(blamed(line))}]")
    finding = line.get("finding")
    if finding is not None:
        print(f"at step {finding['step']}: {finding['reason']}")
    elif line.get("detail"):
        print(line["detail"])
    for text in logs[:1]:
        print(f"its log ends:\n{_end_of(text)}")
    if args.json:
        print(json.dumps(line.get("observations", []), indent=1))
    return 0 if line["result"] in QUIET else 1


def _end_of(log: str) -> str:
    """The last lines of a log, indented."""
    from sessrun.reports.printable import printable

    lines = [line for line in log.splitlines() if line.strip()][-_LOG_LINES:]
    return "\n".join(f"  {printable(line)}" for line in lines)
