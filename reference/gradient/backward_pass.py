"""The backward pass of `gradients` and of a tape: from the targets' operations to the sources'.

An operation's turn comes once all gradients of its outputs are known: the function registered for
its type makes the gradients of its inputs. A tape differs from `gradients` in the order (the last
operation that is ready comes first), and what it adds stands in no name scope. Source: TF 2.21.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, cast

from sessrun.reference.api.control_flow.context import is_loop_switch
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.base import dtypes
from sessrun.reference.build.framework_ops import tuple_
from sessrun.reference.build.gradient_registry import (
    Gradient,
    GradientFunction,
    Gradients,
    call_gradient,
    gradient_function,
)
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.gradient.aggregation import (
    AggregationMethod,
    UnconnectedGradients,
    aggregated,
    tape_sum,
)
from sessrun.reference.gradient.control_flow import zeros_for
from sessrun.reference.gradient.loop_states import Loops, is_exit, loops_between
from sessrun.reference.gradient.reachability import (
    Dataflow,
    is_trainable,
    nearest_source,
    ops_between,
    stop_ops,
    use_counts,
)
from sessrun.reference.gradient.symbolic_gradients import symbolic_gradient
from sessrun.reference.gradient.variables import zeros_of_variable
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["BackwardPass", "TapeBackwardPass", "unconnected_gradient"]


#: The scope where there is none to enter.
_NO_SCOPE: Final = nullcontext()


class BackwardPass:
    """One pass back through a graph: the gradients known so far, and how they are made.

    Args:
      graph: where operations are added.
      scope: the name scope, with its slash.
      colocate: whether gradients are placed beside the operations that they differentiate.
      gate: whether no gradient of an operation's inputs is used before all of them are computed.
      method: how several gradients of a tensor are summed, one of AggregationMethod.

    """

    def __init__(self, graph: Graph, scope: str, colocate: bool, gate: bool, method: int) -> None:
        self._graph = graph
        self._scope = scope
        self._colocate = colocate
        self._gate = gate
        self._method = method
        self._dataflow = Dataflow(graph)
        self._gradients: dict[Tensor, list[Gradient]] = defaultdict(list)
        self._aggregated: set[Tensor] = set()
        self._loops: Loops | None = None

    def beside(self, op: Operation) -> AbstractContextManager[None]:
        """A scope that places operations on the device of this one, if gradients are colocated."""
        if not self._colocate:
            return _NO_SCOPE
        return self._graph.colocate_with(op, ignore_existing=True)

    def add(self, tensor: Tensor | IndexedSlices, gradient: Gradient) -> None:
        """Note one more gradient of a tensor."""
        values = tensor.values if isinstance(tensor, IndexedSlices) else tensor
        if values in self._aggregated:  # a loop's Switch has two turns: this is the second
            self._gradients[values] = [gradient]
        else:
            self._gradients[values].append(gradient)

    def follow_captures(
        self, targets: Sequence[Tensor | IndexedSlices], sources: Sequence[Tensor]
    ) -> None:
        """Go on outside of the functions that the targets are in, by what these capture."""
        graphs = [y.op.graph for y in targets if y.op.graph.building_function]
        self._dataflow = Dataflow(graphs[0] if graphs else self._graph, sources)

    def run(
        self,
        targets: Sequence[Operation],
        sources: Sequence[Operation],
        stopped: Sequence[Operation],
    ) -> None:
        """Make the gradients of all tensors between the targets and the sources.

        Args:
          targets: the operations of the targets, whose gradients have been added.
          sources: the operations of the sources.
          stopped: the operations that count as constants.

        Raises:
          ValueError: a loop is differentiated from inside, by a loop variable's first value.

        """
        dataflow = self._dataflow
        between = ops_between(targets, sources, dataflow)
        reachable = dict.fromkeys(op for op in targets if op in between)
        self._loops = loops_between(between, self.beside)
        uses = use_counts(between, dataflow)
        unused = [op for op in reachable if not uses[op]]
        queue = deque(unused)
        if self._loops is not None:
            queue.extend(self._unused_exits(uses, unused))
        stops = stop_ops(sources, stopped, uses, dataflow)
        while queue:
            op = self._next(queue)
            with self.beside(op):
                with self._loop_scope(op, of_outputs=True):
                    grads = [self._output_gradient(output) for output in op.outputs]
                with self._loop_scope(op):
                    self._check_not_initial(op, sources)
                    if op not in stops and any(grad is not None for grad in grads):
                        self._differentiate(op, grads)
                for tensor in dataflow.inputs(op):
                    queue.extend(self._ready_ops(tensor, uses))

    def _next(self, queue: deque[Operation]) -> Operation:
        """Take the operation whose turn it is from the queue: the first."""
        return queue.popleft()

    def finish(self) -> None:
        """Close the loops that are still open."""
        if self._loops is not None:
            self._loops.finish()

    def _loop_scope(
        self, op: Operation, *, of_outputs: bool = False
    ) -> AbstractContextManager[None]:
        """The scope, in a loop, for the gradients of an operation or of its outputs."""
        if self._loops is None:
            return _NO_SCOPE
        return self._loops.scope(op, of_outputs=of_outputs)

    def _unused_exits(
        self, uses: Counter[Operation], targets: Collection[Operation]
    ) -> list[Operation]:
        """The loop exits that nothing uses, with zeros as their gradient."""
        assert self._loops is not None  # the caller has looked
        exits = [out for out in self._loops.unused_exits(uses, targets) if is_trainable(out)]
        for out in exits:
            self.add(out, self._loops.zeros_for_exit(out))
        return [out.op for out in exits]

    def _ready_ops(self, tensor: Tensor, uses: Counter[Operation]) -> Iterator[Operation]:
        """The operations whose turn comes because one use of a tensor has had its turn."""
        op, loops = tensor.op, self._loops
        uses[op] -= 1
        if uses[op] and not (loops is not None and uses[op] > 0 and is_loop_switch(op)):
            return
        if loops is None or not is_exit(op):
            yield op
            return
        for loop_exit, needs_zeros in loops.ready_exits(tensor, self._has_gradient):
            if needs_zeros and is_trainable(loop_exit):
                self.add(loop_exit, loops.zeros_for_exit(loop_exit))
            yield loop_exit.op

    def _has_gradient(self, op: Operation) -> bool:
        return any(grad is not None for output in op.outputs for grad in self._gradients[output])

    def _check_not_initial(self, op: Operation, sources: Sequence[Operation]) -> None:
        if op.type in {"Switch", "RefSwitch"} and self._graph.scopes.control_flow is not None:
            context = op._control_flow_context  # noqa: SLF001 - the two belong together
            if context is self._graph.scopes.control_flow and isinstance(context, Loop):
                source = nearest_source(op, sources, self._dataflow)
                raise ValueError(
                    "Cannot compute gradient inside while loop with respect to op "
                    f"'{source.name}'. We do not support taking the gradient wrt or through the "
                    "initial value of a loop variable. Gradients can be computed through loop "
                    "invariants or wrt the input parameters to the loop body."
                )

    def _output_gradient(self, output: Tensor) -> Gradient:
        """The sum of a tensor's gradients, made when its operation is reached; None without any."""
        gradients = [grad for grad in self._gradients[output] if grad is not None]
        self._aggregated.add(output)
        if not gradients:
            return None
        self._gradients[output] = [self._sum(output.op, gradients)]
        return self._gradients[output][0]

    def _sum(self, op: Operation, gradients: Sequence[Tensor | IndexedSlices]) -> Gradient:
        """The sum of the gradients of an output of an operation."""
        return aggregated(op, gradients, self._method)

    def _differentiate(self, op: Operation, grads: list[Gradient]) -> None:
        """Make the gradients of an operation's inputs from those of its outputs."""
        function = _gradient_function(op)
        if function is None:
            return
        zeros = zeros_for if self._loops is None else self._loops.zeros_for
        of_outputs = [
            zeros(output)
            if gradient is None and (function is symbolic_gradient or is_trainable(output))
            else gradient
            for output, gradient in zip(op.outputs, grads, strict=True)
        ]
        with self._scope_of(op):
            result = function(op, *of_outputs)
            of_inputs = _listed(result)
            _check_count(op, of_inputs)
            if self._gate and sum(grad is not None for grad in of_inputs) > 1:
                with self._graph.colocate_with(None, ignore_existing=True):
                    of_inputs = tuple_(of_inputs)
        for number, (tensor, gradient) in enumerate(
            zip(self._dataflow.inputs(op), of_inputs, strict=True)
        ):
            if gradient is not None:
                self._narrow_shape(op, number, tensor, gradient)
                self.add(tensor, gradient)

    def _scope_of(self, op: Operation) -> AbstractContextManager[object]:
        """The scopes in which the gradients of an operation's inputs are made."""
        name = self._graph.name_of_scope(op.name + "_grad")
        return self._graph.scopes.replaced(name=name, original=op)

    def _narrow_shape(
        self, op: Operation, number: int, tensor: Tensor, gradient: Tensor | IndexedSlices
    ) -> None:
        """Narrow the static shape of a dense gradient by that of its tensor, an input of `op`.

        Raises:
          ValueError: the shapes are known to differ.

        """
        if not isinstance(gradient, Tensor) or tensor.dtype is dtypes.resource:
            return
        if gradient.sizes == tensor.sizes:  # as most are
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
        """The gradient by `x`, once the pass has run."""
        gradients = [grad for grad in self._gradients.get(x, ()) if grad is not None]
        if len(gradients) > 1:
            return self._result_sum(x.op, gradients)
        return gradients[0] if gradients else unconnected_gradient(x, unconnected)

    def _result_sum(self, op: Operation, gradients: Sequence[Tensor | IndexedSlices]) -> Gradient:
        with self._graph.name_scope(self._scope), self.beside(op):
            return self._sum(op, gradients)


