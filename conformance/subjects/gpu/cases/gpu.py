"""Vectors of GPU: devices, placement, host memory, copies, variables, errors."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, near, one_of
from sessrun.conformance.subjects.run.cases.run import floats

_GPU: Final = ("gpu",)
#: A device index that no machine has.
_MISSING: Final = "/device:GPU:901"


def _on(c: ApiAuthor, device: str, op: str, *inputs: Recordable, name: str) -> Symbol:
    """An operation on a device, by its function's name in the namespace."""
    with c.within(c.tf.device(device)):
        output: Symbol = getattr(c.tf, op)(*inputs, name=name)
    return output


def _vector(c: ApiAuthor, name: str = "x") -> Symbol:
    vector: Symbol = c.tf.placeholder(c.tf.float32, [2], name=name)
    return vector


def _soft(c: ApiAuthor) -> Symbol:
    return c.tf.Session(config=c.tf.ConfigProto(allow_soft_placement=True))


def _ran_on(
    c: ApiAuthor, want: dict[str, str], session: Symbol, fetches: Recordable, feeds: Recordable
) -> None:
    """Each of these operations must be executed on one device, in a traced run."""
    c.named_check(
        "gpu.ran_on",
        [[device] for device in want.values()],
        session=session,
        fetches=fetches,
        feeds=feeds,
        names=list(want),
    )


# --- devices ------------------------------------------------------------------------------


@api_case("GPU-001", title="GPUs are listed after the CPUs.", needs=_GPU)
def gpus_are_listed(c: ApiAuthor) -> None:
    want = {"some": True, "after the CPUs": True, "named": True, "memory": True}
    c.named_check("gpu.listed", want, session=c.tf.Session())


@api_case("GPU-002", title="The test module knows of the GPU.", needs=_GPU)
def the_test_module_knows_of_it(c: ApiAuthor) -> None:
    c.check(c.tf.test.is_gpu_available(), True)
    c.check(c.tf.test.gpu_device_name(), "/device:GPU:0")


@api_case("GPU-003", title="A session may be configured to have no GPU.", needs=_GPU)
def a_session_without_gpus(c: ApiAuthor) -> None:
    x = _vector(c)
    y = _on(c, "/gpu:0", "exp", x, name="y")
    free = c.tf.exp(x, name="free")
    sess = c.tf.Session(config=c.tf.ConfigProto(device_count={"GPU": 0}))
    c.named_check("gpu.limits", [], session=sess)
    c.raises("InvalidArgumentError", lambda: sess.run(y, {x: floats(0, 0)}))
    soft = c.tf.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True)
    c.check(
        c.tf.Session(config=soft).run([y, free], {x: floats(0, 0)}), [floats(1, 1), floats(1, 1)]
    )


# --- placement ----------------------------------------------------------------------------


@api_case("GPU-004", title="What names no device runs on the first GPU.", needs=_GPU)
def the_first_gpu_is_preferred(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [2, 2], name="x")
    product = c.tf.matmul(x, c.tf.exp(x, name="e"), name="product")
    want = {"e": "GPU:0", "product": "GPU:0"}
    _ran_on(c, want, c.tf.Session(), product, {x: np.ones((2, 2), np.float32)})


@api_case("GPU-005", title="Each operation runs on the device that it names.", needs=_GPU)
def devices_are_obeyed(c: ApiAuthor) -> None:
    x = _vector(c)
    first = _on(c, "/cpu:0", "exp", x, name="first")
    second = _on(c, "/gpu:0", "negative", first, name="second")
    third = _on(c, "/device:CPU:0", "square", second, name="third")
    fourth = _on(c, "/device:GPU:0", "exp", third, name="fourth")
    want = {"first": "CPU:0", "second": "GPU:0", "third": "CPU:0", "fourth": "GPU:0"}
    sess = c.tf.Session()
    _ran_on(c, want, sess, [fourth, second], {x: floats(0, 0)})
    c.check(sess.run(third, {x: floats(0, 0)}), floats(1, 1))


