"""Libraries of functions, their bodies as graphs, and what a call needs of them."""
