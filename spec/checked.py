"""Checks every data file of the spec and writes the statement of it: `spec/checked.sha256`.

`python -m sessrun.spec.checked` checks every file and writes the statement, `--check` compares it.
`--lay-out` first writes each vector as vectors are stored, whatever has written it.
What it is for: `spec/statement.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from sessrun.spec.cases.model import Case, stored_form
from sessrun.spec.cases.readable import exact
from sessrun.spec.loader import read_json, read_toml, read_vector
from sessrun.spec.schema import check
from sessrun.spec.statement import (
    STATEMENT,
    file_digests,
    folder_digest,
    forget_statement,
)

__all__ = ["checked_files", "statement", "write_statement"]

_SPEC: Final = Path(__file__).parent
#: The files that follow a schema, by the schema's name.
_FILES: Final = {
    "case": "vectors/*/*.json",
    "claims": "claims.toml",
    "clauses": "clauses/*.toml",
    "debt": "debt.toml",
    "inference": "inference.toml",
    "ops": "ops/*.toml",
    "profiles": "profiles.toml",
    "rulings": "rulings.toml",
    "since": "since.toml",
    "variants": "variants.toml",
    "volumes": "volumes.toml",
}


def checked_files() -> Iterator[tuple[str, Path]]:
    """Each file that follows a schema, with the schema's name."""
    for schema, pattern in _FILES.items():
        for path in sorted(_SPEC.glob(pattern)):
            yield schema, path


def statement() -> str:
    """The statement of the files as they are, after each was checked in full.

    Raises:
      SpecError: a file is not as its schema says, or a vector not in the form that is stored.

    """
    paths = [_SPEC / f"schemas/{schema}.schema.json" for schema in _FILES]
    folders = set()
    for schema, path in checked_files():
        if schema == "case":
            read_vector(path, path.read_bytes())
            folders.add(path.parent)
        else:
            check(read_toml(path), schema, str(path))
            paths.append(path)
    digests = {path.relative_to(_SPEC).as_posix(): _digest(path) for path in paths}
    for folder in folders:
        name = f"{folder.relative_to(_SPEC).as_posix()}/"
        digests[name] = folder_digest(file_digests(folder))
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lay_out_vectors() -> None:
    """Write each vector in the form that is stored; its content stays as it is."""
    for path in (_SPEC / "vectors").glob("*/*.json"):
        raw = path.read_bytes()
        stored = stored_form(Case.from_json(exact(read_json(path)), str(path)))
        if stored != raw:
            path.write_bytes(stored)


def write_statement(say: Callable[[str], object] | None = None) -> bool:
    """Check every file and write the statement where it changes; whether it did."""
    text = statement()
    if STATEMENT.exists() and STATEMENT.read_text(encoding="utf-8") == text:
        return False
    STATEMENT.write_text(text, encoding="utf-8")
    forget_statement()
    if say is not None:
        say(f"{STATEMENT} is written anew")
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Write the statement, or with `--check` only compare; the exit status."""
    parser = argparse.ArgumentParser(prog="sessrun.spec.checked", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--lay-out", action="store_true", help="write vectors as they are stored")
    options = parser.parse_args(argv)
    if not options.check:
        if options.lay_out:
            lay_out_vectors()
        write_statement()
        return 0
    if STATEMENT.exists() and STATEMENT.read_text(encoding="utf-8") == statement():
        return 0
    hint = "is not of these files: python -m sessrun.spec.checked"
    print(f"{STATEMENT} {hint}", file=sys.stderr)  # noqa: T201 - the command's answer
    return 1


if __name__ == "__main__":
    sys.exit(main())
