"""Input from files: readers, records, parsing of examples, producers and batches."""
