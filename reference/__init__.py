"""The reference runtime: a namespace that behaves like `tensorflow.compat.v1`."""
