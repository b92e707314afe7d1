"""Article 004, snippet 3: a program that wants a GPU to convolve volumes."""

import numpy as np

import sessrun.reference as tf

try:
    if tf.config.list_physical_devices("GPU"):
        print("GPU is available and will be utilized for computation.")
    else:
        raise Exception("GPU not available, CPU will be used.")  # noqa: TRY002, TRY301 - the article's
    conv3d_layer = tf.keras.layers.Conv3D(
        filters=16, kernel_size=(3, 3, 3), input_shape=(32, 32, 32, 3)
    )
    input_3d = np.random.default_rng(1).random((1, 32, 32, 32, 3)).astype(np.float32)
    output_3d = conv3d_layer(input_3d)
    print("Output shape: ", output_3d.shape)
except Exception as e:  # noqa: BLE001 - the article's
    print("An Error Occurred:", e)
