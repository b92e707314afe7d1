"""The base class of layers, and its parts."""
