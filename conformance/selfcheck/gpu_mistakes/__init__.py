"""Mistakes that only a GPU shows, planted in the runtime: whether simulated GPUs show them."""
