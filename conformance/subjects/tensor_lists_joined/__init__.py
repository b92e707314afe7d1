"""Lists of tensors scattered, joined, cut and read as a whole."""
