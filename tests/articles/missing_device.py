"""Article 003, snippet 3: a constant on a GPU that does not exist."""

import sessrun.reference as tf

with tf.device("/gpu:2"):
    a = tf.constant(1.0)
with tf.Session() as sess:
    print("session made")
    try:
        print(sess.run(a))
    except tf.errors.InvalidArgumentError as e:
        print("Device placement error:", e)
