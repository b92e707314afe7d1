"""Programs that import from `python.framework...`: devices, registries, test_ops."""

from __future__ import annotations

import time
from typing import Any

from google.protobuf import text_format

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _framework(tf: Any, name: str) -> Any:
    """A module of `python.framework` of a namespace."""
    return module_of(tf, f"framework.{name}")


def _two_kinds_of_device_specs(tf: Any) -> Any:
    module = _framework(tf, "device_spec")
    fixed = module.DeviceSpecV2("w", 1, 2, "gpu", 3)
    changing = module.DeviceSpecV1("w", 1, 2, "gpu", 3)
    merged = changing.make_merged_spec(module.DeviceSpecV2(task=7)).to_string()
    return (
        issubclass(module.DeviceSpecV1, module.DeviceSpecV2),
        merged,
        attempt(
            lambda: setattr(fixed, "job", "x"),
            lambda: fixed.merge_from(changing),
            lambda: fixed.parse_from_string("/cpu:0").to_string(),
            fixed.to_string,
            lambda: fixed.replace(task=None).to_string(),
            lambda: str(fixed),
            lambda: fixed == changing,
            lambda: changing == fixed,
            lambda: (
                hash(fixed)
                == hash(module.DeviceSpecV2.from_string("/job:w/replica:1/task:2/device:GPU:3"))
            ),
        ),
    )


def _device_names(tf: Any) -> Any:
    module, specs = _framework(tf, "device"), _framework(tf, "device_spec")
    values = None, "", "/cpu:0", "nope", "/gpu:1/job:a", specs.DeviceSpecV2("a")
    merging = module.merge_device("/job:a/gpu:1")
    with tf.device(merging), tf.device(module.merge_device("/job:b")):
        placed = tf.constant(1)
    return (
        placed,
        module.merge_device("/job:a/gpu:1") is merging,
        attempt(
            *(lambda value=value: module.canonical_name(value) for value in values),
            *(lambda value=value: module.is_device_spec(value) for value in values),
            *(lambda value=value: module.check_valid(value) for value in ("", "/cpu:0", "nope")),
            lambda: merging(tf.NodeDef(device="/job:b")).to_string(),
            lambda: merging.shortcut_string_merge(tf.NodeDef()),
            lambda: merging.is_null_merge,
            lambda: merging(tf.NodeDef(device="bad")),
            lambda: module.merge_device("bad"),
        ),
    )


def _registries(tf: Any) -> Any:
    held = _framework(tf, "registry").Registry("thing")
    held.register(len)
    held.register(max, "other")
    return (
        sorted(held.list()),
        attempt(
            lambda: held.lookup("len") is len,
            lambda: held.lookup(b"other") is max,
            lambda: held.lookup("none"),
            lambda: held.register(len),
        ),
    )


def _name_scopes(tf: Any) -> Any:
    ops = _framework(tf, "ops")
    names = "a/b", "ab/a/b", "^a/b", "loc:@a//b", "a", b"a/b", "a.b/c"
    scope, seen = ops.name_scope_v2("s"), []
    with scope as outer, scope as inner, ops.name_scope("t", skip_on_eager=False) as innermost:
        seen += [outer, inner, innermost, ops.get_current_name_scope(), ops.has_default_graph()]
    return (
        seen,
        scope.name,
        attempt(
            *(lambda name=name: ops.strip_name_scope(name, "a") for name in names),
            *(lambda name=name: ops.prepend_name_scope(name, "a/") for name in names),
            lambda: ops.strip_name_scope("a/b", None),
            lambda: ops.prepend_name_scope("a/b", ""),
            lambda: ops.name_scope_v2(None),
            lambda: ops.name_scope_v2("a b").__enter__(),
        ),
    )


def _operations_by_name(tf: Any) -> Any:
    apply_op = _framework(tf, "op_def_library").apply_op
    return attempt(
        lambda: apply_op("AddV2", x=1, y=[2, 3], name="sum"),
        lambda: apply_op("NoOp"),
        lambda: apply_op("Unique", x=[1, 1], out_idx=tf.int64),
        lambda: apply_op("Unheard"),
        lambda: apply_op("Split", axis=0, value=[1, 2], num_split=2),
        lambda: apply_op("Pack", values=[1, 2], axis=0),
        lambda: apply_op("Pack", values=[1, 2]),
        lambda: apply_op("Exp", x_=1.0),
        lambda: apply_op("Exp"),
        lambda: apply_op("Exp", x="a"),
        lambda: apply_op("Exp", x=1.0, T=tf.float32),
        lambda: apply_op("Exp", x=1.0, more=3),
        lambda: apply_op("Placeholder", dtype=tf.int32, shape=None),
    )


