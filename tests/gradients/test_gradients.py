"""The gradient of every differentiable operation: against differences, and against TensorFlow's.

Operations and arguments come from the table of operations; TensorFlow differentiates the same
GraphDef. Its gradient graphs are ours node for node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from gradient_cases import DIFFERENTIABLE, GradientCase, case_of, import_forward, known_case

import sessrun.reference as ours

#: Not continuous in what is drawn, or rounded to another dtype, or differentiated in part, or right
#: only where one input is what an operation gives of another.
_NOT_BY_DIFFERENCES = {
    "Cast",
    "ClipByValue",
    "Complex",
    "MaxPoolGrad",
    "MaxPoolGradGrad",
    "MaxPoolGradV2",
    "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3",
    "QuantizeAndDequantizeV4",
    "ResizeBicubic",
    "ResizeBilinear",
    "SoftmaxCrossEntropyWithLogits",
    "SparseAdd",
    "RandomGamma",
    "CTCLoss",
    "StatelessRandomGammaV2",
    "StatelessRandomGammaV3",
    "StatelessParameterizedTruncatedNormal",
    # Of the triangle that is read the gradient is that of a symmetric change; complex vectors are
    # scaled to a length; complex numbers come of real ones.
    "Cholesky",
    "Eig",
    "RFFT",
    "RFFT2D",
}
#: Vectors have any sign or phase, and gradients by them that of theirs.
_ANY_SIGN = {"Eig", "SelfAdjointEigV2", "Svd"}
#: What TensorFlow computes of doubles by functions of floats.
_AS_FLOATS = {"CTCLoss"}
#: The dtypes that gradients are compared in, and by how much they may differ: relative, absolute.
_TOLERANCE = {
    "float32": (2e-4, 1e-5),
    "float64": (1e-9, 1e-10),
    "complex64": (2e-4, 1e-5),
    "float16": (2e-2, 1e-2),
    "bfloat16": (6e-2, 1e-2),
}


def _differentiated(tf: Any, case: GradientCase) -> Any:
    """The gradients of a case, dense, what is differentiated, and the nodes that were added."""
    graph = tf.get_default_graph()
    import_forward(tf, case)
    tensors = [graph.get_tensor_by_name(name) for name in case.outputs]
    outputs = [each for each in tensors if each.dtype.is_floating or each.dtype.is_complex]
    with tf.Session() as session:
        values = session.run(outputs, case.feeds)
        generator = np.random.default_rng(5)
        scales = [generator.uniform(0.5, 1.5, value.shape).astype(value.dtype) for value in values]
        given = [
            tf.constant(scale, output.dtype) for scale, output in zip(scales, outputs, strict=True)
        ]
        by = [graph.get_tensor_by_name(name) for name in case.by]
        found = tf.gradients(outputs, by, given)
        nodes = [
            (node.name, node.op, tuple(node.input))
            for node in graph.as_graph_def().node
            if node.name.startswith("gradients")
        ]
        dense = [None if each is None else tf.convert_to_tensor(each) for each in found]
        some = iter(session.run([each for each in dense if each is not None], case.feeds))
        return [None if each is None else next(some) for each in dense], scales, nodes


def _loss(case: GradientCase, feeds: dict[str, Any], scales: Sequence[Any]) -> float:
    with ours.Graph().as_default() as graph, ours.Session() as session:
        import_forward(ours, case)
        outputs = [graph.get_tensor_by_name(name) for name in case.outputs]
        real = [each for each in outputs if each.dtype.is_floating]
        values = session.run(real, feeds)
    pairs = [(value * scale) for value, scale in zip(values, scales, strict=True)]
    # An empty segment's extreme is the lowest number there is: it depends on nothing.
    return float(sum(pair[np.abs(pair) < 1e100].sum() for pair in pairs))


@pytest.mark.parametrize("name", sorted(set(DIFFERENTIABLE) - _NOT_BY_DIFFERENCES))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_are_those_of_differences(name: str) -> None:
    cases = [case_of(name, {"float64"}, number, "f") for number in range(2)]
    for case in cases:
        if case is None:
            pytest.skip("it takes no float64")
        with ours.Graph().as_default():
            found, scales, _ = _differentiated(ours, case)
        generator = np.random.default_rng(7)
        steps = {
            key: generator.uniform(-1, 1, case.feeds[key].shape)
            for key, gradient in zip(case.by, found, strict=True)
            if gradient is not None
        }
        exact = sum(
            float((gradient * steps[key]).sum())
            for key, gradient in zip(case.by, found, strict=True)
            if gradient is not None
        )
        size = 1e-6
        up, down = (
            {
                key: value + sign * size * steps[key] if key in steps else value
                for key, value in case.feeds.items()
            }
            for sign in (1, -1)
        )
        slope = (_loss(case, up, scales) - _loss(case, down, scales)) / (2 * size)
        assert exact == pytest.approx(slope, rel=1e-4, abs=1e-6)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
@pytest.mark.filterwarnings("ignore")
def test_gradients_are_those_of_tensorflow(theirs: Any, name: str) -> None:
    compared = 0
    for number, dtype in enumerate(_TOLERANCE):
        case = case_of(name, {dtype}, number, "c" if dtype.startswith("complex") else "f")
        if case is None:
            continue
        results = [_outcome(tf, case) for tf in (ours, theirs)]
        if isinstance(results[1], str):  # TensorFlow refuses some of these arguments
            continue
        compared += 1
        assert not isinstance(results[0], str), results[0]
        relative, absolute = _TOLERANCE["float32" if name in _AS_FLOATS else dtype]
        for found, wanted in zip(results[0][0], results[1][0], strict=True):
            assert (found is None) == (wanted is None)
            if found is not None:
                # With oneDNN, TensorFlow gives an empty gradient of a convolution in another shape.
                assert found.shape == wanted.shape or found.size == wanted.size == 0
                assert found.dtype == wanted.dtype
            if found is not None and found.size and name not in _ANY_SIGN:
                np.testing.assert_allclose(
                    found.astype(complex), wanted.astype(complex), relative, absolute
                )
        assert results[0][2] == results[1][2]
    if not compared:
        pytest.skip("TensorFlow takes none of the arguments")


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
@pytest.mark.filterwarnings("ignore")
def test_gradients_of_known_shapes_and_numbers_are_those_of_tensorflow(
    theirs: Any, name: str
) -> None:
    cases = [
        case_of(name, {dtype}, number, kinds)
        for number in range(2)
        for dtype, kinds in (("float32", "f"), ("complex64", "c"))
    ]
    known = [known_case(case) for case in cases if case is not None]
    compared = [
        (_gradient_nodes(ours, case), nodes)
        for case in known
        if isinstance(nodes := _gradient_nodes(theirs, case), list)
    ]
    if not compared:
        pytest.skip("TensorFlow takes none of the arguments")
    for found, wanted in compared:
        assert found == wanted


def _gradient_nodes(tf: Any, case: GradientCase) -> Any:
    try:
        with tf.Graph().as_default() as graph:
            import_forward(tf, case)
            tensors = [graph.get_tensor_by_name(name) for name in case.outputs]
            outputs = [each for each in tensors if each.dtype.is_floating or each.dtype.is_complex]
            tf.gradients(outputs, [graph.get_tensor_by_name(name) for name in case.by])
            return [(node.name, node.op, tuple(node.input)) for node in graph.as_graph_def().node]
    except Exception as error:  # noqa: BLE001 - it is compared
        return f"{type(error).__name__}: {error}"


def _outcome(tf: Any, case: GradientCase) -> Any:
    try:
        with tf.Graph().as_default():
            return _differentiated(tf, case)
    except Exception as error:  # noqa: BLE001 - it is compared
        return f"{type(error).__name__}: {error}"
