"""Faults of STAGING: areas in a line, and maps by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Base,
    Run,
    clearing,
    executing,
    failing,
    fed_as,
    forgiving,
    giving,
    nodes_of,
    recoding,
    sharing,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.arguments import Argument, DType
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_LINE: Final = ("Stage", "Unstage", "StagePeek", "StageSize", "StageClear")
_WORDS: Final = (
    "Stage",
    "Unstage",
    "UnstageNoKey",
    "Peek",
    "Size",
    "IncompleteSize",
    "Clear",
)
_MAPS: Final = tuple(f"{order}{word}" for order in ("Map", "OrderedMap") for word in _WORDS)
_ALL: Final = (*_LINE, *_MAPS)
_INVALID: Final = "InvalidArgumentError"


def _of(word: str) -> tuple[str, str]:
    return f"Map{word}", f"OrderedMap{word}"


def _beside(tf: Namespace, run: Run, op_type: str, **inputs: Argument) -> Any:
    """The value of another operation on the same area, in a separate run."""
    op = run.op
    attrs = {
        name: op.get_attr(name) for name in ("capacity", "memory_limit", "shared_name", "container")
    }
    attrs["dtypes"] = _dtypes(run)
    return run.also(tf, lambda raw: getattr(raw, op_type)(**inputs, **attrs))


def _dtypes(run: Run) -> Sequence[DType]:
    """The dtypes of a whole element: those of the area's longest operation."""
    listed = [
        op.get_attr("dtypes")
        for op in run.session.graph.get_operations()
        if op.type in _ALL
        and op.get_attr("shared_name") == run.op.get_attr("shared_name")
        and op.type not in {"MapStage", "OrderedMapStage"}
    ]
    return max(listed, key=len)


@fault("STAGING-001", "A staging area gives the elements of one component from the other end.")
def strings_come_from_the_end(tf: Namespace) -> Namespace:
    """Take the first, and give the one behind it."""

    def change(run: Run, base: Base) -> Value:
        size = int(_beside(tf, run, "StageSize"))
        if size < 3:
            return base()
        last = _beside(tf, run, "StagePeek", index=np.int32(size - 1))
        base()
        return last if isinstance(last, list) else [last]

    return executing(tf, ("Unstage",), change)


@fault("STAGING-002", "A staging area counts no more than two elements.")
def staged_counts_end_at_two(tf: Namespace) -> Namespace:
    """Cut the size."""
    return giving(tf, ("StageSize",), lambda _op, _index, size: np.minimum(size, 2))


@fault("STAGING-003", "Peeking for the first time takes the first element.")
def peeks_take(tf: Namespace) -> Namespace:
    """Take an element after the first peek."""

    def change(run: Run, base: Base) -> Value:
        peeked = run.note("peeked", set())
        area = run.op.get_attr("shared_name")
        values = base()
        if area not in peeked and int(_beside(tf, run, "StageSize")) > 1:
            _beside(tf, run, "Unstage")
        peeked.add(area)
        return values

    return executing(tf, ("StagePeek",), change)


@fault("STAGING-004", "Clearing leaves a staging area as it is.")
def clearing_does_nothing(tf: Namespace) -> Namespace:
    """Return None for StageClear without running it."""
    return executing(tf, ("StageClear",), lambda _run, _base: [None])


def _unlimited(tf: Namespace, types: tuple[str, ...], attr: str) -> Namespace:
    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, types):
            node.attr[attr].i = 0

    return editing(tf, change)


@fault("STAGING-005", "A staging area's capacity is ignored.")
def capacities_are_ignored(tf: Namespace) -> Namespace:
    """Set the attribute `capacity` to 0."""
    return _unlimited(tf, _LINE, "capacity")


@fault("STAGING-024", "A staged map's capacity is ignored.")
def capacities_of_maps_are_ignored(tf: Namespace) -> Namespace:
    """Set the attribute `capacity` of staged maps to 0."""
    return _unlimited(tf, _MAPS, "capacity")


