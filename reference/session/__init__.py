"""A run, from fetches to values: resolve, prune, place, compile, execute, unpack.

It may import `kernels` and the packages before it.
"""
