"""Dynamical systems: regressors that depend on past noise (docs/theory.md 15)."""

# Shared within the library, not public.
from unassuming.objectives.systems._amplification import amplification as amplification
from unassuming.objectives.systems._cascade import steps_until_overflow as steps_until_overflow
from unassuming.objectives.systems._objective import ArxObjective, from_arx
from unassuming.objectives.systems._score import SimulatedScore
from unassuming.objectives.systems._series import Series

__all__ = ["ArxObjective", "Series", "SimulatedScore", "from_arx"]
