"""A search without a model: launch and named constants of a kernel, through the gate."""
