"""Vectors of SESSION: construction, the state that a session holds, closing."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    api_case,
    as_array,
    engine_case,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

#: Codes of a refused run of a closed session: RuntimeError is 9; native engines say CANCELLED.
_CLOSED = [9, 1]
_UNINITIALISED = [9]


def counter_graph(tf: Namespace, start: int = 0) -> Tensor:
    """Build a resource variable with the nodes `init`, `bump` (adds 1) and `value`."""
    counter = tf.get_variable("counter", initializer=np.int32(start), use_resource=True)
    counter.assign_add(1, name="bump", read_value=False)
    tf.identity(counter.read_value(), name="value")
    tf.group(counter.initializer, name="init")
    return counter


def _local_cpu(index: int) -> str:
    return f"/job:localhost/replica:0/task:0/device:CPU:{index}"


# --- construction -------------------------------------------------------------------------


@api_case("SESSION-001", title="A Session without a graph argument keeps the default graph.")
def launches_the_default_graph_of_its_construction(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    sess = c.tf.Session()
    with c.within(c.tf.Graph().as_default()):
        c.tf.constant(5, name="a")
        c.check(sess.run(a), as_array(np.int32(1)))
        c.check(sess.run("a:0"), as_array(np.int32(1)))


@api_case("SESSION-001", title="A Session made under an inner default graph launches that graph.")
def launches_the_inner_default_graph(c: ApiAuthor) -> None:
    c.tf.constant(1, name="a")
    with c.within(c.tf.Graph().as_default()):
        c.tf.constant(5, name="a")
        sess = c.tf.Session()
    c.check(sess.run("a:0"), as_array(np.int32(5)))


@api_case("SESSION-002", title="A Session with a graph argument launches it, not the default.")
def launches_the_graph_argument(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        a = c.tf.constant(1, name="a")
    c.tf.constant(2, name="a")
    c.check(c.tf.Session(graph=graph).run("a:0"), as_array(np.int32(1)))
    c.check(c.tf.Session("", graph).run(a), as_array(np.int32(1)))


@api_case("SESSION-003", title="Session.graph is the very Graph that was launched.")
def graph_property_is_the_launched_graph(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        a = c.tf.constant(1)
    sess = c.tf.Session(graph=graph)
    c.check_same(sess.graph, graph)
    sess.run(a)
    c.check_same(sess.graph, graph)
    c.check_same(c.tf.Session().graph, c.tf.get_default_graph())


@api_case("SESSION-004", title="A graph argument that is no Graph is TypeError.")
def graph_argument_of_another_type(c: ApiAuthor) -> None:
    c.tf.constant(1)
    definition = c.tf.get_default_graph().as_graph_def()
    for wrong in ("g", 5, definition):
        c.raises("TypeError", partial(c.tf.Session, graph=wrong))


@api_case("SESSION-005", title="A config argument that is no ConfigProto is TypeError.")
def config_argument_of_another_type(c: ApiAuthor) -> None:
    options = c.tf.RunOptions()
    for wrong in ("gpu", 5, {"allow_soft_placement": True}, options):
        c.raises("TypeError", partial(c.tf.Session, config=wrong))


@api_case("SESSION-006", title="A target that no engine answers to is NotFoundError.")
def unknown_target(c: ApiAuthor) -> None:
    c.tf.constant(1)
    c.raises("NotFoundError", lambda: c.tf.Session("bogus"))
    c.raises("NotFoundError", lambda: c.tf.Session(target="nowhere"))


@engine_case("SESSION-007", title="device_count CPU: 3 gives three CPU devices, 0 to 2.")
def three_cpu_devices(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.constant(1, name="a")
    c.open(config={"deviceCount": {"CPU": 3, "GPU": 0}})
    three = [_local_cpu(index) for index in range(3)]
    c.step("devices", session="s", expect={"facts": {"devices": three}})


@engine_case("SESSION-007", title="Each session has as many CPU devices as its own config says.")
def cpu_devices_of_each_session(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.constant(1, name="a")
    for count in (1, 2):
        c.open(session=f"s{count}", config={"deviceCount": {"CPU": count, "GPU": 0}})
    for count in (2, 1):
        names = [_local_cpu(index) for index in range(count)]
        c.step("devices", session=f"s{count}", expect={"facts": {"devices": names}})


@api_case("SESSION-007", title="list_devices has the CPU devices that device_count asks for.")
def list_devices_of_device_count(c: ApiAuthor) -> None:
    config = c.tf.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    listed = c.tf.Session(config=config).list_devices()
    c.check(c.expr("$len", listed), 2)
    c.check(listed[1].name, _local_cpu(1))
    c.check(listed[1].device_type, "CPU")


# --- a closed session ---------------------------------------------------------------------


@engine_case("SESSION-026", title="A session that was closed refuses to run.")
def closed_session_refuses_a_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf)
    s = c.open()
    s.run(["init"], values=[None])
    s.run(["value:0"], values=[np.int32(0)])
    s.close()
    s.run(["value:0"], error=_CLOSED)
    s.run(["bump"], error=_CLOSED)


@engine_case("SESSION-026", title="A session closed before its first run refuses to run.")
def session_closed_before_its_first_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, 1.0, name="y")
    s = c.open()
    s.close()
    s.run(["y:0"], {"x:0": np.float32(1)}, error=_CLOSED)
    s.run(["x:0"], {"x:0": np.float32(1)}, error=_CLOSED)


@api_case("SESSION-026", title="A run of a closed session is RuntimeError, whatever it fetches.")
def closed_run_is_runtime_error(c: ApiAuthor) -> None:
    a = c.tf.placeholder(c.tf.float32, [])
    sess = c.tf.Session()
    c.check(sess.run(a, {a: 2.0}), as_array(np.float32(2)))
    sess.close()
    c.raises("RuntimeError", lambda: sess.run(a, {a: 2.0}))
    c.raises("RuntimeError", lambda: sess.run([]))
    c.raises("RuntimeError", lambda: sess.run("nope:0"))


@engine_case("SESSION-027", title="Listing the devices of a closed session is CANCELLED.")
def devices_of_a_closed_session(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.constant(1, name="a")
    s = c.open(config={"deviceCount": {"CPU": 1, "GPU": 0}})
    s.run(["a:0"], values=[np.int32(1)])
    c.step("devices", session="s", expect={"facts": {"devices": [_local_cpu(0)]}})
    s.close()
    c.step("devices", session="s", expect={"error": {"codes": [1]}})


@api_case("SESSION-027", title="list_devices of a closed session is CancelledError.")
def list_devices_of_a_closed_session(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.Session()
    sess.run(a)
    sess.close()
    c.raises("CancelledError", sess.list_devices)


@engine_case("SESSION-028", title="A session can be closed twice and three times.")
def closing_again_succeeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf)
    s = c.open()
    s.run(["init"], values=[None])
    for _ in range(3):
        s.close()
    s.run(["value:0"], error=_CLOSED)


@api_case("SESSION-028", title="close() of a closed session returns None.")
def close_of_a_closed_session_returns_none(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.Session()
    sess.run(a)
    c.check(sess.close(), None)
    c.check(sess.close(), None)


@api_case("SESSION-028", title="A session closed inside its with block leaves the block in peace.")
def close_inside_the_with_block(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    a = c.tf.constant(1)
    with c.within(sess):
        c.check(sess.run(a), as_array(np.int32(1)))
        c.check(sess.close(), None)


@engine_case("SESSION-029", title="A session that never ran can be closed.")
def closing_a_session_that_never_ran(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf)
    s = c.open()
    s.close()
    other = c.open(session="other")
    other.run(["init"], values=[None])


@api_case("SESSION-029", title="A session on an empty graph can be closed.")
def closing_a_session_of_an_empty_graph(c: ApiAuthor) -> None:
    c.check(c.tf.Session(graph=c.tf.Graph()).close(), None)


# --- state --------------------------------------------------------------------------------


@engine_case("SESSION-031", title="Closing one session leaves another its variables.")
def closing_one_session_leaves_the_other(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf, 4)
    first, second = c.open(session="first"), c.open(session="second")
    for s in (first, second):
        s.run(["init"], values=[None])
    second.run(["bump"], values=[None])
    first.close()
    second.run(["value:0"], values=[np.int32(5)])
    second.run(["bump"], values=[None])
    second.run(["value:0"], values=[np.int32(6)])


@api_case("SESSION-031", title="Closing one of two sessions of one Graph leaves the other.")
def closing_one_of_two_sessions_of_a_graph(c: ApiAuthor) -> None:
    v = c.tf.Variable(3, use_resource=True)
    first, second = c.tf.Session(), c.tf.Session()
    second.run(v.initializer)
    first.run(v.initializer)
    first.close()
    c.check(second.run(v), as_array(np.int32(3)))


@engine_case("SESSION-032", title="Initialising in one session initialises nothing in another.")
def initialised_in_one_session_only(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf, 7)
    first, second = c.open(session="first"), c.open(session="second")
    first.run(["init"], values=[None])
    second.run(["value:0"], error=_UNINITIALISED)
    first.run(["value:0"], values=[np.int32(7)])


@engine_case("SESSION-032", title="A variable updated in one session keeps its value in another.")
def updated_in_one_session_only(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf, 10)
    first, second = c.open(session="first"), c.open(session="second")
    for s in (first, second):
        s.run(["init"], values=[None])
    for _ in range(3):
        first.run(["bump"], values=[None])
    second.run(["bump"], values=[None])
    first.run(["value:0"], values=[np.int32(13)])
    second.run(["value:0"], values=[np.int32(11)])


@api_case("SESSION-032", title="Reference variables, too, are each session's own.")
def reference_variables_of_two_sessions(c: ApiAuthor) -> None:
    v = c.tf.Variable(1, use_resource=False)
    up = c.tf.assign_add(v, 10)
    first, second = c.tf.Session(), c.tf.Session()
    first.run(v.initializer)
    c.raises("FailedPreconditionError", lambda: second.run(v))
    second.run(v.initializer)
    c.check(first.run(up), as_array(np.int32(11)))
    c.check(second.run(v), as_array(np.int32(1)))


@engine_case("SESSION-033", title="A session opened after another was closed starts anew.")
def a_new_session_starts_uninitialised(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf, 20)
    old = c.open(session="old")
    old.run(["init"], values=[None])
    old.run(["bump"], values=[None])
    old.run(["value:0"], values=[np.int32(21)])
    old.close()
    new = c.open(session="new")
    new.run(["value:0"], error=_UNINITIALISED)
    new.run(["init"], values=[None])
    new.run(["value:0"], values=[np.int32(20)])


@api_case("SESSION-033", title="A second session of a Graph finds no variable initialised.")
def a_second_session_of_a_graph_starts_uninitialised(c: ApiAuthor) -> None:
    v = c.tf.Variable(2.0, use_resource=True)
    old = c.tf.Session()
    old.run(v.initializer)
    old.close()
    new = c.tf.Session()
    c.raises("FailedPreconditionError", lambda: new.run(v))


@engine_case("SESSION-034", title="Variables of one name in two graphs are two variables.")
def two_graphs_with_one_variable_name(c: EngineAuthor) -> None:
    with c.graph("ten") as tf:
        counter_graph(tf, 10)
    with c.graph("thirty") as tf:
        counter_graph(tf, 30)
    ten, thirty = c.open("ten", "ten"), c.open("thirty", "thirty")
    ten.run(["init"], values=[None])
    thirty.run(["value:0"], error=_UNINITIALISED)
    thirty.run(["init"], values=[None])
    ten.run(["bump"], values=[None])
    ten.run(["value:0"], values=[np.int32(11)])
    thirty.run(["value:0"], values=[np.int32(30)])


@api_case("SESSION-034", title="Two Graphs with a variable of one name share nothing.")
def two_graph_objects_with_one_variable_name(c: ApiAuthor) -> None:
    sessions = []
    for start in (1.0, 2.0):
        with c.within(c.tf.Graph().as_default()):
            v = c.tf.Variable(start, name="v", use_resource=False)
            sessions.append(c.tf.Session())
            sessions[-1].run(v.initializer)
    c.check(sessions[0].run("v:0"), as_array(np.float32(1)))
    c.check(sessions[1].run("v:0"), as_array(np.float32(2)))
