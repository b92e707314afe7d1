"""`tensorflow.python.client`: timelines of traced runs, the devices of this process."""
