"""Programs of staging areas: nodes, values, errors.

Nothing here waits: TensorFlow blocks a thread that cannot be cancelled.
"""

from __future__ import annotations

import importlib

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]


def _classes(tf) -> tuple[type, type]:
    package = "tensorflow" if "tensorflow" in tf.__name__ else "sessrun.reference"
    module = importlib.import_module(f"{package}.python.ops.data_flow_ops")
    return module.StagingArea, module.MapStagingArea


def _in_turn(tf, *fetches) -> list[Plain]:
    with tf.Session() as session:
        return attempt(*(lambda fetch=fetch: session.run(fetch) for fetch in fetches))


def _key(tf, number: int):
    return tf.constant(number, tf.int64)


def _graph(tf):
    line, by_key = _classes(tf)
    with tf.name_scope("o"), tf.device("/cpu:0"):
        area = line([tf.float32, tf.int32], shapes=[[2], []], capacity=3, memory_limit=99)
    named = line([tf.float32], names=["x"], shared_name="shared")
    elements = [
        area.name,
        area.dtypes,
        area.shapes,
        area.names,
        area.capacity,
        area.memory_limit,
        area.put([tf.constant([1.0, 2.0]), tf.constant(3)]),
        area.get(),
        area.peek(0),
        area.size(),
        area.clear(),
        named.put({"x": tf.constant(1.0)}, name="mine"),
        named.get(name="got"),
        named.put({"x": tf.constant(1.0)}),
        line([tf.float32]).put(tf.constant(1.0)),
        line([tf.float32]).get(),
    ]
    for ordered in (False, True):
        keyed = by_key([tf.float32, tf.int32], ordered=ordered)
        key = _key(tf, 3)
        elements += [
            keyed.put(key, [tf.constant(1.0), tf.constant(3)], [0, 1]),
            keyed.get(key),
            keyed.get(),
            keyed.get(key, indices=[1]),
            keyed.peek(key),
            keyed.size(),
            keyed.incomplete_size(),
            keyed.clear(),
            keyed.put(1, [tf.constant(1)], [1]),
        ]
    named = by_key([tf.float32, tf.int32], names=["x", "y"])
    elements += [
        named.put(key, {"y": tf.constant(1)}),
        named.get(key),
        named.get(key, indices=["y"]),
        named.peek(key, ["x"]),
        named.get(indices=["x"]),
    ]
    nodes = [
        [
            n.name,
            n.op,
            list(n.input),
            n.device,
            list(n.attr["_class"].list.s),
            *(
                f"{name} {value}"
                for name, value in sorted(n.attr.items())
                if name not in {"_class", "value"}
            ),
        ]
        for n in tf.get_default_graph().as_graph_def().node
    ]
    return [attempt(*(lambda part=part: part for part in elements)), nodes]


def _refused(tf):
    line, by_key = _classes(tf)
    number, key = tf.constant(1.0), _key(tf, 1)
    f32 = tf.float32
    return attempt(
        lambda: line([f32]).put([tf.constant(1)]),
        lambda: line([f32]).put([number, number]),
        lambda: line([f32, f32]).put([number]).type,
        lambda: line([f32]).put({"a": number}),
        lambda: line([f32], names=["a"]).put([number]),
        lambda: line([f32], names=["a"]).put({"b": number}),
        lambda: line([f32], names=["a", "b"]),
        lambda: line([f32], shapes=[[1], [2]]),
        lambda: line([f32], shapes=[[1]]).put([number]),
        lambda: line([f32]).put([1.0]),
        lambda: line([f32], shared_name=3),
        lambda: line(f32),
        lambda: line([f32], capacity=-1).size(),
        lambda: line([f32]).peek([0, 1]),
        lambda: by_key([f32]).put(key, [number]),
        lambda: by_key([f32]).put(key, [number], [0, 1]),
        lambda: by_key([f32]).put(tf.constant(1), [number], [0]),
        *(
            lambda indices=indices: by_key([f32]).get(1, indices=indices)
            for indices in (3, [], ["a"], [5], [0, "b"])
        ),
        lambda: by_key([f32], names=["b"]).get(1, indices=["a"]),
        lambda: by_key([f32]).put(tf.constant([1, 2], tf.int64), [number], [0]).type,
        lambda: by_key([f32]).put(key, [number], [5]),
    )


