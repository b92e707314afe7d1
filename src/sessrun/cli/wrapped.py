"""Sentences under a heading of their own: wrapped in a terminal, one line each elsewhere."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Final

__all__ = ["print_wrapped"]

#: Wider lines than this are hard to read, whatever the terminal has.
_WIDEST: Final = 110


def print_wrapped(lead: str, sentence: str) -> None:
    """Print a sentence after its lead; its later lines begin below its first one.

    What is piped stays on one line, so that it can be searched.
    """
    text = f"{lead}{sentence}"
    if sys.stdout.isatty():
        width = min(shutil.get_terminal_size().columns, _WIDEST)
        indent = " " * len(lead)
        text = textwrap.fill(
            sentence,
            width,
            initial_indent=lead,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    print(text)
