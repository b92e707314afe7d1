"""Faults of GRAPH: lookup by name, and what building refuses, converts and infers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import running
from sessrun.spec.cases.arguments import Argument, DTypeLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Call,
    Element,
    Feeds,
    Fetches,
    Operation,
    Session,
    Tensor,
    Value,
)

# --- lookup -------------------------------------------------------------------------------


@fault("GRAPH-076", "get_tensor_by_name gives a copy of the tensor.")
def found_tensors_are_copies(tf: Namespace) -> Namespace:
    """Return an Identity of the tensor, unless the graph is finalized."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def get_tensor_by_name(self, name: str) -> Tensor:
            tensor = super().get_tensor_by_name(name)
            if self.finalized:
                return tensor
            with self.as_default(), tf.control_dependencies(None):
                return tf.identity(tensor)

    return override(tf, Graph=Graph)


@fault("GRAPH-077", "An operation name that the graph lacks finds None.")
def missing_operations_are_none(tf: Namespace) -> Namespace:
    """Swallow the KeyError."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def get_operation_by_name(self, name: str) -> Operation | None:
            try:
                return super().get_operation_by_name(name)
            except KeyError:
                return None

    return override(tf, Graph=Graph)


@fault("GRAPH-078", "A tensor name that the graph lacks is ValueError.")
def unknown_tensors_are_value_errors(tf: Namespace) -> Namespace:
    """Raise ValueError instead of KeyError."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def get_tensor_by_name(self, name: str) -> Tensor:
            try:
                return super().get_tensor_by_name(name)
            except KeyError as error:
                raise ValueError(str(error)) from error

    return override(tf, Graph=Graph)


@fault("GRAPH-079", "A tensor name without an index means output 0.")
def tensor_names_need_no_index(tf: Namespace) -> Namespace:
    """Append `:0` to names without an index."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def get_tensor_by_name(self, name: str) -> Tensor:
            return super().get_tensor_by_name(name if ":" in name else f"{name}:0")

    return override(tf, Graph=Graph)


@fault("GRAPH-080", "An operation name may have an index.")
def operation_names_may_have_an_index(tf: Namespace) -> Namespace:
    """Cut the name at the colon."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def get_operation_by_name(self, name: str) -> Operation:
            return super().get_operation_by_name(name.partition(":")[0])

    return override(tf, Graph=Graph)


@fault("GRAPH-081", "as_graph_element of a bare name gives the first output.")
def bare_names_are_tensors(tf: Namespace) -> Namespace:
    """Return the operation's first output where the name is the only argument."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def as_graph_element(self, obj: Argument, *args: bool, **kwargs: bool) -> Element:
            element = super().as_graph_element(obj, *args, **kwargs)
            asked = args or kwargs or not isinstance(obj, str) or ":" in obj
            return element if asked or not element.outputs else element.outputs[0]

    return override(tf, Graph=Graph)


@fault("GRAPH-082", "as_graph_element admits elements of other graphs.")
def foreign_elements_are_admitted(tf: Namespace) -> Namespace:
    """Return the element where the caller passes no other argument."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def as_graph_element(self, obj: Argument, *args: bool, **kwargs: bool) -> Element:
            if not args and not kwargs and isinstance(obj, tf.Tensor | tf.Operation):
                return obj
            return super().as_graph_element(obj, *args, **kwargs)

    return override(tf, Graph=Graph)


