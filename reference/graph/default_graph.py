"""Functions of the namespace that do to the default graph what `Graph`'s methods do."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from sessrun.reference.graph.stacks import get_default_graph
from sessrun.reference.public import public

__all__ = [
    "add_to_collection",
    "add_to_collections",
    "colocate_with",
    "container",
    "control_dependencies",
    "device",
    "executing_eagerly",
    "get_collection",
    "get_collection_ref",
]


@public("device")
def device(device_name_or_function: object) -> AbstractContextManager[None]:
    """The default graph's `device`."""
    return get_default_graph().device(device_name_or_function)


@public("colocate_with")
def colocate_with(op: object, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """The default graph's `colocate_with`."""
    return get_default_graph().colocate_with(op, ignore_existing)


@public("container")
def container(container_name: str) -> AbstractContextManager[str]:
    """The default graph's `container`."""
    return get_default_graph().container(container_name)


@public("control_dependencies")
def control_dependencies(
    control_inputs: Iterable[object] | None,
) -> AbstractContextManager[None]:
    """The default graph's `control_dependencies`."""
    return get_default_graph().control_dependencies(control_inputs)


@public("add_to_collection")
def add_to_collection(name: str | None, value: object) -> None:
    """The default graph's `add_to_collection`."""
    get_default_graph().add_to_collection(name, value)


@public("add_to_collections")
def add_to_collections(names: object, value: object) -> None:
    """The default graph's `add_to_collections`."""
    get_default_graph().add_to_collections(names, value)


@public("get_collection")
def get_collection(key: object, scope: str | None = None) -> list[Any]:
    """The default graph's `get_collection`."""
    return get_default_graph().get_collection(key, scope)


@public("get_collection_ref")
def get_collection_ref(key: object) -> list[Any]:
    """The default graph's `get_collection_ref`."""
    return get_default_graph().get_collection_ref(key)


@public("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether operations run as they are created: never here."""
    return False
