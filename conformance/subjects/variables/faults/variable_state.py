"""Faults of VARIABLES: what a variable holds, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Element,
    Fetches,
    Graph,
    Operation,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef

_REFERENCE = frozenset({"AssignAdd", "AssignSub"})
_RESOURCE = frozenset({"AssignAddVariableOp", "AssignSubVariableOp"})
_ASSIGN = frozenset({"Assign", "AssignVariableOp"})


def _operations(graph: Graph, fetches: Fetches) -> list[Operation]:
    """The operations of a flat fetch, a single one or a list; empty for anything else."""
    flat = fetches if isinstance(fetches, list) else [fetches]
    try:
        elements = [graph.as_graph_element(fetch) for fetch in flat]
    except (TypeError, ValueError, KeyError):
        return []
    return [getattr(element, "op", element) for element in elements]


def _behind(op: Operation) -> list[Operation]:
    """The assignments that an operation is, or that it groups."""
    inside = [op, *op.control_inputs] if op.type == "NoOp" else [op]
    return [one for one in inside if one.type in _ASSIGN]


def _session(tf: Namespace, run: Call) -> Namespace:
    """The namespace with `run(session, super_run, fetches, args, kwargs)` as Session.run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            return run(self, super().run, fetches, args, kwargs)

    return override(tf, Session=Session)


def _zeros(tensors: Sequence[Tensor]) -> list[np.ndarray | None]:
    return [
        None if not hasattr(t, "dtype") else np.zeros(t.shape.as_list(), t.dtype.as_numpy_dtype)
        for t in tensors
    ]


def _forgiving(
    tf: Namespace, errors: tuple[str, ...], forgiven: Callable[[list[Operation], Graph], bool]
) -> Namespace:
    """The namespace that gives zeros for a list of fetches whose error `forgiven` accepts."""
    classes = tuple(getattr(tf.errors, name) for name in errors)

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        try:
            return call(fetches, *args, **kwargs)
        except classes as error:
            ops = _operations(self.graph, fetches)
            if (
                not isinstance(fetches, list)
                or isinstance(error, ValueError)
                or not forgiven(ops, self.graph)
            ):
                raise
            return _zeros([self.graph.as_graph_element(fetch) for fetch in fetches])

    return _session(tf, run)


def _kinds(graph: Graph) -> set[str]:
    return {op.type for op in graph.get_operations()}


@fault("VARIABLES-001", "An uninitialised reference variable reads as zeros.")
def uninitialised_references_read_as_zeros(tf: Namespace) -> Namespace:
    """A fresh buffer is taken for a value."""
    return _forgiving(
        tf,
        ("FailedPreconditionError",),
        lambda ops, _: all(op.type == "Identity" and _reads(op, "VariableV2") for op in ops),
    )


@fault("VARIABLES-002", "An uninitialised resource variable reads as zeros.")
def uninitialised_resources_read_as_zeros(tf: Namespace) -> Namespace:
    """A fresh buffer is taken for a value."""
    return _forgiving(
        tf,
        ("FailedPreconditionError",),
        lambda ops, _: all(op.type == "Identity" and _reads(op, "VarHandleOp") for op in ops),
    )


def _reads(op: Operation, kind: str) -> bool:
    """Whether an Identity leads to a variable through identities and reads only."""
    while op.type in {"Identity", "ReadVariableOp"}:
        op = op.inputs[0].op
    return bool(op.type == kind and len(op.outputs[0].shape.dims or ()) >= (kind == "VariableV2"))


@fault("VARIABLES-003", "An update of an uninitialised reference variable counts from zero.")
def reference_updates_count_from_zero(tf: Namespace) -> Namespace:
    """The missing value is taken for zero."""
    return _forgiving(
        tf, ("FailedPreconditionError",), lambda ops, _: all(op.type in _REFERENCE for op in ops)
    )


@fault("VARIABLES-004", "An update of an uninitialised resource variable does nothing.")
def resource_updates_are_ignored(tf: Namespace) -> Namespace:
    """The missing value is skipped."""

    def updates(ops: list[Operation], _: Graph) -> bool:
        inside = [one for op in ops for one in (op, *op.control_inputs)]
        return any(one.type in _RESOURCE for one in inside)

    return _forgiving(tf, ("FailedPreconditionError", "NotFoundError"), updates)


