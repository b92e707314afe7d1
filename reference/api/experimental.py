"""What this runtime offers beyond TensorFlow's namespace."""

from sessrun.reference.devices.allocators import memory_statistics, set_memory_limit
from sessrun.reference.session.execute.generated import set_execution_tier

__all__ = ["memory_statistics", "set_execution_tier", "set_memory_limit"]
