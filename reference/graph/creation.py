"""Where in the user's program an operation was created: recorded cheaply, formatted later."""

from __future__ import annotations

import sys
from pathlib import Path
from traceback import FrameSummary
from types import CodeType
from typing import Final

__all__ = ["Site", "site"]

_OWN: Final = str(Path(__file__).parents[1])
#: The package may be reached by a link; its modules' files then begin with the link's path.
_PREFIXES: Final = tuple({_OWN, str(Path(__file__).resolve().parents[1])})
_DEPTH: Final = 4


class Site:
    """The innermost frames of the user's program at some moment, as code and line."""

    __slots__ = ("_frames",)

    def __init__(self, frames: tuple[tuple[CodeType, int], ...]) -> None:
        self._frames = frames

    def frames(self) -> list[FrameSummary]:
        """Each frame (file, line, function, source line), outermost first."""
        return [
            FrameSummary(code.co_filename, line, code.co_name)
            for code, line in reversed(self._frames)
        ]

    def __str__(self) -> str:
        """The frames as a traceback prints them."""
        lines = []
        for file, line, function, text in self.frames():
            lines.append(f'  File "{file}", line {line}, in {function}')
            if text:
                lines.append(f"    {text}")
        return "\n".join(lines)


_foreign: Final[dict[CodeType, bool]] = {}


def site() -> Site:
    """The innermost frames outside of this package."""
    frame = sys._getframe(1)  # noqa: SLF001 - the one cheap way to see the caller
    frames: list[tuple[CodeType, int]] = []
    current = frame.f_back
    while current is not None and len(frames) < _DEPTH:
        code = current.f_code
        foreign = _foreign.get(code)
        if foreign is None:
            foreign = _foreign[code] = not code.co_filename.startswith(_PREFIXES)
        if foreign:
            frames.append((code, current.f_lineno))
        current = current.f_back
    return Site(tuple(frames))
