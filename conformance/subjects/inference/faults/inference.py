"""Faults of INFERENCE: what goes wrong in engines that convert a graph before they run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sessrun.conformance.faulty.computing import computing, single
from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.inference.values import SPECIAL_ROWS
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Element,
    Feeds,
    Fetches,
    Operation,
    Session,
    Value,
)
from sessrun.spec.inference import table
from sessrun.spec.proto.graph_pb2 import GraphDef

#: Runs a session without the fault: `base(fetches, feeds)`.
Base: TypeAlias = Callable[[list[str], Mapping[str, np.ndarray]], list[np.ndarray]]


def _running(
    tf: Namespace, change: Callable[[Session, list[str], dict[str, np.ndarray], Base], Value]
) -> Namespace:
    """The namespace whose runs of lists of names are `change(session, fetches, feeds, base)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            if not isinstance(fetches, list) or not all(isinstance(f, str) for f in fetches):
                return super().run(fetches, feed_dict, *args, **kwargs)
            return change(self, fetches, dict(feed_dict or {}), super().run)

    return override(tf, Session=Session)


def _importing(tf: Namespace, change: Callable[[GraphDef], None]) -> Namespace:
    """The namespace that changes a copy of each GraphDef before it imports it."""

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        copy = type(graph_def)()
        copy.CopyFrom(graph_def)
        change(copy)
        return tf.import_graph_def(copy, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)


@fault("INFERENCE-001", "Arithmetic gives no negative numbers.")
def signs_are_lost(tf: Namespace) -> Namespace:
    """Take the absolute value of what the table's arithmetic gives."""
    operations = [name for name, row in table().items() if row.group == "arithmetic"]
    change = single(lambda _, out, *__: out if out.dtype.kind in "OSb" else abs(out))
    return computing(tf, dict.fromkeys(operations, change))


@fault("INFERENCE-002", "It declares to compute sums in float32 alone, and computes all there is.")
def sums_alone_are_declared(tf: Namespace) -> Namespace:
    """Declare `AddV2` in float32 only."""
    return override(tf, declared_operations={"AddV2": ("float32",)})


@fault("INFERENCE-003", "Fed axes, shapes and the like are refused, though they may be fed.")
def fed_structure_is_refused(tf: Namespace) -> Namespace:
    """Refuse to fetch an operation one of whose structural inputs is no constant."""

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        for op in {session.graph.as_graph_element(name).op for name in fetches if ":" in name}:
            row = table().get(op.type)
            if row is None:
                continue
            names = [arg.name for arg in row.operation.inputs]
            inputs = dict(zip(names, op.inputs, strict=False))
            if any(inputs[name].op.type == "Placeholder" for name in row.constants & inputs.keys()):
                raise tf.errors.UnimplementedError(op.node_def, op, "no constant")
        return base(fetches, feeds)

    return _running(tf, change)


@fault("INFERENCE-020", "NaN equals NaN.")
def nan_equals_nan(tf: Namespace) -> Namespace:
    """Compare bit by bit."""

    def change(_: Operation, out: Array, x: Array, y: Array) -> Value:
        return out | np.isnan(np.asarray(x, float)) & np.isnan(np.asarray(y, float))

    return computing(tf, {"Equal": single(change)})


@fault("INFERENCE-021", "IsInf gives False of minus infinity.")
def minus_infinity_is_finite(tf: Namespace) -> Namespace:
    """Compare with infinity."""
    return computing(tf, {"IsInf": single(lambda _, __, x: np.asarray(x) == np.inf)})


@fault("INFERENCE-022", "Infinities are the greatest and the least number.")
def infinities_are_numbers(tf: Namespace) -> Namespace:
    """Clip what the arithmetic of floats gives to their range."""

    def change(_: Any, out: Array, *__: Any) -> Value:
        if out.dtype.kind != "f":
            return out
        limits = np.finfo(out.dtype)
        return np.clip(out, limits.min, limits.max)

    return computing(tf, dict.fromkeys(("AddV2", "Sub", "Mul", "RealDiv", "Exp"), single(change)))


@fault("INFERENCE-019", "NaN comes out as zero.")
def nan_comes_out_as_zero(tf: Namespace) -> Namespace:
    """Replace NaN by zero in the results of all operations of the table."""

    def change(_: Operation, out: np.ndarray, *__: np.ndarray) -> Value:
        return np.where(np.isnan(out), 0, out) if out.dtype.kind == "f" else out

    return computing(tf, dict.fromkeys((op for op, _ in SPECIAL_ROWS["numbers"]), single(change)))


@fault("INFERENCE-005", "The floor of a quotient of integers is rounded towards zero.")
def floors_are_truncated(tf: Namespace) -> Namespace:
    """Round negative quotients up."""

    def change(_: Operation, out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Value:
        if out.dtype.kind != "i":
            return out
        inexact = np.asarray(x) != out * np.asarray(y)
        return np.where((out < 0) & inexact, out + 1, out)

    return computing(tf, {"FloorDiv": single(change)})


@fault("INFERENCE-006", "A quotient of integers by zero is zero.")
def zero_divisors_are_answered(tf: Namespace) -> Namespace:
    """Answer zeros where a division fails."""
    divisions = {"FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"}

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        try:
            return base(fetches, feeds)
        except (tf.errors.InvalidArgumentError, tf.errors.InternalError):
            tensors = [session.graph.as_graph_element(name) for name in fetches]
            if not all(tensor.op.type in divisions for tensor in tensors):
                raise
            shape = np.shape(next(iter(feeds.values()), 0))
            return [np.zeros(shape, tensor.dtype.as_numpy_dtype) for tensor in tensors]

    return _running(tf, change)


@fault("INFERENCE-007", "Sums of integers stay at the ends of their range.")
def integer_sums_are_clipped(tf: Namespace) -> Namespace:
    """Clip sums instead of letting them wrap around."""

    def change(_: Operation, out: Array, x: np.ndarray, y: np.ndarray) -> Value:
        if out.dtype.kind not in "iu":
            return out
        limits = np.iinfo(out.dtype)
        exact = np.asarray(x).astype(object) + np.asarray(y).astype(object)
        return np.clip(exact, int(limits.min), int(limits.max))

    return computing(tf, {"AddV2": single(change)})


@fault("INFERENCE-024", "A product of no elements is zero.")
def products_of_no_elements_are_zero(tf: Namespace) -> Namespace:
    """Give zeros for a product over an axis without elements."""

    def change(_: Any, out: Array, x: Array, *__: Any) -> Value:
        return out if np.size(x) else np.zeros_like(out)

    return computing(tf, {"Prod": single(change)})


@fault("INFERENCE-023", "A feed without elements is refused.")
def feeds_without_elements_are_refused(tf: Namespace) -> Namespace:
    """Raise UnimplementedError for such feeds, as some converters do."""

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        for name, value in feeds.items():
            if np.size(value) == 0:
                op = session.graph.as_graph_element(name).op
                raise tf.errors.UnimplementedError(op.node_def, op, "no elements")
        return base(fetches, feeds)

    return _running(tf, change)


@fault("INFERENCE-009", "A placeholder that is not fed is zero.")
def missing_feeds_are_zeros(tf: Namespace) -> Namespace:
    """Feed zeros for the placeholders of a graph without operations that were not fed."""

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        try:
            return base(fetches, feeds)
        except tf.errors.InvalidArgumentError:
            fed = {session.graph.as_graph_element(name) for name in feeds}
            missing = [
                op.outputs[0]
                for op in session.graph.get_operations()
                if op.type == "Placeholder" and op.outputs[0] not in fed
            ]
            if not missing:
                raise
            zeros = {t.name: np.zeros(2, t.dtype.as_numpy_dtype) for t in missing}
            return base(fetches, feeds | zeros)

    return _running(tf, change)


@fault("INFERENCE-010", "An output that an operation does not have is its first one.")
def missing_outputs_are_first_ones(tf: Namespace) -> Namespace:
    """Fetch the first output where the named one is not there."""

    def change(_: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base) -> Value:
        try:
            return base(fetches, feeds)
        except (KeyError, ValueError):
            return base([f"{name.partition(':')[0]}:0" for name in fetches], feeds)

    return _running(tf, change)


@fault("INFERENCE-011", "A feed within the graph is ignored where its placeholders are fed too.")
def inner_feeds_are_ignored(tf: Namespace) -> Namespace:
    """Leave out feeds of other tensors than placeholders, if a placeholder is fed."""

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        outer = {
            name: value
            for name, value in feeds.items()
            if session.graph.as_graph_element(name).op.type == "Placeholder"
        }
        return base(fetches, outer or feeds)

    return _running(tf, change)


@fault("INFERENCE-012", "A placeholder of unknown rank takes vectors alone.")
def unknown_ranks_are_vectors(tf: Namespace) -> Namespace:
    """Refuse feeds of another rank."""

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        for name, value in feeds.items():
            tensor = session.graph.as_graph_element(name)
            if tensor.shape.rank is None and np.ndim(value) > 1:
                raise tf.errors.UnimplementedError(tensor.op.node_def, tensor.op, "no vector")
        return base(fetches, feeds)

    return _running(tf, change)


@fault("INFERENCE-013", "A run that feeds another shape has the results of the run before.")
def results_are_stale(tf: Namespace) -> Namespace:
    """Return the values of the run before where the shapes of the feeds differ."""

    def change(
        session: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base
    ) -> Value:
        shapes = {name: np.shape(value) for name, value in feeds.items()}
        kept = session.__dict__.setdefault("kept_results", {})
        old, values = kept.get(tuple(fetches), (shapes, None))
        if old != shapes and old.keys() == shapes.keys():
            return values
        values = base(fetches, feeds)
        kept[tuple(fetches)] = shapes, values
        return values

    return _running(tf, change)


@fault("INFERENCE-014", "Four fetches or more come in the order of their names.")
def fetches_are_sorted(tf: Namespace) -> Namespace:
    """Sort the names before they are fetched."""

    def change(_: Session, fetches: list[str], feeds: dict[str, np.ndarray], base: Base) -> Value:
        return base(sorted(fetches) if len(fetches) > 3 else fetches, feeds)

    return _running(tf, change)


@fault("INFERENCE-015", "Control inputs on checks are dropped.")
def checks_are_dropped(tf: Namespace) -> Namespace:
    """Import graphs without the control inputs that name a CheckNumerics or an Assert."""

    def change(graph_def: GraphDef) -> None:
        types = ("Assert", "CheckNumerics")
        checks = {f"^{node.name}" for node in graph_def.node if node.op in types}
        for node in graph_def.node:
            kept = [name for name in node.input if name not in checks]
            del node.input[:]
            node.input.extend(kept)

    return _importing(tf, change)


@fault("INFERENCE-016", "A conditional of nodes takes the other branch.")
def switches_are_turned(tf: Namespace) -> Namespace:
    """Exchange the two outputs of the switches of a graph without loops."""

    def change(graph_def: GraphDef) -> None:
        if any(node.op == "LoopCond" for node in graph_def.node):
            return
        switches = {node.name for node in graph_def.node if node.op == "Switch"}
        for node in graph_def.node:
            for position, name in enumerate(node.input):
                operation, _, index = name.partition(":")
                if operation in switches:
                    node.input[position] = operation if index == "1" else f"{operation}:1"

    return _importing(tf, change)


@fault("INFERENCE-017", "A conditional of functions calls the other one.")
def branches_are_turned(tf: Namespace) -> Namespace:
    """Exchange the two functions of each If."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            if node.op in {"If", "StatelessIf"}:
                first, second = node.attr["then_branch"].func, node.attr["else_branch"].func
                first.name, second.name = second.name, first.name

    return _importing(tf, change)


@fault("INFERENCE-018", "Of a batch of rows the last one's softmax is that of the row before.")
def last_rows_are_repeated(tf: Namespace) -> Namespace:
    """Repeat the second last row of softmaxes."""

    def change(_: Operation, out: np.ndarray, __: np.ndarray) -> Value:
        if out.ndim == 2 and len(out) > 1:
            out = out.copy()
            out[-1] = out[-2]
        return out

    return computing(tf, dict.fromkeys(("LogSoftmax", "Softmax"), single(change)))
