"""What lookup tables hold, and the files that fill them."""
