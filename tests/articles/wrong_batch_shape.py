"""Article 000, snippet 1: images without channels are fed to a convolutional network."""

import numpy as np

import sessrun.reference as tf

X = tf.placeholder(tf.float32, shape=[None, 224, 224, 3])
Y = tf.placeholder(tf.int32, shape=[None])
conv1 = tf.layers.conv2d(inputs=X, filters=32, kernel_size=3, padding="same", activation=tf.nn.relu)
flat = tf.layers.flatten(conv1)
logits = tf.layers.dense(inputs=flat, units=10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y, logits=logits))
optimizer = tf.train.AdamOptimizer(learning_rate=0.001).minimize(loss)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
images = np.random.default_rng(1).random((32, 224, 224)).astype(np.float32)
labels = np.random.default_rng(1).integers(0, 10, size=32)

try:
    _, current_loss = sess.run([optimizer, loss], feed_dict={X: images, Y: labels})
except tf.errors.InvalidArgumentError as e:
    print(f"Error during sess.run(): {e}")
finally:
    sess.close()
