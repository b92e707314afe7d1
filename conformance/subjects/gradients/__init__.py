"""Gradients: of every differentiable operation and function, on drawn arguments."""
