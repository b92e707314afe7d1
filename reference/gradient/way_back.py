"""The way back through a graph: operations, each once the gradients of its outputs are there.

The function registered for an operation's type makes the gradients of its inputs. A tape goes
another way than `gradients`: the last operation that is ready comes first, and nothing it adds
stands in a scope. Source: TF 2.21.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sessrun.reference.api.control_flow.context import is_loop_switch
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.base import dtypes
from sessrun.reference.build.framework_ops import tuple_
from sessrun.reference.build.gradient_registry import gradient_function
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.gradient import functions  # noqa: F401 - it registers them
from sessrun.reference.gradient.aggregation import Gradient, aggregated, taped_sum
from sessrun.reference.gradient.calls import of_call, symbolic
from sessrun.reference.gradient.choices import AggregationMethod, UnconnectedGradients
from sessrun.reference.gradient.control_flow import zeros_for
from sessrun.reference.gradient.loop_states import Loops, is_exit, loops_between
from sessrun.reference.gradient.reach import (
    Sight,
    is_trainable,
    nearest,
    ops_between,
    stop_ops,
    uses_among,
)
from sessrun.reference.gradient.variables import zeros_of_variable
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["TapedWayBack", "WayBack", "of_unconnected"]


class WayBack:
    """One way back through a graph: the gradients found so far, and how they are made.

    Args:
      graph: where operations are added.
      scope: the name scope, with its slash.
      colocate: whether they stay beside what they differentiate.
      gate: whether those of one operation are there all at once.
      method: how they are summed.

    """

    def __init__(self, graph: Graph, scope: str, colocate: bool, gate: bool, method: int) -> None:
        self._graph = graph
        self._scope = scope
        self._colocate = colocate
        self._gate = gate
        self._method = method
        self._sight = Sight(graph)
        self._found: dict[Tensor, list[Gradient]] = defaultdict(list)
        self._settled: set[Tensor] = set()
        self._loops: Loops | None = None

    def beside(self, op: Operation) -> AbstractContextManager[None]:
        """Where the gradient of this operation is placed."""
        if not self._colocate:
            return nullcontext()
        return self._graph.colocate_with(op, ignore_existing=True)

    def add(self, tensor: Any, gradient: Gradient) -> None:
        """Note one more gradient of a tensor."""
        values = tensor.values if isinstance(tensor, IndexedSlices) else tensor
        if values in self._settled:  # the Switch of a loop is gone through twice
            self._found[values] = [gradient]
        else:
            self._found[values].append(gradient)

    def look(self, targets: Sequence[Any], sources: Sequence[Tensor]) -> None:
        """See through what the function that has the targets captures."""
        graphs = [each.op.graph for each in targets if each.op.graph.building_function]
        self._sight = Sight(graphs[0] if graphs else self._graph, sources)

    def go(
        self,
        targets: Sequence[Operation],
        sources: Sequence[Operation],
        stopped: Sequence[Operation],
    ) -> None:
        """Go back from the targets to the sources.

        Raises:
          ValueError: that would lead to the first value of a loop's variable from inside.

        """
        sight = self._sight
        between = ops_between(targets, sources, sight)
        reached = dict.fromkeys(op for op in targets if op in between)
        self._loops = loops_between(between, self.beside)
        uses = uses_among(between, sight)
        firsts = [op for op in reached if not uses[op]]
        queue = deque(firsts)
        if self._loops is not None:
            queue.extend(self._exits_of_nothing(uses, firsts))
        stops = stop_ops(sources, stopped, uses, sight)
        while queue:
            op = self._next_of(queue)
            with self.beside(op):
                with self._inside(op, before=True):
                    outputs = [self._of_output(output) for output in op.outputs]
                with self._inside(op):
                    self._check_not_initial(op, sources)
                    if op not in stops and any(each is not None for each in outputs):
                        self._pass_on(op, outputs)
                for tensor in sight.inputs(op):
                    queue.extend(self._ready(tensor, uses))

    def _next_of(self, queue: deque[Operation]) -> Operation:
        """The operation to go back through next."""
        return queue.popleft()

    def finish(self) -> None:
        """Close the loops that are still open."""
        if self._loops is not None:
            self._loops.finish()

    def _inside(self, op: Operation, *, before: bool = False) -> AbstractContextManager[None]:
        """Within the way back through the loop that an operation is in."""
        return nullcontext() if self._loops is None else self._loops.entered(op, before=before)

    def _exits_of_nothing(
        self, uses: Counter[Operation], firsts: Collection[Operation]
    ) -> list[Operation]:
        """The exits that are known to be used by nothing, with zeros as their gradient."""
        assert self._loops is not None  # who calls has looked
        found = [each for each in self._loops.unused_exits(uses, firsts) if is_trainable(each)]
        for each in found:
            self.add(each, self._loops.zeros_for_exit(each))
        return [each.op for each in found]

    def _ready(self, tensor: Tensor, uses: Counter[Operation]) -> Iterator[Operation]:
        """What can be gone back through, once one use less of a tensor is waited for."""
        op, loops = tensor.op, self._loops
        uses[op] -= 1
        if uses[op] and not (loops is not None and uses[op] > 0 and is_loop_switch(op)):
            return
        if loops is None or not is_exit(op):
            yield op
            return
        for each, needs_zeros in loops.ready(tensor, self._has_gradient):
            if needs_zeros and is_trainable(each):
                self.add(each, loops.zeros_for_exit(each))
            yield each.op

    def _has_gradient(self, op: Operation) -> bool:
        return any(each is not None for output in op.outputs for each in self._found[output])

    def _check_not_initial(self, op: Operation, sources: Sequence[Operation]) -> None:
        if op.type in {"Switch", "RefSwitch"} and self._graph.scopes.control_flow is not None:
            context = op._control_flow_context  # noqa: SLF001 - the two belong together
            if context is self._graph.scopes.control_flow and isinstance(context, Loop):
                by = nearest(op, sources, self._sight)
                raise ValueError(
                    f"Cannot compute gradient inside while loop with respect to op '{by.name}'. We "
                    "do not support taking the gradient wrt or through the initial value of a loop "
                    "variable. Gradients can be computed through loop invariants or wrt the input "
                    "parameters to the loop body."
                )

    def _of_output(self, output: Tensor) -> Gradient:
        """The gradient of a tensor, which from now on is one."""
        found = [each for each in self._found[output] if each is not None]
        self._settled.add(output)
        if not found:
            return None
        self._found[output] = [self._aggregated(output.op, found)]
        return self._found[output][0]

    def _aggregated(self, op: Operation, found: Sequence[Gradient]) -> Gradient:
        """One gradient of those of an output of an operation."""
        return aggregated(op, found, self._method)

    def _pass_on(self, op: Operation, outputs: list[Gradient]) -> None:
        """Make the gradients of an operation's inputs from those of its outputs."""
        function = _function(op)
        if function is None:
            return
        zeros = zeros_for if self._loops is None else self._loops.zeros_for
        whole = [
            zeros(output)
            if gradient is None and (function is symbolic or is_trainable(output))
            else gradient
            for output, gradient in zip(op.outputs, outputs, strict=True)
        ]
        with self._scope_of(op), self._graph._original_op(op):  # noqa: SLF001 - the graph's other half
            made = function(op, *whole)
            inputs = list(made) if isinstance(made, list | tuple) else [made]
            _check_count(op, inputs)
            if self._gate and sum(each is not None for each in inputs) > 1:
                with self._graph.colocate_with(None, ignore_existing=True):
                    inputs = tuple_(inputs)
        for number, (tensor, gradient) in enumerate(
            zip(self._sight.inputs(op), inputs, strict=True)
        ):
            if gradient is not None:
                self._hold_to_shape(op, number, tensor, gradient)
                self.add(tensor, gradient)

    def _scope_of(self, op: Operation) -> AbstractContextManager[Any]:
        """The name scope in which the gradients of an operation's inputs are made."""
        return self._graph.name_scope(op.name + "_grad")

    def _hold_to_shape(self, op: Operation, number: int, tensor: Tensor, gradient: Any) -> None:
        """Note that the gradient has the shape of the tensor.

        Raises:
          ValueError: it cannot have it.

        """
        if not isinstance(gradient, Tensor) or tensor.dtype == dtypes.resource:
            return
        try:
            gradient.set_shape(tensor.shape)
        except ValueError:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient. Forward "
                f"operation: {op.name}. Input index: {number}. Original input shape: "
                f"{tensor.shape}. Calculated input gradient shape: {gradient.shape}"
            ) from None

    def result(self, x: Tensor, unconnected: UnconnectedGradients) -> Gradient:
        """The gradient by `x`."""
        found = [each for each in self._found.get(x, ()) if each is not None]
        if len(found) > 1:
            return self._result_of_several(x.op, found)
        return found[0] if found else of_unconnected(x, unconnected)

    def _result_of_several(self, op: Operation, found: Sequence[Gradient]) -> Gradient:
        with self._graph.name_scope(self._scope), self.beside(op):
            return self._aggregated(op, found)


