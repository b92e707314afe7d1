"""Programs of partitioned variables: slice infos of the parts, and the joined value."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _kind(tf):
    """The class `PartitionedVariable`, which is available by TensorFlow's internal path only."""
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else "sessrun.reference"
    return importlib.import_module(f"{package}.python.ops.variables").PartitionedVariable


def _part(tf, value: int, *, full: Sequence[int] = (2,), offset=None, resource: bool = False):
    variable = tf.Variable([value], name="part", use_resource=resource)
    offset = [value] + [0] * (len(full) - 1) if offset is None else offset
    variable._set_save_slice_info(
        tf.Variable.SaveSliceInfo("whole", list(full), offset, [1] * len(full))
    )
    return variable


def _partitioned(tf, **options):
    arguments = {"name": "whole", "shape": [2], "dtype": tf.int32, "partitions": [2]}
    if "variable_list" not in options:
        arguments["variable_list"] = [_part(tf, 1), _part(tf, 0)]
    return _kind(tf)(**{**arguments, **options})


def _fields(info):
    fields = ("full_name", "full_shape", "var_offset", "var_shape")
    return None if info is None else [getattr(info, field) for field in fields]


def _places(tf):
    kind = tf.Variable.SaveSliceInfo
    info = kind("scope/a", [4, 6], [0, 2], [2, 3])
    again = kind(save_slice_info_def=info.to_proto(), import_scope="outer/")
    v = tf.Variable([1.0], name="v")
    before = [v._get_save_slice_info(), v.to_proto().HasField("save_slice_info_def")]
    v._set_save_slice_info(info)
    return [
        info.spec,
        _fields(info),
        _fields(again),
        again.spec,
        before,
        str(info.to_proto()),
        str(info.to_proto(export_scope="scope")),
        info.to_proto(export_scope="other"),
        _fields(kind()),
        str(v.to_proto().save_slice_info_def),
        _fields(tf.Variable.from_proto(v.to_proto())._get_save_slice_info()),
        attempt(
            *(
                lambda spec=spec: _fields(kind.from_spec(spec))
                for spec in ("4 6 0,2:2,3", "2 0,1", "2 3 0,1", "x", "3 0", "")
            ),
            lambda: kind(save_slice_info_def=3),
        ),
    ]


def _constructed(tf):
    def shown(**options) -> Action:
        def make():
            variable = _partitioned(tf, **options)
            return [
                variable.name,
                variable.shape,
                variable.get_shape(),
                variable._get_partitions(),
                [part.name for part in variable],
                len(variable),
                variable.as_tensor(),
            ]

        return make

    unplaced = tf.Variable([0])
    square = [_part(tf, 0, full=[2, 2]), _part(tf, 1, full=[2, 2])]
    return attempt(
        shown(),
        shown(name="other"),
        shown(variable_list=[]),
        shown(variable_list=None),
        shown(partitions=None),
        shown(partitions=[0]),
        shown(partitions=[1, 2]),
        shown(partitions=(2,), variable_list=(_part(tf, 0), _part(tf, 1))),
        shown(partitions=[1], variable_list=[_part(tf, 0)]),
        shown(shape=[3]),
        shown(shape=[2, 2]),
        shown(variable_list=[unplaced]),
        shown(shape=[2, 2], partitions=[2, 2], variable_list=square),
        shown(shape=[2, 2], partitions=[2, 1], variable_list=square),
    )


def _graph(tf):
    variable = _partitioned(tf)
    sums = [
        tf.add(variable, 1),
        tf.identity(variable),
        tf.convert_to_tensor(variable, dtype=tf.int32),
    ]
    variable.assign(tf.constant([5, 6]))
    refused = attempt(
        lambda: tf.convert_to_tensor(variable, dtype=tf.float32),
        lambda: variable + 1,
        lambda: variable.assign([1, 2]),
        lambda: tf.Session().run(variable),
    )
    nodes = tf.get_default_graph().as_graph_def().node
    return [sums, refused, [[n.name, n.op, list(n.input)] for n in nodes]]


def _updated(tf):
    outcomes = []
    for resource in (False, True):
        one, two = (
            _partitioned(tf, variable_list=[_part(tf, n, resource=resource) for n in (0, 1)])
            for _ in range(2)
        )
        updates = [
            one.assign(tf.constant([3, 4])),
            one.assign_add([[1], [1]]),
            two.assign(one),
            two.assign_sub(one),
            two.assign_add(tf.constant([7, 8]), use_locking=True),
        ]
        outcomes.append(caught(lambda one=one, two=two: one.assign(two, read_value=False)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for update in updates:
                session.run(update)
                outcomes.append(session.run([one.as_tensor(), two.as_tensor(), *one, *two]))
    return outcomes


BEHAVIOURS = {
    "places": _places,
    "made": _constructed,
    "graph": _graph,
    "updated": _updated,
}
