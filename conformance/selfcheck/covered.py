"""The program that runs plans under coverage: `python -m ...covered PROFILES SEED COUNT`.

`PROFILES` are names with commas between them. With two more numbers, I and N, it runs the I-th of N
shares of their cases. All of it happens in this process, on the backend `reference`. It writes to
standard output which functions of the reference were entered and which of their branches were
taken, as one JSON object `{module: {function: {"line": first line, "entered": bool, "branches":
[[from, to], ...] taken, "missing": [[from, to], ...] not taken}}}`. Modules are paths below the
reference's folder.
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
    from collections.abc import Mapping, Sequence

__all__ = ["BACKEND", "PACKAGE", "main"]

#: The backend that is covered, and its package: the suite knows the runtime by these names only.
BACKEND: Final = "reference"
PACKAGE: Final = "sessrun.reference"


def main(profiles: Sequence[str], seed: int, count: int, share: int = 0, of: int = 1) -> None:
    """Run the plans of profiles, or a share of their cases; write what of the reference they enter.

    Args:
      profiles: names of profiles.
      seed: of the generated cases.
      count: generated cases per property.
      share: which of the shares, from 0.
      of: how many shares there are.

    Raises:
      SystemExit: the coverage library is not installed, or a case did not pass.

    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a case may print
    with _coverage() as measured:
        _run(profiles, seed, count, share, of)
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


def _run(profiles: Sequence[str], seed: int, count: int, share: int, of: int) -> None:
    """Run the share's cases of the plans; those that disturb their process come last."""
    from sessrun.conformance.plan import build_plan  # noqa: PLC0415 - under coverage
    from sessrun.conformance.runner import Runner  # noqa: PLC0415

    runner = Runner(BACKEND, in_process=True)
    cases = [case for profile in profiles for case in build_plan(profile, seed, count).cases]
    for case in sorted(cases[share::of], key=lambda case: case.isolated):
        line = runner.run_once(case)
        if line["result"] not in {"pass", "skipped"}:
            reason = line.get("finding", {}).get("reason") or line.get("detail", "")
            sys.exit(f"{case.id} ended as {line['result']}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1].split(","), *map(int, sys.argv[2:]))
