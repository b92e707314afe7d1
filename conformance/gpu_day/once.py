"""One job of `sessrun bench`, run a few times and checked, for a profiler that looks on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.benchmarks.selection import select

__all__ = ["main"]

#: The first call compiles kernels and fills pools; the last ones are as a program's.
_CALLS: Final = 3


def main(argv: Sequence[str] | None = None) -> int:
    """`once BACKEND JOB`: 1 if its answer is wrong."""
    spec, name = sys.argv[1:] if argv is None else argv
    backend = load(spec)
    assert isinstance(backend, NamespaceBackend), spec
    (job,) = select([name])
    prepared = job.prepare(backend.namespace, "/gpu:0")
    for _ in range(_CALLS):
        prepared.call()
    wrong = prepared.check((prepared.checked or prepared.call)())
    prepared.close()
    if wrong is not None:
        print(wrong, file=sys.stderr)
    return 0 if wrong is None else 1


if __name__ == "__main__":
    sys.exit(main())
