"""Article 000, snippet 3: a product on the GPU if there is one, else on the CPU."""

import sessrun.reference as tf

if tf.test.is_gpu_available():
    device = "/gpu:0"
    print("GPU Available")
else:
    device = "/cpu:0"
    print("No GPU Available")
with tf.device(device):
    matrix1 = tf.random_normal(shape=[1000, 1000])
    matrix2 = tf.random_normal(shape=[1000, 1000])
    result = tf.matmul(matrix1, matrix2)
sess = tf.Session()
try:
    output = sess.run(result)
    print(output.shape)
except tf.errors.InternalError as e:
    print(f"Error during sess.run(): {e}")
finally:
    sess.close()
