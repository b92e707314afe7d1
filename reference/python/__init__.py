"""Modules that programs import by TensorFlow's own path: `tensorflow.python...`."""
