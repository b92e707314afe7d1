"""Constructors and functions of `tf.layers`, derived from the classes of Keras."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from sessrun.reference.graph.tensor import Tensor

__all__ = ["function_of", "older_constructor"]

_ENDING = (
    Parameter("trainable", Parameter.POSITIONAL_OR_KEYWORD, default=True),
    Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, default=None),
)


def older_constructor(
    keras_class: type,
    *,
    without: tuple[str, ...] = (),
    trainable: bool = True,
    keep_places: bool = False,
    checked: Callable[[dict[str, object]], None] | None = None,
    **defaults: Any,
) -> Callable[..., None]:
    """A constructor for a `tf.layers` class that derives from a Keras class.

    Args:
      keras_class: the class of Keras.
      without: arguments that are not positional: they are passed by name.
      trainable: whether `trainable` has a place; `name` has the last one.
      keep_places: whether `trainable` and `name` stay where the Keras class has them.
      checked: is called with the arguments first.
      **defaults: the defaults that differ; `inspect.Parameter.empty` for none.

    """
    moved = set() if keep_places else {"trainable", "name"}
    named = [
        parameter.replace(default=defaults.get(parameter.name, parameter.default))
        for parameter in inspect.signature(keras_class).parameters.values()
        if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        and parameter.name not in {*without, *moved}
    ]
    ending = () if keep_places else _ENDING if trainable else _ENDING[1:]
    others = Parameter("kwargs", Parameter.VAR_KEYWORD)
    signature = Signature([*named, *ending, others])
    base: Any = keras_class.__init__  # type: ignore[misc]  # of the class itself, on purpose

    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        if checked is not None:
            checked(given)
        base(self, **given.pop("kwargs"), **given)

    construct.__name__ = "__init__"
    construct.__signature__ = _with_self(signature)  # type: ignore[attr-defined]  # functions take one
    return construct


def _with_self(signature: Signature) -> Signature:
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    return signature.replace(parameters=[own, *signature.parameters.values()])


def function_of(
    layer: Callable[..., Callable[..., Tensor]], *, has_variables: bool = True
) -> Callable[..., object]:
    """The function of `tf.layers` that creates a layer and calls it.

    Args:
      layer: the class.
      has_variables: whether there are variables, which `reuse` shares.

    Returns:
      A function of `inputs`, then the constructor's arguments, then `reuse`. Layers of one name
      share a variable scope.

    """
    named = [
        parameter
        for parameter in inspect.signature(layer).parameters.values()
        if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    reuse = [Parameter("reuse", kind, default=None)] if has_variables else []
    signature = Signature([Parameter("inputs", kind), *named, *reuse])

    def compute(*args: Any, **kwargs: Any) -> Tensor:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        inputs = given.pop("inputs")
        if has_variables:
            given |= {"_scope": given["name"], "_reuse": given.pop("reuse")}
        return layer(**given)(inputs)

    compute.__doc__ = f"Make a layer, `{layer.__name__}`, and call it on `inputs`."
    compute.__signature__ = signature  # type: ignore[attr-defined]  # functions take one
    return compute
