"""Suites, metrics, ablation, intervals. Has no reward of its own: verdicts and times are the gate's."""
