"""Modules that programs import by TensorFlow's own path: `tensorflow.python...`.

A module with a file here is itself; `mirror` makes the others.
"""

from sessrun.reference.compat.python.module_finder import install as _install

_install()
