"""Networks of layers saved by one side and restored by the other: TensorFlow's, and ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sessrun.reference as ours
from sessrun.conformance.subjects.programs.layered_graphs import examples

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

_X = examples(6, 6, 6, 2)


def _network(tf: Any, kind: str) -> Any:
    """Predictions, and a training step, of a network of either kind of layers."""
    place = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    training = tf.placeholder_with_default(False, [], name="training")
    if kind == "layers":
        layers, named = tf.layers, {}
    else:
        layers, named = tf.keras.layers, {"name": "k"}
    hidden = layers.Conv2D(3, 3, activation=tf.nn.relu)(place)
    hidden = layers.BatchNormalization(momentum=0.5)(hidden, training=training)
    hidden = layers.Dropout(0.2)(layers.MaxPooling2D(2, 2)(hidden), training=training)
    out = layers.Dense(4, **named)(layers.Flatten()(hidden))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(out)))
    return out, step


def _trained(tf: Any, kind: str, folder: Path) -> np.ndarray:
    """What a network predicts once it is trained a little and saved."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        out, step = _network(tf, kind)
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step, {"x:0": _X, "training:0": True})
        tf.train.Saver().save(session, str(folder / "model"))
        return np.asarray(session.run(out, {"x:0": _X}))


def _restored(tf: Any, kind: str, folder: Path) -> np.ndarray:
    """What a network predicts once its variables are restored."""
    with tf.Graph().as_default(), tf.Session() as session:
        out, _ = _network(tf, kind)
        tf.train.Saver().restore(session, str(folder / "model"))
        return np.asarray(session.run(out, {"x:0": _X}))


def _imported(tf: Any, folder: Path) -> np.ndarray:
    """What the network of a saved meta graph predicts."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver = tf.train.import_meta_graph(str(folder / "model.meta"))
        saver.restore(session, str(folder / "model"))
        sums = [op.outputs[0] for op in graph.get_operations() if op.type == "BiasAdd"]
        out = next(tensor for tensor in sums if tensor.shape.as_list() == [None, 4])
        return np.asarray(session.run(out, {"x:0": _X}))


@pytest.mark.parametrize("kind", ["layers", "keras"])
@pytest.mark.parametrize("ours_first", [True, False])
def test_a_network_goes_on_at_the_other_side(
    theirs: Any, tmp_path: Path, kind: str, *, ours_first: bool
) -> None:
    writer, reader = (ours, theirs) if ours_first else (theirs, ours)
    wanted = _trained(writer, kind, tmp_path)
    np.testing.assert_allclose(_restored(reader, kind, tmp_path), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(_imported(reader, tmp_path), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["layers", "keras"])
def test_a_network_learns_the_same_on_both_sides(theirs: Any, tmp_path: Path, kind: str) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    np.testing.assert_allclose(
        _trained(ours, kind, one), _trained(theirs, kind, other), rtol=1e-3, atol=1e-4
    )
