"""Which of the libraries that benchmarks time beside the reference compute on the GPU here."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from sessrun.adapters.peer import PEERS, load_peer
from sessrun.spec.writing import write_text

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """`peers FILE`: write of each its `version`, or under `absent` why it is not measured."""
    (path,) = sys.argv[1:] if argv is None else argv
    answers = {}
    for name in PEERS:
        try:
            answers[name] = {"version": load_peer(name, 0).version}
        except Exception as error:  # noqa: BLE001 - a library may fail to load in any way
            answers[name] = {"absent": str(error)[:300]}
    write_text(Path(path), json.dumps(answers, indent=1) + "\n")
    print(json.dumps(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
