"""`tensorflow.python.eager`: what of it makes sense where nothing runs as it is made."""
