"""The lens: one vocabulary for counters, findings with evidence, and words a model can use.

The way in: `read_profile` for a report, `find_findings` for what is slow and why (`detect_findings` with what is too
small to say), `render` for the words within a budget, `rederive` to check every number of a finding. A profile from the
virtual GPU comes from `devices`.
"""

from __future__ import annotations

from warpsight.lens.derivation import Derived, rederive
from warpsight.lens.findings import detect as detect_findings
from warpsight.lens.findings import find as find_findings
from warpsight.lens.render import DEFAULT_TOKENS, MODES, Mode, render, tokens
from warpsight.lens.reports import read_profile

__all__ = [
    "DEFAULT_TOKENS",
    "MODES",
    "Derived",
    "Mode",
    "detect_findings",
    "find_findings",
    "read_profile",
    "rederive",
    "render",
    "tokens",
]
