"""`tensorflow.python.framework`: what tests of TensorFlow import of it."""
