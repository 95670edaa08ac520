"""Warpsight for coding agents: the tools over MCP, the skill that says how to use them, settings for each client."""
