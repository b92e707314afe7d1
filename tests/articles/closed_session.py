"""Article 001, snippet 3: a run after `close`."""

import sessrun.reference as tf

a = tf.constant(10)
b = tf.constant(20)
c = tf.add(a, b)
sess = tf.compat.v1.Session()
sess.close()
try:
    result = sess.run(c)
    print(f"Result: {result}")
except Exception as e:  # noqa: BLE001 - the article's own clause
    print(f"{type(e).__name__}: {e}")
