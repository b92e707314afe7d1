"""`cond` in control flow v2: an `If` operation that calls a function for the branch it takes.

The parts that `switch_case` (a `Case` operation) shares are here, too. Source: TF 2.21.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.flow_values import with_flow
from sessrun.reference.api.control_flow.functional_mode import outputs_intermediates
from sessrun.reference.api.functions.branch_graphs import (
    BranchGraph,
    add_function,
    function_name,
    note_functions,
)
from sessrun.reference.api.functions.function_def_graphs import body_of_library
from sessrun.reference.api.ops.array_ops import squeeze
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.base.dtypes import int32, int64, resource
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = [
    "CASE",
    "COND",
    "Kind",
    "bodies_of",
    "build_branch_op",
    "build_branches",
    "functional_cond",
    "kind_of",
    "pad",
    "squeezed_predicate",
]

Branch = Callable[[], object]


class Kind(NamedTuple):
    """What differs between the operations `If` and `Case`.

    Attributes:
      op_type: the op type; `Stateless` stands before it if no branch is stateful.
      selector: the name of the first input.
      function: the public function that builds the operation, for messages.
      attrs: the attributes with the branches' functions: one list of all, or one attribute each.
      branches: for messages the names of the arguments that build the branches; empty if they are
        one list.

    """

    op_type: str
    selector: str
    function: str
    attrs: tuple[str, ...]
    branches: tuple[str, ...] = ()

    def function_attrs(self, functions: Sequence[NameAttrList]) -> dict[str, object]:
        """The operation's attributes for these functions."""
        if len(self.attrs) == 1:
            return {self.attrs[0]: list(functions)}
        return dict(zip(self.attrs, functions, strict=True))

    def functions_of(self, op: Operation) -> list[NameAttrList]:
        """The functions of an operation's branches."""
        named = [op.get_attr(attr) for attr in self.attrs]
        return list(named[0]) if len(self.attrs) == 1 else named

    def argument_word(self, number: int) -> str:
        """The name in messages of the argument that builds a branch, by the branch's number."""
        return self.branches[number] if self.branches else f"branches[{number}]"

    def branch_word(self, number: int) -> str:
        """The name of a branch in messages, by its number."""
        return self.branches[number] if self.branches else f"branch {number}"


#: The bodies of the branches of operations, by operation.
_BODIES: Final[WeakKeyDictionary[Operation, list[BranchGraph]]] = WeakKeyDictionary()
COND: Final = Kind("If", "cond", "cond", ("then_branch", "else_branch"), ("true_fn", "false_fn"))
CASE: Final = Kind("Case", "branch_index", "switch_case", ("branches",))


def kind_of(op: Operation) -> Kind:
    """The kind of an operation that chooses between branches."""
    return COND if op.type.endswith("If") else CASE


def functional_cond(
    pred: Any,
    true_fn: Any,
    false_fn: Any,
    name: str | None,
) -> Any:
    """`cond` as an `If` operation on two functions.

    Args:
      pred: the predicate, a bool tensor or what becomes one.
      true_fn: builds the branch for True; its results may be nested.
      false_fn: builds the other; its results have the same structure and dtypes.
      name: a name scope, `cond` by default.

    Raises:
      TypeError: the predicate is a Python bool, or the structures or dtypes differ.
      ValueError: a branch takes a tensor of another branch.

    """
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        names = [function_name(scope, word) for word in ("true", "false")]
        pred = squeezed_predicate(convert_to_tensor(pred))
        bodies = build_branches(COND, names, [true_fn, false_fn], pred)
        return build_branch_op(COND, pred, bodies, scope)


def squeezed_predicate(pred: TensorLike) -> TensorLike:
    """The predicate, squeezed to a scalar unless it is known to be one."""
    if isinstance(pred, Tensor) and (pred.shape.ndims is None or pred.shape.ndims):
        return squeeze(pred)
    return pred


