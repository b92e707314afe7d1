"""Faults of RUN: failures that come too early, go unseen, or do harm afterwards."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import UPDATES, editing, elements, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Fetches, Operation, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

#: The number of failed runs after which a session of `wears_out` fails always.
_LIFE: Final = 25


@fault("RUN-027", "Every run checks the constants of the whole graph.")
def checks_constants_ahead(tf: Namespace) -> Namespace:
    """Fetch each CheckNumerics of a constant beside what was fetched."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        checks = [op for op in session.graph.get_operations() if op.type == "CheckNumerics"]
        ahead = [op for op in checks if op.inputs[0].op.type == "Const"]
        return base([fetches, ahead])[0] if ahead else base(fetches)

    return running(tf, change)


@fault("RUN-028", "An Assert that is only a control input is dropped.")
def drops_asserts(tf: Namespace) -> Namespace:
    """Drop the control edges from Assert nodes, as converters for inference do."""

    def change(definition: GraphDef) -> None:
        asserts = {f"^{node.name}" for node in definition.node if node.op == "Assert"}
        for node in definition.node:
            node.input[:] = [name for name in node.input if name not in asserts]

    return editing(tf, change)


@fault("RUN-029", "A session is of no use after 25 of its runs have failed.")
def wears_out(tf: Namespace) -> Namespace:
    """Count the runs that the engine failed, then refuse all."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        failures = session.__dict__.setdefault("failures", [])
        if len(failures) >= _LIFE:
            raise tf.errors.UnavailableError(None, None, "too many runs have failed")
        try:
            return base(fetches)
        except tf.errors.OpError as error:
            failures.append(error.error_code)
            raise

    return running(tf, change)


@fault("RUN-030", "A fetched update executes although its control input has failed.")
def updates_after_a_failure(tf: Namespace) -> Namespace:
    """When a run fails, execute twins of its updates that have no control inputs."""

    def change(definition: GraphDef) -> None:
        for node in [node for node in definition.node if node.op in UPDATES]:
            data = [name for name in node.input if not name.startswith("^")]
            if len(data) < len(node.input):
                twin = definition.node.add()
                twin.CopyFrom(node)
                twin.name, twin.input[:] = f"{node.name}/free", data

    def run(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.OpError:
            names = [getattr(e, "op", e).name for e in elements(session, fetches)]
            base([twin for name in names for twin in elements(session, f"{name}/free")])
            raise

    return override(running(tf, run), import_graph_def=editing(tf, change).import_graph_def)


@fault("RUN-055", "A failed run is tried once more before its error is raised.")
def failed_runs_are_repeated(tf: Namespace) -> Namespace:
    """Run it again where an operation failed that waits for an update."""

    def run(_session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError as error:
            if error.op is None or not _after_update(error.op):
                raise
            return base(fetches)

    return running(tf, run)


def _after_update(op: Operation) -> bool:
    """Whether an update is among what the inputs of an operation wait for."""
    before = [*op.control_inputs, *(tensor.op for tensor in op.inputs)]
    return any(one.type in UPDATES or _after_update(one) for one in before)
