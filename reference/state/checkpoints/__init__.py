"""Checkpoints as files: TensorFlow's format of version 2, read and written without TensorFlow."""
