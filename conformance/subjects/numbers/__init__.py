"""Numbers at size: thousands of elements in few digits, and the corners of every integer dtype.

A large tensor is made within the graph, from a few integers (`patterns.py`), and of a large result
only some elements are fetched, so that a case stays small.
"""
