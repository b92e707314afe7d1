"""`cond`: executes one of two branches, by a predicate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.control_flow.context import Context, calls_function, contains, switched
from sessrun.reference.api.control_flow.flow_values import flow_of, merged, with_flow
from sessrun.reference.api.control_flow.functional_mode import is_functional
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base.dtypes import int64
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_prefixes import under, without
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.spec.proto import CondContextDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["Conditional", "cond"]

Branch = Callable[[], object]


class Conditional(Context):
    """One branch of a conditional.

    Args:
      pred: the predicate.
      pivot: a tensor that is alive if the branch is taken, else dead.
      branch: 1 for the true branch, 0 for the false one.

    Attributes:
      pred: the predicate.
      branch: which branch it is.

    """

    is_branch = True

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int) -> None:
        super().__init__(default_graph.get_default_graph().unique_name("cond_text"))
        self.pred = pred
        self.branch = branch
        self._pivot = pivot
        self._known.update((pred, pivot))
        self._inside[pred] = pred
        pivot.op._control_flow_context = self  # noqa: SLF001 - the two belong together

    @classmethod
    def from_proto(cls, context_def: object, import_scope: str | None = None) -> Conditional:
        """The branch that a CondContextDef describes, in the default graph.

        Args:
          context_def: the message, ours or TensorFlow's.
          import_scope: the name scope that its operations were imported under, or None.

        Raises:
          KeyError: the graph does not have what it names.

        """
        message = adopt(context_def, CondContextDef)
        graph = default_graph.get_default_graph()
        pred, pivot = (
            graph.get_tensor_by_name(under(import_scope, name))
            for name in (message.pred_name, message.pivot_name)
        )
        context = cls(pred, pivot, message.branch)
        context.name = under(import_scope, message.context_name)
        context._restore(message, import_scope)
        return context

    def to_proto(self, export_scope: str | None = None) -> CondContextDef | None:
        """The branch as a CondContextDef; None if it is outside of the exported name scope."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = CondContextDef(
            pred_name=without(export_scope, self.pred.name),
            pivot_name=without(export_scope, self.pivot.name),
            branch=self.branch,
        )
        self._write_shared_fields(message, export_scope)
        return message

    @property
    def pivot(self) -> Tensor:
        """A tensor that is alive if the branch is taken, else dead."""
        return self._pivot

    def value_inside(self, value: Tensor) -> Tensor:
        """The branch's output of a Switch for a tensor from outside; another tensor itself."""
        if value in self._known:
            return self._inside.get(value, value)
        self._known.add(value)
        outside = self._from_outside(value)
        with self.graph.control_dependencies(None):
            inside = switched(outside, self.pred)[self.branch]
        self.graph.prevent_fetching(inside.op)
        inside.op._control_flow_context = self  # noqa: SLF001 - the two belong together
        self.add_known(inside)
        self._inside[value] = inside
        return inside

    def add_op(self, op: Operation) -> None:
        """Add an operation: inputs from outside are replaced by outputs of Switches.

        An operation without inputs gets the pivot as a control input.
        """
        if op.inputs:
            self._bring_in_inputs(op)
            self._drop_outer_edges(op)
            if calls_function(op):
                op._add_control_input(self._pivot.op)  # noqa: SLF001 - it is being built here
        else:
            self._drop_outer_edges(op)
            if not any(contains(self, other._control_flow_context) for other in op.control_inputs):  # noqa: SLF001 - as above
                op._add_control_input(self._pivot.op)  # noqa: SLF001 - it is being built here
        for tensor in op.outputs:
            self.add_known(tensor)
        self._prevent_fetching(op)

    def build(self, function: Branch) -> tuple[Any, Any]:
        """Call the branch's function.

        Returns:
          Its result, and the result with a tensor of the branch for each leaf: for an Operation
          the pivot, after that operation. (None, None) if the function returns None.

        """
        result = function()
        if result is None:
            return None, None
        return result, nest.map_structure(self._output, result, expand_composites=True)

    def _output(self, value: TensorLike) -> Tensor:
        if isinstance(value, Operation):
            graph = self.graph
            with (
                name_scope(None, "control_dependency", [value, self._pivot]) as scope,
                graph.colocate_with(self._pivot),
                graph.control_dependencies([value]),
            ):
                return identity(self._pivot, name=scope)
        tensor = convert_to_tensor(flow_of(value))
        if tensor in self._known:
            return self._inside.get(tensor, tensor)
        # The branch returns a tensor from outside unchanged: its Switch is in the branch.
        self._known.add(tensor)
        inside = switched(self._from_outside(tensor), self.pred)[self.branch]
        self._inside[tensor] = inside
        return inside


