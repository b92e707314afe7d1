"""Article 001, snippet 2: a session closed by its `with` and once more."""

import sessrun.reference as tf

a = tf.constant(10)
b = tf.constant(20)
c = tf.add(a, b)
try:
    with tf.compat.v1.Session() as sess:
        result = sess.run(c)
        print(f"Result: {result}")
except tf.errors.OpError as e:
    print(f"An error occurred: {e}")
finally:
    sess.close()
