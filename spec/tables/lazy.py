"""A table of operations whose entries are built when first asked for, so that import is quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sessrun.spec.operations import Operation

__all__ = ["OperationTable"]


class OperationTable(Mapping[str, Operation]):
    """Op type to Operation, read only.

    Building every entry takes about 30 ms, building the few that a program uses takes none.
    Two threads may build one entry at once; the entries are equal, and one of them is kept.
    """

    __slots__ = ("_built", "_makers")

    def __init__(self, makers: Mapping[str, Callable[[], Operation]]) -> None:
        self._makers = makers
        self._built: dict[str, Operation] = {}

    def __getitem__(self, name: str) -> Operation:
        try:
            return self._built[name]
        except KeyError:
            return self._built.setdefault(name, self._makers[name]())

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
