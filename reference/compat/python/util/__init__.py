"""`tensorflow.python.util`: what programs import from there."""
