"""`tensorflow.python.ops`: what programs import of it and no module of the runtime holds."""
