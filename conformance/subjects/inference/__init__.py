"""What is asked of engines that convert a graph: the profile `inference`."""
