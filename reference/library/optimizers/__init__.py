"""Optimizers (`tf.train.Optimizer` and its subclasses), their slots, averages and decays."""
