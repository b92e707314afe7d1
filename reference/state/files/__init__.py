"""Files outside of graphs: paths, patterns, file objects, gfile."""
