"""What all layers share: their base class, and what it is made of."""
