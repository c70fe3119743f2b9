"""Randomised experiments: the assignment of the treatment is random, the outcomes are fixed.

If the treatment adds the same number τ to every outcome, the outcomes without treatment are
y - τ·treatment, whatever was assigned. So statistics of other assignments, which were as likely as
the one that was made, can be computed, and the rank of the observed one is uniform at the true τ
(docs/theory.md 20). Nothing is assumed about the outcomes.
"""

from unassuming.experiments.test import (
    AssignmentTest,
    EffectInterval,
    EffectStatus,
    assignment_test,
)

__all__ = ["AssignmentTest", "EffectInterval", "EffectStatus", "assignment_test"]
