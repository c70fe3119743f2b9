"""Fast ways to the ranks of many candidates, which leave near-ties to the careful comparison."""

from unassuming.membership.screens._choice import screen_of
from unassuming.membership.screens._quadratic import LiftedGaps
from unassuming.membership.screens._screen import Screen

__all__ = ["LiftedGaps", "Screen", "screen_of"]