@fault("GRAPH-083", "get_operations sorts the operations by name.")
def operations_are_sorted(tf: Namespace) -> Namespace:
    """Sort the operations by name."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def get_operations(self) -> list[Operation]:
            return sorted(super().get_operations(), key=lambda op: str(op.name))

    return override(tf, Graph=Graph)


# --- inputs of an operation ---------------------------------------------------------------


@fault("GRAPH-084", "An operand of another graph becomes a placeholder.")
def foreign_operands_become_placeholders(tf: Namespace) -> Namespace:
    """Replace a second operand of another graph by a placeholder."""

    def add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        tensors = isinstance(x, tf.Tensor) and isinstance(y, tf.Tensor)
        if tensors and x.graph is not y.graph:
            with x.graph.as_default():
                y = tf.placeholder(y.dtype, y.shape)
        return tf.add(x, y, name)

    return override(tf, add=add)


@fault("GRAPH-140", "An addition to a tensor that is not of the default graph is refused.")
def operations_go_to_the_default_graph(tf: Namespace) -> Namespace:
    """Raise ValueError for a number that is added to such a tensor."""

    def add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        lone = isinstance(x, tf.Tensor) and not isinstance(y, tf.Tensor)
        if lone and x.graph is not tf.get_default_graph():
            raise ValueError(f"{x.name} is of another graph than the default one")
        return tf.add(x, y, name)

    return override(tf, add=add)


@fault("GRAPH-085", "The second operand of an addition is cast to the dtype of the first.")
def second_operand_is_cast(tf: Namespace) -> Namespace:
    """Cast tensors of other dtypes."""

    def add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        if isinstance(x, tf.Tensor) and isinstance(y, tf.Tensor) and x.dtype != y.dtype:
            y = tf.cast(y, x.dtype)
        return tf.add(x, y, name)

    return override(tf, add=add)


@fault("GRAPH-086", "The square root of integers is that of floats.")
def square_root_of_integers(tf: Namespace) -> Namespace:
    """Cast int32 to float32."""

    def sqrt(x: Tensor, name: str | None = None) -> Tensor:
        integers = isinstance(x, tf.Tensor) and x.dtype.is_integer
        return tf.sqrt(tf.cast(x, tf.float32) if integers else x, name)

    return override(tf, sqrt=sqrt)


@fault("GRAPH-087", "A Python int that is added to a tensor is an int32.")
def added_ints_are_int32(tf: Namespace) -> Namespace:
    """Convert the int to a constant first."""

    def add(x: Argument, y: Argument, name: str | None = None) -> Tensor:
        return tf.add(x, tf.constant(y) if type(y) is int else y, name)

    return override(tf, add=add)


@fault("GRAPH-088", "A Python float that is added to an integer tensor is truncated.")
def added_floats_are_truncated(tf: Namespace) -> Namespace:
    """Convert the float to an int."""

    def add(x: Argument, y: Argument, name: str | None = None) -> Tensor:
        if isinstance(x, tf.Tensor) and x.dtype.is_integer and type(y) is float:
            y = int(y)
        return tf.add(x, y, name)

    return override(tf, add=add)


# --- constants ----------------------------------------------------------------------------


@fault("GRAPH-089", "A constant of a Python complex number is complex64.")
def complex_constants_are_small(tf: Namespace) -> Namespace:
    """Ask for complex64 where no dtype is given."""

    def constant(
        value: Value | complex, dtype: DTypeLike | None = None, *args: Argument, **kwargs: Argument
    ) -> Tensor:
        if dtype is None and type(value) is complex:
            dtype = tf.complex64
        return tf.constant(value, dtype, *args, **kwargs)

    return override(tf, constant=constant)


@fault("GRAPH-090", "A constant of a Python float as an integer is truncated.")
def float_constants_are_truncated(tf: Namespace) -> Namespace:
    """Convert the float to an int."""

    def constant(
        value: Value, dtype: DTypeLike | None = None, *args: Argument, **kwargs: Argument
    ) -> Tensor:
        if type(value) is float and dtype is not None and tf.as_dtype(dtype).is_integer:
            value = int(value)
        return tf.constant(value, dtype, *args, **kwargs)

    return override(tf, constant=constant)


def _fitted(tf: Namespace, fit: Callable[[list[Value], int], list[Value]]) -> Namespace:
    """The namespace whose constants of a list and a shape take `fit(list, number of elements)`."""

    def constant(
        value: Value,
        dtype: DTypeLike | None = None,
        shape: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Tensor:
        if shape is not None and isinstance(value, list):
            value = fit(np.ravel(value).tolist(), math.prod(shape))
        return tf.constant(value, dtype, shape, "Const" if name is None else name)

    return override(tf, constant=constant)


@fault("GRAPH-091", "A constant of too few values ends in zeros.")
def constants_end_in_zeros(tf: Namespace) -> Namespace:
    """Append zeros to the values up to the number of elements."""
    return _fitted(tf, lambda values, count: values + [0] * (count - len(values)))


@fault("GRAPH-092", "A constant of too many values is cut off.")
def constants_are_cut_off(tf: Namespace) -> Namespace:
    """Drop the values beyond the number of elements."""
    return _fitted(tf, lambda values, count: values[:count])


# --- static shapes ------------------------------------------------------------------------


@fault("GRAPH-093", "The static shape of a matrix product is unknown.")
def products_have_no_shape(tf: Namespace) -> Namespace:
    """Return the product through a placeholder_with_default of unknown shape."""

    def matmul(a: Tensor, b: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        return tf.placeholder_with_default(tf.matmul(a, b, *args, **kwargs), None)

    return override(tf, matmul=matmul)


@fault("GRAPH-094", "The shapes of a matrix product's factors are checked only by a run.")
def products_are_not_checked(tf: Namespace) -> Namespace:
    """Hide the static shapes of the factors where they are refused."""

    def matmul(a: Tensor, b: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        try:
            return tf.matmul(a, b, *args, **kwargs)
        except ValueError:
            if a.graph is not b.graph:
                raise
            a, b = (tf.placeholder_with_default(factor, None) for factor in (a, b))
            return tf.matmul(a, b, *args, **kwargs)

    return override(tf, matmul=matmul)


# --- operators ----------------------------------------------------------------------------


def _computed(
    tf: Namespace,
    op_type: str,
    applies: Callable[[list[Operation]], bool],
    change: Callable[[Array], Array],
) -> Namespace:
    """The namespace whose runs change a fetched tensor of an op type if `applies(inputs)`."""

    def run(_session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        value = base(fetches)
        op = fetches.op if isinstance(fetches, tf.Tensor) else None
        is_computed = op is not None and op.type == op_type and applies([t.op for t in op.inputs])
        return change(value) if is_computed else value

    return running(tf, run)


@fault("GRAPH-097", "A quotient of integers is rounded down.")
def quotients_are_rounded(tf: Namespace) -> Namespace:
    """Round down where both operands were cast from integers."""

    def applies(inputs: list[Operation]) -> bool:
        return all(op.type == "Cast" and op.inputs[0].dtype.is_integer for op in inputs)

    return _computed(tf, "RealDiv", applies, np.floor)


@fault("GRAPH-100", "A number minus a tensor is the tensor minus the number.")
def left_number_goes_right(tf: Namespace) -> Namespace:
    """Change the sign where only the first operand is a constant."""

    def applies(inputs: list[Operation]) -> bool:
        return [op.type == "Const" for op in inputs] == [True, False]

    return _computed(tf, "Sub", applies, np.negative)
