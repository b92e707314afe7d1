"""`tensorflow.python.platform`; `mirror` makes the modules that have no file."""