def build_branches(
    kind: Kind, names: Sequence[str], functions: Sequence[Branch], operation_result: Tensor
) -> list[BranchGraph]:
    """Build the bodies of branches.

    Args:
      kind: the kind of operation.
      names: the names of the bodies.
      functions: the Python functions that build the branches.
      operation_result: the tensor whose identity is the result where a function returns an
        Operation.

    Raises:
      TypeError: a function returns a value that cannot be converted to a tensor.
      ValueError: a function takes a tensor of another one's body.

    """
    bodies = [BranchGraph(name) for name in names]
    for body, function in zip(bodies, functions, strict=True):
        body.build(function, operation_result=operation_result)
    for number, body in enumerate(bodies):
        for tensor in body.extra_inputs:
            if tensor.graph in bodies:
                other = kind.branch_word(bodies.index(tensor.graph))
                raise ValueError(
                    f"Tensor {tensor.name} in {other} is accessed from {kind.branch_word(number)}."
                )
    return bodies


def bodies_of(op: Operation) -> Sequence[BranchGraph]:
    """The bodies of an operation's branches; those of an imported one are built from its functions.

    Raises:
      KeyError: the graph does not have one of the functions.

    """
    if op not in _BODIES:
        _BODIES[op] = [
            body_of_library(op, function, op.inputs[1:], is_captured=True)
            for function in kind_of(op).functions_of(op)
        ]
    return _BODIES[op]


def build_branch_op(
    kind: Kind,
    index: Tensor,
    bodies: Sequence[BranchGraph],
    name: str | None,
    given: Sequence[Sequence[Tensor]] | None = None,
) -> Any:
    """Build the operation that runs one of the bodies, and identities of its outputs.

    Args:
      kind: the kind of operation.
      index: its first input: the predicate, or the index of the branch.
      bodies: the branches; all get the same arguments.
      name: the operation's name.
      given: for each branch, the arguments passed for the tensors that it captured; by default
        those tensors.

    Returns:
      The identities, nested as the first branch returned them.

    Raises:
      TypeError: the structures or dtypes of the results differ.

    """
    _cast_indices_alike(kind, bodies)
    _check_alike(kind, bodies)
    structure = bodies[0].structure
    if given is None and kind is COND and outputs_intermediates():
        _output_intermediates(bodies)
    passed = [body.extra_inputs for body in bodies] if given is None else given
    taken = list(dict.fromkeys(tensor for tensors in passed for tensor in tensors))
    for body, tensors in zip(bodies, passed, strict=True):
        body.take(taken, tensors)
    graph = default_graph.get_default_graph()
    functions = [add_function(graph, body) for body in bodies]
    has_effects = any(_has_effect(kind, op) for body in bodies for op in body.get_operations())
    shapes = [
        _common_shape(outputs) for outputs in zip(*(body.outputs for body in bodies), strict=True)
    ]
    attrs: dict[str, object] = {
        "output_shapes": shapes,
        "Tout": [tensor.dtype.base_dtype for tensor in bodies[0].outputs],
        **kind.function_attrs(functions),
    }
    op_type = kind.op_type if has_effects else f"Stateless{kind.op_type}"
    with graph.control_dependencies([op for body in bodies for op in body.waits_for]):
        op = apply_op(op_type, {kind.selector: index, "input": taken}, attrs, name)
        _BODIES[op] = list(bodies)
        note_functions(op, bodies, 1)
        graph.prevent_fetching(op)
        results = iter([identity(tensor) for tensor in op.outputs])
    leaves = nest.flatten(structure, expand_composites=True)
    values = [None if leaf is None else with_flow(leaf, next(results)) for leaf in leaves]
    return nest.pack_sequence_as(structure, values, expand_composites=True)


