"""Article 000, snippet 2: a run that reads a variable before it was initialised."""

import sessrun.reference as tf

W = tf.Variable(tf.random_normal(shape=[10, 1]), name="Weights")
output = tf.matmul(tf.random_normal(shape=[1, 10]), W)
sess = tf.Session()
try:
    result = sess.run(output)
except tf.errors.FailedPreconditionError as e:
    print(f"Error during sess.run(): {e}")
finally:
    sess.close()
