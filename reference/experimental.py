"""What this runtime offers beyond TensorFlow's namespace."""

from sessrun.reference.devices import set_memory_limit

__all__ = ["set_memory_limit"]
