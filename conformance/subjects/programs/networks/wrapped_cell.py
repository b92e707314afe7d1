"""Programs of configs, type hints and weights of cells and their wrappers."""

from __future__ import annotations

__all__ = ["BEHAVIOURS"]


def _configs(tf):
    cells = tf.nn.rnn_cell
    cell = cells.LSTMCell(3, name="c")

    class Own(cells.RNNCell):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(name="own")
            self.sizes = one, two

    def rebuilt(wrapper):
        config = dict(wrapper.get_config())
        inner = config["cell"]["config"]
        return type(wrapper).from_config({**config, "cell": cells.LSTMCell.from_config(inner)})

    residual = rebuilt(cells.ResidualWrapper(cell, residual_fn=lambda i, o: 2 * i + o))
    dropout = rebuilt(cells.DropoutWrapper(cell, dropout_state_filter_visitor=lambda _: False))
    device = cells.DeviceWrapper(cell, "/cpu:0", name="w")
    many = cells.MultiRNNCell([cell, cells.GRUCell(3, name="g")])
    return [
        Own(1, 2).get_config(),
        cells.ResidualWrapper(cell, name="w").get_config(),
        residual._residual_fn(1, 2),
        dropout._dropout_state_filter(None),
        device.get_config(),
        rebuilt(device).get_config() == device.get_config(),
        sorted(many.get_config()),
        device._trackable_children()["cell"].name,
        [many._trackable_children()[f"cell-{n}"].name for n in range(2)],
    ]


def _hints(tf):
    one = tf.constant([[1.0, 2.0]])
    short = tf.cast(one, tf.bfloat16)
    tensors = [
        tf.matmul(one, one, transpose_b=True, b_is_sparse=True),
        tf.matmul(short, short, adjoint_b=True, a_is_sparse=True),
        tf.matmul(tf.cast(one, tf.float64), tf.cast(one, tf.float64), True, b_is_sparse=True),
    ]
    with tf.Session() as session:
        values = [session.run(tf.cast(tensor, tf.float32)).tolist() for tensor in tensors]
    return [[tensor.op.type, tensor.name, tensor.dtype] for tensor in tensors], values


def _weights(tf):
    """The weights of cells in a MultiRNNCell, and of a wrapper that is built."""
    cells = tf.nn.rnn_cell
    many = cells.MultiRNNCell([cells.BasicLSTMCell(2, name="a"), cells.GRUCell(3, name="b")])
    many(tf.zeros([1, 2]), many.zero_state(1, tf.float32))
    frozen = [[weight.name for weight in many.trainable_weights], len(many.non_trainable_weights)]
    many.trainable = False
    frozen += [len(many.trainable_weights), [weight.name for weight in many.non_trainable_weights]]
    inner = cells.BasicLSTMCell(2, forget_bias=0.5, name="c")
    dropout = cells.DropoutWrapper(inner, input_keep_prob=0.5)
    dropout.build(tf.TensorShape([1, 3]))
    return [
        frozen,
        dropout.wrapped_cell is inner,
        dropout.built,
        inner.built,
        [weight.shape for weight in inner.weights],
        inner.get_config(),
    ]


BEHAVIOURS = {
    "configs of cells and wrappers": _configs,
    "weights of cells beneath others": _weights,
    "products of matrices of many zeros": _hints,
}
