"""Lists of tensors: values that runs make of one another, as loops that are functions keep them."""
