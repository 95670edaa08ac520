"""The tools in few words for small models, how a task is put to them, and the trained model that ships: runtime."""
