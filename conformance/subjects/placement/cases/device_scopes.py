"""Vectors of PLACEMENT: device strings, device scopes, device functions, colocation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    as_array,
    engine_case,
)
from sessrun.conformance.subjects.run.cases.run import counter


def device_in(c: ApiAuthor, *scopes: Recordable) -> Symbol:
    """Record the device of a constant created inside these scopes, outermost first."""
    if not scopes:
        device: Symbol = c.tf.constant(1).device
        return device
    with c.within(c.tf.device(scopes[0])):
        return device_in(c, *scopes[1:])


def refused(c: ApiAuthor, device: Recordable, error: str) -> None:
    """Record that a scope of this device, or an operation inside it, raises the error."""
    with c.within(c.tf.device(device)):
        pass
    c.steps[-1]["expect"] = {"error": {"classes": [error]}}


def by_name(c: ApiAuthor, prefix: str) -> Symbol:
    """A device function that gives the prefix and the name of the operation."""
    return c.function(["op"], lambda _op: Symbol(c, {"$op": ["+", prefix, {"$": "op.name"}]}))


# --- device strings -----------------------------------------------------------------------


@api_case("PLACEMENT-001", title="Tensor.device is canonical, however the device was asked for.")
def the_device_is_canonical(c: ApiAuthor) -> None:
    for text in ("/cpu:0", "/CPU:0", "cpu:0", "/device:cpu:0", "/device:CPU:0"):
        c.check(device_in(c, text), "/device:CPU:0")
    c.check(device_in(c, "/gpu:2"), "/device:GPU:2")
    c.check(device_in(c), "")


@api_case("PLACEMENT-001", title="Operation.device is canonical too.")
def the_device_of_an_operation_is_canonical(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/gpu:3")):
        a = c.tf.constant(1)
    c.check(a.op.device, "/device:GPU:3")


@api_case("PLACEMENT-002", title="The parts of a device are named in any order.")
def parts_in_any_order(c: ApiAuthor) -> None:
    c.check(device_in(c, "/task:1/job:w"), "/job:w/task:1")
    full = "/job:w/replica:3/task:2/device:GPU:1"
    c.check(device_in(c, "/gpu:1/task:2/replica:3/job:w"), full)
    c.check(device_in(c, full), full)


@api_case("PLACEMENT-003", title="A device type without an index is any index of it.")
def a_type_without_an_index(c: ApiAuthor) -> None:
    for text in ("/cpu", "/cpu:*", "/device:CPU:*", "CPU"):
        c.check(device_in(c, text), "/device:CPU:*")


@api_case("PLACEMENT-004", title="A device string that is none is refused.")
def malformed_devices_are_refused(c: ApiAuthor) -> None:
    for text in ("/bogus", "bogus:0", "/cpu:x", "/task:x", "/cpu:0/gpu:0", "/device:CPU:0:1"):
        refused(c, text, "ValueError")
    c.check(device_in(c, "/cpu:1"), "/device:CPU:1")


# --- scopes -------------------------------------------------------------------------------


@api_case("PLACEMENT-005", title="The inner device scope's parts replace the outer's.")
def the_inner_scope_replaces(c: ApiAuthor) -> None:
    c.check(device_in(c, "/cpu:1", "/gpu:2"), "/device:GPU:2")
    c.check(device_in(c, "/job:w/gpu:1", "/job:v"), "/job:v/device:GPU:1")
    c.check(device_in(c, "/gpu:1", "/gpu:2", "/gpu:3"), "/device:GPU:3")


@api_case("PLACEMENT-006", title="Parts that the inner device scope does not name are the outer's.")
def the_inner_scope_is_completed(c: ApiAuthor) -> None:
    c.check(device_in(c, "/job:w/task:1/gpu:1", "/task:2"), "/job:w/task:2/device:GPU:1")
    c.check(device_in(c, "/job:w", "/gpu:1"), "/job:w/device:GPU:1")
    c.check(device_in(c, "/gpu:1", "/job:w"), "/job:w/device:GPU:1")
    c.check(device_in(c, "/gpu:1", ""), "/device:GPU:1")


@api_case("PLACEMENT-007", title="tf.device(None) suspends the outer device scopes.")
def none_suspends_outer_scopes(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/job:w/gpu:1")):
        c.check(device_in(c, None), "")
        c.check(device_in(c, None, "/task:2"), "/task:2")
        c.check(device_in(c), "/job:w/device:GPU:1")


@api_case("PLACEMENT-008", title="Leaving a device scope restores the scope outside it.")
def leaving_a_scope_restores(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/gpu:1")):
        with c.within(c.tf.device("/gpu:2")):
            pass
        c.check(device_in(c), "/device:GPU:1")
    c.check(device_in(c), "")


@api_case("PLACEMENT-008", title="A device scope left by an exception is left all the same.")
def leaving_a_scope_by_an_exception_restores(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/gpu:1")):
        with c.within(c.tf.device("/gpu:2")):
            pass
        left = c.steps[-1]["steps"][-1]
        left["steps"].append({"do": "raise", "error": {"$": "py.KeyError"}})
        left["expect"] = {"error": {"classes": ["KeyError"]}}
        c.check(device_in(c), "/device:GPU:1")
    c.check(device_in(c), "")


@api_case("PLACEMENT-035", title="A DeviceSpec is taken like its string.")
def a_device_spec_is_taken(c: ApiAuthor) -> None:
    spec = c.tf.DeviceSpec(job="w", device_type="GPU", device_index=1)
    c.check(device_in(c, spec), "/job:w/device:GPU:1")
    c.check(device_in(c, spec, "/task:2"), "/job:w/task:2/device:GPU:1")


# --- device functions ---------------------------------------------------------------------


@api_case("PLACEMENT-009", title="A device function is called for each operation created inside.")
def a_device_function_is_called_for_each(c: ApiAuthor) -> None:
    with c.within(c.tf.device(by_name(c, "/job:"))):
        a = c.tf.constant(1, name="first")
        b = c.tf.negative(a, name="second")
    c.check(a.device, "/job:first")
    c.check(b.device, "/job:second")
    c.check(device_in(c), "")


@api_case("PLACEMENT-009", title="The scopes outside complete a device function's result.")
def a_device_functions_result_is_completed(c: ApiAuthor) -> None:
    for result, device in (
        ("/gpu:1", "/job:w/task:3/device:GPU:1"),
        ("/task:4", "/job:w/task:4"),
        ("", "/job:w/task:3"),
    ):
        given = c.function(["op"], lambda _op, result=result: result)
        c.check(device_in(c, "/job:w", "/task:3", given), device)


@api_case("PLACEMENT-010", title="A device function sees and replaces the inner scopes' device.")
def a_device_function_replaces_the_inner(c: ApiAuthor) -> None:
    def seen(_op: Symbol) -> Symbol:
        return Symbol(c, {"$op": ["+", "/job:w", {"$": "op.device"}]})

    always = c.function(["op"], lambda _op: "/device:GPU:1")
    c.check(device_in(c, always, "/gpu:5"), "/device:GPU:1")
    c.check(device_in(c, c.function(["op"], seen), "/gpu:5"), "/job:w/device:GPU:5")


def _in_function(c: ApiAuthor, body: Callable[[Symbol], Recordable], error: str) -> None:
    with c.within(c.tf.device(c.function(["op"], body))):
        c.raises(error, lambda: c.tf.constant(1))


@api_case("PLACEMENT-011", title="A device function that gives no string is refused.")
def a_device_function_without_a_string(c: ApiAuthor) -> None:
    _in_function(c, lambda _op: 5, "TypeError")
    _in_function(c, lambda _op: None, "TypeError")


@api_case("PLACEMENT-012", title="What a device function raises reaches the caller.")
def a_device_function_that_raises(c: ApiAuthor) -> None:
    _in_function(c, lambda _op: Symbol(c, {"$item": [{"$dict": []}, "missing"]}), "KeyError")
    c.check(device_in(c), "")


# --- sessions -----------------------------------------------------------------------------


@api_case("PLACEMENT-018", title="An InteractiveSession places only what a run needs.")
def an_interactive_session_places_what_it_needs(c: ApiAuthor) -> None:
    a = c.tf.constant(2)
    with c.within(c.tf.device("/gpu:901")):
        b = c.tf.constant(3)
    sess = c.tf.InteractiveSession()
    c.check(sess.run(a), as_array(np.int32(2)))
    c.raises("InvalidArgumentError", lambda: sess.run(b))
    c.check(a.eval(), as_array(np.int32(2)))
    sess.close()


@engine_case("PLACEMENT-027", title="Devices are listed by their full names, CPU 0 first.")
def devices_are_listed_by_their_full_names(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.constant(1)
    c.open(config={"deviceCount": {"CPU": 2, "GPU": 0}})
    names = [f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in (0, 1)]
    c.step("devices", session="s", expect={"facts": {"devices": names}})


@engine_case("PLACEMENT-036", title="Logging the placement changes no value.")
def logging_changes_no_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
        with tf.device("/cpu:0"):
            tf.negative(tf.placeholder(tf.int32, [], name="p"), name="y")
    s = c.open(config={"logDevicePlacement": True})
    s.run(["counter/Assign"])
    for total in (1, 2):
        feeds = {"p:0": np.int32(3)}
        s.run(["y:0", "bump:0"], feeds, values=[np.int32(-3), np.int32(total)])


@engine_case("PLACEMENT-038", title="An assignment on a missing GPU follows its variable.")
def an_assignment_follows_its_variable(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        counter(tf)
    for node in c.graphs["g"]["node"]:
        if node["op"] in {"Assign", "AssignAdd"}:
            node["device"] = "/device:GPU:901"
            node.get("attr", {}).pop("_class", None)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump:0"], values=[np.int32(1)])


@api_case("PLACEMENT-028", title="A listed device tells its name, type and memory limit.")
def a_listed_device(c: ApiAuthor) -> None:
    first = c.tf.Session().list_devices()[0]
    c.check(first.name, "/job:localhost/replica:0/task:0/device:CPU:0")
    c.check(first.device_type, "CPU")
    c.check(c.expr("$type", first.memory_limit_bytes), "int")


@api_case("PLACEMENT-030", title="A run leaves the devices of tensors as they were.")
def a_run_leaves_devices_alone(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    with c.within(c.tf.device("/device:CPU:*")):
        b = c.tf.constant(2)
    c.tf.Session().run([a, b])
    c.check(a.device, "")
    c.check(b.device, "/device:CPU:*")


@api_case("PLACEMENT-037", title="Without a GPU is_gpu_available is False.", needs=("no-gpu",))
def no_gpu_is_available(c: ApiAuthor) -> None:
    c.check(c.tf.test.is_gpu_available(), want=False)


# --- colocation and imports ---------------------------------------------------------------


@api_case("PLACEMENT-031", title="colocate_with puts an operation in the other's group.")
def colocation_names_the_group(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    with c.within(c.tf.colocate_with(a)):
        b = c.tf.constant(2, name="b")
    c.check(b.op.colocation_groups(), [b"loc:@a"])
    c.check(c.tf.constant(3, name="other").op.colocation_groups(), [b"loc:@other"])


@api_case("PLACEMENT-032", title="colocate_with gives an operation the other's device.")
def colocation_gives_the_device(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/gpu:1")):
        a = c.tf.constant(1)
    with c.within(c.tf.colocate_with(a)):
        b = c.tf.constant(2)
    with c.within(c.tf.device("/job:w/gpu:2")), c.within(c.tf.colocate_with(a)):
        inner = c.tf.constant(3)
    c.check(b.device, "/device:GPU:1")
    c.check(inner.device, "/device:GPU:1")


@api_case("PLACEMENT-033", title="Nested colocate_with scopes give the groups of both.")
def nested_colocation(c: ApiAuthor) -> None:
    a, b = c.tf.constant(1, name="a"), c.tf.constant(2, name="b")
    with c.within(c.tf.colocate_with(a)), c.within(c.tf.colocate_with(b)):
        both = c.tf.constant(3)
    c.check(both.op.colocation_groups(), [b"loc:@a", b"loc:@b"])


@api_case("PLACEMENT-034", title="An imported node takes from the scope what it does not name.")
def imports_are_completed(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        c.tf.constant(1, name="a")
        with c.within(c.tf.device("/job:w")):
            c.tf.constant(2, name="b")
        with c.within(c.tf.device("/gpu:5")):
            c.tf.constant(3, name="d")
    definition = graph.as_graph_def()
    with c.within(c.tf.device("/gpu:1")):
        imported = c.tf.import_graph_def(definition, return_elements=["a", "b", "d"], name="")
    for index, device in enumerate(("/device:GPU:1", "/job:w/device:GPU:1", "/device:GPU:5")):
        c.check(imported[index].device, device)
