"""Functions that are composed of operations: networks, clipping, moments, losses, metrics.

`rows.py` has what a row of the table is, `drawing.py` the kinds of arguments; each subject has a
module with its rows, and `properties.py` walks them.
"""
