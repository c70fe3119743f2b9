"""Which candidates lie in the region: ranks, which everything else is tested against."""

from unassuming._second.membership.engine import Engine

__all__ = ["Engine"]