class TapeBackwardPass(BackwardPass):
    """The backward pass of a tape, which adds operations in the scope that is current.

    Args:
      graph: where operations are added.

    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, "", False, False, AggregationMethod.DEFAULT)

    def _next(self, queue: deque[Operation]) -> Operation:
        """Take the operation whose turn it is from the queue: the last."""
        return queue.pop()

    def _sum(self, op: Operation, gradients: Sequence[Tensor | IndexedSlices]) -> Gradient:
        del op  # the sum is not colocated with it
        return tape_sum(gradients)

    def _scope_of(self, op: Operation) -> AbstractContextManager[object]:
        return self._graph.scopes.replaced(original=op)

    def _narrow_shape(
        self, op: Operation, number: int, tensor: Tensor, gradient: Tensor | IndexedSlices
    ) -> None:
        """Do nothing: a tape does not compare shapes."""


def unconnected_gradient(x: Tensor, unconnected: UnconnectedGradients) -> Gradient:
    """The gradient by `x` of targets that do not depend on it: None or zeros."""
    if unconnected is UnconnectedGradients.NONE:
        return None
    return zeros_of_variable(x) if x.dtype == dtypes.resource else zeros_like(x)


def _gradient_function(op: Operation) -> GradientFunction | None:
    """The function that makes the gradients of an operation's inputs; None if they have none.

    Raises:
      LookupError: its type has no gradient.

    """
    try:
        return call_gradient(op) or gradient_function(op)
    except LookupError:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}). Register one "
            "with @tf.RegisterGradient, or cut the operation off with tf.stop_gradient."
        ) from None


def _listed(gradients: Gradients) -> list[Gradient]:
    """The result of a gradient function as a list; a program may return any value in it."""
    if isinstance(gradients, list | tuple):
        return list(gradients)
    return [cast("Gradient", gradients)]


def _check_count(op: Operation, gradients: Sequence[Gradient]) -> None:
    if len(gradients) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(gradients)} generated for op {op.node_def} do not match num "
            f"inputs {len(op.inputs)}"
        )
