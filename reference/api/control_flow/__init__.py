"""Conditionals and loops of version 1: `cond`, `case`, `while_loop`, `map_fn` and their kin.

Inside of a branch or a loop every new operation is added to the innermost *context*, which makes
the tensors of outside come in through a `Switch` or an `Enter`. Source: TF 2.21, the graphs that
`tf.cond` and `tf.while_loop` make.
"""
