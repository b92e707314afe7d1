"""The optimizers of `tf.train` as classes: their steps on both kinds of variables, and slots."""
