"""The list of mistakes, and the source of a module that has one."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sessrun.conformance.selfcheck.covered import PACKAGE
from sessrun.spec.loader import read_toml

__all__ = ["Mistake", "StaleMistakeError", "load_mistakes"]

_FILE: Final = Path(__file__).with_name("mistakes.toml")


class StaleMistakeError(ValueError):
    """The runtime has changed: a mistake cannot be planted where it was."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake; the attributes are explained at the head of `mistakes.toml`."""

    name: str
    kind: str
    file: str
    before: str
    after: str
    session: str
    shown_by: str

    @property
    def module(self) -> str:
        """The module's dotted name."""
        return f"{PACKAGE}.{self.file.removesuffix('.py').replace('/', '.')}"

    def planted(self) -> str:
        """The module's source with the mistake in it.

        Raises:
          StaleMistakeError: the text that it changes is not there, or more than once.

        """
        path = _runtime() / self.file
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        count = source.count(self.before)
        if count != 1:
            raise StaleMistakeError(
                f"the mistake {self.name!r} changes a text that is in {self.file} {count} times, "
                f"not once: write it anew in {_FILE.name}. The text is\n{self.before}"
            )
        return source.replace(self.before, self.after)


def _runtime() -> Path:
    """The folder of the runtime, which is not imported for that."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None  # noqa: PT018 - it is installed with us
    return Path(spec.origin).parent


def load_mistakes() -> dict[str, Mistake]:
    """The mistakes by name, in the order of the list."""
    return {name: Mistake(name, **form) for name, form in read_toml(_FILE).items()}
