"""JAX: a translator from GraphDefs to functions of JAX arrays, compiled by XLA for the CPU.

`engine` is the adapter, `program` turns a part of a graph into a compiled function, `rules` has the
table of translated operations, which the other modules fill, one for each subject. Only `engine`
can be imported without JAX.
"""
