"""The library's place of work: one task on one device, and all that can be asked of it."""
