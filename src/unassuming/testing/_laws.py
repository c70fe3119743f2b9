"""How a broken law is reported."""

from __future__ import annotations


def require(holds: bool, otherwise: str) -> None:
    """Raise an AssertionError with that sentence unless the law holds."""
    if not holds:
        raise AssertionError(otherwise)
