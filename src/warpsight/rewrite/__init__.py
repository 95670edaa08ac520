"""The mechanical rewrites that a careful engineer tries for a named cause: text in, texts out. Nothing is run here."""

from __future__ import annotations

from warpsight.rewrite.catalog import CAUSES, MOST, rewritable, rewrites, rewritten_for
from warpsight.rewrite.record import Facts, Rewrite, facts_of

__all__ = ["CAUSES", "MOST", "Facts", "Rewrite", "facts_of", "rewritable", "rewrites", "rewritten_for"]
