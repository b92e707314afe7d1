"""`tf.nn`: functions of neural networks that build several operations, by subject.

Their public names are declared where they are defined, by `@public`.
"""