def _line(tf):
    line, _ = _classes(tf)
    area = line([tf.float32])
    puts = [area.put([tf.constant(float(number))]) for number in range(3)]
    size = area.size()
    pair = line([tf.float32, tf.string], names=["a", "b"])
    small = line([tf.float32], memory_limit=20)
    words = line([tf.string], memory_limit=100)
    shared = line([tf.float32], shared_name="shared")
    return [
        _in_turn(
            tf,
            size,
            puts[0],
            puts[1],
            size,
            area.peek(0),
            area.peek(1),
            area.get(),
            size,
            puts[2],
            area.get(),
            area.get(),
            size,
            puts[0],
            area.clear(),
            size,
        ),
        _in_turn(
            tf, pair.put({"a": tf.constant(1.0), "b": tf.constant("x")}), pair.peek(0), pair.get()
        ),
        _in_turn(
            tf,
            small.put([tf.constant([1.0] * 6)]),
            small.put([tf.constant([1.0] * 5)]),
            small.put([tf.zeros([0])]),
            small.size(),
            small.get(),
            small.get(),
        ),
        _in_turn(
            tf, words.put([tf.constant("a" * 90)]), words.put([tf.constant("a" * 76)]), words.get()
        ),
        _in_turn(
            tf,
            shared.put([tf.constant(1.0)]),
            line([tf.int32], shared_name="shared").get(),
            shared.put([tf.constant(1.0)]),
            line([tf.float32, tf.int32], shared_name="shared").get(),
        ),
    ]


def _by_key(tf):
    _, by_key = _classes(tf)

    def of(*, ordered: bool):
        area = by_key([tf.float32, tf.int32], ordered=ordered)
        sizes = [area.size(), area.incomplete_size()]

        def put(number: int, *places: int):
            parts = [tf.constant(float(number)), tf.constant(number)]
            return area.put(_key(tf, number), [parts[index] for index in places], list(places))

        def get(number: int, *places: int):
            return area.get(_key(tf, number), list(places) or None)

        raw = tf.raw_ops.OrderedMapStage if ordered else tf.raw_ops.MapStage

        def staged(key, indices, values):
            return raw(
                key=key,
                indices=indices,
                values=values,
                dtypes=[tf.float32, tf.int32],
                shared_name="raw",
            )

        unknown = tf.placeholder_with_default(tf.constant([1, 2], tf.int64), None)
        key = _key(tf, 1)
        return [
            _in_turn(
                tf,
                sizes,
                put(3, 0, 1),
                put(1, 0, 1),
                sizes,
                area.peek(key),
                get(1),
                sizes,
                area.get(),
                sizes,
                put(4, 0),
                sizes,
                put(4, 1),
                sizes,
                get(4),
                put(7, 0, 1),
                area.peek(_key(tf, 7), [1]),
                get(7, 1),
                sizes,
                get(7, 0),
                sizes,
                put(8, 0),
                put(9, 0, 1),
                area.clear(),
                sizes,
                put(3, 0, 1),
                put(3, 0, 1),
                sizes,
                put(3, 0),
                sizes,
                put(3, 1),
                sizes,
                get(3),
                sizes,
                put(3, 0, 1),
                get(3, 1),
                get(3, 1),
                area.peek(_key(tf, 3)),
            ),
            _in_turn(tf, put(2, 0, 1), get(2, 1, 0), get(2, 0, 0), put(5, 0), put(5, 0), sizes),
            _in_turn(
                tf,
                staged(unknown, [0], [1.0]),
                staged(key, [5], [1.0]),
                staged(key, [-1], [1.0]),
                staged(key, [], [1.0]),
            ),
        ]

    return [of(ordered=False), of(ordered=True)]


def _order(tf):
    _, by_key = _classes(tf)
    area = by_key([tf.float32], ordered=True)
    puts = [area.put(_key(tf, number), [tf.constant(float(number))], [0]) for number in (3, 1, 2)]
    small = by_key([tf.float32], memory_limit=8)
    key = _key(tf, 1)
    return [
        _in_turn(tf, *puts, area.get(), area.get(), area.get()),
        _in_turn(
            tf,
            small.put(key, [tf.constant([1.0] * 3)], [0]),
            small.put(key, [tf.constant([1.0] * 2)], [0]),
            small.get(key),
        ),
    ]


BEHAVIOURS = {
    "graph": _graph,
    "refused": _refused,
    "line": _line,
    "by_key": _by_key,
    "order": _order,
}
