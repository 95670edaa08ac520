"""Warpsight's tasks in the folder format of Harbor (terminal-bench)."""

from warpsight_harbor.export import export_task

__all__ = ["export_task"]
