"""Run one case again: a replay file, a vector's id, or a generated case's id."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

SUMMARY = "run one case again and say whether it still fails"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("case", help="a replay file, `subject/slug` or `property:seed:index`")
    parser.add_argument("--backend", default="reference", help="the backend (default: reference)")
    parser.add_argument("--in-process", action="store_true", help="for debuggers")
    parser.add_argument("--python", action="store_true", help="print plain TensorFlow code only")
    parser.add_argument("--json", action="store_true", help="print the observations as JSON")


def run(args: argparse.Namespace) -> int:
    """Run it; 0 if it passes now, 1 if it does not."""
    from sessrun.conformance.plan import case_of
    from sessrun.conformance.replay import python_lines, read_replay
    from sessrun.conformance.runner import Runner

    path = Path(args.case)
    case = read_replay(path) if path.suffix == ".json" or path.exists() else case_of(args.case)
    if args.python:
        print("\n".join(python_lines(case)))
        return 0
    runner = Runner(args.backend, in_process=args.in_process)
    try:
        line = runner.run_once(case)
    finally:
        runner.shutdown()
    print(f"{case.id} on {args.backend}: {line['result']} in {line['seconds']:.3f} s")
    print(f"the rule: {case.title} [{', '.join(case.clauses)}]")
    finding = line.get("finding")
    if finding is not None:
        print(f"at step {finding['step']}: {finding['reason']}")
    elif line.get("detail"):
        print(line["detail"])
    if args.json:
        print(json.dumps(line.get("observations", []), indent=1))
    return 0 if line["result"] in {"pass", "skipped"} else 1
