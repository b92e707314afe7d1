"""Article 001, snippet 1: a run inside the `with` of its session."""

import sessrun.reference as tf

a = tf.constant(10)
b = tf.constant(20)
c = tf.add(a, b)
with tf.compat.v1.Session() as sess:
    result = sess.run(c)
    print(f"Result: {result}")
