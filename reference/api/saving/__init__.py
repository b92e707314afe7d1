"""Saving and restoring: checkpoints, Saver, meta graphs, frozen and pruned graphs."""
