"""Cells of long short-term memory. Source: tf_keras 2.21 (`legacy_cells`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import initializers
from sessrun.reference.library.keras.object_configs import Identifier, TensorFunction
from sessrun.reference.library.recurrent.cells import CellOfLayer, check_dtypes
from sessrun.reference.library.recurrent.unrolling import StateSize
from sessrun.reference.public import public

__all__ = ["BasicLSTMCell", "LSTMCell", "LSTMStateTuple"]

_log = logging.getLogger("sessrun")


class _Pair(NamedTuple):
    c: Any
    h: Any


@public("nn.rnn_cell.LSTMStateTuple")
class LSTMStateTuple(_Pair):
    """The state of an LSTM cell: `c`, the cell state, and `h`, the output."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """The dtype of both.

        Raises:
          TypeError: the dtypes of `c` and `h` differ.

        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(
                f"Inconsistent dtypes for internal state: {self.c.dtype} vs {self.h.dtype}"
            )
        dtype: DType = self.c.dtype
        return dtype


def _warn_of_concatenation(cell: CellOfLayer, *, state_is_tuple: bool) -> None:
    if not state_is_tuple:
        _log.warning("%s: a concatenated state is slower; use state_is_tuple=True.", cell)


@public("nn.rnn_cell.BasicLSTMCell")
class BasicLSTMCell(CellOfLayer):
    """The plain cell: no peepholes, no clipping, no projection.

    Args:
      num_units: the size of each of its two states.
      forget_bias: a number that is added to the forget gate, so that it forgets little at first.
      state_is_tuple: whether the state is an LSTMStateTuple; else both side by side.
      activation: a function, or its name; tanh if nothing is given.
      reuse: whether variables that exist already are shared.
      name: the cell's name.
      dtype: of its variables.
      **kwargs: as for `tf.layers.Layer`.

    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Identifier = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        _warn_of_concatenation(self, state_is_tuple=state_is_tuple)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> StateSize:
        """The sizes of the two states, or of both together."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    def _make_variables(self, depth: int) -> None:
        units = self._num_units
        self._kernel = self.add_weight("kernel", shape=[depth + units, 4 * units])
        self._bias = self.add_weight(
            "bias", shape=[4 * units], initializer=tf.zeros_initializer(dtype=self.dtype)
        )

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Structure]:
        """The output, and the next state."""
        check_dtypes(inputs, state)
        one = tf.constant(1, dtype=tf.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = tf.split(value=state, num_or_size_splits=2, axis=one)
        gates = tf.matmul(tf.concat([inputs, h], 1), self._kernel)
        gates = tf.nn.bias_add(gates, self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=one)
        bias = tf.constant(self._forget_bias, dtype=f.dtype)
        kept = tf.multiply(c, tf.sigmoid(tf.add(f, bias)))
        new_c = tf.add(kept, tf.multiply(tf.sigmoid(i), self._activation(j)))
        new_h = tf.multiply(self._activation(new_c), tf.sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, tf.concat([new_c, new_h], 1)

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, for `from_config`."""
        return {
            **super().get_config(),
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
        }


@public("nn.rnn_cell.LSTMCell")
class LSTMCell(CellOfLayer):
    """The LSTM cell with optional peepholes, clipping and output projection.

    Args:
      num_units: the size of the cell state.
      use_peepholes: whether the gates also depend on the cell state.
      cell_clip: the greatest absolute value of the cell state.
      initializer: of the matrices; by default that of the variable scope.
      num_proj: the size of the output if it is projected.
      proj_clip: the greatest absolute value of a projected output.
      num_unit_shards: in how many parts the matrix is held.
      num_proj_shards: in how many the matrix of the projection is.
      forget_bias: a number that is added to the forget gate, so that it forgets little at first.
      state_is_tuple: whether the state is an LSTMStateTuple; else both side by side.
      activation: a function, or its name; tanh if nothing is given.
      reuse: whether variables that exist already are shared.
      name: the cell's name.
      dtype: of its variables.
      **kwargs: as for `tf.layers.Layer`.

    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Identifier = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Identifier = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        _warn_of_concatenation(self, state_is_tuple=state_is_tuple)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._kernel_initializer = initializers.get(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._output_width = num_proj or num_units

    @property
    def state_size(self) -> StateSize:
        """The sizes of the two states, or of both together."""
        sizes = LSTMStateTuple(self._num_units, self._output_width)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> StateSize:
        """The size of the output: that of the projection, or `num_units`."""
        return self._output_width

    def _make_variables(self, depth: int) -> None:
        units = self._num_units
        width = units if self._num_proj is None else self._num_proj
        self._kernel = self.add_weight(
            "kernel",
            shape=[depth + width, 4 * units],
            initializer=self._kernel_initializer,
            partitioner=_in_parts(self._num_unit_shards),
        )
        self._bias = self.add_weight("bias", shape=[4 * units], initializer=self._zeros())
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_weight(name, shape=[units], initializer=self._kernel_initializer)
                for name in ("w_f_diag", "w_i_diag", "w_o_diag")
            )
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight(
                "projection/kernel",
                shape=[units, self._num_proj],
                initializer=self._kernel_initializer,
                partitioner=_in_parts(self._num_proj_shards),
            )

    def _zeros(self) -> TensorFunction:
        zeros: TensorFunction = tf.zeros_initializer
        return zeros if self.dtype is None else tf.zeros_initializer(dtype=self.dtype)

    def _split_state(self, state: Any) -> tuple[Tensor, Tensor]:
        if self._state_is_tuple:
            c, m = state
            return c, m
        width = self._num_units if self._num_proj is None else self._num_proj
        return (
            tf.slice(state, [0, 0], [-1, self._num_units]),
            tf.slice(state, [0, self._num_units], [-1, width]),
        )

    def call(self, inputs: Tensor, state: Structure) -> tuple[Tensor, Structure]:
        """The output, and the next state.

        Raises:
          ValueError: the depth of the inputs is not known.

        """
        check_dtypes(inputs, state)
        c_before, m_before = self._split_state(state)
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise bad_value(
                f"Could not infer input size from inputs.get_shape()[-1]. Received "
                f"input shape: {inputs.shape}"
            )
        gates = tf.matmul(tf.concat([inputs, m_before], 1), self._kernel)
        gates = tf.nn.bias_add(gates, self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        c = self._remembered(i, j, f, c_before)
        if self._use_peepholes:
            m = tf.sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = tf.matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = tf.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)

    def _remembered(self, i: Tensor, j: Tensor, f: Tensor, c_before: Tensor) -> Tensor:
        """The next cell state: forget gate * c + input gate * candidate."""
        if self._use_peepholes:
            kept = tf.sigmoid(f + self._forget_bias + self._w_f_diag * c_before) * c_before
            c: Tensor = kept + tf.sigmoid(i + self._w_i_diag * c_before) * self._activation(j)
        else:
            kept = tf.sigmoid(f + self._forget_bias) * c_before
            c = kept + tf.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        return c

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, for `from_config`."""
        return {
            **super().get_config(),
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": initializers.serialize(self._kernel_initializer),
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
        }


def _in_parts(count: int | None) -> Callable[..., Sequence[int]] | None:
    return None if count is None else tf.fixed_size_partitioner(count)
