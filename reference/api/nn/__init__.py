"""`tf.nn`: functions of neural networks that are made of several operations, by subject.

The public names stand in the tables of the modules; `namespace.py` puts them here.
"""
