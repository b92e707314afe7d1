"""Article 004, snippet 1: a convolution declared with three channels is called with one."""

import numpy as np

import sessrun.reference as tf

conv_layer = tf.keras.layers.Conv2D(filters=32, kernel_size=(3, 3), input_shape=(28, 28, 3))
incorrect_input = np.random.default_rng(1).random((1, 28, 28, 1)).astype(np.float32)

try:
    output = conv_layer(incorrect_input)
    print("Output Shape:", output.shape)
except tf.errors.InvalidArgumentError as e:
    print("Error:", e)
