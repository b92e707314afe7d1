"""How a program starts (`tf.app`): its flags are parsed, then its `main` runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from absl import app as _app

from sessrun.reference import flags

__all__ = ["flags", "run"]


def run(
    main: Callable[[list[str]], object] | None = None, argv: list[str] | None = None
) -> NoReturn:
    """Run a program, and exit with what its `main` returns.

    Args:
      main: takes the arguments that are no flags, the program's name first; by default the
        `main` of the program.
      argv: the command line, by default that of the process. Unknown flags are left in it.

    Raises:
      SystemExit: always.

    """
    _app.run(
        main=main or sys.modules["__main__"].main,
        argv=argv,
        flags_parser=lambda given: flags.FLAGS(given, known_only=True),
    )
