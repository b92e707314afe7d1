"""The op types of control flow: what branches, loops and the borders of their frames consist of."""

from __future__ import annotations

from typing import Final

__all__ = ["ENTERS", "FLOW", "LOOP_ENDS", "MERGES"]

#: The op types that route values and compute none.
FLOW: Final = frozenset(
    {
        "Switch",
        "RefSwitch",
        "Merge",
        "RefMerge",
        "Enter",
        "RefEnter",
        "Exit",
        "RefExit",
        "NextIteration",
        "RefNextIteration",
    }
)
#: What brings a value into a loop.
ENTERS: Final = frozenset({"Enter", "RefEnter"})
#: Where loops begin, and where they end.
MERGES: Final = frozenset({"Merge", "RefMerge"})
LOOP_ENDS: Final = frozenset({"NextIteration", "RefNextIteration"})
