"""Runs as something to look at: one HTML file for a run, and a local page over the store."""
