"""Objects by name or config: initializers, regularizers, constraints, activations, layers.

A config is `{"class_name": ..., "config": {...}}`, what `get_config` of the object gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.call_context import takes

__all__ = [
    "Config",
    "CustomObjects",
    "Identifier",
    "Serialized",
    "TensorFunction",
    "deserialized",
    "interpreted",
    "serialized",
]

#: What `get_config` gives: the arguments of a constructor by name.
Config: TypeAlias = dict[str, object]
#: What stands for an initializer, an activation, ...: its name, its config, or itself.
Identifier: TypeAlias = "str | Mapping[str, object] | Callable[..., object] | None"
#: The form of an object in a config: a function's name, or a class with its own config.
Serialized: TypeAlias = "str | Config | None"
#: An initializer, a regularizer, a constraint or an activation: it computes a tensor.
TensorFunction: TypeAlias = "Callable[..., Tensor]"
#: Classes and functions that a program adds to those that a name can stand for.
CustomObjects: TypeAlias = "Mapping[str, Callable[..., object]] | None"
#: The kind of object that a name or a config stands for.
Named = TypeVar("Named")
#: How a kind of object is called in messages.
_KINDS: Final = {"layer": "layer", "activation": "activation function"}


def serialized(instance: Any) -> Serialized:
    """The config of an object; the name of a function; None for None.

    Raises:
      ValueError: `instance` is neither.

    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise bad_value(f"Cannot serialize {instance} because it doesn't implement `get_config()`.")


def interpreted(
    identifier: Identifier,
    deserialize: Callable[[Any], Named],
    kind: str,
    refuse: Callable[[str], Exception] = bad_value,
) -> Any:
    """Resolve an identifier: deserialize a name or config; return None and callables unchanged.

    Args:
      identifier: what a program gave.
      deserialize: gives the object of a name or a config.
      kind: what the object is, for messages.
      refuse: makes the error of a message.

    Raises:
      ValueError: the identifier has another type (then as `refuse` makes it), or is not known.

    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, str | Mapping):
        return deserialize(identifier)
    raise refuse(f"Could not interpret {kind} identifier: {identifier}")


def deserialized(
    identifier: Any,
    known: Mapping[str, object],
    kind: str,
    custom_objects: CustomObjects = None,
) -> Any:
    """The object of a name or a config.

    Args:
      identifier: a name, a config, or None for None.
      known: classes and functions by name.
      kind: what the object is, for messages.
      custom_objects: more classes and functions, which come first.

    Raises:
      ValueError: the name is not known, or `identifier` is not a config.
      TypeError: the class does not take the config.

    """
    if identifier is None:
        return None
    table = {**known, **(custom_objects or {})}
    if isinstance(identifier, Mapping):
        if not {"class_name", "config"} <= identifier.keys():
            raise bad_value(f"Improper config format for {identifier}.")
        cls = _looked_up(identifier["class_name"], table, kind)
        config = identifier["config"]
        if not hasattr(cls, "from_config"):
            return cls(**config)
        if custom_objects and takes(cls.from_config, "custom_objects"):
            return cls.from_config(dict(config), custom_objects=custom_objects)
        return cls.from_config(config)
    if isinstance(identifier, str):
        instance = _looked_up(identifier, table, kind)
        return instance() if isinstance(instance, type) else instance
    raise bad_value(f"Could not interpret serialized {_KINDS.get(kind, kind)}: {identifier}")


def _looked_up(name: str, table: Mapping[str, Any], kind: str) -> Callable[..., object]:
    if name not in table:
        raise bad_value(
            f"Unknown {_KINDS.get(kind, kind)}: '{name}'. Its class or function must be known by "
            "this name, or be given in `custom_objects`."
        )
    class_or_function: Callable[..., object] = table[name]
    return class_or_function
