"""Programs of TensorFlow's test operations: resources, kernel labels, waits and deadlines."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _resources(tf):
    ops = module_of(tf, "framework.test_ops")
    handles = [
        ops.stub_resource_handle_op(container="a", shared_name="b"),
        ops.stub_resource_handle_op(container="a", shared_name="b", name="again"),
        ops.stub_resource_handle_op(container="a", shared_name="a"),
        ops.stub_resource_handle_op(container="b", shared_name="b"),
        ops.stub_resource_handle_op(name="own"),
        ops.stub_resource_handle_op(shared_name="own"),
        ops.stub_resource_handle_op(name="other"),
    ]
    create = [ops.resource_create_op(handle) for handle in handles]
    use = [ops.resource_using_op(handle) for handle in handles]
    are = [ops.resource_initialized_op(handle) for handle in handles]
    with tf.Session() as session:
        return [
            handles,
            session.run(are),
            attempt(lambda: session.run(use[0])),
            *(
                attempt(
                    lambda number=number: session.run(create[number]),
                    lambda: session.run(are),
                    lambda number=number: session.run(create[number + 1]),
                    *(lambda op=op: session.run(op) for op in use),
                )
                for number in (0, 2, 4)
            ),
        ]


def _labels(tf):
    """Kernels by label, with an unknown label, and without a label where one is required."""
    ops = module_of(tf, "framework.test_ops")

    def labelled(name: str, label: str, *inputs):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            with graph._kernel_label_map({name: label} if label else {}):
                output = (ops.kernel_label_required if inputs else ops.kernel_label)(*inputs)
            return [output, session.run(output)]

    return attempt(
        *(
            lambda label=label: labelled("KernelLabel", label)
            for label in ("", "overload_1", "overload_2", "overload_3")
        ),
        *(
            lambda label=label: labelled("KernelLabelRequired", label, [2, 3])
            for label in ("", "overload_1", "overload_2")
        ),
        lambda: ops.kernel_label_required(1),
    )


def _waits(tf):
    ops = module_of(tf, "framework.test_ops")
    sleeps = ops.sleep_op(0), ops.sleep_op(-1), ops.sleep_identity_op(0, [2, 3]), ops.sleep_op(9)
    soon = tf.RunOptions(timeout_in_ms=200)
    with tf.Session() as session:
        return [
            sleeps,
            attempt(
                lambda: session.run(sleeps[:3]),
                lambda: session.run(sleeps[3], options=soon),
                lambda: session.run(ops.get_deadline()),
                lambda: session.run(ops.get_deadline(), options=soon) > 1e15,
            ),
        ]


BEHAVIOURS = {"resources": _resources, "labels": _labels, "waits": _waits}
