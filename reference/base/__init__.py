"""Dtypes, shapes, text, names of devices and nodes, kernel errors: all that needs no graph.

It may import `errors` and `public` only.
"""