@fault("VARIABLES-005", "An initializer leaves the last element of a matrix at zero.")
def initializers_lose_the_last_element(tf: Namespace) -> Namespace:
    """Zero the last element of a constant initial value of rank 2."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        values = call(fetches, *args, **kwargs)
        for op in [one for fetched in _operations(self.graph, fetches) for one in _behind(fetched)]:
            value = op.inputs[1]
            if value.op.type == "Const" and value.shape.ndims == 2:
                held = np.array(call(value))
                held[-1, -1] = 0
                call(op, {value: held})
        return values

    return _session(tf, run)


@fault("VARIABLES-007", "A variable of rank 2 is set to its initial value at every third run.")
def matrices_are_forgotten(tf: Namespace) -> Namespace:
    """The memory of larger variables is reclaimed between runs."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        self.runs = getattr(self, "runs", 0) + 1
        if self.runs % 3 == 0:
            for op in self.graph.get_operations():
                if (
                    op.type in _ASSIGN
                    and op.inputs[1].op.type == "Const"
                    and op.inputs[1].shape.ndims == 2
                ):
                    call(op)
        return call(fetches, *args, **kwargs)

    return _session(tf, run)


def _before(kind: str, least_rank: int = 0) -> Call:
    """A replacement of `run` that gives the old value for a fetched update of this kind."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        ops = _operations(self.graph, fetches)
        names = fetches if isinstance(fetches, list) else [fetches]
        tensor = len(ops) == 1 and ":" in str(getattr(names[0], "name", names[0]))
        fits = tensor and ops[0].type == kind and (ops[0].outputs[0].shape.ndims or 0) >= least_rank
        if not fits or not isinstance(fetches, list):
            return call(fetches, *args, **kwargs)
        try:
            old = call(ops[0].inputs[0])
        except Exception:  # noqa: BLE001 - without a value before, the update speaks for itself
            return call(fetches, *args, **kwargs)
        call(fetches, *args, **kwargs)
        return [old]

    return run


@fault("VARIABLES-008", "An assignment gives the value that it replaced.")
def assignments_give_the_old_value(tf: Namespace) -> Namespace:
    """The output is read before the write."""
    return _session(tf, _before("Assign"))


@fault("VARIABLES-009", "assign_add of an array gives the value before the addition.")
def additions_give_the_old_value(tf: Namespace) -> Namespace:
    """The output is read before the write."""
    return _session(tf, _before("AssignAdd", 1))


@fault("VARIABLES-010", "assign_sub adds.")
def subtractions_add(tf: Namespace) -> Namespace:
    """The two updates are confused while the graph is loaded."""

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        changed = type(graph_def)()
        changed.CopyFrom(graph_def)
        for node in changed.node:
            node.op = node.op.replace("AssignSub", "AssignAdd")
        return tf.import_graph_def(changed, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)


@fault("VARIABLES-011", "An initializer runs only once in a session.")
def initializers_run_once(tf: Namespace) -> Namespace:
    """A constant initial value that was stored is not stored again."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        ops = _operations(self.graph, fetches)
        done = self.__dict__.setdefault("done", set())
        inside = [one for op in ops for one in _behind(op) if one.inputs[1].op.type == "Const"]
        if isinstance(fetches, list) and len(ops) == 1 and inside and done.issuperset(inside):
            return [None]
        values = call(fetches, *args, **kwargs)
        done.update(one for op in ops if op.type == "NoOp" for one in inside)
        return values

    return _session(tf, run)


def _is_random(op: Operation) -> bool:
    return op.type.startswith("Random") or any(_is_random(tensor.op) for tensor in op.inputs)


@fault("VARIABLES-012", "A random initial value is drawn once and kept for later initializations.")
def random_initial_values_are_kept(tf: Namespace) -> Namespace:
    """Feed what the first initialization drew to the later ones."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        drawn = self.__dict__.setdefault("drawn", {})
        for op in [one for fetched in _operations(self.graph, fetches) for one in _behind(fetched)]:
            value = op.inputs[1]
            if not _is_random(value.op) or any(args):
                continue
            if value not in drawn:
                drawn[value] = call(value)
            return call(fetches, drawn)
        return call(fetches, *args, **kwargs)

    return _session(tf, run)


@fault("VARIABLES-013", "A complex variable loses its imaginary part.")
def complex_variables_are_real(tf: Namespace) -> Namespace:
    """The buffer of a complex variable holds the real part only."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        values = call(fetches, *args, **kwargs)
        if not isinstance(values, list):
            return values
        reads = {op.type for op in self.graph.get_operations()} & {"VariableV2", "VarHandleOp"}
        return [v.real.astype(v.dtype) if reads and np.iscomplexobj(v) else v for v in values]

    return _session(tf, run)