@api_case("GPU-006", title="Zeros and subnormal numbers arrive as they were sent.", needs=_GPU)
def values_arrive_as_they_were_sent(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [5], name="x")
    there = _on(c, "/gpu:0", "identity", x, name="there")
    back = _on(c, "/cpu:0", "identity", there, name="back")
    again = _on(c, "/gpu:0", "identity", back, name="again")
    value = floats(-0.0, 1e-40, np.inf, np.nan, 1.1)
    want = near(value, "signed")
    c.check(c.tf.Session().run([there, back, again], {x: value}), [want, want, want])


@api_case("GPU-007", title="An operation on strings on a GPU is refused.", needs=_GPU)
def no_kernel_no_run(c: ApiAuthor) -> None:
    s = c.tf.placeholder(c.tf.string, [], name="s")
    joined = _on(c, "/gpu:0", "string_join", [s, s], name="joined")
    sess = c.tf.Session()
    c.raises("InvalidArgumentError", lambda: sess.run(joined, {s: b"a"}))


@api_case("GPU-007", title="Differences of lists on a GPU are refused.", needs=_GPU)
def no_kernel_of_numbers(c: ApiAuthor) -> None:
    x = _vector(c)
    with c.within(c.tf.device("/gpu:0")):
        left = c.tf.setdiff1d(x, floats(1))
    sess = c.tf.Session()
    c.raises("InvalidArgumentError", lambda: sess.run(left[0], {x: floats(1, 2)}))


@api_case("GPU-008", title="The refusal names operation and device.", needs=_GPU)
def the_refusal_names_the_operation(c: ApiAuthor) -> None:
    s = c.tf.placeholder(c.tf.string, [], name="s")
    joined = _on(c, "/gpu:0", "string_join", [s, s], name="joined")
    words = ["joined", "/device:GPU:0"]
    c.named_check(
        "gpu.failure", [3], session=c.tf.Session(), fetches=joined, feeds={s: b"a"}, words=words
    )


@api_case("GPU-009", title="With soft placement only what must leaves the GPU.", needs=_GPU)
def soft_placement_falls_back(c: ApiAuthor) -> None:
    s, x = c.tf.placeholder(c.tf.string, [], name="s"), _vector(c)
    joined = _on(c, "/gpu:0", "string_join", [s, s], name="joined")
    beside = _on(c, "/gpu:0", "exp", x, name="beside")
    sess = _soft(c)
    feeds: dict[Symbol, Recordable] = {s: b"a", x: floats(0, 0)}
    _ran_on(c, {"joined": "CPU:0", "beside": "GPU:0"}, sess, [joined, beside], feeds)
    c.check(sess.run([joined, beside], feeds), [b"aa", floats(1, 1)])


@api_case("GPU-010", title="A missing GPU's refusal lists those there are.", needs=_GPU)
def the_devices_are_listed_in_the_refusal(c: ApiAuthor) -> None:
    x = _vector(c)
    y = _on(c, _MISSING, "exp", x, name="y")
    words = [f"/job:localhost/replica:0/task:0/device:{kind}:0" for kind in ("CPU", "GPU")]
    c.named_check(
        "gpu.failure", [3], session=c.tf.Session(), fetches=y, feeds={x: floats(0, 0)}, words=words
    )


@api_case("GPU-011", title="Strings stay on the CPU beside numbers on the GPU.", needs=_GPU)
def strings_stay_on_the_cpu(c: ApiAuthor) -> None:
    s, x = c.tf.placeholder(c.tf.string, [], name="s"), _vector(c)
    joined = c.tf.string_join([s, s], name="joined")
    beside = c.tf.exp(x, name="beside")
    sess = c.tf.Session()
    feeds: dict[Symbol, Recordable] = {s: b"a", x: floats(0, 0)}
    _ran_on(c, {"joined": "CPU:0", "beside": "GPU:0"}, sess, [joined, beside], feeds)
    c.check(sess.run([joined, beside], feeds), [b"aa", floats(1, 1)])


# --- host memory --------------------------------------------------------------------------


