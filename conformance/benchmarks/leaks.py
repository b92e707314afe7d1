"""Follows the resident memory of a process that makes step after step, as its host reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.adapters.errors import AdapterError
from sessrun.conformance.benchmarks.memory import resident
from sessrun.conformance.benchmarks.processes import BenchProcess, Side

__all__ = ["FEWEST_STEPS", "Course", "follow"]

#: So often is the memory read in as many steps as were asked for.
_READ: Final = 200
#: The fewest steps whose memory can be followed: one for each reading.
FEWEST_STEPS: Final = _READ


@dataclass(slots=True)
class Course:
    """The resident memory of a process in the course of a loop.

    Attributes:
      loop: the loop's name.
      backend: the backend's name.
      version: its version.
      steps: how many steps were done at each reading.
      resident: bytes at each.
      wrong: what was wrong with a result, None if nothing.

    """

    loop: str
    backend: str
    version: str = ""
    steps: list[int] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)
    wrong: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The course in the form of `leaks.schema.json`."""
        return {
            "loop": self.loop,
            "backend": self.backend,
            "version": self.version,
            "steps": self.steps,
            "resident": self.resident,
            "correct": self.wrong is None,
            "detail": self.wrong or "",
        }


def follow(
    side: Side,
    loop: str,
    decided: Callable[[Sequence[int], Sequence[int]], bool],
    *,
    steps: int,
    most: int,
    device: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Course:
    """Have a backend make steps in a process of its own, and read its memory between them.

    Args:
      side: the backend.
      loop: a name of `loops.LOOPS`.
      decided: whether these steps, and the memory after each, are enough.
      steps: how many steps to make before `decided` is asked, `FEWEST_STEPS` at least; where
        they are not enough, as many more.
      most: how many steps to make at most.
      device: where graphs are placed.
      progress: called with the steps done, and all that are certain.

    Raises:
      AdapterError: the backend cannot do the loop, or the kernel does not tell its memory.

    """
    course = Course(loop, side.name)
    job, stride = f"loop-{loop}", max(1, steps // _READ)
    with BenchProcess(side) as process:
        process.loaded()
        course.version = process.version
        process.prepare(job, device)
        _read(course, process.pid, 0)
        target = steps
        while True:
            while course.steps[-1] < target:
                count = min(stride, target - course.steps[-1])
                course.wrong = process.repeat(job, count) or course.wrong
                _read(course, process.pid, course.steps[-1] + count)
                if progress is not None:
                    progress(course.steps[-1], target)
            if target >= most or decided(course.steps, course.resident):
                return course
            target = min(most, target + steps)


def _read(course: Course, pid: int, step: int) -> None:
    memory = resident(pid)
    if memory is None:
        raise AdapterError(
            f"{course.backend}: the kernel does not tell what is resident; /proc is Linux's"
        )
    course.steps.append(step)
    course.resident.append(memory.now)