class TapedWayBack(WayBack):
    """The way back that a tape goes, in the scope that is current.

    Args:
      graph: where operations are added.

    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, "", False, False, AggregationMethod.DEFAULT)

    def _next_of(self, queue: deque[Operation]) -> Operation:
        return queue.pop()

    def _aggregated(self, op: Operation, found: Sequence[Gradient]) -> Gradient:
        del op  # nothing stands beside it
        return taped_sum(found)

    def _scope_of(self, op: Operation) -> AbstractContextManager[Any]:
        del op
        return nullcontext()

    def _hold_to_shape(self, op: Operation, number: int, tensor: Tensor, gradient: Any) -> None:
        """Nothing: a tape does not compare shapes."""


def of_unconnected(x: Tensor, unconnected: UnconnectedGradients) -> Gradient:
    """The gradient of what does not depend on `x`."""
    if unconnected is UnconnectedGradients.NONE:
        return None
    return zeros_of_variable(x) if x.dtype == dtypes.resource else zeros_like(x)


def _function(op: Operation) -> Any:
    """What makes the gradients of its inputs; None if there are none.

    Raises:
      LookupError: its type has no gradient.

    """
    try:
        return of_call(op) or gradient_function(op)
    except LookupError:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}). Register one "
            "with @tf.RegisterGradient, or cut the operation off with tf.stop_gradient."
        ) from None


def _check_count(op: Operation, found: Sequence[Any]) -> None:
    if len(found) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(found)} generated for op {op.node_def} do not match num inputs "
            f"{len(op.inputs)}"
        )
