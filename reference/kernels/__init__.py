"""The kernels: plain functions written once against the array module, numpy or cupy."""
