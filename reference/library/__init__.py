"""What a program could have written itself on the public namespace, and finds here ready made.

Layers, losses, metrics, optimizers, cells, signals, summaries, sessions that manage themselves. It
may import all of the runtime but `compat`, and nothing below imports it.
"""
