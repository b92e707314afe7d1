"""`GradientTape`: gradients through the operations that were added while it recorded.

The dependencies are those of the graph; the tape knows through which operations to differentiate:
those that were added while it recorded and that read a watched tensor or the output of such an
operation. All others count as constants. Source: TF 2.21, probed without eager execution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import concat, transpose
from sessrun.reference.api.ops.fill_ops import one_hot, ones, ones_like, zeros
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.api.ragged_tensor import is_ragged
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.variables.ref_variables import RefVariable
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base.flow_ops import ENTERS
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape, tile
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.indexed_slices import convert_to_tensor_or_indexed_slices
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.gradient.aggregation import UnconnectedGradients
from sessrun.reference.gradient.backward_pass import TapeBackwardPass, unconnected_gradient
from sessrun.reference.gradient.reachability import is_trainable
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["GradientTape"]

_BRANCHES: Final = frozenset({"Switch", "RefSwitch", "Merge", "RefMerge"})


@public("GradientTape")
class GradientTape:
    """Records operations, in a `with` statement, and differentiates through them.

    Args:
      persistent: whether `gradient` may be called more than once.
      watch_accessed_variables: whether trainable resource variables are watched when they are read.

    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        """A tape that does not record yet."""
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._is_spent = False
        self._began: int | None = None
        self._graph: Graph | None = None
        self._spans: list[tuple[int, int]] = []
        self._watched: dict[Tensor, int] = {}
        self._named: list[ResourceVariable] = []

    def __enter__(self) -> Self:
        """Record from here on.

        Raises:
          ValueError: the tape is recording already.

        """
        self._record()
        return self

    def _record(self) -> None:
        """Record from here on; drop earlier records if their gradients were computed."""
        if self._began is not None:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an already-active "
                "tape."
            )
        if self._is_spent:
            self._forget()
            self._is_spent = False
        self._graph = default_graph.get_default_graph()
        self._began = self._operation_count()

    def _forget(self) -> None:
        self._spans.clear()
        self._watched.clear()
        self._named.clear()

    def __exit__(self, *exception: object) -> None:
        """Record no longer."""
        self._pause()

    def _pause(self) -> None:
        if self._began is not None and self._graph is not None:
            self._spans.append((self._began, len(self._graph.operations_by_name)))
            self._began = None

    def watch(self, tensor: TensorLike) -> None:
        """Watch a tensor, or a structure of them: differentiate by it from here on.

        Raises:
          ValueError: a value is not a tensor.
          AttributeError: a value is a reference variable, which no tape can watch; or the tape
            has never recorded, or has computed its gradients.

        """
        for leaf in nest.flatten(tensor, expand_composites=True):
            watched = _watchable(leaf, "watch")
            if self._graph is None or self._is_spent:
                raise AttributeError("a tape that has not recorded cannot watch")
            if isinstance(leaf, ResourceVariable):
                self._named.append(leaf)
            self._watched.setdefault(watched, self._operation_count())

    def _operation_count(self) -> int:
        return len(default_graph.get_default_graph().operations_by_name)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Do not record what is added inside the `with` statement.

        Raises:
          RuntimeError: the tape has never recorded, or has computed its gradients.
          ValueError: the tape is not recording.

        """
        if self._graph is None or self._is_spent:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        if self._began is None:
            raise ValueError("Tape is not recording.")
        self._pause()
        try:
            yield
        finally:
            self._record()

    def reset(self) -> None:
        """Drop all records and watched tensors, and continue to record.

        Raises:
          ValueError: the tape is not recording.

        """
        if self._began is None:
            raise ValueError("Tape is not recording.")
        self._forget()
        self._began = self._operation_count()

    def watched_variables(self) -> tuple[ResourceVariable, ...]:
        """The variables that are watched, in the order in which they were first read."""
        if self._graph is None:
            return ()
        on_tape, _ = self._tensors_and_operations()
        accessed = [v for v in self._trainable() if v.handle in on_tape]
        return tuple(dict.fromkeys([*self._named, *accessed]))

    def gradient(
        self,
        target: Any,
        sources: TensorLike,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The derivative of the sum of the target's tensors by each source.

        Args:
          target: a tensor, or a structure of them.
          sources: a tensor, a variable, or a structure of them.
          output_gradients: for each tensor of the target a tensor of its shape that its derivative
            is multiplied by; ones where the list is shorter.
          unconnected_gradients: what the gradient is by a source without influence on the target:
            an UnconnectedGradients, or its value.

        Returns:
          A structure as `sources`: for each a Tensor of its shape, IndexedSlices, or None.

        Raises:
          RuntimeError: the tape is not persistent and has computed gradients before.
          TypeError: the target is None.
          NotImplementedError: the gradient leads through a branch of control flow.
          LookupError: an operation on the tape has no gradient.

        """
        self._spend()
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but received None."
            )
        ys = [convert_to_tensor(_flat_values(y)) for y in nest.flatten(target)]
        weights = [] if output_gradients is None else nest.flatten(output_gradients)
        weights = [*weights, *[None] * len(ys)][: len(ys)]
        xs = nest.flatten(sources)
        flat = [_flat_values(x) for x in xs]
        gradients = self._gradients(ys, flat, weights, unconnected_gradients)
        by_sources = [
            x.with_flat_values(grad) if is_ragged(x) and grad is not None else grad
            for x, grad in zip(xs, gradients, strict=True)
        ]
        return nest.pack_sequence_as(sources, by_sources)

    def jacobian(
        self,
        target: TensorLike,
        sources: TensorLike,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of each element of the target by each source.

        Args:
          target: a tensor.
          sources: a tensor, a variable, or a structure of them.
          unconnected_gradients: as for `gradient`.
          parallel_iterations: how many elements are differentiated at a time.
          experimental_use_pfor: not used: the elements are differentiated in a loop.

        Returns:
          A structure as `sources`: for each a tensor of shape [*target.shape, *source.shape], or
          None.

        Raises:
          RuntimeError, NotImplementedError, LookupError: as `gradient`.

        """
        del experimental_use_pfor
        self._spend()
        y, xs = convert_to_tensor(target), nest.flatten(sources)
        count, y_shape = size(y), shape(y)
        with self._recording():
            flat = reshape(y, [-1])

        def row(number: Tensor) -> list[Gradient]:
            seed = one_hot(number, count, dtype=y.dtype)
            return self._gradients([flat], xs, [seed], unconnected_gradients)

        by_sources = [
            None
            if rows is None
            else _reshaped(
                rows,
                y.shape.concatenate(x.shape),
                concat([y_shape, shape(convert_to_tensor(x))], 0),
            )
            for x, rows in zip(xs, _rows(row, count, xs, parallel_iterations), strict=True)
        ]
        return nest.pack_sequence_as(sources, by_sources)

    def batch_jacobian(
        self,
        target: TensorLike,
        source: Tensor,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """For each example of a batch the derivative of its elements by those of its source.

        Args:
          target: a tensor [b, ...], each row of which depends on the same row of the source alone.
          source: a tensor [b, ...].
          unconnected_gradients: as for `gradient`.
          parallel_iterations: how many elements are differentiated at a time.
          experimental_use_pfor: not used: the elements are differentiated in a loop.

        Returns:
          A tensor of shape [*target.shape, *source.shape[1:]]; zeros if the target does not depend
          on the source.

        Raises:
          ValueError: the batches are known to differ in size, or a rank is below 2 or not known.
          IndexError: the target is a scalar.
          RuntimeError, NotImplementedError, LookupError: as `gradient`.

        """
        del experimental_use_pfor
        self._spend()
        y, x = convert_to_tensor(target), convert_to_tensor(source)
        _check_batches(y, x)
        sizes, batch = shape(y), shape(y)[0]
        count = size(y) // batch
        with self._recording():
            flat = reshape(y, [batch, count])

        def row(number: Tensor) -> list[Gradient]:
            seed = tile(one_hot([number], count, dtype=y.dtype), [batch, 1])
            return self._gradients([flat], [source], [seed], unconnected_gradients)

        (rows,) = _rows(row, count, [source], parallel_iterations)
        result_shape = concat([sizes, shape(x)[1:]], 0)
        if rows is None:
            return zeros(result_shape, y.dtype)
        by_example = transpose(reshape(rows, [count, batch, -1]), [1, 0, 2])
        return _reshaped(by_example, y.shape.concatenate(x.shape[1:]), result_shape)

    def _spend(self) -> None:
        if self._is_spent or self._graph is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if not self._persistent:
            self._is_spent = True
            self._pause()

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Record the operations added inside, even if the tape does not record any more."""
        is_over = self._began is None
        if is_over:
            self._began = self._operation_count()
        try:
            yield
        finally:
            if is_over:
                self._pause()

    def _gradients(
        self,
        ys: list[Tensor],
        sources: list[Tensor],
        output_gradients: list[TensorLike],
        unconnected: UnconnectedGradients | str,
    ) -> list[Gradient]:
        """The gradients of the ys by the sources, which may be variables."""
        xs = [_watchable(x, "differentiate by") for x in sources]
        on_tape, recorded = self._tensors_and_operations()
        if any(op.type in _BRANCHES for op in recorded):
            raise NotImplementedError(
                "tf.GradientTape.gradients() does not support graph control flow operations like "
                "tf.cond or tf.while at this time. Use tf.gradients() instead."
            )
        seeds = [
            (y, grad)
            for y, grad in zip(ys, output_gradients, strict=True)
            if y in on_tape and is_trainable(y)
        ]
        known = [x for x in xs if x in on_tape and is_trainable(x)]
        read = (tensor for op in recorded for tensor in op.inputs)
        constants = dict.fromkeys(tensor.op for tensor in read if tensor.op not in recorded)
        backward = TapeBackwardPass(default_graph.get_default_graph())
        for y, grad in seeds:
            backward.add(y, _first_gradient(y, grad))
        targets = [y for y, _ in seeds]
        backward.follow_captures(targets, known)
        backward.run([y.op for y in targets], [x.op for x in known], list(constants))
        backward.finish()
        option = UnconnectedGradients(unconnected)
        return [
            backward.result(x, option) if x in known else unconnected_gradient(x, option)
            for x in xs
        ]

    def _tensors_and_operations(self) -> tuple[set[Tensor], set[Operation]]:
        """The tensors on the tape, and the operations that read one of them while it recorded."""
        on_tape = set(self._watched)
        recorded: set[Operation] = set()
        assert self._graph is not None  # the callers have looked
        variables = {v.handle for v in self._trainable()} if self._watches_variables else set()
        operations = self._graph.get_operations()
        spans = self._spans if self._began is None else [*self._spans, (self._began, None)]
        for begin, end in spans:
            for number, op in enumerate(operations[begin:end], begin):
                if op.type in ENTERS or not any(
                    self._watched.get(tensor, 0) <= number
                    and (tensor in on_tape or tensor in variables)
                    for tensor in op.inputs
                ):
                    continue
                recorded.add(op)
                on_tape.update(op.outputs)
                on_tape.update(tensor for tensor in op.inputs if tensor in variables)
        return on_tape, recorded

    def _trainable(self) -> list[ResourceVariable]:
        assert self._graph is not None  # as above
        variables = self._graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        return [v for v in variables if isinstance(v, ResourceVariable)]


def _flat_values(x: Tensor) -> Tensor:
    """The values of a ragged tensor, which are what is differentiated; others unchanged."""
    return x.flat_values if is_ragged(x) else x


def _watchable(x: TensorLike, what: str) -> Tensor:
    """A tensor unchanged, or the handle of a resource variable.

    Args:
      x: the tensor or variable.
      what: the action of the tape, for the error's message.

    Raises:
      AttributeError: the value is a reference variable.
      ValueError: the value is neither a tensor nor a resource variable.

    """
    if isinstance(x, RefVariable):
        raise AttributeError(  # noqa: TRY004 - TensorFlow's class
            f"a tape cannot {what} the reference variable {x.name}: make it with use_resource=True"
        )
    if isinstance(x, ResourceVariable):
        return x.handle
    if not isinstance(x, Tensor):
        raise ValueError(  # noqa: TRY004 - TensorFlow's class
            f"Passed in object {x!r} of type {type(x).__name__}, not tf.Tensor"
        )
    return x


def _check_batches(y: Tensor, x: Tensor) -> None:
    if y.shape.rank == 0:
        raise IndexError(f"{y} is a scalar: there is no batch")
    if y.shape.rank is None or x.shape.rank is None or min(y.shape.rank, x.shape.rank) < 2:
        raise ValueError(f"The ranks of {y} and {x} must be known and at least 2")
    if not y.shape[:1].is_compatible_with(x.shape[:1]):
        raise ValueError(
            f"Need first dimension of target shape ({y.shape}) and source shape ({x.shape}) to "
            "match."
        )


def _rows(
    row: Callable[[Tensor], list[Gradient]], count: Tensor, xs: Sequence[Any], parallel: int | None
) -> list[Tensor | None]:
    """For each x the gradients that `row` makes of the numbers below `count`, stacked.

    Args:
      row: from a number to a gradient by each x, None if that is not connected. The body of the
        loop is made once, and so is a row: after that it is known which xs are connected.
      count: the number of rows, a scalar.
      xs: tensors and variables.
      parallel: how many rows may be computed at a time; 10 by default.

    """
    for x in xs:
        _watchable(x, "differentiate by")
    arrays = [TensorArray(x.dtype.base_dtype, count) for x in xs]
    connected: list[bool] = []

    def write_row(number: Tensor, *rows: TensorArray) -> tuple[Any, ...]:
        gradients = row(number)
        connected[:] = [grad is not None for grad in gradients]
        written = [
            array if grad is None else array.write(number, convert_to_tensor(grad))
            for grad, array in zip(gradients, rows, strict=True)
        ]
        return number + 1, *written

    _, *ended = while_loop(
        lambda number, *_: number < count,
        write_row,
        [constant(0), *arrays],
        parallel_iterations=parallel or 10,
    )
    return [
        array.stack() if is_connected else None
        for array, is_connected in zip(ended, connected, strict=True)
    ]


def _reshaped(value: Tensor, static: TensorShape, sizes: Tensor) -> Tensor:
    result = reshape(value, sizes)
    result.set_shape(static)
    return result


def _first_gradient(y: Tensor, grad: Any) -> Gradient:
    """The gradient of a target: that of the caller, or ones."""
    if grad is not None:
        given: Gradient = convert_to_tensor_or_indexed_slices(grad, y.dtype)
        return given
    if y.shape.is_fully_defined():
        return ones(y.shape, y.dtype)
    return ones_like(y)
