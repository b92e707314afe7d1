"""Elements of TensorArrays: how they are read, added up, and which are refused."""
