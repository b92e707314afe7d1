"""Article 003, snippet 1, its variable initialised by an operation instead of by numpy."""

import sessrun.reference as tf

with tf.Session() as sess:
    a = tf.Variable(tf.random_normal([5000, 5000, 5000]), dtype=tf.float32)
    try:
        sess.run(tf.global_variables_initializer())
    except tf.errors.ResourceExhaustedError as e:
        print("Memory exhaustion error:", e)
