"""Tasks with planted, removable defects: the truth about each is measured, not an opinion. Trains nothing."""
