"""The option `--simulated-gpu[=N]` of commands that take a backend: the reference on such GPUs."""

from __future__ import annotations

import argparse
from typing import Final

from sessrun.cli.failure import UserError

__all__ = ["add_simulated_gpu", "with_simulated_gpu"]

#: The one backend that can be given simulated GPUs.
_REFERENCE: Final = "reference"


def add_simulated_gpu(parser: argparse.ArgumentParser) -> None:
    """Add the option, which stands behind the backend."""
    parser.add_argument(
        "--simulated-gpu",
        nargs="?",
        const=1,
        type=_count,
        metavar="N",
        help="give the backend 'reference' N simulated GPUs (default: 1), as the name "
        "'reference#simulated-gpu=N' does; write --simulated-gpu=N",
    )


def with_simulated_gpu(backend: str, gpus: int | None) -> str:
    """The backend as it is named with so many simulated GPUs.

    Args:
      backend: the backend's name.
      gpus: how many it is to have; None if that was not asked for.

    Raises:
      UserError: they are asked for, and the backend is not the reference.

    """
    if gpus is None:
        return backend
    if backend != _REFERENCE:
        raise UserError(
            f"--simulated-gpu is for the backend {_REFERENCE!r} alone, not for {backend!r}"
        )
    return f"{_REFERENCE}#simulated-gpu" + (f"={gpus}" if gpus > 1 else "")


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(
            f"a number of GPUs is 1 or more, not {text!r}; the backend stands before the option"
        )
    return int(text)
