"""Article 003, snippet 1: a variable of 5000 x 5000 x 5000 random numbers made by numpy."""

import numpy as np

import sessrun.reference as tf

try:
    with tf.Session() as sess:
        a = tf.Variable(np.random.rand(5000, 5000, 5000), dtype=tf.float32)  # noqa: NPY002 - as in the article
        sess.run(tf.global_variables_initializer())
        print("Session created successfully")
except tf.errors.ResourceExhaustedError as e:
    print("GPU memory exhaustion error:", e)
except Exception as e:  # noqa: BLE001 - the article's own clause
    print(type(e).__mro__[-4:-2], e)
