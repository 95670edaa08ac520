"""One launch of a program becomes a task: its kernel cut out of the source, its arguments and arrays recorded.

The kernel as it was found is the oracle of that task. Nothing here sends what was recorded anywhere.
"""
