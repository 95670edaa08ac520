"""The store: runs, their steps, what was recorded of models and tools, artefacts by hash; exports of a run."""
