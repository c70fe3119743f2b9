"""Which candidates lie in the region: ranks, which everything else is tested against."""

from unassuming._second.membership.candidates import Candidates, resolve
from unassuming._second.membership.engine import Engine
from unassuming._second.membership.table import FixedTable, QuadraticTable

__all__ = ["Candidates", "Engine", "FixedTable", "QuadraticTable", "resolve"]
