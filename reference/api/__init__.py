"""Public names with TensorFlow's signatures, by subject, over the generated wrappers.

They may import `session` and the packages before it.
"""
