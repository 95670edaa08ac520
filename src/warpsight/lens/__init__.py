"""The lens: one vocabulary for counters, findings with evidence, and words a model can use."""
