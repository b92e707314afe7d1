"""Types of the arguments that make and share variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "CollectionNames",
    "Constraint",
    "DeviceChoice",
    "Getter",
    "Initializer",
    "Regularizer",
]

#: The names of the collections that a variable is put into; None for the usual ones.
CollectionNames: TypeAlias = "Iterable[str] | None"
#: A constraint: a function from the updated value to the value that is kept.
Constraint: TypeAlias = "Callable[[Tensor], Tensor] | None"
#: A device's name, or a function that chooses one for an operation.
DeviceChoice: TypeAlias = "str | Callable[[Operation], str | None] | None"
#: What makes a variable of a name, as `get_variable` does: the first argument of a custom getter.
Getter: TypeAlias = "Callable[..., object]"
#: From a shape and a dtype to an initial value, a class of such functions, or the value itself.
Initializer: TypeAlias = "Callable[..., TensorLike] | TensorLike | None"
#: A regularizer: a function from a variable's value to the loss that is added for it.
Regularizer: TypeAlias = "Callable[[Tensor], Tensor | None] | None"
