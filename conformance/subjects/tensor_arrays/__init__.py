"""TensorArrays: arrays of one run, of which each element is written once."""
