"""A name scope put before names of nodes, and stripped from them. Source: TF 2.21."""

from __future__ import annotations

import re
from typing import Final

from sessrun.reference.base.text import as_text

__all__ = ["under", "without"]

#: What may stand before the name of a node: of a control input, of a colocation.
_MARK: Final = r"([\^]|loc:@|^)"


def under(scope: str | None, name: str) -> str:
    """The name in the scope; itself without a scope."""
    if not scope:
        return name
    prefix = scope.removesuffix("/") + "/"
    mark = next(
        (mark_of_input for mark_of_input in ("^", "loc:@") if name.startswith(mark_of_input)), ""
    )
    return mark + prefix + name.removeprefix(mark)


def without(scope: str | None, name: str | bytes) -> str:
    """The name without the scope, if it is in that."""
    text = as_text(name)
    if not scope:
        return text
    pattern = _MARK + re.escape(scope.removesuffix("/")) + r"/+(.*)"
    return re.sub(pattern, r"\1\2", text, count=1)
