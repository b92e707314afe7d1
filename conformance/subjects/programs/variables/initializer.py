"""Programs of initializers: values with seeds, nodes, configs, errors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

_SHAPES = [
    [3, 2],
    [2, 3],
    [4],
    [],
    [3, 2, 4],
    [3, 3, 2, 2],
    [2, 2, 2, 1, 2],
    (2, 2),
    [0, 2],
]


#: An initializer: a function of a shape, and perhaps of a dtype and a partition.
Initializer = Callable[..., Tensor]


class _PartitionInfo:
    """The partition info that partitioned variables pass to initializers."""

    full_shape, var_offset = (6, 3), (2, 0)


def _module(tf):
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else "sessrun.reference"
    return importlib.import_module(f"{package}.python.ops.init_ops")


def _kinds(tf) -> Iterator[Callable[..., Initializer]]:
    """Functions from options to an initializer, with a seed where it has one."""
    ops = _module(tf)

    def seedless(kind, **given) -> Callable[..., Initializer]:
        def make(seed=None, **options):
            del seed
            return kind(**given, **options)

        return make

    def seeded(kind, **given) -> Callable[..., Initializer]:
        return lambda **options: kind(**given, **options)

    yield from (
        seedless(ops.Zeros),
        seedless(ops.Ones),
        seedless(ops.Constant, value=[1, 2, 3]),
        seedless(ops.Identity, gain=2.0),
        seeded(ops.RandomUniform, minval=-2, maxval=3),
        seeded(ops.RandomNormal, mean=1.0, stddev=2.0),
        seeded(ops.TruncatedNormal),
        seeded(ops.UniformUnitScaling, factor=2.0),
        seeded(ops.GlorotUniform),
        seeded(ops.GlorotNormal),
        seeded(ops.Orthogonal, gain=1.5),
        seeded(ops.convolutional_delta_orthogonal),
        seeded(ops.ConvolutionOrthogonal1D),
        seeded(ops.ConvolutionOrthogonal2D),
        seeded(ops.ConvolutionOrthogonal3D),
    )
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("normal", "uniform", "truncated_normal", "UNTRUNCATED_NORMAL"):
            yield seeded(ops.VarianceScaling, scale=2.5, mode=mode, distribution=distribution)


def _rounded(tf, value):
    """The shape, dtype and rounded value: the last bits depend on the library."""
    array = run(tf, value)
    is_number = array.dtype.kind in "fc"
    shown = np.round(array.astype("complex128"), 2 if array.dtype == np.float16 else 4) + 0.0
    return [value.shape, value.dtype, shown.tolist() if is_number else array.tolist()]


def _values(tf):
    def of(make: Callable[..., Initializer], shape, seed) -> Action:
        def value():
            with tf.Graph().as_default() as graph:
                tf.set_random_seed(77)
                tensor = make(seed=seed)(shape)
                names = [[op.name, op.type] for op in graph.get_operations()]
                return [names, _rounded(tf, tensor)]

        return value

    shapes = [*_SHAPES, tf.TensorShape([2, 3])]
    return [
        attempt(*(of(make, shape, seed) for shape in shapes for seed in (None, 5)))
        for make in _kinds(tf)
    ]


def _dtypes(tf):
    kinds = [tf.float64, tf.float16, tf.int32, tf.bool, tf.complex64, tf.string, "float64"]

    def configured(make: Callable[..., Initializer], dtype) -> Action:
        def configurations():
            one = make(dtype=dtype)
            again = type(one).from_config(one.get_config())
            return [sorted(initializer.get_config().items()) for initializer in (one, again)]

        return configurations

    return [
        attempt(
            *(
                lambda dtype=dtype, make=make: _rounded(tf, make(seed=3)([2, 2], dtype=dtype))
                for dtype in kinds
            ),
            *(configured(make, dtype) for dtype in kinds),
        )
        for make in _kinds(tf)
    ]


def _parts(tf):
    return [
        attempt(
            lambda make=make: _rounded(tf, make(seed=3)([2, 3], partition_info=_PartitionInfo())),
            lambda make=make: _rounded(tf, make(seed=3)([2, 3], tf.float64, _PartitionInfo())),
        )
        for make in _kinds(tf)
    ]


def _arguments(tf):
    ops = _module(tf)
    named = [
        getattr(tf.initializers, f"{who}_{what}")
        for who in ("he", "lecun")
        for what in ("normal", "uniform")
    ]
    return attempt(
        *(
            lambda make=make: [
                _rounded(tf, make(seed=3)([2, 3])),
                sorted(make().get_config().items()),
            ]
            for make in named
        ),
        *(
            lambda options=options: ops.VarianceScaling(**options)([2, 2])
            for options in ({"scale": 0.0}, {"scale": -1}, {"mode": "x"}, {"distribution": "x"})
        ),
        lambda: run(tf, ops.Constant([1, 2, 3], verify_shape=True)([2, 2])),
        lambda: run(tf, ops.Constant([1, 2, 3])([2, 2], verify_shape=True)),
        lambda: run(tf, ops.Constant(b"a")([2], tf.string)),
        lambda: ops.Constant({})([2]),
        lambda: run(tf, ops.Constant(2)([2], tf.bool)),
        lambda: ops.Constant(None)([2]),
        lambda: run(tf, ops.RandomUniform(0, 9, seed=1)([3], tf.int32)),
        lambda: ops.RandomUniform(seed=1)([3], tf.int32),
        lambda: run(tf, ops.Zeros()(tf.constant([2, 3]))),
        lambda: ops.Initializer()([2]),
        lambda: sorted(name for name in dir(tf.initializers) if name[0] != "_"),
    )


BEHAVIOURS = {
    "values": _values,
    "dtypes": _dtypes,
    "parts": _parts,
    "arguments": _arguments,
}
