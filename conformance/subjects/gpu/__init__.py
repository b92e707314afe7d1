"""The suite's cases of sessions with GPUs: placement, copies, memory, late errors, values."""
