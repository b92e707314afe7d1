"""Checkpoint files in TensorFlow's formats of versions 1 and 2, read and written."""
