"""Vectors of PLACEMENT: colocation that contradicts itself, the devices that a session has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.conformance.subjects.tracing.cases.tracing import CPU, full, lists
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json, JsonObject

_SECOND: Final = "/job:localhost/replica:0/task:0/device:CPU:1"
#: Two CPUs, and no GPU where the machine has some.
_TWO: Final[JsonObject] = {"deviceCount": {"CPU": 2, "GPU": 0}}


def torn(tf: Namespace, first: str, second: str) -> None:
    """Build `y` = exp(p), colocated with `a` on one device and with `b` on another."""
    p = tf.placeholder(tf.float32, [2], name="p")
    with tf.device(first):
        a = tf.negative(p, name="a")
    with tf.device(second):
        b = tf.negative(p, name="b")
    with tf.colocate_with(a), tf.colocate_with(b):
        tf.exp(p, name="y")


def listed(c: EngineAuthor, session: str, *devices: str) -> None:
    """The session must list these devices."""
    names = [f"/job:localhost/replica:0/task:0/device:{device}" for device in devices]
    c.step("devices", session=session, expect={"facts": {"devices": names}})


def not_opened(c: EngineAuthor, session: str, config: Mapping[str, Json], code: int) -> None:
    """A session of this configuration must be refused with the code."""
    expect = {"error": {"codes": [code]}}
    c.step("open", session=session, graph="g", config=dict(config), expect=expect)


@engine_case("PLACEMENT-040", title="Two CPUs in one colocation group fail the run.")
def contradictions_fail_the_run(c: EngineAuthor) -> None:
    pairs = (("/cpu:0", "/cpu:1"), ("/cpu:1", "/device:GPU:0"), ("/job:localhost", "/job:w"))
    for number, (first, second) in enumerate(pairs):
        with c.graph(f"g{number}") as tf:
            torn(tf, first, second)
        s = c.open(f"g{number}", f"s{number}", config=_TWO)
        s.run(["y:0"], {"p:0": floats(0, 0)}, error=[3])
        s.close()


@engine_case("PLACEMENT-040", title="A group whose members agree, or do not ask, runs.")
def agreement_runs(c: EngineAuthor) -> None:
    for number, (first, second) in enumerate((("/cpu:1", "/cpu:1"), ("/cpu:*", "/cpu:1"))):
        with c.graph(f"g{number}") as tf:
            torn(tf, first, second)
        s = c.open(f"g{number}", f"s{number}", config=_TWO)
        s.run(["y:0", "a:0"], {"p:0": floats(0, 0)}, values=[floats(1, 1), floats(0, 0)])
        s.close()


@engine_case("PLACEMENT-041", title="With soft placement a group that contradicts itself runs.")
def soft_placement_settles_contradictions(c: EngineAuthor) -> None:
    for number, second in enumerate(("/cpu:1", "/device:GPU:901")):
        with c.graph(f"g{number}") as tf:
            torn(tf, "/cpu:0", second)
        s = c.open(f"g{number}", f"s{number}", config={"allowSoftPlacement": True, **_TWO})
        for first in (1, 2):
            feeds = {"p:0": floats(first, 0)}
            s.run(["a:0", "b:0"], feeds, values=[floats(-first, -0.0), floats(-first, -0.0)])
        s.run(["y:0"], {"p:0": floats(0, 0)}, values=[floats(1, 1)])


@engine_case("SESSION-007", title="A session has the CPUs that it was configured to have.")
def a_session_has_its_cpus(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        with tf.device("/cpu:2"):
            tf.negative(p, name="y")
    s = c.open(config={"deviceCount": {"CPU": 3, "GPU": 0}})
    listed(c, "s", "CPU:0", "CPU:1", "CPU:2")
    s.run(["y:0"], {"p:0": floats(1, 2)}, values=[floats(-1, -2)])
    c.open("g", "t", config={"deviceCount": {"CPU": 1, "GPU": 0}})
    listed(c, "t", "CPU:0")


@engine_case(
    "PLACEMENT-043",
    title="A count of devices that there are none of is no matter.",
)
def counts_of_missing_devices_are_no_matter(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.negative(tf.placeholder(tf.float32, [2], name="p"), name="y")
    s = c.open(config={"deviceCount": {"NPU": 3, "CPU": 2, "GPU": 0}})
    listed(c, "s", "CPU:0", "CPU:1")
    s.run(["y:0"], {"p:0": floats(1, 2)}, values=[floats(-1, -2)])


@engine_case("PLACEMENT-044", title="A session without a CPU is not opened.")
def a_session_needs_a_cpu(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.no_op(name="nothing")
    for number, count in enumerate((0, -1)):
        not_opened(c, f"s{number}", {"deviceCount": {"CPU": count}}, code=5)
    c.open().run(["nothing"])


@engine_case("PLACEMENT-045", title="A device filter that is no device name is refused.")
def ill_formed_filters_are_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.no_op(name="nothing")
    for number, filters in enumerate((["bogus"], ["/cpu:0", "/cpu:x"])):
        not_opened(c, f"s{number}", {"deviceFilters": filters}, code=3)
    c.open(config={"deviceFilters": ["/job:localhost"]}).run(["nothing"])


@engine_case("PLACEMENT-046", title="A device filter hides no device of the session's own.")
def filters_hide_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        with tf.device("/cpu:1"):
            tf.negative(p, name="y")
    for number, filters in enumerate((["/cpu:0"], ["/device:GPU:0"], ["/job:w", "/cpu:7"])):
        name = f"s{number}"
        s = c.open("g", name, config={"deviceFilters": filters, **_TWO})
        listed(c, name, "CPU:0", "CPU:1")
        s.run(["y:0"], {"p:0": floats(1, 2)}, values=[floats(-1, -2)])
        s.close()


@api_case("PLACEMENT-047", title="An incarnation belongs to one device of one session.")
def incarnations_are_a_sessions_own(c: ApiAuthor) -> None:
    c.tf.no_op()
    config = c.tf.ConfigProto(device_count={"CPU": 2})
    one, other = c.tf.Session(config=config), c.tf.Session(config=config)
    devices = one.list_devices()
    again = one.list_devices()
    others = other.list_devices()
    c.check(c.expr("$op", "==", devices[0].incarnation, again[0].incarnation), True)
    c.check(c.expr("$op", "==", devices[1].incarnation, again[1].incarnation), True)
    c.check(c.expr("$op", "==", devices[0].incarnation, others[0].incarnation), False)
    c.check(c.expr("$op", "==", devices[0].incarnation, devices[1].incarnation), False)


@api_case("PLACEMENT-048", title="A colocated operation runs where the other one does.")
def colocated_operations_run_together(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2], name="p")
    with c.within(c.tf.device("/cpu:1")):
        there = c.tf.exp(p, name="there")
    with c.within(c.tf.colocate_with(there.op)):
        beside = c.tf.sin(p, name="beside")
    here = c.tf.cos(p, name="here")
    config = c.tf.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    sess, metadata = c.tf.Session(config=config), c.tf.RunMetadata()
    feeds = {p: np.zeros(2, np.float32)}
    sess.run([there, beside, here], feeds, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["here"], _SECOND: ["beside", "there"]})


@api_case("PLACEMENT-049", title="The machine's CPU is its first device.")
def the_cpu_comes_first(c: ApiAuthor) -> None:
    first = c.tf.config.list_physical_devices()[0]
    c.check(first.name, "/physical_device:CPU:0")
    c.check(first.device_type, "CPU")
    c.check(c.tf.config.experimental.list_physical_devices()[0].name, "/physical_device:CPU:0")


@api_case(
    "PLACEMENT-050", title="There is no name of a GPU where there is none.", needs=("no-gpu",)
)
def no_gpu_has_no_name(c: ApiAuthor) -> None:
    c.check(c.tf.test.gpu_device_name(), "")
    c.check(c.tf.config.list_physical_devices("GPU"), [])


@api_case("PLACEMENT-051", title="Devices are listed by their type.")
def devices_are_listed_by_type(c: ApiAuthor) -> None:
    c.check(c.expr("$len", c.tf.config.list_physical_devices("CPU")), 1)
    c.check(c.tf.config.list_physical_devices("NPU"), [])
    c.check(c.tf.config.list_physical_devices("cpu"), [])


@api_case("PLACEMENT-051", title="A part of a device type, or more than it, lists no device.")
def devices_are_listed_by_their_whole_type(c: ApiAuthor) -> None:
    for kind in ("C", "CPUS", "CPU:0", "XLA_CPU"):
        c.check(c.tf.config.list_physical_devices(kind), [])
    c.check(c.tf.config.list_physical_devices("CPU")[0].device_type, "CPU")
