"""Which data files of the spec have been checked, so that nobody checks them again.

Checking 1,900 vectors against their schema takes seconds; reading them takes a fraction of one.
`spec/checked.sha256` states, as `sha256sum` writes it, the digests of the schemas and of every file
that was checked against them. A reader compares the digests: a file that is not as stated, or
whose schema is not, is checked anew in full. Nothing rests on the statement but the time.

`python -m sessrun.spec.checked` checks every file and writes the statement, `--check` compares it.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

__all__ = ["STATEMENT", "checked_files", "is_stated", "statement", "write_statement"]

_SPEC: Final = Path(__file__).parent
#: Where the digests stand: a line `digest  path` for each file.
STATEMENT: Final = _SPEC / "checked.sha256"
#: The files that follow a schema, by the schema's name.
_FILES: Final = {
    "case": "vectors/*/*.json",
    "claims": "claims.toml",
    "clauses": "clauses/*.toml",
    "debt": "debt.toml",
    "inference": "inference.toml",
    "ops": "ops/*.toml",
    "profiles": "profiles.toml",
    "since": "since.toml",
    "variants": "variants.toml",
}


def is_stated(path: Path, raw: bytes, schema: str) -> bool:
    """Whether the statement says that this file, with this content, follows the schema as it is.

    Args:
      path: the file; only files of the spec's own folder are stated.
      raw: its content.
      schema: the schema's name, such as `case`.

    """
    try:
        name = path.relative_to(_SPEC).as_posix()
    except ValueError:
        return False
    return _stated().get(name) == hashlib.sha256(raw).hexdigest() and _same_schema(schema)


@functools.cache
def _stated() -> Mapping[str, str]:
    """The digests of the statement by path; none if there is no statement."""
    try:
        lines = STATEMENT.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


@functools.cache
def _same_schema(schema: str) -> bool:
    path = f"schemas/{schema}.schema.json"
    return _stated().get(path) == hashlib.sha256((_SPEC / path).read_bytes()).hexdigest()


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
    from sessrun.spec.loader import read_toml, read_vector  # noqa: PLC0415 - it reads through us
    from sessrun.spec.schema import check  # noqa: PLC0415 - slow to import

    paths = [_SPEC / f"schemas/{schema}.schema.json" for schema in _FILES]
    for schema, path in checked_files():
        if schema == "case":
            read_vector(path, path.read_bytes())
        else:
            check(read_toml(path), schema, str(path))
        paths.append(path)
    lines = sorted((path.relative_to(_SPEC).as_posix(), _digest(path)) for path in paths)
    return "".join(f"{digest}  {path}\n" for path, digest in lines)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_statement(say: Callable[[str], object] | None = None) -> bool:
    """Check every file and write the statement where it changes; whether it did."""
    text = statement()
    if STATEMENT.exists() and STATEMENT.read_text(encoding="utf-8") == text:
        return False
    STATEMENT.write_text(text, encoding="utf-8")
    _stated.cache_clear()
    _same_schema.cache_clear()
    if say is not None:
        say(f"{STATEMENT} is written anew")
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Write the statement, or with `--check` only compare; the exit status."""
    parser = argparse.ArgumentParser(prog="sessrun.spec.checked", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args(argv).check:
        write_statement()
        return 0
    if STATEMENT.exists() and STATEMENT.read_text(encoding="utf-8") == statement():
        return 0
    hint = "is not of these files: python -m sessrun.spec.checked"
    print(f"{STATEMENT} {hint}", file=sys.stderr)  # noqa: T201 - the command's answer
    return 1


if __name__ == "__main__":
    sys.exit(main())
