"""The day a GPU is there: what `make gpu` runs, in four parts that write into one folder."""
