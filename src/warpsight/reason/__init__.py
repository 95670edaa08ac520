"""The closed loop: a model reasons with the tools, in one transcript, within a budget."""
