"""Programs of the public namespace, as users write them, in a folder for each area.

`registry.py` lists the programs; `described.py` turns their results into plain data.
"""
