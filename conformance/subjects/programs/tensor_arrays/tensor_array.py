"""Programs of TensorArrays: nodes, values, errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain, TensorArray
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

#: The arguments of several kinds of TensorArrays, besides dtype and size.
KINDS = (
    {},
    {"element_shape": []},
    {"infer_shape": False},
    {"dynamic_size": True},
    {"clear_after_read": False},
    {"element_shape": [None], "infer_shape": False},
)


def _ran(tf, *programs: Action):
    """The value of what each program returns, or the error of building or running it."""
    return attempt(*(lambda program=program: run(tf, program()) for program in programs))


def _nodes(tf) -> list[Plain]:
    graph = tf.get_default_graph()
    return [
        [
            n.name,
            n.op,
            n.device,
            list(n.attr["_class"].list.s),
            list(n.input),
            [str(t.shape) for t in graph.get_operation_by_name(n.name).outputs],
        ]
        for n in graph.as_graph_def().node
    ]


def _graph(tf):
    with tf.device("/cpu:0"):
        one = tf.TensorArray(tf.float32, 2, name="one").unstack([1.0, 2.0])
        one.stack()
        one.read(0)
        one.size()
        two = tf.TensorArray(
            tf.float32, tf.placeholder(tf.int32), dynamic_size=True, element_shape=[2]
        ).write(3, [1.0, 2.0])
        two.stack()
        two.size()
        two.concat()
        two.close()
        two.grad("x")
        two.identity()
        two.split([1.0, 2.0], [2, 0], name="split")
        two.gather([1], name="gather")
        two.scatter([0], [[1.0, 2.0]], name="scatter")
        tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=False).write(0, 1.0)
    two.write(0, [3.0, 4.0]).mark_used()
    # TensorFlow has that method on results of `write` only, and does not document it.
    public = sorted(n for n in dir(two) if not n.startswith("_") and n != "mark_used")
    return [
        _nodes(tf),
        str(one.element_shape),
        one.dtype.name,
        one.dynamic_size,
        two.dynamic_size,
        public,
    ]


def _constructed(tf):
    def of_handle(**more):
        handle = tf.TensorArray(tf.float32, 2).handle
        return tf.TensorArray(tf.float32, handle=handle, **more).flow

    return attempt(
        lambda: tf.TensorArray(tf.float32),
        lambda: tf.TensorArray(tf.float32, handle="h", flow=tf.zeros([])),
        lambda: tf.TensorArray(tf.float32, [1, 2]),
        of_handle,
        lambda: of_handle(size=2, flow=tf.zeros([])),
        lambda: of_handle(tensor_array_name="x"),
        lambda: of_handle(element_shape=[]),
        lambda: of_handle(dynamic_size=False),
        lambda: of_handle(clear_after_read=True),
        lambda: of_handle(flow=tf.zeros([])),
        lambda: tf.convert_to_tensor(tf.TensorArray(tf.float32, 2)),
        lambda: run(tf, tf.TensorArray(tf.float32, 2)),
    )


def _writes(tf, options: dict[str, bool]):
    def array():
        return tf.TensorArray(tf.float32, 3, **options)

    def unknown(value):
        return tf.placeholder_with_default(np.float32(value), None)

    return _ran(
        tf,
        lambda: array().write(0, 1.0).write(0, 2.0).flow,
        lambda: array().write(3, 1.0).flow,
        lambda: array().write(-1, [1.0]).flow,
        lambda: array().write(1, 1.0).read(1),
        lambda: array().write(1, 1.0).read(0),
        lambda: array().write(1, [1.0]).write(0, 3.0).read(1),
        lambda: array().write(1, unknown([1.0])).write(0, unknown(3.0)).stack(),
        lambda: array().stack(),
        lambda: array().scatter([2, 0], [1.0, 2.0]).stack(),
        lambda: array().scatter([3, 1], [[1.0], [2.0]]).flow,
        lambda: array().scatter([1, 1], [1.0, 2.0]).flow,
        lambda: array().unstack([1.0, 2.0, 3.0]).gather([2, 0]),
        lambda: array().unstack([1.0, 2.0, 3.0]).gather([2, 2]),
        lambda: array().split([1.0, 2.0, 3.0], [1, 2, 0]).concat(),
        lambda: array().split([1.0, 2.0, 3.0], [1, 2, 0]).read(1),
        lambda: array().split([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1]).concat(),
        lambda: array().split([1.0, 2.0], [1, 1]).concat(),
        lambda: array().split([1.0, 2.0, 3.0], [1, 1, 0]).flow,
    )


def _written(tf):
    return [_writes(tf, options) for options in KINDS]


def _values(tf):
    def of(dtype, values):
        return tf.TensorArray(dtype, 2).unstack(tf.constant(values, dtype)).stack()

    f32 = tf.float32
    return _ran(
        tf,
        *(
            lambda dtype=dtype: of(dtype, [1, 0])
            for dtype in (tf.int8, tf.uint32, tf.int64, tf.half, tf.bfloat16, tf.complex64)
        ),
        lambda: of(tf.string, ["a", "b"]),
        lambda: of(tf.bool, [[True], [False]]),
        *(
            lambda dtype=dtype: tf.TensorArray(dtype, 2, element_shape=[]).read(1)
            for dtype in (tf.int8, tf.bool, tf.complex64, tf.half, tf.string)
        ),
        lambda: tf.TensorArray(f32, 0).stack(),
        lambda: tf.TensorArray(f32, 0, element_shape=[2]).stack(),
        lambda: tf.TensorArray(f32, 0, element_shape=[2, None]).stack(),
        lambda: tf.TensorArray(f32, 0, element_shape=[None, 2]).concat(),
        lambda: tf.TensorArray(f32, 0).concat(),
        lambda: tf.TensorArray(f32, 2).unstack([1.0, 2.0]).concat(),
        lambda: tf.TensorArray(f32, 2, infer_shape=False).unstack([1.0, 2.0]).concat(),
        lambda: tf.TensorArray(f32, 2).unstack([[1.0], [2.0]]).concat(),
        lambda: tf.TensorArray(f32, 3).unstack([1.0, 2.0]).gather(tf.zeros([0], tf.int32)),
        lambda: tf.TensorArray(f32, -1).flow,
        lambda: tf.TensorArray(f32, tf.placeholder_with_default(2, None)).size(),
        lambda: tf.TensorArray(f32, tf.placeholder_with_default([2], None)).flow,
        lambda: tf.TensorArray(f32, 0, dynamic_size=True).write(5, 1.0).size(),
        lambda: (
            tf.TensorArray(f32, 5, dynamic_size=True, infer_shape=False)
            .split([1.0, 2.0], [1, 1])
            .flow
        ),
        lambda: tf.TensorArray(f32, 2).unstack(1.0).flow,
        lambda: tf.TensorArray(f32, 2).unstack([1, 2]).stack(),
        lambda: tf.TensorArray(f32, 2).write(0, tf.constant(1)).flow,
        lambda: tf.TensorArray(f32, 2).write([0], 1.0).flow,
        lambda: tf.TensorArray(f32, 2).unstack([1.0, 2.0]).identity().stack(),
        lambda: [
            tf.TensorArray(f32, 1, tensor_array_name="x").write(0, 1.0).read(0),
            tf.TensorArray(f32, 1, tensor_array_name="x").write(0, 2.0).read(0),
        ],
    )


def _in_order(tf):
    """Pairs of operations in order, with `clear_after_read` and without."""

    def after(
        first: Callable[[TensorArray], Tensor], second: Callable[[TensorArray], Tensor], **options
    ):
        array = tf.TensorArray(tf.float32, 2, **options).unstack([1.0, 2.0])
        with tf.control_dependencies([array.flow]):
            done = first(array)
        with tf.control_dependencies([done]):
            return second(array)

    seconds = [
        lambda array: array.read(0),
        lambda array: array.write(0, 3.0).flow,
        lambda array: array.stack(),
        lambda array: array.gather([1]),
        lambda array: array.close(),
    ]
    return _ran(
        tf,
        *(
            lambda first=first, second=second, clears=clears: after(
                first, second, clear_after_read=clears
            )
            for first in (lambda array: array.read(0), lambda array: array.close())
            for second in seconds
            for clears in (None, False)
        ),
    )


def _raw(tf):
    ops = tf.raw_ops

    def array_of(**options):
        return ops.TensorArrayV3(size=2, dtype=tf.float32, **options)

    def gathered(array, **options):
        return ops.TensorArrayGatherV3(
            handle=array[0], indices=[0], flow_in=array[1], **{"dtype": tf.float32, **options}
        )

    def joined(array, **options):
        return ops.TensorArrayConcatV3(
            handle=array[0], flow_in=array[1], **{"dtype": tf.float32, **options}
        )

    unwritten = array_of(element_shape=[None, 3])
    return [
        *attempt(
            lambda: array_of(element_shape=[2]).handle,
            lambda: gathered(array_of(), element_shape=[2, None]),
            lambda: gathered(array_of(element_shape=[2]), element_shape=[3]),
            lambda: gathered(unwritten, element_shape=[2, None]),
            lambda: gathered(array_of(identical_element_shapes=True), element_shape=[2]),
            lambda: ops.TensorArraySizeV3(handle=tf.placeholder(tf.resource), flow_in=0.0),
            lambda: ops.TensorArraySizeV3(handle=tf.placeholder(tf.resource, []), flow_in=0.0),
            lambda: ops.TensorArrayReadV3(
                handle=array_of(element_shape=[2])[0], index=0, flow_in=[0.0], dtype=tf.float32
            ),
            lambda: ops.TensorArrayReadV3(
                handle=array_of(element_shape=[2])[0], index=0, flow_in=0.0, dtype=tf.int32
            ),
        ),
        *_ran(
            tf,
            lambda: gathered(unwritten, element_shape=[2, None]),
            lambda: gathered(array_of(), dtype=tf.int32),
            lambda: joined(array_of(element_shape=[1, 2])),
            lambda: joined(array_of(), element_shape_except0=[2]),
            lambda: joined(array_of(element_shape=[1, 2]), element_shape_except0=[3]),
            lambda: joined(array_of(element_shape=[1, 2]), dtype=tf.int32),
        ),
    ]


def _gradients(tf):
    def array(**options):
        return tf.TensorArray(tf.float32, 2, clear_after_read=False, **options).unstack([1.0, 2.0])

    def twice():
        forward = array()
        written = forward.grad("a").write(0, 4.0)
        with tf.control_dependencies([written.flow]):
            return forward.grad("a").read(0), forward.grad("b").read(0)

    def grown():
        forward = array(dynamic_size=True)
        with tf.control_dependencies([forward.grad("a").flow]):
            return forward.write(7, 1.0).flow

    def partly():
        forward = tf.TensorArray(tf.float32, 3, infer_shape=False).write(0, 1.0).write(1, [2.0])
        return forward.grad("a")

    def strings():
        forward = tf.TensorArray(tf.string, 2).unstack(["a", "b"])
        return forward.grad("a").write(0, "x").write(0, "y").read(0)

    def read_twice():
        backward = array().grad("a")
        with tf.control_dependencies([backward.read(0)]):
            return backward.read(0)

    return _ran(
        tf,
        lambda: array().grad("a").write(0, 5.0).write(0, 6.0).read(0),
        lambda: array().grad("a").read(1),
        twice,
        grown,
        lambda: partly().read(1),
        lambda: partly().read(2),
        lambda: partly().write(1, tf.placeholder_with_default(3.0, None)).flow,
        strings,
        read_twice,
        lambda: array().grad("a").write(0, 5.0).write(0, 1.0).grad("b").flow,
    )


def _runs(tf):
    """Every run has its own TensorArrays; the calls of a partial run share them."""
    value = tf.placeholder(tf.float32, [])
    array = tf.TensorArray(tf.float32, 2, element_shape=[]).write(0, value)
    second = tf.placeholder(tf.float32, [])
    stacked = array.write(1, second).stack()
    with tf.Session() as session:
        values = [session.run(stacked, {value: n, second: n + 1}) for n in range(3)]
        handle = session.partial_run_setup([array.flow, stacked], [value, second])
        session.partial_run(handle, array.flow, {value: 8.0})
        return [*values, session.partial_run(handle, stacked, {second: 9.0})]


def _gradients_of_pieces(tf):
    """The gradient of `split` leaves out elements that are written later."""
    x = tf.constant([1.0, 2.0, 3.0])
    array = tf.TensorArray(tf.float32, 3, dynamic_size=True).split(x, [1, 1, 1]).write(3, [4.0])
    return run(tf, tf.gradients(tf.square(array.concat()), x)[0])


def _gradients_with_more_axes(tf):
    def gradient_array(outer, **options):
        array = tf.TensorArray(tf.float32, 2, **options)
        handle, flow = tf.raw_ops.TensorArrayGradWithShape(
            handle=array.handle,
            flow_in=array.write(0, [1.0, 2.0]).flow,
            shape_to_prepend=outer,
            source="s",
        )
        return tf.TensorArray(tf.float32, handle=handle, flow=flow)

    known = gradient_array([3], element_shape=[None])
    shapes = [
        str(known.handle.shape),
        str(known.flow.shape),
        str(gradient_array([4, 5]).read(0).shape),
    ]
    return shapes, _ran(
        tf,
        lambda: known.read(0),
        lambda: known.write(1, [1.0]).flow,
        lambda: gradient_array([[3]]).read(0),
        lambda: gradient_array(tf.constant([-1])).read(0),
    )


BEHAVIOURS = {
    "gradients of pieces": _gradients_of_pieces,
    "more axes": _gradients_with_more_axes,
    "graph": _graph,
    "made": _constructed,
    "written": _written,
    "values": _values,
    "order": _in_order,
    "raw": _raw,
    "gradients": _gradients,
    "runs": _runs,
}