@api_case("GPU-012", title="A shape is in host memory.", needs=_GPU)
def shapes_are_in_host_memory(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None], name="x")
    y = _on(c, "/gpu:0", "exp", x, name="y")
    z = _on(c, "/gpu:0", "negative", y, name="z")
    size = _on(c, "/gpu:0", "shape", y, name="size")
    c.named_check(
        "gpu.allocators",
        [0, 0, 1],
        session=c.tf.Session(),
        fetches=[size, z],
        feeds={x: floats(1, 2)},
        names=["y", "z", "size"],
    )


@api_case("GPU-012", title="A size and a rank are in host memory.", needs=_GPU)
def sizes_and_ranks_are_in_host_memory(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, None, name="x")
    y = _on(c, "/gpu:0", "exp", x, name="y")
    size = _on(c, "/gpu:0", "size", y, name="size")
    rank = _on(c, "/gpu:0", "rank", y, name="rank")
    z = _on(c, "/gpu:0", "negative", y, name="z")
    c.named_check(
        "gpu.allocators",
        [0, 0, 1, 1],
        session=c.tf.Session(),
        fetches=[size, rank, z],
        feeds={x: floats(1, 2)},
        names=["y", "z", "size", "rank"],
    )


@api_case("GPU-013", title="Computed shapes and permutations reach the GPU.", needs=_GPU)
def computed_shapes_reach_the_gpu(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, None], name="x")
    flipped = _on(c, "/cpu:0", "reverse", c.tf.shape(x), [0], name="flipped")
    perm = c.tf.placeholder(c.tf.int32, [2], name="perm")
    with c.within(c.tf.device("/gpu:0")):
        shaped = c.tf.reshape(c.tf.negative(x), flipped, name="shaped")
        turned = c.tf.transpose(x, perm, name="turned")
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    sess = c.tf.Session()
    got = sess.run([shaped, turned], {x: value, perm: np.array([1, 0], np.int32)})
    c.check(got, [-value.reshape(3, 2), value.T.copy()])


@api_case("GPU-014", title="Loops and branches run on a GPU.", needs=_GPU)
def loops_and_branches(c: ApiAuthor) -> None:
    c.named_check("gpu.branches_and_loops", [3, 6.5, -2.0], number=2.0)
    c.named_check("gpu.branches_and_loops", [3, 5.0, 1.0], number=0.5)


# --- variables ----------------------------------------------------------------------------


@api_case("GPU-015", title="A variable on a GPU stays there.", needs=_GPU)
def variables_stay_on_the_gpu(c: ApiAuthor) -> None:
    x = _vector(c)
    with c.within(c.tf.device("/gpu:0")):
        variables = [c.tf.Variable(floats(1, 2), use_resource=kind) for kind in (False, True)]
        updates = [c.tf.assign_add(variable, x) for variable in variables]
    sess = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    names = [update.op.name for update in updates]
    for _ in range(2):
        c.named_check(
            "gpu.ran_on",
            [["GPU:0"], ["GPU:0"]],
            session=sess,
            fetches=updates,
            feeds={x: floats(1, 1)},
            names=names,
        )
    c.check(sess.run(updates, {x: floats(0, 1)}), [floats(3, 5), floats(3, 5)])


@api_case("GPU-041", title="Integers of 32 bits are counted on the CPU.", needs=_GPU)
def counters_are_on_the_cpu(c: ApiAuthor) -> None:
    free = c.tf.Variable(np.int32(3), use_resource=False, name="free")
    counted = c.tf.assign_add(free, np.int32(1), name="counted")
    sess = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    _ran_on(c, {"counted": "CPU:0"}, sess, counted, {})


