"""ThreadStack: a stack of values with separate contents in every thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["ThreadStack", "left"]

Item = TypeVar("Item")


class ThreadStack(threading.local, Generic[Item]):
    """The values that a thread has entered by `with`, the innermost last.

    Attributes:
      items: the stack of the thread that asks.

    """

    def __init__(self) -> None:
        self.items: list[Item] = []

    @contextmanager
    def pushed(self, item: Item) -> Iterator[Item]:
        """Have `item` on the stack inside the `with`.

        Raises:
          AssertionError: on leaving, another item was entered later and is not left yet.

        """
        stack = self.items
        stack.append(item)
        is_abandoned = False
        try:
            yield item
        except GeneratorExit:  # a `with` that was never left: there is no caller to raise to
            is_abandoned = True
            raise
        finally:
            left(stack, item, is_abandoned=is_abandoned)


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