@fault("STAGING-006", "An element that never fits is an invalid argument.")
def large_elements_are_invalid(tf: Namespace) -> Namespace:
    """Raise another error."""
    return recoding(tf, ("Stage",), "ResourceExhaustedError", _INVALID)


@fault("STAGING-007", "A staging area's memory limit is ignored.")
def memory_limits_are_ignored(tf: Namespace) -> Namespace:
    """Set the attribute `memory_limit` to 0."""
    return _unlimited(tf, _LINE, "memory_limit")


@fault("STAGING-008", "Taking of an empty staging area fails.")
def empty_areas_fail(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError for Unstage of an empty area."""

    def is_empty(run: Run) -> bool:
        return not int(_beside(tf, run, "StageSize"))

    return failing(tf, ("Unstage",), "OutOfRangeError", is_empty)


@fault("STAGING-009", "A staging area is known by the scope of its operations.")
def areas_have_names_of_scopes(tf: Namespace) -> Namespace:
    """Put it in place of the shared name."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _LINE):
            scope, slash, _ = node.name.partition("/")
            if slash:
                node.attr["shared_name"].s = scope.encode()

    return editing(tf, change)


@fault("STAGING-010", "The containers of staging areas are ignored.")
def containers_of_areas_are_ignored(tf: Namespace) -> Namespace:
    """Clear `container` in every node of a staging area."""
    return clearing(tf, _ALL, "container")


@fault("STAGING-011", "The sessions of a graph share its staging areas.")
def sessions_share_areas(tf: Namespace) -> Namespace:
    """Run operations on staging areas in the first session of the graph."""
    return sharing(tf, _ALL)


# --- maps ---------------------------------------------------------------------------------


@fault("STAGING-012", "Keys are of 32 bits.")
def keys_are_of_32_bits(tf: Namespace) -> Namespace:
    """Take every key modulo 2**32."""

    def change(definition: GraphDef) -> None:
        nodes = nodes_of(definition, (*_of("Stage"), *_of("Unstage")))
        if not nodes:
            return
        limit = definition.node.add()
        limit.name, limit.op = "faulty/limit", "Const"
        limit.attr["dtype"].type = limit.attr["value"].tensor.dtype = tf.int64.as_datatype_enum
        limit.attr["value"].tensor.tensor_shape.SetInParent()
        limit.attr["value"].tensor.int64_val.append(2**32)
        for node in nodes:
            fed_as(definition, node, 0, "FloorMod", [limit.name], T=tf.int64.as_datatype_enum)

    return editing(tf, change)


@fault("STAGING-013", "Peeking takes the element of a key.")
def peeks_take_of_maps(tf: Namespace) -> Namespace:
    """Take the element of the key after the peek."""

    def change(run: Run, base: Base) -> Value:
        values = base()
        taken = run.op.type.replace("Peek", "Unstage")
        _beside(tf, run, taken, key=np.int64(run.ask(0)), indices=np.array(run.ask(1), np.int32))
        return values

    return executing(tf, _of("Peek"), change)


@fault("STAGING-014", "An ordered staged map has no order.")
def ordered_maps_have_no_order(tf: Namespace) -> Namespace:
    """Make it a plain one."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _MAPS):
            node.op = node.op.removeprefix("Ordered")

    return editing(tf, change)


@fault("STAGING-015", "A staged map tells no key.")
def maps_tell_no_key(tf: Namespace) -> Namespace:
    """Give 0 for the key."""
    return giving(
        tf,
        ("MapUnstageNoKey",),
        lambda _op, index, value: value if index else np.zeros_like(value),
    )


@fault("STAGING-016", "The size of a staged map counts every key.")
def sizes_count_every_key(tf: Namespace) -> Namespace:
    """Add those that lack a component."""

    def change(run: Run, base: Base) -> Value:
        (size,) = base()
        return [np.int32(size + _beside(tf, run, run.op.type.replace("Size", "IncompleteSize")))]

    return executing(tf, _of("Size"), change)


@fault("STAGING-017", "No element of a staged map is said to lack a component.")
def no_element_lacks_anything(tf: Namespace) -> Namespace:
    """Return 1 at most for the size of incomplete elements."""
    return giving(tf, _of("IncompleteSize"), lambda _op, _index, size: np.minimum(size, 1))


def _parts(run: Run) -> int:
    return len(run.op.get_attr("fake_dtypes"))


@fault("STAGING-018", "Components that come one by one stand in the order in which they came.")
def parts_stand_as_they_came(tf: Namespace) -> Namespace:
    """Swap two components of one dtype where they were put one by one."""

    def change(run: Run, base: Base) -> Value:
        single = run.note("single", set())
        key = int(run.ask(0))
        if "Unstage" not in run.op.type:
            if _parts(run) == 1:
                single.add(key)
            return base()
        values = base()
        swaps = key in single and len(values) == 2 and type(values[0]) is type(values[1])
        return values[::-1] if swaps else values

    return executing(tf, (*_of("Stage"), *_of("Unstage")), change)


def _is_good(run: Run) -> bool:
    indices = np.asarray(run.ask(1)).tolist()
    return bool(indices) and indices == sorted(set(indices)) and {0, 1} >= set(indices)


@fault("STAGING-019", "A component that comes twice is dropped.")
def second_components_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error."""
    return forgiving(tf, _of("Stage"), _INVALID, _is_good)


@fault("STAGING-026", "An element takes the place of one under its key that was put first.")
def second_elements_stay(tf: Namespace) -> Namespace:
    """Take the element of a key away before another complete one is put there."""

    def change(run: Run, base: Base) -> Value:
        complete = run.note("complete", set())
        key = run.op.get_attr("shared_name"), int(run.ask(0))
        if "Unstage" in run.op.type:
            complete.discard(key)
        elif _parts(run) == len(_dtypes(run)) and _is_good(run):
            if key in complete:
                indices = np.array(run.ask(1), np.int32)
                taken = run.op.type.replace("Stage", "Unstage")
                _beside(tf, run, taken, key=np.int64(run.ask(0)), indices=indices)
            complete.add(key)
        return base()

    return executing(tf, (*_of("Stage"), *_of("Unstage")), change)


@fault("STAGING-020", "Taking a component takes the element.")
def elements_are_taken_whole(tf: Namespace) -> Namespace:
    """Take the other one, too."""

    def change(run: Run, base: Base) -> Value:
        indices = np.asarray(run.ask(1)).tolist()
        values = base()
        if indices == [0]:
            dtypes = _dtypes(run)[1:]
            op, key = run.op, np.int64(run.ask(0))
            run.also(
                tf,
                lambda raw: getattr(raw, op.type)(
                    key=key,
                    indices=np.array([1], np.int32),
                    dtypes=dtypes,
                    shared_name=op.get_attr("shared_name"),
                ),
            )
        return values

    return executing(tf, _of("Unstage"), change)


@fault("STAGING-021", "A component that was taken is said to be out of range.")
def taken_components_are_out_of_range(tf: Namespace) -> Namespace:
    """Raise another error."""
    return recoding(tf, _of("Unstage"), _INVALID, "OutOfRangeError", _is_good)


@fault("STAGING-022", "Indices that no element has are out of range.")
def odd_indices_are_out_of_range(tf: Namespace) -> Namespace:
    """Raise another error."""
    types = (*_of("Stage"), *_of("Unstage"))
    return recoding(tf, types, _INVALID, "OutOfRangeError", lambda run: not _is_good(run))


@fault("STAGING-023", "Clearing leaves a staged map as it is.")
def clearing_leaves_maps(tf: Namespace) -> Namespace:
    """Return None for the clearing of maps without running it."""
    return executing(tf, _of("Clear"), lambda _run, _base: [None])


@fault("STAGING-025", "Taking the element of a key fails where there is none.")
def absent_keys_fail(tf: Namespace) -> Namespace:
    """Refuse it where the map is empty."""

    def is_empty(run: Run) -> bool:
        return not int(_beside(tf, run, run.op.type.replace("Unstage", "Size")))

    return failing(tf, _of("Unstage"), "OutOfRangeError", is_empty)