@fault("VARIABLES-015", "An assignment of a value of another shape is dropped without an error.")
def misshapen_assignments_are_dropped(tf: Namespace) -> Namespace:
    """A check on the value's shape skips the write and goes on."""
    return _forgiving(
        tf,
        ("InvalidArgumentError",),
        lambda ops, graph: (
            all(op.type in _ASSIGN for op in ops) and "AssignAdd" not in _kinds(graph)
        ),
    )


@fault("VARIABLES-016", "An update that could be broadcast is.")
def updates_are_broadcast(tf: Namespace) -> Namespace:
    """A scalar or a row is taken for every element."""
    return _forgiving(
        tf,
        ("InvalidArgumentError",),
        lambda ops, graph: (
            all(op.type in _REFERENCE | _RESOURCE for op in ops)
            and "Assign" in _kinds(graph) | {"Assign"}
            and len(_updates(graph)) == 1
        ),
    )


def _updates(graph: Graph) -> list[Operation]:
    """The updates and assignments of a graph that are no initializers."""
    kinds = _REFERENCE | _RESOURCE | _ASSIGN
    return [
        op
        for op in graph.get_operations()
        if op.type in kinds and op.inputs[1].op.type == "Placeholder"
    ]


@fault("VARIABLES-017", "A failed update leaves the variable zeroed.")
def failed_updates_zero_the_variable(tf: Namespace) -> Namespace:
    """The memory was cleared for the new value before the check."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        try:
            return call(fetches, *args, **kwargs)
        except tf.errors.InvalidArgumentError as error:
            updates = [
                op for op in _operations(self.graph, fetches) if op.type in _REFERENCE | {"Assign"}
            ]
            if not isinstance(error, ValueError) and updates:
                variable = updates[0].inputs[0]
                for op in self.graph.get_operations():
                    if (
                        op.type == "Assign"
                        and op.inputs[0] is variable
                        and op.inputs[1].op.type == "Const"
                    ):
                        call(op, {op.inputs[1]: np.zeros(variable.shape.as_list())})
            raise

    return _session(tf, run)


@fault("VARIABLES-019", "A variable assigned to another shares its memory from then on.")
def assigned_variables_are_aliases(tf: Namespace) -> Namespace:
    """An assignment from a variable is repeated after every later run."""

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        shared = self.__dict__.setdefault("shared", [])
        values = call(fetches, *args, **kwargs)
        for op in shared:
            call(op)
        for op in _operations(self.graph, fetches):
            source = op.inputs[1].op if op.type == "Assign" else None
            if source is not None and source.type == "Identity":
                shared.append(op)
        return values

    return _session(tf, run)


@fault("VARIABLES-021", "The global initializer leaves out all but the first two variables.")
def the_global_initializer_forgets(tf: Namespace) -> Namespace:
    """A list of variables is cut."""
    return override(
        tf,
        global_variables_initializer=lambda: tf.variables_initializer(tf.global_variables()[:2]),
    )


@fault("VARIABLES-022", "The global initializer initialises variables made after it too.")
def the_global_initializer_looks_ahead(tf: Namespace) -> Namespace:
    """Run the initializers of all variables that the graph has at the run."""
    initializers: list[Operation] = []

    def global_variables_initializer() -> Operation:
        initializers.append(tf.global_variables_initializer())
        return initializers[-1]

    def run(
        self: Session,
        call: Call,
        fetches: Fetches,
        args: Sequence[Argument],
        kwargs: Mapping[str, Argument],
    ) -> Value:
        values = call(fetches, *args, **kwargs)
        if any(fetches is op for op in initializers):
            with self.graph.as_default():
                call([variable.initializer for variable in tf.global_variables()])
        return values

    overlay = _session(tf, run)
    return override(overlay, global_variables_initializer=global_variables_initializer)


@fault("VARIABLES-025", "variables_initializer initialises every variable of the graph.")
def every_variable_is_initialised(tf: Namespace) -> Namespace:
    """The list it is given is ignored."""
    return override(tf, variables_initializer=lambda _: tf.global_variables_initializer())


@fault("VARIABLES-029", "is_variable_initialized always says yes.")
def everything_counts_as_initialised(tf: Namespace) -> Namespace:
    """The question is answered without looking."""
    return override(tf, is_variable_initialized=lambda _: tf.constant(True))
