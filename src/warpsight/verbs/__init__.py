"""The library in one call each: what `import warpsight as ws` offers, and what the commands of the same names do."""
