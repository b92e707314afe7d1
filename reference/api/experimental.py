"""What this runtime offers beyond TensorFlow's namespace."""

from sessrun.reference.devices.allocators import memory_statistics, set_memory_limit

__all__ = ["memory_statistics", "set_memory_limit"]
