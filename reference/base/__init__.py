"""What needs no graph: dtypes, shapes, text, names of devices and of nodes, kernel errors.

It may import `errors` only.
"""
