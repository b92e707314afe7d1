"""String attributes as a kernel reads them: they hold any bytes, though nearly always UTF-8."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument

__all__ = ["attribute_octets", "attribute_text", "resource_names"]

_CONTAINER: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9.\-/]*")


def attribute_text(value: Any) -> str:
    """The text of a string attribute; each byte that is no UTF-8 is half a surrogate pair.

    Names made of it differ where the bytes do, and `attribute_octets` gives the bytes back.
    """
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def attribute_octets(value: Any) -> bytes:
    """The bytes of a string attribute."""
    return attribute_text(value).encode("utf-8", "surrogateescape")


def resource_names(attrs: Mapping[str, Any]) -> tuple[str, str]:
    """The container and the shared name of a node that makes a resource, either empty if not given.

    Raises:
      KernelError: the container has letters that none may have, or the name begins with `_`.

    """
    container, name = attribute_text(attrs["container"]), attribute_text(attrs["shared_name"])
    if name.startswith("_"):  # so begin the names of what nobody can share
        raise InvalidArgument(f"shared_name cannot start with '_': {name}")
    if container and not _CONTAINER.fullmatch(container):
        raise InvalidArgument(f"container contains invalid characters: {container}")
    return container, name
