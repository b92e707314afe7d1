"""The program that runs a profile's plan under coverage: `python -m ...covered PROFILE SEED COUNT`.

It runs the cases in this process, on the backend `reference`, and writes to standard output which
functions of the reference were entered and which of their branches were taken, as one JSON object
`{module: {function: {"line": first line, "entered": bool, "branches": [[from, to], ...] taken,
"missing": [[from, to], ...] not taken}}}`. Modules are paths below the reference's folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BACKEND", "PACKAGE", "main"]

#: The backend that is covered, and its package: the suite knows the runtime by these names only.
BACKEND: Final = "reference"
PACKAGE: Final = "sessrun.reference"


def main(profile: str, seed: int, count: int) -> None:
    """Run the plan of a profile and write what of the reference it entered.

    Raises:
      SystemExit: the coverage library is not installed, or a case did not pass.

    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a case may print
    with _coverage() as measured:
        _run(profile, seed, count)
    with answers:
        json.dump(measured, answers)


@contextlib.contextmanager
def _coverage() -> Iterator[dict[str, Any]]:
    """Cover what runs inside; the dictionary is filled at the end."""
    try:
        import coverage  # noqa: PLC0415 - an extra
    except ImportError:
        sys.exit("coverage is not installed: pip install 'sessrun[selfcheck]'")
    measured: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        library = coverage.Coverage(
            data_file=str(Path(folder) / "data"),
            branch=True,
            source_pkgs=[PACKAGE],
            config_file=False,
            messages=False,
        )
        library.start()
        try:
            yield measured
        finally:
            library.stop()
        library.save()
        report = Path(folder) / "report.json"
        library.json_report(outfile=str(report))
        measured.update(_functions(json.loads(report.read_text(encoding="utf-8"))))


def _functions(report: Mapping[str, Any]) -> dict[str, Any]:
    """The functions of a coverage report by module, without the code of modules and classes."""
    root = PACKAGE.rpartition(".")[2]
    modules: dict[str, Any] = {}
    for path, module in report["files"].items():
        functions = {
            name: {
                "line": form["start_line"],
                "entered": bool(form["executed_lines"]),
                "branches": form["executed_branches"],
                "missing": form["missing_branches"],
            }
            for name, form in module["functions"].items()
            if name and form["summary"]["num_statements"]
        }
        if functions:
            modules[path.replace(os.sep, "/").rpartition(f"{root}/")[2]] = functions
    return modules


def _run(profile: str, seed: int, count: int) -> None:
    """Run the cases of the plan; those that disturb their process come last."""
    from sessrun.conformance.plan import build_plan  # noqa: PLC0415 - under coverage
    from sessrun.conformance.runner import Runner  # noqa: PLC0415

    runner = Runner(BACKEND, in_process=True)
    cases = sorted(build_plan(profile, seed, count).cases, key=lambda case: case.isolated)
    for case in cases:
        line = runner.run_once(case)
        if line["result"] not in {"pass", "skipped"}:
            reason = line.get("finding", {}).get("reason") or line.get("detail", "")
            sys.exit(f"{case.id} ended as {line['result']}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
