"""The optimizers of `tf.train` as classes: on both kinds of variables, step by step, slots and all."""
