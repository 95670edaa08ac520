"""Rewrites that change how the work is divided, built on a real reading of the source (`warpsight.source`)."""
