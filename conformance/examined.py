"""The program in which a fault is examined: `python -m sessrun.conformance.examined BACKEND`.

It takes cases from stdin (a JSON array), runs them in this process, one that spoils its process
last, and writes each case's result to stdout (a JSON object). A fault that hangs or dies takes
this program with it: then the host examines it again, in a worker.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Final, NoReturn

__all__ = ["DEADLINE_S", "main"]

#: What a case may take of a fault that is examined, here or in a worker, in seconds.
DEADLINE_S: Final = 10.0


def main(spec: str) -> NoReturn:
    """Run the cases of stdin on `spec` in this process, and end it."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a fault may print
    from sessrun.conformance.runner import Runner  # noqa: PLC0415 - after the descriptor moved
    from sessrun.spec.cases.model import Case  # noqa: PLC0415

    cases = [Case.from_json(form, f"the case {form['id']}") for form in json.load(sys.stdin)]
    runner = Runner(spec, in_process=True, deadline_s=DEADLINE_S)
    cases.sort(key=lambda case: case.isolated)
    json.dump({case.id: runner.run_once(case)["result"] for case in cases}, answers)
    answers.flush()
    os._exit(0)  # a thread that hangs in a fault must not keep the process


if __name__ == "__main__":
    main(sys.argv[1])