@api_case("GPU-042", title="A variable of integers of 32 bits asks for a GPU.", needs=_GPU)
def counters_on_a_gpu(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/gpu:0")):
        variable = c.tf.Variable(np.int32(3), use_resource=False, name="v")
    other = c.tf.Session()
    c.raises("InvalidArgumentError", lambda: other.run(variable.initializer))


def _variable(c: ApiAuthor, *, resource: bool) -> tuple[Symbol, Symbol, Symbol]:
    """A vector variable on /gpu:0, its assignment, and what it is assigned."""
    x = _vector(c, f"fed{int(resource)}")
    with c.within(c.tf.device("/gpu:0")):
        variable = c.tf.Variable(floats(1, 2), use_resource=resource, name=f"v{int(resource)}")
        return variable, c.tf.assign(variable, x), x


@api_case("GPU-017", title="A fetched variable of a GPU is the caller's own array.", needs=_GPU)
def fetched_arrays_are_copies(c: ApiAuthor) -> None:
    for resource in (False, True):
        variable, assign, x = _variable(c, resource=resource)
        sess = c.tf.Session()
        sess.run(variable.initializer)
        got = sess.run(variable)
        got.fill(77)
        c.check(sess.run(variable), floats(1, 2))
        kept = sess.run(variable)
        sess.run(assign.op, {x: floats(5, 6)})
        c.check(kept, floats(1, 2))


@api_case("GPU-018", title="What was fed to a GPU may be written to.", needs=_GPU)
def fed_arrays_are_copied(c: ApiAuthor) -> None:
    for resource in (False, True):
        variable, assign, x = _variable(c, resource=resource)
        sess = c.tf.Session()
        mine = c.np.asarray(floats(5, 6)).copy()
        sess.run(assign.op, {x: mine})
        mine.fill(77)
        c.check(sess.run(variable), floats(5, 6))


@api_case("GPU-019", title="Two graphs share a GPU and nothing else.", needs=_GPU)
def two_sessions_on_one_gpu(c: ApiAuthor) -> None:
    sessions, variables = [], []
    for number in range(2):
        with c.within(c.tf.Graph().as_default()):
            variable, assign, x = _variable(c, resource=True)
            sess = c.tf.Session()
            sess.run(assign.op, {x: floats(number, 5)})
            sessions.append(sess)
            variables.append(variable)
    for number in range(2):
        c.check(sessions[number].run(variables[number]), floats(number, 5))
    sessions[0].close()
    c.check(sessions[1].run(variables[1]), floats(1, 5))


# --- from device to device ----------------------------------------------------------------


@api_case("GPU-020", title="Control inputs hold between devices.", needs=_GPU)
def control_inputs_between_devices(c: ApiAuthor) -> None:
    x = _vector(c)
    with c.within(c.tf.device("/gpu:0")):
        variable = c.tf.Variable(floats(0, 0), use_resource=True, name="v")
        added = variable.assign_add(x)
    with c.within(c.tf.device("/cpu:0")), c.within(c.tf.control_dependencies([added])):
        between = c.tf.no_op(name="between")
    with c.within(c.tf.device("/gpu:0")), c.within(c.tf.control_dependencies([between])):
        after = variable.read_value()
    sess = c.tf.Session()
    sess.run(variable.initializer)
    for total in (1, 2, 3):
        c.check(sess.run(after, {x: floats(1, 1)}), floats(total, total))


def _read_twice(c: ApiAuthor) -> tuple[Symbol, list[Symbol], dict[Symbol, np.ndarray]]:
    """`y` on the GPU, which is fetched and read by `a` and `b` on the CPU; fetches, feeds."""
    x = _vector(c)
    y = _on(c, "/gpu:0", "exp", x, name="y")
    a = _on(c, "/cpu:0", "negative", y, name="a")
    b = _on(c, "/cpu:0", "square", y, name="b")
    return y, [y, a, b], {x: floats(0, 0)}


@api_case("GPU-021", title="There is a partition graph for each device.", needs=_GPU)
def a_graph_for_each_device(c: ApiAuthor) -> None:
    _, fetches, feeds = _read_twice(c)
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run(fetches, feeds, c.tf.RunOptions(output_partition_graphs=True), metadata)
    want = [[f"/job:localhost/replica:0/task:0/device:{kind}:0"] for kind in ("CPU", "GPU")]
    c.named_check("tracing.partition_devices", want, metadata=metadata)


@api_case("GPU-022", title="What is read twice on the CPU is sent there once.", needs=_GPU)
def a_value_is_sent_once(c: ApiAuthor) -> None:
    _, fetches, feeds = _read_twice(c)
    c.named_check("gpu.sends", 1, session=c.tf.Session(), fetches=fetches, feeds=feeds, node="y")


@api_case("GPU-034", title="The placement log names the GPU.", needs=_GPU)
def the_log_names_the_gpu(c: ApiAuthor) -> None:
    _, fetches, feeds = _read_twice(c)
    config = c.tf.ConfigProto(log_device_placement=True)
    c.named_check(
        "gpu.logged",
        [["GPU:0"], ["CPU:0"], ["CPU:0"]],
        config=config,
        fetches=fetches,
        feeds=feeds,
        names=["y", "a", "b"],
    )


@api_case("GPU-035", title="A trace lists copies.", needs=_GPU)
def copies_are_traced(c: ApiAuthor) -> None:
    _, fetches, feeds = _read_twice(c)
    c.named_check("gpu.copies", True, session=c.tf.Session(), fetches=fetches, feeds=feeds)


# --- errors -------------------------------------------------------------------------------


def _checked(c: ApiAuthor) -> tuple[Symbol, Symbol]:
    """A fed vector, and the operation on the GPU that finds its NaNs."""
    x = _vector(c)
    with c.within(c.tf.device("/gpu:0")):
        return x, c.tf.check_numerics(x, "a NaN", name="checked")


@api_case("GPU-036", title="A kernel's error is that of its run, fetched or not.", needs=_GPU)
def errors_come_in_their_run(c: ApiAuthor) -> None:
    x, checked = _checked(c)
    sess = c.tf.Session()
    for fetch in (checked, checked.op):
        c.raises("InvalidArgumentError", lambda f=fetch: sess.run(f, {x: floats(1, np.nan)}))  # type: ignore[misc]


@api_case("GPU-037", title="The run after a failed one is clean.", needs=_GPU)
def errors_end_with_their_run(c: ApiAuthor) -> None:
    x, checked = _checked(c)
    sess = c.tf.Session()
    c.raises("InvalidArgumentError", lambda: sess.run(checked.op, {x: floats(1, np.nan)}))
    c.check(sess.run(checked, {x: floats(1, 2)}), floats(1, 2))
    c.raises("InvalidArgumentError", lambda: sess.run(checked, {x: floats(np.inf, 1)}))
    c.check(sess.run(checked, {x: floats(3, 4)}), floats(3, 4))


@api_case("GPU-038", title="A row that is not there is an error or zeros.", needs=_GPU)
def rows_that_are_not_there(c: ApiAuthor) -> None:
    indices = c.tf.placeholder(c.tf.int32, [None], name="indices")
    rows = c.tf.placeholder(c.tf.float32, [3], name="rows")
    with c.within(c.tf.device("/gpu:0")):
        taken = c.tf.gather(rows, indices, name="taken")
    sess, feeds = c.tf.Session(), {rows: floats(1, 2, 3)}
    c.check(sess.run(taken, {indices: np.array([2, 0], np.int32), **feeds}), floats(3, 1))
    c.named_check(
        "gpu.rows_or_refusal",
        one_of(3, floats(2, 0)),
        session=sess,
        fetches=taken,
        feeds={indices: np.array([1, 7], np.int32), **feeds},
    )


@api_case("GPU-039", title="Matrices that do not go together are refused.", needs=_GPU)
def shapes_that_do_not_go_together(c: ApiAuthor) -> None:
    a, b = (c.tf.placeholder(c.tf.float32, [None, None], name=name) for name in "ab")
    product = _on(c, "/gpu:0", "matmul", a, b, name="product")
    sess, ones = c.tf.Session(), np.ones((2, 3), np.float32)
    c.raises("InvalidArgumentError", lambda: sess.run(product, {a: ones, b: ones}))
    c.check(sess.run(product, {a: ones, b: ones.T.copy()}), np.full((2, 2), 3, np.float32))
