"""Traces, supervised tuning, reinforcement and its reward. Measures nothing: it uses the loop, the tools, the gate."""
