"""The mechanical rewrites that a careful engineer tries for a named cause: text in, texts out. Nothing is run here."""

from __future__ import annotations

from warpsight.rewrite.catalog import CAUSES, MOST, causes, rewrites
from warpsight.rewrite.record import Facts, Rewrite, facts_of

__all__ = ["CAUSES", "MOST", "Facts", "Rewrite", "causes", "facts_of", "rewrites"]