@public("cond")
def cond(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Branch | None = None,
    fn2: Branch | None = None,
) -> Any:
    """Execute one of two functions, by a predicate.

    Args:
      pred: a bool scalar.
      true_fn: builds the branch for True; its results may be nested.
      false_fn: builds the other; its results have the same structure and dtypes.
      strict: whether a list with one result is returned as a list, not as the result alone.
      name: a name scope.
      fn1: the older name of `true_fn`.
      fn2: the older name of `false_fn`.

    Raises:
      TypeError: a branch cannot be called, the predicate is a Python bool, or the structures
        differ in kind.
      ValueError: a branch returns nothing, or the structures or dtypes differ.

    """
    if is_functional():
        from sessrun.reference.api.control_flow.functional_branches import functional_cond  # noqa: PLC0415 - large, and few programs need it

        return functional_cond(pred, true_fn, false_fn, name)
    true_fn, false_fn = _one_of("true_fn", true_fn, fn1), _one_of("false_fn", false_fn, fn2)
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("'pred' must not be a Python bool.")
        off, on = _split(pred)
        pivots = identity(on, name="switch_t"), identity(off, name="switch_f")
        pred = identity(pred, name="pred_id")
        graph = default_graph.get_default_graph()
        for tensor in (on, off, *pivots, pred):
            graph.prevent_fetching(tensor.op)
        built = []
        for number, (function, word) in enumerate(((true_fn, "true_fn"), (false_fn, "false_fn"))):
            context = Conditional(pred, pivots[number], 1 - number)
            with context.entered():
                result, tensors = context.build(function)
                if result is None:
                    raise ValueError(f"'{word}' must have a return value.")
                flat = nest.flatten(tensors, expand_composites=True)
                context.add_known_outside(flat)
            built.append((context, result if strict else _only(result), flat))
        return _joined(built, strict=strict)


def _split(pred: TensorLike) -> list[Tensor]:
    """The outputs of the Switch of a predicate by itself, for false and for true."""
    if not isinstance(pred, ResourceVariable):
        return apply_op("Switch", {"data": pred, "pred": pred}, {}, "Switch").outputs
    with name_scope(None, "Switch", [pred]):
        value = convert_to_tensor(pred, name="pred")
        return apply_op("Switch", {"data": pred, "pred": value}, {}).outputs


def _one_of(word: str, function: Branch | None, older: Branch | None) -> Branch:
    if function is not None and older is not None:
        number = "fn1" if word == "true_fn" else "fn2"
        raise TypeError(f"cond(): '{word}' and '{number}' may not be set simultaneously.")
    function = function if older is None else older
    if function is None:
        raise TypeError(f"cond(): '{word}' argument required")
    if not callable(function):
        raise TypeError(f"'{word}' must be callable.")
    return function


def _only(value: Any) -> Any:
    """The only item of a list or tuple; any other value unchanged."""
    is_single = isinstance(value, list | tuple) and len(value) == 1
    return value[0] if is_single else value


def _joined(built: Sequence[tuple[Conditional, Structure, list[Tensor]]], *, strict: bool) -> Any:
    """The results of both branches, merged leaf by leaf."""
    (on, result, on_flat), (off, other, off_flat) = built
    _make_indices_alike(result, other, on_flat, off_flat)
    try:
        nest.assert_same_structure(result, other, expand_composites=True)
    except TypeError as error:
        raise TypeError(
            f"Incompatible return types of 'true_fn' and 'false_fn': {error}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"Incompatible return values of 'true_fn' and 'false_fn': {error}"
        ) from error
    if not on_flat:
        raise ValueError("'true_fn' and 'false_fn' must return at least one result.")
    for x, y in zip(on_flat, off_flat, strict=True):
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise bad_value(
                "Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received "
                f"{x.dtype.name} from 'true_fn' and {y.dtype.name} from 'false_fn'."
            )
    merges = [merged(list(pair)) for pair in zip(off_flat, on_flat, strict=True)]
    if on.outer_context is None:
        for context in (on, off):
            default_graph.get_default_graph().add_to_collection(GraphKeys.COND_CONTEXT, context)
    leaves = nest.flatten(result, expand_composites=True)
    values = [with_flow(leaf, merge) for leaf, merge in zip(leaves, merges, strict=True)]
    joined = nest.pack_sequence_as(result, values, expand_composites=True)
    return joined if strict else _only(joined)


def _make_indices_alike(
    result: Structure, other: Structure, on_flat: list[Tensor], off_flat: list[Tensor]
) -> None:
    """Cast the indices of IndexedSlices to int64 in both branches where their dtypes differ."""
    index = 0
    for one, two in zip(nest.flatten(result), nest.flatten(other), strict=False):
        is_rows = isinstance(one, IndexedSlices) and isinstance(two, IndexedSlices)
        if is_rows and one.indices.dtype != two.indices.dtype:
            cast(one.indices, int64), cast(two.indices, int64)  # which TensorFlow makes, too
            for flat in (on_flat, off_flat):
                flat[index + 1] = cast(flat[index + 1], int64)
        index += len(nest.flatten(one, expand_composites=True))
