"""Traces, supervised tuning, reinforcement and its reward. Measures nothing itself: it uses the loop, tools and gate."""
