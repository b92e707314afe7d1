"""Modules that programs of TensorFlow 1 import besides the namespace: a leaf of the runtime.

TensorFlow's own module paths (`python`, `core`), `tf.test`, `tf.app`, `tf.flags` and their like.
It may import all of the runtime, and nothing of the runtime imports it: programs reach it by the
paths without `compat`, which `sessrun.reference` finds here. The public names of `tf.compat` are
put into this package as into every group.
"""
