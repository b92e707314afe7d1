"""Training that one side begins and the other goes on with: slots are in checkpoints by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sessrun.reference as ours

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.05, 0.5),
    "adam": lambda tf: tf.train.AdamOptimizer(0.05),
    "rms_prop": lambda tf: tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3),
}


def trained(
    tf: Any, make: Callable[[Any], Any], kind: bool, steps: int, *, begin: str = "", end: str = ""
) -> tuple[list[Any], list[str]]:
    """Variables after so many steps, from a checkpoint or from their initial values.

    One is in two parts; the end is saved. The names of what is saved come with them.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("net", use_resource=kind):
            w = tf.get_variable("w", initializer=[[1.0, 2.0], [-3.0, 4.0]])
            p = tf.get_variable(
                "p",
                [4, 2],
                partitioner=tf.fixed_size_partitioner(2),
                initializer=tf.ones_initializer(),
            )
        loss = tf.reduce_sum(tf.square(tf.matmul(p.as_tensor(), w) - 1.0))
        step = tf.train.get_or_create_global_step()
        train = make(tf).minimize(loss, global_step=step)
        saver = tf.train.Saver()
        if begin:
            saver.restore(session, begin)
        else:
            session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        if end:
            saver.save(session, end, write_meta_graph=False)
        names = sorted(name for name, _ in tf.train.list_variables(end)) if end else []
        return session.run([w, p.as_tensor(), step]), names


@pytest.mark.parametrize("kind", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_either_side_goes_on_with_the_others_training(
    theirs: Any, tmp_path: Path, name: str, kind: bool
) -> None:
    make = OPTIMIZERS[name]
    whole, _ = trained(ours, make, kind, 5)
    saved = {}
    for place, (first, second) in enumerate(((ours, theirs), (theirs, ours))):
        path = str(tmp_path / f"model{place}")
        _, saved[place] = trained(first, make, kind, 3, end=path)
        later, _ = trained(second, make, kind, 2, begin=path)
        for want, got in zip(whole, later, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    assert saved[0] == saved[1]
