"""Programs of the nodes that the gradients of single operations add to a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeGuard

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain, Program, Structure
from sessrun.spec.cases.namespace import Namespace

__all__ = ["Arguments", "alike", "gradients_of"]

#: The sizes of a placeholder, and perhaps its dtype.
Shape: TypeAlias = tuple[int | str, ...]

#: The arguments of an operation by name. A tuple is a shape, perhaps with a dtype as its last item:
#: a placeholder, of float32 by default. A list of tuples is a list of placeholders. Other values
#: are passed as they are.
Argument: TypeAlias = "Plain | Shape | list[Shape]"

Arguments: TypeAlias = Mapping[str, Argument]


def _is_fed(value: Argument) -> TypeGuard[Shape | list[Shape]]:
    return isinstance(value, tuple) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], tuple)
    )


def _placed(tf: Namespace, value: Shape | list[Shape], *, known: bool) -> Structure:
    """A placeholder of a shape, or a list of them; `known`: with static sizes."""
    if isinstance(value, list):
        return [_placed(tf, item, known=known) for item in value]
    dtype = value[-1] if value and isinstance(value[-1], str) else "float32"
    sizes = [size for size in value if not isinstance(size, str)]
    return tf.placeholder(dtype, sizes if known else [None] * len(sizes))


def _built(
    tf: Namespace, name: str, arguments: Arguments, *, known: bool
) -> tuple[list[Structure], list[str]]:
    """The gradients of an operation by all its placeholders, and the nodes that they add."""
    with tf.Graph().as_default() as graph:
        fed = {
            key: _placed(tf, value, known=known)
            for key, value in arguments.items()
            if _is_fed(value)
        }
        outputs = tf.nest.flatten(getattr(tf.raw_ops, name)(**{**arguments, **fed}))
        before = len(nodes(graph))
        sources = tf.nest.flatten(fed)
        targets = [
            output for output in outputs if output.dtype.is_floating or output.dtype.is_complex
        ]
        gradients = [
            tf.gradients(some, sources, grad_ys=some) for some in (targets, targets[1:]) if some
        ]
        return gradients, nodes(graph)[before:]


def gradients_of(
    *rows: tuple[str, Arguments], knowledge: tuple[bool, ...] = (True, False)
) -> Program:
    """A program of the gradients of operations, with known shapes and with unknown sizes.

    Args:
      rows: the operations: the name in `raw_ops`, and the arguments.
      knowledge: whether the sizes of the placeholders are known, for each of the two builds.

    """

    def program(tf: Namespace) -> list[Plain]:
        return attempt(
            *(
                lambda row=row, known=known: _built(tf, *row, known=known)
                for row in rows
                for known in knowledge
            )
        )

    return program


def alike(argument: str, shape: Shape, *names: str) -> list[tuple[str, Arguments]]:
    """Operations of one input, which is a placeholder of this shape."""
    return [(name, {argument: shape}) for name in names]
