"""The suite's examination of itself: what it catches, and what of the reference it asks for.

`faults.py` examines the faulty backends, in the processes of `examined.py`.
"""
