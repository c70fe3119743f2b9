"""Candidates and their ranks: the ground truth of a region (docs/theory.md 2)."""

from unassuming.membership._candidates import FITTED, Candidates, resolve
from unassuming.membership._engine import Comparison, RankEngine

__all__ = ["FITTED", "Candidates", "Comparison", "RankEngine", "resolve"]