def _output_intermediates(bodies: Sequence[BranchGraph]) -> None:
    """Add optionals of all intermediate tensors to the outputs of the branches, for gradients."""
    for body in bodies:
        tensors = [
            output
            for op in body.get_operations()
            for output in op.outputs
            if output not in body.inputs and output not in body.outputs and output.dtype != resource
        ]
        with body.as_default():
            body.outputs += [
                apply_op("OptionalFromValue", {"components": [tensor]}, {}).outputs[0]
                for tensor in tensors
            ]
    pad(bodies)


def pad(bodies: Sequence[BranchGraph]) -> None:
    """Let all branches return as many values as the one that returns most; add empty optionals."""
    count = max(len(body.outputs) for body in bodies)
    for body in bodies:
        with body.as_default():
            while len(body.outputs) < count:
                body.outputs.append(apply_op("OptionalNone", {}, {}).outputs[0])


def _has_effect(kind: Kind, op: Operation) -> bool:
    return op.declaration.stateful and (kind is COND or op.type != "ReadVariableOp")


def _common_shape(outputs: Sequence[Tensor]) -> TensorShape:
    """The most specific shape that is compatible with the outputs of all branches."""
    shapes = [output.shape for output in outputs]
    return functools.reduce(TensorShape.most_specific_compatible_shape, shapes)


def _cast_indices_alike(kind: Kind, bodies: Sequence[BranchGraph]) -> None:
    """Cast the indices of IndexedSlices to int64 in all branches where their dtypes differ.

    Raises:
      TypeError: a result is IndexedSlices in one branch and not in another.

    """
    columns = [nest.flatten(body.structure) for body in bodies]
    assert len({len(column) for column in columns}) == 1, [len(column) for column in columns]
    index, changed = 0, False
    for number, values in enumerate(zip(*columns, strict=True)):
        if len({isinstance(value, IndexedSlices) for value in values}) != 1:
            raise TypeError(
                f"Cannot reconcile tf.{kind.function} {number}-th outputs:\n"
                f"  branches returned: {values}"
            )
        if isinstance(values[0], IndexedSlices):
            at = index + 1
            if len({body.outputs[at].dtype for body in bodies}) != 1:
                changed = True
                for body in bodies:
                    if body.outputs[at].dtype == int32:
                        with body.as_default():
                            body.outputs[at] = cast(body.outputs[at], int64)
        parts = nest.flatten(values[0], expand_composites=True)
        index += sum(part is not None for part in parts)
    if changed:
        for body in bodies:
            body.structure = nest.pack_sequence_as(
                body.structure, body.outputs, expand_composites=True
            )


def _check_alike(kind: Kind, bodies: Sequence[BranchGraph]) -> None:
    """Refuse branches whose results differ in structure or dtype."""
    first = bodies[0]
    for number, body in enumerate(bodies[1:], 1):
        try:
            nest.assert_same_structure(first.structure, body.structure, expand_composites=True)
        except (ValueError, TypeError) as error:
            _refuse(kind, bodies, number, str(error))
        if len(first.outputs) != len(body.outputs):
            word = "cond" if kind is COND else "case"
            raise ValueError(
                f"Lengths of branch outputs of {word} must match.\n"
                f"len(graphs[0].outputs): {len(first.outputs)}\n"
                f"len(graphs[{number}].outputs): {len(body.outputs)}\n"
            )
        for x, y in zip(first.outputs, body.outputs, strict=True):
            if x.dtype != y.dtype:
                _refuse(kind, bodies, number, f"{x} and {y} have different types")


def _refuse(kind: Kind, bodies: Sequence[BranchGraph], number: int, detail: str) -> NoReturn:
    one, other = kind.argument_word(0), kind.argument_word(number)
    raise TypeError(
        f"{one} and {other} arguments to tf.{kind.function} must have the same number, type, and "
        "overall structure of return values.\n\n"
        f"{one} output: {bodies[0].structure}\n{other} output: {bodies[number].structure}\n\n"
        f"Error details:\n{detail}"
    )
