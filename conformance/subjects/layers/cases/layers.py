"""Vectors of LAYERS: dense and convolutional layers, dropout, flattening, pooling, and scopes."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from sessrun.conformance.authoring.forms import Matcher
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, near

_CLOSE = "close(1e-5, 1e-6)"
_X = np.array([[1.0, 2.0, -1.0], [0.5, -2.0, 3.0]], np.float32)
_KERNEL = np.array([[1.0, -1.0], [2.0, 0.5], [0.0, 3.0]], np.float32)


def near_to(value: ArrayLike) -> Matcher:
    """Equal but for rounding."""
    array = np.asarray(value, np.float32)
    return near(array if array.ndim else np.float32(array), _CLOSE)


def started(c: ApiAuthor) -> Symbol:
    """A session in which all variables are initialized."""
    session: Symbol = c.tf.Session()
    session.run(c.tf.global_variables_initializer())
    return session


def given(c: ApiAuthor, value: np.ndarray) -> Symbol:
    """An initializer that makes this value."""
    initializer: Symbol = c.tf.constant_initializer(value)
    return initializer


def check_names(c: ApiAuthor, variables: Symbol, names: list[str]) -> None:
    """The variables must be these, by name and in order."""
    c.check(c.expr("$len", variables), len(names))
    for index, name in enumerate(names):
        c.check(variables[index].name, f"{name}:0")


@api_case("LAYERS-001", title="A dense layer makes a matrix and a vector under its name.")
def a_dense_layer_makes_two_variables(c: ApiAuthor) -> None:
    tf = c.tf
    tf.layers.dense(tf.placeholder(tf.float32, [None, 3]), 2, name="a")
    variables = tf.global_variables()
    check_names(c, variables, ["a/kernel", "a/bias"])
    c.check(variables[0].shape.as_list(), [3, 2])
    c.check(variables[1].shape.as_list(), [2])


@api_case("LAYERS-002", title="A dense layer is a product, a sum and an activation.")
def a_dense_layer_computes(c: ApiAuthor) -> None:
    tf = c.tf
    rules = {
        "kernel_initializer": given(c, _KERNEL),
        "bias_initializer": tf.constant_initializer(0.5),
    }
    plain = tf.layers.dense(tf.constant(_X), 2, **rules)
    cut = tf.layers.dense(tf.constant(_X), 2, activation=tf.nn.relu, **rules)
    deep = tf.layers.dense(tf.constant(np.stack([_X, -_X])), 2, **rules)
    session, want = started(c), _X @ _KERNEL + 0.5
    c.check(session.run(plain), near_to(want))
    c.check(session.run(cut), near_to(np.maximum(want, 0)))
    c.check(session.run(deep), near_to(np.stack([want, 1 - want])))


@api_case("LAYERS-003", title="Without a bias there is the kernel alone.")
def no_bias_is_made(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.layers.dense(
        tf.constant(_X),
        2,
        use_bias=False,
        kernel_initializer=given(c, _KERNEL),
        bias_initializer=tf.ones_initializer(),
    )
    tf.layers.conv2d(tf.constant(np.zeros((1, 4, 4, 1), np.float32)), 2, 3, use_bias=False)
    check_names(c, tf.global_variables(), ["dense/kernel", "conv2d/kernel"])
    c.check(started(c).run(y), near_to(_X @ _KERNEL))


def _convolutions(c: ApiAuthor) -> list[tuple[str, int]]:
    """Call convolutional layers without biases; return the name and rank of each kernel."""
    layers = c.tf.layers
    ranks = {"conv1d": 1, "conv2d": 2, "conv3d": 3, "conv2d_transpose": 2, "conv3d_transpose": 3}
    ranks |= {"separable_conv1d": 1, "separable_conv2d": 2}
    kernels = []
    for layer, rank in ranks.items():
        getattr(layers, layer)(c.tf.zeros([1] * (rank + 2)), 1, 1, use_bias=False)
        parts = ["depthwise_", "pointwise_"] if layer.startswith("separable") else [""]
        kernels += [(f"{layer}/{part}kernel", rank + 2) for part in parts]
    return kernels


@api_case("LAYERS-003", title="Convolutions of all kinds make no bias if they need none.")
def no_convolution_makes_a_bias(c: ApiAuthor) -> None:
    names = [name for name, _ in _convolutions(c)]
    check_names(c, c.tf.global_variables(), names)


@api_case("LAYERS-041", title="A bias begins with zeros.")
def biases_begin_with_zeros(c: ApiAuthor) -> None:
    tf = c.tf
    tf.layers.dense(tf.constant(_X), 2, kernel_initializer=given(c, _KERNEL))
    image = tf.constant(np.ones((1, 4, 4, 1), np.float32))
    tf.layers.conv2d(image, 3, 2, kernel_initializer=tf.ones_initializer())
    values = started(c).run(tf.global_variables())
    c.check(values[1], np.zeros(2, np.float32))
    c.check(values[3], np.zeros(3, np.float32))


@api_case("LAYERS-042", title="The given initializer makes a kernel's first value.")
def given_first_values_of_kernels(c: ApiAuthor) -> None:
    tf = c.tf
    square = np.array([1.0, 2.0, 3.0, 4.0], np.float32).reshape(2, 2, 1, 1)
    image = tf.constant(np.ones((1, 4, 4, 1), np.float32))
    tf.layers.dense(tf.constant(_X), 2, use_bias=False, kernel_initializer=given(c, _KERNEL))
    tf.layers.conv2d(image, 1, 2, use_bias=False, kernel_initializer=given(c, square))
    values = started(c).run(tf.global_variables())
    c.check(values[0], _KERNEL)
    c.check(values[1], square)


@api_case("LAYERS-005", title="A kernel is initialized as its variable scope says.")
def the_scope_initializes_kernels(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("s", initializer=tf.constant_initializer(3.0))):
        tf.layers.dense(tf.constant(_X), 2)
    values = started(c).run(tf.global_variables())
    c.check(values[0], np.full((3, 2), 3.0, np.float32))
    c.check(values[1], np.zeros(2, np.float32))


@api_case("LAYERS-005", title="The kernels of convolutions, too, are as their scope says.")
def the_scope_initializes_convolutions(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("s", initializer=tf.constant_initializer(3.0))):
        kernels = _convolutions(c)
    values = started(c).run(tf.global_variables())
    for index, (_, rank) in enumerate(kernels):
        c.check(values[index], np.full([1] * rank, 3.0, np.float32))


@api_case("LAYERS-006", title="Layers without a name are numbered.")
def layers_are_numbered(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.constant(_X)
    for name in ("dense", "dense_1", "dense_2"):
        c.check(tf.layers.dense(x, 2).op.name, f"{name}/BiasAdd")
    names = ["dense", "dense_1", "dense_2"]
    check_names(
        c, tf.global_variables(), [f"{name}/{v}" for name in names for v in ("kernel", "bias")]
    )


@api_case("LAYERS-006", title="Layers without a name are numbered as they are called.")
def layers_are_numbered_by_their_calls(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.constant(_X)
    one, other = tf.layers.Dense(2), tf.layers.Dense(2)
    c.check(other(x).op.name, "dense/BiasAdd")
    c.check(one(x).op.name, "dense_1/BiasAdd")
    tf.layers.dense(x, 2, name="dense_2")
    c.check(tf.layers.dense(x, 2).op.name, "dense_3/BiasAdd")
    names = ["dense", "dense_1", "dense_2", "dense_3"]
    check_names(
        c, tf.global_variables(), [f"{name}/{v}" for name in names for v in ("kernel", "bias")]
    )


@api_case("LAYERS-007", title="A layer's variables are in the variable scope around it.")
def variables_are_in_the_scope_around(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("outer")):
        tf.layers.dense(tf.constant(_X), 2, name="a")
        tf.layers.dense(tf.constant(_X), 2, use_bias=False)
    check_names(c, tf.global_variables(), ["outer/a/kernel", "outer/a/bias", "outer/dense/kernel"])


@api_case("LAYERS-008", title="A name is taken once.")
def a_name_of_layers_is_taken_once(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.constant(_X)
    tf.layers.dense(x, 2, name="a")
    c.raises("ValueError", lambda: tf.layers.dense(x, 2, name="a"))
    c.check(c.expr("$len", tf.global_variables()), 2)


@api_case("LAYERS-009", title="With reuse the variables of the name are shared.")
def reuse_shares_variables(c: ApiAuthor) -> None:
    tf = c.tf
    one = tf.layers.dense(tf.constant(_X), 2, name="a", kernel_initializer=given(c, _KERNEL))
    two = tf.layers.dense(tf.constant(2 * _X), 2, name="a", reuse=True)
    check_names(c, tf.global_variables(), ["a/kernel", "a/bias"])
    values = started(c).run([one, two])
    c.check(values[0], near_to(_X @ _KERNEL))
    c.check(values[1], near_to(2 * _X @ _KERNEL))


@api_case("LAYERS-010", title="A layer object keeps its variables.")
def an_object_keeps_its_variables(c: ApiAuthor) -> None:
    tf = c.tf
    layer = tf.layers.Dense(2, kernel_initializer=given(c, _KERNEL))
    one, two = layer(tf.constant(_X)), layer(tf.constant(-_X))
    check_names(c, tf.global_variables(), ["dense/kernel", "dense/bias"])
    c.check_same(layer.kernel, tf.global_variables()[0])
    values = started(c).run([one, two])
    c.check(values[0], near_to(_X @ _KERNEL))
    c.check(values[1], near_to(-_X @ _KERNEL))


@api_case("LAYERS-011", title="Variables that are not trained are global alone.")
def untrained_layers(c: ApiAuthor) -> None:
    tf = c.tf
    tf.layers.dense(tf.constant(_X), 2, trainable=False, name="a")
    tf.layers.dense(tf.constant(_X), 2, name="b")
    names = ["a/kernel", "a/bias", "b/kernel", "b/bias"]
    check_names(c, tf.global_variables(), names)
    check_names(c, tf.trainable_variables(), names[2:])


@api_case("LAYERS-012", title="A kernel's loss is collected once.")
def losses_of_kernels(c: ApiAuthor) -> None:
    tf = c.tf
    rules = {"kernel_initializer": given(c, _KERNEL), "kernel_regularizer": tf.nn.l2_loss}
    tf.layers.dense(tf.constant(_X), 2, name="a", **rules)
    tf.layers.dense(tf.constant(_X), 2, name="a", reuse=True, **rules)
    losses = tf.get_collection("regularization_losses")
    c.check(c.expr("$len", losses), 1)
    c.check(started(c).run(losses[0]), near_to((_KERNEL**2).sum() / 2))


@api_case("LAYERS-013", title="A loss of outputs is collected for each call, for each example.")
def losses_of_outputs(c: ApiAuthor) -> None:
    tf = c.tf
    layer = tf.layers.Dense(
        2, kernel_initializer=given(c, _KERNEL), activity_regularizer=tf.reduce_sum
    )
    layer(tf.constant(_X))
    layer(tf.constant(np.concatenate([_X, _X])))
    losses = tf.get_collection("regularization_losses")
    c.check(c.expr("$len", losses), 2)
    values, want = started(c).run(losses), (_X @ _KERNEL).sum() / 2
    c.check(values[0], near_to(want))
    c.check(values[1], near_to(want))


@api_case("LAYERS-014", title="The last size must be known.")
def the_last_size_is_known(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32, [2, None])
    c.raises("ValueError", lambda: tf.layers.dense(x, 2))
    c.check(c.expr("$len", tf.global_variables()), 0)


@api_case("LAYERS-015", title="Dropout does nothing unless it trains.")
def dropout_is_idle(c: ApiAuthor) -> None:
    tf = c.tf
    x = np.arange(40, dtype=np.float32)
    session = tf.Session()
    c.check(session.run(tf.layers.dropout(tf.constant(x), 0.9)), x)
    c.check(session.run(tf.layers.dropout(tf.constant(x), 0.9, training=False)), x)


@api_case("LAYERS-016", title="What dropout keeps is scaled up.")
def dropout_scales(c: ApiAuthor) -> None:
    tf = c.tf
    dropped = tf.layers.dropout(tf.ones([4000]), 0.75, training=True)
    numbers = tf.Session().run(
        [
            tf.reduce_all(tf.logical_or(tf.equal(dropped, 0.0), tf.equal(dropped, 4.0))),
            tf.reduce_mean(dropped),
        ]
    )
    c.check(numbers[0], np.bool_(True))
    c.check(numbers[1], near(np.float32(1.0), "close(0.0, 0.3)"))


@api_case("LAYERS-017", title="A fed bool says whether dropout drops.")
def dropout_by_a_fed_bool(c: ApiAuthor) -> None:
    tf = c.tf
    training = tf.placeholder(tf.bool, [])
    dropped = tf.reduce_sum(tf.layers.dropout(tf.ones([100]), 1 - 1e-6, training=training))
    session = tf.Session()
    c.check(session.run(dropped, {training: False}), np.float32(100))
    c.check(session.run(dropped, {training: True}), np.float32(0))


@api_case("LAYERS-018", title="A rate is a share.")
def a_rate_is_a_share(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.constant(_X)
    c.raises("ValueError", lambda: tf.layers.dropout(x, -0.1))
    c.raises("ValueError", lambda: tf.layers.dropout(x, 1.5))


@api_case("LAYERS-018", title="A rate of 1 is refused where it would drop all.")
def a_rate_of_one_is_refused(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.constant(_X)
    for rate in (1, 1.0):
        c.raises("ValueError", partial(tf.layers.dropout, x, rate, training=True))


@api_case("LAYERS-019", title="Flattening keeps the batch and the order.")
def flattening_keeps_the_order(c: ApiAuthor) -> None:
    tf = c.tf
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    images = tf.placeholder(tf.float32, [None, 3, 4])
    flat = tf.layers.flatten(images)
    c.check(flat.shape.as_list(), [None, 12])
    c.check(tf.Session().run(flat, {images: x}), x.reshape(2, 12))


@api_case("LAYERS-027", title="A convolution is the sum of products at each place.")
def a_convolution_computes(c: ApiAuthor) -> None:
    tf = c.tf
    image = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    kernel = np.array([1.0, 2.0, 3.0, 4.0], np.float32).reshape(2, 2, 1, 1)
    y = tf.layers.conv2d(
        tf.constant(image),
        1,
        2,
        kernel_initializer=given(c, kernel),
        name="a",
        bias_initializer=tf.ones_initializer(),
    )
    tf.layers.conv2d(tf.constant(np.zeros((1, 5, 6, 3), np.float32)), 7, [2, 3], name="b")
    c.check(tf.global_variables()[2].shape.as_list(), [2, 3, 3, 7])
    flat = image[0, :, :, 0]
    want = flat[:-1, :-1] + 2 * flat[:-1, 1:] + 3 * flat[1:, :-1] + 4 * flat[1:, 1:] + 1
    c.check(started(c).run(y), near_to(want[None, :, :, None]))


@api_case("LAYERS-028", title="Padding decides how much a convolution gives.")
def padding_of_convolutions(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.constant(np.ones((1, 5, 7, 1), np.float32))
    rules = {"kernel_initializer": tf.ones_initializer()}
    same = tf.layers.conv2d(x, 1, 3, padding="same", **rules)
    half = tf.layers.conv2d(x, 1, 3, strides=2, padding="same", **rules)
    valid = tf.layers.conv2d(x, 1, 3, strides=2, padding="valid", **rules)
    c.check(same.shape.as_list(), [1, 5, 7, 1])
    c.check(half.shape.as_list(), [1, 3, 4, 1])
    c.check(valid.shape.as_list(), [1, 2, 3, 1])
    c.check(started(c).run(same[0, 0, 0, 0]), near(np.float32(4), _CLOSE))


@api_case("LAYERS-029", title="The channels must be known.")
def channels_are_known(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32, [None, 5, 5, None])
    c.raises("ValueError", lambda: tf.layers.conv2d(x, 2, 3))
    tf.layers.conv2d(tf.placeholder(tf.float32, [None, None, None, 2]), 2, 3)


@api_case("LAYERS-030", title="Poolings are by windows.")
def poolings_are_by_windows(c: ApiAuthor) -> None:
    tf = c.tf
    image = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)
    x, session = tf.constant(image), tf.Session()
    c.check(
        session.run(tf.layers.max_pooling2d(x, 2, 1)),
        np.array([4.0, 5.0, 7.0, 8.0], np.float32).reshape(1, 2, 2, 1),
    )
    c.check(
        session.run(tf.layers.average_pooling2d(x, 2, 2, padding="same")),
        near_to(np.array([2.0, 3.5, 6.5, 8.0]).reshape(1, 2, 2, 1)),
    )
