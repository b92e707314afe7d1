"""Drawn names that replace given ones: another one for each component of a path."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import Final

from sessrun.spec.forms import Json

__all__ = ["NAME_PATH", "Names", "base_of"]

#: A node's name, or a tensor's or control input's: `scope/x`, `x:0`, `^x`, `scope/`.
NAME_PATH: Final = re.compile(r"(\^?)([A-Za-z0-9.][\w.\\-]*(?:/[\w.\\-]+)*/?)(:\d+)?", re.ASCII)
#: A node's label in a trace: `sum = AddV2(x, y:1)`.
_LABEL: Final = re.compile(r"(\S+) = (\w+)\((.*)\)", re.ASCII)
#: The line that a named hook records for a call: `mine.begin`, `mine.end 2`.
_OF_A_HOOK: Final = re.compile(r"(\w+)(\.(?:begin|created|before|after|end)\b.*)", re.ASCII)
_COUNTER: Final = re.compile(r"(?:_\d+)+$")
_FIRST: Final = "abcdefghijklmnopqrstuvwxyz"
_LETTERS: Final = _FIRST + "0123456789"


class Names:
    """A drawn name for each of some path components; other components stay.

    Args:
      draw: the source of chance.
      bases: the components to be renamed, without the counter of a name that was taken (`x_1`).
      counted: whether `x_1` is the second `x`, and so follows it.
      taken: words that no drawn name may be.

    """

    def __init__(
        self,
        draw: random.Random,
        bases: Iterable[str],
        *,
        counted: bool = False,
        taken: Iterable[str] = (),
    ) -> None:
        self._counted = counted
        # Names that differ in case only count as one in a graph, and do so afterwards.
        folded = sorted({base.lower() for base in bases})
        used = {word.lower() for word in taken} | set(folded)
        words: list[str] = []
        for base in folded:
            # With their first letters, and in their order: what is sorted by name stays in place.
            first = base[0] if base[0] in _FIRST else draw.choice(_FIRST)
            word = ""
            while not word or word in used:
                word = first + "".join(draw.choices(_LETTERS, k=draw.randint(3, 6)))
            used.add(word)
            words.append(word)
        self._words = dict(zip(folded, sorted(words), strict=True))

    def __bool__(self) -> bool:
        return bool(self._words)

    def component(self, text: str) -> str:
        """One component of a path."""
        counter = _COUNTER.search(text) if self._counted else None
        base = text[: counter.start()] if counter else text
        word = self._words.get(base.lower())
        if word is None:
            return text
        if base.isupper():
            word = word.upper()
        elif base != base.lower():
            word = word.capitalize()
        return word + text[len(base) :]

    def path(self, text: str) -> str:
        """Another name for a node, a tensor or a control input; any other text as it is."""
        parts = NAME_PATH.fullmatch(text)
        if parts is None:
            return text
        control, path, output = parts.groups()
        renamed = "/".join(map(self.component, path.split("/")))
        return f"{control}{renamed}{output or ''}"

    def text(self, text: str) -> str:
        """A name, or a line of a trace or of a hook that has names; any other text as it is."""
        label, line = _LABEL.fullmatch(text), _OF_A_HOOK.fullmatch(text)
        if line is not None:
            return f"{self.component(line[1])}{line[2]}"
        if label is None:
            return self.path(text)
        inputs = ", ".join(map(self.path, label[3].split(", ")))
        return f"{self.path(label[1])} = {label[2]}({inputs})"

    def anywhere(self, form: Json) -> Json:
        """JSON in which all strings that are names are renamed, keys too."""
        if isinstance(form, str):
            return self.text(form)
        if isinstance(form, list):
            return [self.anywhere(item) for item in form]
        if isinstance(form, dict):
            return {self.path(key): self.anywhere(item) for key, item in form.items()}
        return form


def base_of(text: str) -> str:
    """A component without the counter that makes a name unique."""
    return _COUNTER.sub("", text)
