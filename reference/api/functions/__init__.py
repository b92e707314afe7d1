"""Functions of a graph: Defun, the graphs of bodies, libraries, FunctionDefs."""
