"""ThreadStack: a stack of values with separate contents in every thread."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

from sessrun.reference.graph.entry import DecoratingEntry

__all__ = ["ThreadStack", "left"]

Item = TypeVar("Item")


class ThreadStack(threading.local, Generic[Item]):
    """The values that a thread has entered by `with`, the innermost last.

    Attributes:
      items: the stack of the thread that asks.

    """

    def __init__(self) -> None:
        self.items: list[Item] = []

    def pushed(self, item: Item) -> DecoratingEntry[Item, list[Item]]:
        """The `with` inside which `item` is on the stack.

        Raises:
          AssertionError: on leaving, another item was entered later and is not left yet.

        """
        return _Pushed(self, item)


class _Pushed(DecoratingEntry[Item, list[Item]]):
    """The `with` of an item on a stack."""

    def __init__(self, stack: ThreadStack[Item], item: Item) -> None:
        super().__init__()
        self._stack = stack
        self._item = item

    def enter(self) -> tuple[Item, list[Item]]:
        items = self._stack.items
        items.append(self._item)
        return self._item, items

    def leave(self, state: list[Item], *, is_abandoned: bool) -> None:
        left(state, self._item, is_abandoned=is_abandoned)


def left(stack: list[Item], item: Item, *, is_abandoned: bool) -> None:
    """Take the innermost item off a stack: the `with` that has entered it ends.

    Args:
      stack: the stack that it was put on.
      item: the item.
      is_abandoned: whether the `with` was never left, so that it may end out of turn.

    Raises:
      AssertionError: another item was entered later and is not left yet.

    """
    if stack and stack[-1] is item:
        stack.pop()
    elif is_abandoned:
        stack[:] = [other for other in stack if other is not item]
    elif stack:  # an empty one was cleared meanwhile (`leave_graphs`)
        raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
