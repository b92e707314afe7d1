"""The suite's cases of waiting: several runs that wait for one thing, cut short and served."""
