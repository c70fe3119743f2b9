"""
Darwin's maize: a randomised experiment
=======================================

Fifteen pairs of plants, one cross-fertilised and one self-fertilised in each. Fisher's test treats
the two places in each pair as assigned by chance. Nothing is assumed about the heights. Effects
that the test does not reject form an interval.
"""

import matplotlib.pyplot as plt
import numpy as np

import unassuming as ua

crossed = [188, 96, 168, 176, 153, 172, 177, 163, 146, 173, 186, 168, 177, 184, 96]
selfed = [139, 163, 160, 160, 147, 149, 149, 122, 132, 144, 130, 144, 102, 124, 144]
height = np.array(crossed + selfed) / 8
treatment, pair = np.repeat([1, 0], 15), np.tile(np.arange(15), 2)
result = ua.assignment_test(height, treatment, strata=pair)
print(result)

# %%
# The p-values of all effects, in inches. Where the curve is above 0.05, the effect belongs to the
# 95 % interval.

effects = np.linspace(-3, 8, 551)
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.step(effects, result.pvalues(effects), where="mid", color="#0072B2")
ends = result.interval.lower, result.interval.upper
ax.plot(ends, [0.05, 0.05], color="#D55E00", linewidth=3, solid_capstyle="butt")
ax.axvline(0, color="0.6", linewidth=0.8, linestyle="--")
ax.set(xlabel="effect of crossing (inches)", ylabel="p-value", ylim=(0, 1.05))
