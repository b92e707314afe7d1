"""String attributes as a kernel reads them: they hold any bytes, though nearly always UTF-8."""

from __future__ import annotations

import re
from typing import Final

from sessrun.reference.base.attributes import Attrs
from sessrun.reference.base.kernel_errors import InvalidArgument

__all__ = ["attribute_octets", "attribute_text", "resource_names"]

_CONTAINER: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9.\-/]*")


def attribute_text(value: bytes | str) -> str:
    """The text of a string attribute; a byte that is not valid UTF-8 becomes a lone surrogate.

    Different bytes give different texts, and `attribute_octets` gives the bytes back.
    """
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def attribute_octets(value: bytes | str) -> bytes:
    """The bytes of a string attribute."""
    return attribute_text(value).encode("utf-8", "surrogateescape")


def resource_names(attrs: Attrs) -> tuple[str, str]:
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
