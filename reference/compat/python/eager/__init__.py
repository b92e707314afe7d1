"""`tensorflow.python.eager`: the functions that have a meaning without eager execution."""
