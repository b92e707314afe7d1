"""Control flow: programs of branches, loops and effects, as graphs and as a model runs them."""