def _resources(tf: Any) -> Any:
    module, handles = module_of(tf, "ops.resources"), module_of(tf, "ops.resource_variable_ops")
    empty, nothing = module.report_uninitialized_resources(), module.initialize_resources([])
    listed = [tf.get_variable(name, initializer=1.0, use_resource=True) for name in "vw"]
    for variable, is_shared in zip(listed, (True, False), strict=True):
        ready = tf.is_variable_initialized(variable)
        module.register_resource(variable.handle, variable.initializer, ready, is_shared)
    missing, make = module.report_uninitialized_resources(), module.initialize_resources
    making = make(module.shared_resources()), make(module.local_resources(), "local")
    session, seen = tf.Session(), []
    for step in (None, *making):
        if step is not None:
            session.run(step)
        seen.append(session.run(missing))
    unknown = tf.placeholder(tf.float32, [None, 2])
    varied = tf.get_variable("x", initializer=unknown, validate_shape=False, use_resource=True)
    names = [nothing.name, *(op.name for op in making)]
    return (
        empty,
        session.run(empty),
        names,
        missing,
        seen,
        attempt(
            lambda: handles.variable_shape(listed[0].handle),
            lambda: handles.variable_shape(varied.handle, tf.int64),
            lambda: handles.variable_shape(varied.handle),
            lambda: [module_of(tf, "eager.context").graph_mode().__enter__()],
        ),
    )


def _operations_for_tests(tf: Any) -> Any:
    ops, graph, session = _framework(tf, "test_ops"), tf.get_default_graph(), tf.Session()
    made = [ops.kernel_label()]
    labels = dict.fromkeys(("KernelLabel", "KernelLabelRequired"), "overload_1")
    with graph._kernel_label_map(labels):
        made += [ops.kernel_label(), ops.kernel_label_required([1, 2])]
        with graph._kernel_label_map({"KernelLabel": ""}):
            made.append(ops.kernel_label())
    handle = ops.stub_resource_handle_op(container="a", shared_name="b")
    create, use = ops.resource_create_op(handle), ops.resource_using_op(handle)
    ready, limited = ops.resource_initialized_op(handle), tf.RunOptions(timeout_in_ms=300)
    sleeps = ops.sleep_op(0), ops.sleep_identity_op(0, "x"), ops.sleep_op(-1), ops.sleep_op(1)
    deadline, unlabelled = ops.get_deadline(), tf.placeholder(tf.int32, [None])
    return (
        made,
        handle.shape,
        deadline,
        session.run(made),
        attempt(
            lambda: session.run(ready),
            lambda: session.run(use),
            lambda: session.run(create),
            lambda: session.run(create),
            lambda: session.run([ready, use]),
            lambda: session.run(sleeps[:3]),
            lambda: session.run(sleeps[3], options=limited),
            lambda: abs(session.run(deadline, options=limited) / 1e6 - time.time()) < 5,
            lambda: session.run(deadline),
            lambda: ops.kernel_label_required(1),
            lambda: session.run(ops.kernel_label_required(unlabelled), {unlabelled: [1]}),
            lambda: session.run(made[0]),
        ),
    )


def _equal_graph_defs(tf: Any) -> Any:
    equal = _framework(tf, "graph_util").graph_defs_equal
    node = 'node { name: "a" op: "A" %s }'
    number = node % 'attr { key: "z" value { %s } }'
    function = 'library { function { signature { name: "f" } %s } }'
    odd = [
        number % "f: nan",
        number % "tensor { float_val: nan }",
        function % ('node_def { attr { key: "z" value { f: nan } } }'),
    ]
    pairs = [
        ("", "versions { producer: 3 }"),
        (node % "", node % 'device: "/cpu:0"'),
        (node % 'input: "^x" input: "^y"', node % 'input: "^y" input: "^x"'),
        (node % 'input: "x:0"', node % 'input: "x"'),
        (number % "f: 0", number % "f: -0.0"),
        (
            node % 'attr { key: "z" } attr { key: "y" }',
            node % 'attr { key: "y" } attr { key: "z" }',
        ),
        (number % "list { i: 1 i: 2 }", number % "list { i: 2 i: 1 }"),
        (number % "i: 1", number % "b: true"),
        (node % "" + number % "i: 1", node % ""),
        (node % "" + number % "i: 1", number % "i: 1" + node % ""),
        (
            function % 'node_def { name: "a" } node_def { name: "b" }',
            function % 'node_def { name: "b" } node_def { name: "a" }',
        ),
        (function % 'ret { key: "a" value: "b" }', function % ""),
        (
            "library { function { signature { name: 'f' } } function { signature { name: 'g' } } }",
            "library { function { signature { name: 'g' } } function { signature { name: 'f' } } }",
        ),
        *zip(odd, odd, strict=True),
    ]
    parsed = [[text_format.Parse(text, tf.GraphDef()) for text in pair] for pair in pairs]
    return attempt(
        *(lambda pair=pair: equal(*pair) for pair in parsed),
        *(lambda pair=pair: equal(*pair, treat_nan_as_equal=True) for pair in parsed),
        lambda: equal(3, tf.GraphDef()),
        lambda: equal(tf.GraphDef(), None),
    )


