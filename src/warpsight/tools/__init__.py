"""The functions a model, an agent or a person calls: one function, three doors."""
