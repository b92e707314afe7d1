"""`tensorflow.python.ops`: names that programs import and that no module of the runtime defines."""
