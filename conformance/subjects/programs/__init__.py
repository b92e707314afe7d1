"""Programs of the public namespace, by areas: what users write, and what each call gives.

`registry.py` finds the programs; `described.py` turns what they return into plain data.
"""
