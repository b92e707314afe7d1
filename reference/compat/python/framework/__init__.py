"""`tensorflow.python.framework`: the names that TensorFlow's tests import from this package."""
