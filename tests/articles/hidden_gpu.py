"""Article 003, snippet 2: a session where no GPU is visible."""

import os

import sessrun.reference as tf

try:
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    config = tf.ConfigProto()
    with tf.Session(config=config) as sess:
        a = tf.constant(1.0)
        print(sess.run(a))
    print("Session created successfully (CPU ONLY)")
except tf.errors.NotFoundError as e:
    print("CUDA/cuDNN version error:", e)
