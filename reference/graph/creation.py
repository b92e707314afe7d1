"""Where in the user's program an operation was created: recorded cheaply, formatted later."""

from __future__ import annotations

import sys
from pathlib import Path
from traceback import FrameSummary
from types import CodeType, FrameType
from typing import Final, TypeAlias

__all__ = ["Frames", "Site", "frames_of_program"]

#: This package's folder. It may be reached by a link; its files then begin with the link's path.
_OWN: Final = tuple({str(Path(__file__).parents[1]), str(Path(__file__).resolve().parents[1])})
#: The most frames that a site has.
_DEPTH: Final = 4
#: Whether a file, by its name, is outside of this package.
_FOREIGN_FILES: Final[dict[str, bool]] = {}


#: The innermost frames of a program, innermost first: the code, and the offset of the instruction.
Frames: TypeAlias = tuple[tuple[CodeType, int], ...]


class Site:
    """Where in the user's program something was created: frames as they are read and printed."""

    __slots__ = ("_frames",)

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    def frames(self) -> list[FrameSummary]:
        """Each frame (file, line, function, source line), outermost first."""
        return [
            FrameSummary(code.co_filename, _line(code, instruction), code.co_name)
            for code, instruction in reversed(self._frames)
        ]

    def __str__(self) -> str:
        """The frames as a traceback prints them."""
        lines = []
        for file, line, function, text in self.frames():
            lines.append(f'  File "{file}", line {line}, in {function}')
            if text:
                lines.append(f"    {text}")
        return "\n".join(lines)


def frames_of_program() -> Frames:
    """The innermost frames outside of this package; for functions of the package that it calls."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the one cheap way to see the caller
    frames: list[tuple[CodeType, int]] = []
    while frame is not None and len(frames) < _DEPTH:
        code = frame.f_code
        # Files are looked up and not code objects, whose hash is computed anew each time.
        foreign = _FOREIGN_FILES.get(code.co_filename)
        if foreign is None:
            foreign = not code.co_filename.startswith(_OWN)
            _FOREIGN_FILES[code.co_filename] = foreign
        if foreign:
            frames.append((code, frame.f_lasti))
        frame = frame.f_back
    return tuple(frames)


def _line(code: CodeType, instruction: int) -> int:
    """The line of the instruction at that offset in bytes."""
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno
