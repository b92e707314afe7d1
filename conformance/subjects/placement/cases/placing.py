"""Vectors of PLACEMENT: missing devices, what a session places, two CPUs in one session."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import counter, floats, ints
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor
from sessrun.spec.forms import JsonObject

#: Place only what a run needs.
_PRUNED: Final[JsonObject] = {"graphOptions": {"placePrunedGraph": True}}
_SOFT: Final[JsonObject] = {"allowSoftPlacement": True}
_TWO_CPUS: Final[JsonObject] = {"deviceCount": {"CPU": 2}}

#: A device index that no machine has.
_NO_GPU: Final = "/device:GPU:901"


def negation(
    tf: Namespace, device: str | None = None, *, name: str = "y", source: str = "p"
) -> Tensor:
    """Build the negation NAME, on the device, of the int32 placeholder SOURCE."""
    p = tf.placeholder(tf.int32, [], name=source)
    with tf.device(device):
        return tf.negative(p, name=name)


def halves(tf: Namespace) -> None:
    """Build `nothing`, `y` of `p`, anywhere, and `z` of `q`, on a GPU that is missing."""
    tf.no_op(name="nothing")
    negation(tf)
    negation(tf, _NO_GPU, name="z", source="q")


_P = {"p:0": np.int32(3)}
_Q = {"q:0": np.int32(4)}


@engine_case("PLACEMENT-013", title="A CPU index that the session does not have fails the run.")
def a_missing_cpu_fails_the_run(c: EngineAuthor) -> None:
    for number in (1, 7):
        with c.graph(f"cpu{number}") as tf:
            negation(tf, f"/device:CPU:{number}")
        s = c.open(f"cpu{number}", f"on_cpu{number}", config={"deviceCount": {"CPU": 1}})
        s.run(["y:0"], _P, error=[3])
        s.run(["y:0"], _P, error=[3])


@engine_case("PLACEMENT-013", title="A session without a GPU fails the run of an operation on one.")
def a_missing_gpu_fails_the_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        negation(tf, _NO_GPU)
    with c.graph("spread") as tf:
        negation(tf, "/device:CPU:2")
    c.open().run(["y:0"], _P, error=[3])
    s = c.open("spread", "t", config=_TWO_CPUS)
    s.run(["y:0"], _P, error=[3])


@engine_case("PLACEMENT-014", title="A session opens on a graph that names missing devices.")
def a_session_opens_all_the_same(c: EngineAuthor) -> None:
    devices = (_NO_GPU, "/device:CPU:901", "/device:NPU:0", "/job:other/task:3")
    for number, device in enumerate(devices):
        with c.graph(f"g{number}") as tf:
            negation(tf, device)
        s = c.open(f"g{number}", f"s{number}")
        s.close()


@engine_case("PLACEMENT-015", title="A missing device fails runs that do not need it.")
def the_whole_graph_is_placed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        halves(tf)
    s = c.open()
    s.run(["y:0"], _P, error=[3])
    s.run(["nothing"], error=[3])
    s.run(["z:0"], _Q, error=[3])
    s.run(["y:0"], _P, error=[3])


@engine_case("PLACEMENT-016", title="A run whose fetches are all fed needs no placement.")
def fetches_that_are_fed_need_no_placement(c: EngineAuthor) -> None:
    with c.graph() as tf:
        halves(tf)
    s = c.open()
    s.run(["p:0"], _P, values=[np.int32(3)])
    s.run(["z:0", "p:0"], {"z:0": np.int32(8)} | _P, values=[np.int32(8), np.int32(3)])
    s.run(["y:0"], _P, error=[3])
    s.run(["z:0"], {"z:0": np.int32(9)}, values=[np.int32(9)])


@engine_case("PLACEMENT-017", title="With place_pruned_graph only what is needed is placed.")
def only_the_needed_are_placed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        halves(tf)
        counter(tf)
    s = c.open(config=_PRUNED)
    s.run(["counter/Assign"])
    for total in (1, 2):
        s.run(["y:0", "bump:0"], _P, values=[np.int32(-3), np.int32(total)])
        s.run(["z:0"], _Q, error=[3])
        s.run(["z:0", "bump:0"], _Q, error=[3])


@engine_case("PLACEMENT-019", title="With place_pruned_graph a fed operation needs no device.")
def a_fed_operation_needs_no_device(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.negative(negation(tf, _NO_GPU, name="z", source="q"), name="last")
    s = c.open(config=_PRUNED)
    s.run(["last:0"], {"z:0": np.int32(6)}, values=[np.int32(-6)])
    s.run(["last:0"], _Q, error=[3])
    s.run(["last:0"], {"z:0": np.int32(7)} | _Q, values=[np.int32(-7)])


@engine_case("PLACEMENT-020", title="A node added on a missing device fails runs that ran before.")
def an_added_node_fails_earlier_runs(c: EngineAuthor) -> None:
    with c.graph() as tf:
        negation(tf)
    with c.graph("more") as tf:
        negation(tf, _NO_GPU, name="z", source="q")
    s = c.open()
    s.run(["y:0"], _P, values=[np.int32(-3)])
    s.run(["y:0"], _P, values=[np.int32(-3)])
    c.step("extend", session="s", graph="more")
    s.run(["y:0"], _P, error=[3])
    s.run(["y:0"], _P, error=[3])


# --- soft placement, jobs and tasks -------------------------------------------------------


@engine_case("PLACEMENT-021", title="With soft placement a missing GPU or CPU is no matter.")
def soft_placement_runs_on_the_cpu(c: EngineAuthor) -> None:
    for number, device in enumerate((_NO_GPU, "/device:CPU:901")):
        with c.graph(f"g{number}") as tf:
            negation(tf, device)
        s = c.open(f"g{number}", f"s{number}", config=_SOFT)
        s.run(["y:0"], _P, values=[np.int32(-3)])
        c.open(f"g{number}", f"hard{number}").run(["y:0"], _P, error=[3])


@engine_case("PLACEMENT-021", title="With soft placement an unknown device type is no matter.")
def soft_placement_of_an_unknown_type(c: EngineAuthor) -> None:
    with c.graph() as tf:
        with tf.device("/device:NPU:0"):
            counter(tf)
        negation(tf, "/job:localhost/device:NPU:1")
    s = c.open(config=_SOFT)
    s.run(["counter/Assign"])
    for total in (1, 2):
        s.run(["bump:0", "y:0"], _P, values=[np.int32(total), np.int32(-3)])


@engine_case("PLACEMENT-022", title="Soft placement does not move an operation of another job.")
def soft_placement_keeps_the_job(c: EngineAuthor) -> None:
    for number, device in enumerate(("/job:w", "/job:w/device:GPU:0", "/task:1")):
        with c.graph(f"g{number}") as tf:
            negation(tf, device)
        s = c.open(f"g{number}", f"s{number}", config=_SOFT)
        s.run(["y:0"], _P, error=[3])
        s.close()


@engine_case("PLACEMENT-023", title="An operation of another job, replica or task fails the run.")
def another_job_fails_the_run(c: EngineAuthor) -> None:
    devices = ("/job:w", "/replica:1", "/task:1", "/job:localhost/task:2/device:CPU:0")
    for number, device in enumerate(devices):
        with c.graph(f"g{number}") as tf:
            negation(tf, device)
        s = c.open(f"g{number}", f"s{number}")
        s.run(["y:0"], _P, error=[3])
        s.close()


@engine_case("PLACEMENT-024", title="Every name of the session's CPU is understood.")
def every_name_of_the_cpu(c: EngineAuthor) -> None:
    devices = (
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "/job:localhost",
        "/device:CPU:*",
        "/device:CPU:0",
        "/task:0",
        "/replica:0/device:CPU:0",
    )
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        for number, device in enumerate(devices):
            with tf.device(device):
                tf.add(p, number, name=f"y{number}")
    s = c.open()
    for number in range(len(devices)):
        s.run([f"y{number}:0"], _P, values=[np.int32(3 + number)])


# --- two CPUs -----------------------------------------------------------------------------


@engine_case("PLACEMENT-025", title="A value goes from one CPU to the other and back.")
def values_go_between_cpus(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        with tf.device("/cpu:1"):
            doubled = tf.multiply(p, 2.0, name="doubled")
        with tf.device("/cpu:0"):
            negated = tf.negative(doubled, name="negated")
        with tf.device("/cpu:1"):
            tf.add(negated, p, name="y")
    s = c.open(config=_TWO_CPUS)
    for first, second in ((1, 2), (3, 5)):
        feeds = {"p:0": floats(first, second)}
        s.run(["y:0"], feeds, values=[floats(-first, -second)])
        s.run(
            ["doubled:0", "negated:0"],
            feeds,
            values=[floats(2 * first, 2 * second), floats(-2 * first, -2 * second)],
        )


@engine_case("PLACEMENT-025", title="A control edge holds between operations on two CPUs.")
def control_edges_hold_between_cpus(c: EngineAuthor) -> None:
    with c.graph() as tf:
        with tf.device("/cpu:0"):
            bump = counter(tf)
        p = tf.placeholder(tf.int32, [], name="p")
        with tf.device("/cpu:1"), tf.control_dependencies([bump]):
            tf.negative(p, name="y")
    s = c.open(config=_TWO_CPUS)
    s.run(["counter/Assign"])
    for total in (1, 2, 3):
        s.run(["y:0"], _P, values=[np.int32(-3)])
        s.run(["counter:0"], values=[np.int32(total)])


def _handle_on(tf: Namespace, device: str) -> Tensor:
    """Build the vector variable `cell` at [1, 2] on the device; its handle."""
    raw = tf.raw_ops
    with tf.device(device):
        handle = raw.VarHandleOp(dtype="int32", shape=[2], shared_name="cell", name="cell")
        raw.AssignVariableOp(resource=handle, value=tf.constant(ints(1, 2)), name="init")
        raw.ReadVariableOp(resource=handle, dtype="int32", name="value")
    return handle


@engine_case("PLACEMENT-026", title="A variable on the second CPU is updated by name of the first.")
def a_variable_on_the_second_cpu(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _handle_on(tf, "/cpu:1")
        delta = tf.placeholder(tf.int32, [2], name="delta")
        with tf.device("/cpu:0"):
            tf.raw_ops.AssignAddVariableOp(resource=handle, value=delta, name="bump")
    s = c.open(config=_TWO_CPUS)
    s.run(["init"])
    s.run(["bump"], {"delta:0": ints(10, 20)})
    s.run(["value:0"], values=[ints(11, 22)])
    s.run(["bump"], {"delta:0": ints(1, -1)})
    s.run(["value:0"], values=[ints(12, 21)])


@engine_case("PLACEMENT-026", title="A reference variable on the second CPU keeps its value.")
def a_reference_variable_on_the_second_cpu(c: EngineAuthor) -> None:
    with c.graph() as tf:
        with tf.device("/cpu:1"):
            counter(tf)
        with tf.device("/cpu:0"):
            counter(tf, "other", "step")
    s = c.open(config=_TWO_CPUS)
    s.run(["counter/Assign", "other/Assign"])
    s.run(["bump:0"], values=[np.int32(1)])
    s.run(["bump:0", "step:0"], values=[np.int32(2), np.int32(1)])
    s.run(["counter:0", "other:0"], values=[np.int32(2), np.int32(1)])


# --- device strings -----------------------------------------------------------------------


@engine_case("PLACEMENT-029", title="A device string with an unknown part is refused on loading.")
def an_unknown_part_of_a_device_is_refused(c: EngineAuthor) -> None:
    c.graph_json({"node": [_constant("/bogus")]})
    c.open(error=[3])


@engine_case("PLACEMENT-029", title="A device string with an index that is no number is refused.")
def an_index_that_is_no_number_is_refused(c: EngineAuthor) -> None:
    c.graph_json({"node": [_constant("/device:CPU:x")]})
    c.open(error=[3])


def _constant(device: str) -> JsonObject:
    value: JsonObject = {"dtype": "DT_INT32", "tensorShape": {}, "intVal": [4]}
    attr: JsonObject = {"dtype": {"type": "DT_INT32"}, "value": {"tensor": value}}
    return {"name": "a", "op": "Const", "device": device, "attr": attr}
