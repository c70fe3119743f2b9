"""
A randomised experiment
=======================

Sixty students, in ten classes, take a test before and after a course. Within each class three of
six were chosen at random for a new exercise. The scores are skewed and differ between classes; only
the draw was random, and nothing else is assumed. The p-value of every possible effect is exact, and
the effects that are not rejected form an interval in closed form. The score before the course
explains much of the score after it, which makes the interval narrower, and exact all the same.
"""

import matplotlib.pyplot as plt
import numpy as np

import unassuming as ua

rng = np.random.default_rng(4)
group = np.repeat(np.arange(10), 6)
before = rng.normal(50, 10, size=60) + np.repeat(rng.normal(0, 5, size=10), 6)
treatment = np.concatenate([rng.permutation([0, 0, 0, 1, 1, 1]) for _ in range(10)])
after = 0.9 * before + 4 * rng.lognormal(size=60) + 5 * treatment

plain = ua.assignment_test(after, treatment, strata=group, random_state=0)
adjusted = ua.assignment_test(after, treatment, strata=group, controls=before, random_state=0)
print(adjusted)

# %%
# The p-values of all effects, with and without the score before the course. Where a curve is above
# 0.05, the effect belongs to the 95 % interval, which is drawn below it.

effects = np.linspace(-5, 15, 801)
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for result, color, label in (
    (plain, "#D55E00", "without controls"),
    (adjusted, "#0072B2", "with the score before the course"),
):
    ax.step(effects, result.pvalues(effects), where="mid", color=color, label=label)
    height = 0.05 if result is plain else 0.025
    ends = result.interval.lower, result.interval.upper
    ax.plot(ends, [height, height], color=color, linewidth=3, solid_capstyle="butt")
ax.axhline(0.05, color="0.6", linewidth=0.8, linestyle="--")
ax.axvline(5, color="0.6", linewidth=0.8)
ax.annotate("true effect", (5, 0.98), xytext=(6, 0), textcoords="offset points", color="0.35")
ax.set(xlabel="effect of the exercise", ylabel="p-value", xlim=(-5, 15), ylim=(0, 1.05))
ax.legend(loc="upper left", frameon=False)