def _branches_chosen_early(tf: Any) -> Any:
    early = module_of(tf, "framework.smart_cond")
    p, known = tf.placeholder(tf.bool, [], name="p"), tf.constant(2) * 3 > 5

    def never() -> Any:
        raise RuntimeError("this branch is not built")

    def one() -> Any:
        return tf.constant(1, name="one")

    def two() -> Any:
        return tf.constant(2, name="two")

    return attempt(
        lambda: early.smart_cond(True, one, never),
        lambda: early.smart_cond(0, never, two),
        lambda: early.smart_cond(known, one, never),
        lambda: early.smart_cond(p, one, two, name="c"),
        lambda: early.smart_cond(p, one),
        lambda: early.smart_cond(True, None, two),
        lambda: early.smart_cond("yes", one, two),
        lambda: early.smart_constant_value(known),
        lambda: early.smart_constant_value(p),
        lambda: early.smart_constant_value(1),
        lambda: early.smart_case([(False, never), (p, one), (True, two)], never),
        lambda: early.smart_case([(False, never)], one, exclusive=True),
        lambda: early.smart_case([], one),
        lambda: early.smart_case([(p, 1)], one),
    )


def _seeds_that_must_be_given(tf: Any) -> Any:
    config = module_of(tf, "framework.config")
    tf.set_random_seed(None)
    config.enable_op_determinism()
    try:
        return attempt(
            config.is_op_determinism_enabled,
            lambda: tf.random_uniform([2]),
            lambda: tf.random_uniform([2], seed=3),
            lambda: tf.random_shuffle([1, 2]),
        )
    finally:
        config.disable_op_determinism()


def _what_makes_branches_and_loops(tf: Any) -> Any:
    told = module_of(tf, "ops.control_flow_util")
    outside, free = tf.constant(3, name="outside"), tf.raw_ops.Enter(data=1, frame_name="free")
    tf.raw_ops.Exit(data=free)

    def body(x: Any) -> Any:
        return tf.cond(x < 5, lambda: x + outside, lambda: x + 2)

    tf.cond(tf.constant(True), lambda: tf.while_loop(lambda x: x < 9, body, [1]), lambda: 0)
    questions = (
        "IsSwitch",
        "IsMerge",
        "IsLoopEnter",
        "IsLoopExit",
        "IsCondSwitch",
        "IsCondMerge",
        "IsLoopSwitch",
        "IsLoopMerge",
        "IsLoopConstantEnter",
        "IsInWhileLoop",
        "IsInCond",
    )
    found = []
    for op in tf.get_default_graph().get_operations():
        here = told.GetOutputContext(op)
        around = [told.GetContainingWhileContext(here), told.GetContainingCondContext(here)]
        within = [told.IsContainingContext(here, each) for each in around]
        enters = [told.GetLoopConstantEnter(each) for each in op.outputs]
        found.append(
            [
                op.name,
                [bool(getattr(told, each)(op)) for each in questions],
                within,
                [each is None for each in around],
                [each is None or each.name for each in enters],
                told.OpInContext(op, None),
                [told.TensorInContext(each, here) for each in op.outputs],
            ]
        )
    return found


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _two_kinds_of_device_specs,
        _device_names,
        _registries,
        _name_scopes,
        _operations_by_name,
        _resources,
        _operations_for_tests,
        _equal_graph_defs,
        _branches_chosen_early,
        _seeds_that_must_be_given,
        _what_makes_branches_and_loops,
    )
}
