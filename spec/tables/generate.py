"""Writes what follows from the operation declarations: the table, the types of functions.

`python -m sessrun.spec.tables.generate` writes the three files; with `--check` it writes nothing,
names those that drifted, and ends with the exit status 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sessrun.spec.loader import SPEC_DIR, load_operations, read_toml
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import DOMAINS
from sessrun.spec.rules.shapes import RULES
from sessrun.spec.schema import SpecError
from sessrun.spec.tables.outputs import outputs
from sessrun.spec.tables.rows import rows
from sessrun.spec.tables.wrappers import wrappers

__all__ = ["files", "main"]


def files() -> Mapping[Path, str]:
    """Path to wanted text of each generated file of the repository."""
    root = SPEC_DIR.resolve().parent
    operations = load_operations()
    stated: dict[str, Any] = {}
    for path in sorted((SPEC_DIR / "ops").glob("*.toml")):
        stated.update(read_toml(path))
    _check_rules(operations)
    return {
        root / "spec" / "tables" / "ops.py": rows(operations, stated),
        root / "reference" / "build" / "generated.pyi": wrappers(operations),
        root / "adapters" / "javascript" / "operations.json": outputs(operations),
    }


def _check_rules(operations: Mapping[str, Operation]) -> None:
    """Refuse a declaration that names a rule that does not exist.

    Raises:
      SpecError: naming the operation, the rule, and where rules are written.

    """
    for operation in operations.values():
        if operation.shape.name not in RULES:
            raise SpecError(
                f"spec/ops: {operation.name}",
                "shape",
                f"no rule {operation.shape.name!r} in spec/rules/shapes",
            )
        if operation.domain is not None and operation.domain.name not in DOMAINS:
            raise SpecError(
                f"spec/ops: {operation.name}",
                "domain",
                f"no domain {operation.domain.name!r} in spec/rules/domains",
            )


def main(argv: Sequence[str] | None = None) -> int:
    """Write the files, or with `--check` only compare; the exit status."""
    parser = argparse.ArgumentParser(prog="sessrun.spec.tables.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(argv).check
    drifted = {
        path: text
        for path, text in files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in drifted.items():
        if check:
            print(f"{path} is not what the declarations say")  # noqa: T201 - the command's answer
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if check and drifted else 0


if __name__ == "__main__":
    sys.exit(main())
