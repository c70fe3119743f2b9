"""Which candidates lie in the region: ranks, which everything else is tested against."""

from unassuming.membership.candidates import FITTED, Candidates, resolve
from unassuming.membership.engine import Engine
from unassuming.membership.table import FixedTable, QuadraticTable

__all__ = ["FITTED", "Candidates", "Engine", "FixedTable", "QuadraticTable", "resolve"]
