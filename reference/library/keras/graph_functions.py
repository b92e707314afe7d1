"""`tf.keras.backend.function`: a part of a graph as a function of arrays. Source: tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.sessions import get_session
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.spec.proto import RunMetadata, RunOptions

__all__ = ["GraphExecutionFunction", "function"]


def function(
    inputs: Structure,
    outputs: Structure,
    updates: Tensor | None = None,
    name: str | None = None,
    **kwargs: Any,
) -> GraphExecutionFunction:
    """A function that feeds inputs and fetches outputs, in the session that Keras uses.

    Args:
      inputs: the tensors that are fed.
      outputs: the tensors that are fetched, in any structure.
      updates: operations that run besides, or pairs of a variable and its new value.
      name: a name for the function.
      **kwargs: `feed_dict`, what else is fed; `fetches`, what else is computed; `options` and
        `run_metadata` of the runs.

    Raises:
      TypeError: `updates` is not a list.
      ValueError: there is another argument.

    """
    unknown = kwargs.keys() - {"feed_dict", "fetches", "options", "run_metadata"}
    if unknown:
        raise bad_value(
            f'Invalid argument "{min(unknown)}" passed to K.function with TensorFlow backend'
        )
    return GraphExecutionFunction(inputs, outputs, updates, name, **kwargs)


class GraphExecutionFunction:
    """A part of a graph, called with arrays for its inputs; the arguments are `function`'s."""

    def __init__(
        self,
        inputs: Structure,
        outputs: Structure,
        updates: Any = None,
        name: str | None = None,
        feed_dict: dict[object, object] | None = None,
        fetches: Fetches = (),
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> None:
        updates = updates or []
        if not isinstance(updates, list | tuple):
            raise bad_type("`updates` in a TF-Keras backend function should be a list or tuple.")
        self.inputs = tf.nest.flatten(inputs)
        self._outputs_structure = tf.nest.map_structure(tf.convert_to_tensor, outputs)
        self.outputs = tf.nest.flatten(self._outputs_structure)
        with tf.control_dependencies([self.outputs[0]]):
            assignments = [tf.assign(*one) if isinstance(one, tuple) else one for one in updates]
            self.updates_op = tf.group(*assignments)
        self.name = name
        self.feed_dict = feed_dict
        also = list(fetches) if isinstance(fetches, list | tuple) else [fetches]
        self.fetches = [tf.identity(one) for one in also]
        self.run_options, self.run_metadata = options, run_metadata
        #: What is called with the value of one of `fetches`.
        self.fetch_callbacks: dict[object, Callable[[object], None]] = {}

    def __call__(self, inputs: Structure) -> Any:
        """The outputs' values, in their structure.

        Args:
          inputs: for each input an array, a tensor that is computed first, or None to feed none.

        """
        values = tf.nest.flatten(inputs)
        session = get_session(self.outputs)
        feeds = dict(self.feed_dict or {})
        for tensor, value in zip(self.inputs, values, strict=False):
            if value is not None:
                known = session.run(value) if tf.is_tensor(value) else value
                feeds[tensor] = np.asarray(known, dtype=tensor.dtype.as_numpy_dtype)
        outputs, also, _ = session.run(
            [self._outputs_structure, self.fetches, self.updates_op],
            feeds,
            options=self.run_options,
            run_metadata=self.run_metadata,
        )
        for fetch, value in zip(self.fetches, also, strict=True):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return outputs
