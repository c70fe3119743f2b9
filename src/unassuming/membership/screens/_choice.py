"""Which screen serves an objective."""

from __future__ import annotations

from unassuming._typing import IntArray
from unassuming.membership.screens._quadratic import LiftedGaps, WhitenedScreen
from unassuming.membership.screens._residuals import ResidualScreen
from unassuming.membership.screens._screen import Screen
from unassuming.membership.screens._signs import SignScreen
from unassuming.membership.screens._simulations import SimulationScreen
from unassuming.noise import Noise, Perturbations
from unassuming.objectives import (
    FreshSigns,
    LeastNormScore,
    Objective,
    Quadratic,
    Score,
    SimulatedScore,
)


def screen_of(
    objective: Objective,
    score: Score,
    perturbations: Perturbations,
    tie_order: IntArray,
    fresh_signs: FreshSigns | None,
    lifted: LiftedGaps | None,
) -> Screen | None:
    """Return the screen for these statistics, if there is one.

    ``fresh_signs`` and ``lifted`` are what scores of signs and quadratic objectives have.
    """
    o, noise = objective, perturbations.noise
    if fresh_signs is not None and o.design is not None:
        return SignScreen(o, o.design, fresh_signs)
    if isinstance(score, SimulatedScore):
        return SimulationScreen.build(o, score, perturbations, tie_order)
    # An assumption that excludes candidates has to be asked about every one of them.
    if o.design is None or not noise.orthogonal or type(noise).admits is not Noise.admits:
        return None
    if isinstance(o, Quadratic) and lifted is not None:
        return WhitenedScreen.build(lifted, o, tie_order)
    kinks = o.kinks()
    if kinks is None or not isinstance(score, LeastNormScore):
        return None
    # ρ(G r) = G ρ(r) needs an odd function of each residual, and G that moves or turns them.
    if len(kinks.thresholds) and not noise.exact_arithmetic:
        return None
    return ResidualScreen.build(o, o.design, score, perturbations, tie_order)
