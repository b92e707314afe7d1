"""Article 004, snippet 2: a dense layer built for one float dtype is called with another."""

import numpy as np

import sessrun.reference as tf

dense_layer = tf.keras.layers.Dense(units=10)
input_float32 = np.random.default_rng(1).random((1, 20)).astype(np.float32)
input_float64 = np.random.default_rng(1).random((1, 20)).astype(np.float64)

try:
    output_float32 = dense_layer(input_float32)
    output_float64 = dense_layer(input_float64)
    print("Output float64 shape: ", output_float64.shape)
except tf.errors.InvalidArgumentError as e:
    print("Error:", e)

try:
    output_float64_casted = dense_layer(tf.cast(input_float64, tf.float32))
    print("Casted float64 shape: ", output_float64_casted.shape)
except tf.errors.InvalidArgumentError as e:
    print("Error after casting:", e)
