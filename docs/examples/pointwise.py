"""
Pointwise and simultaneous
==========================

A model has ten coefficients. How often do their 80 % intervals cover them? The answer depends on
the kind of interval: a pointwise level belongs to each of them, a simultaneous one to all of them
together. Here both are computed for 40 data sets with the same inputs and new noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import unassuming as ua

rng = np.random.default_rng(1)
X = rng.normal(size=(200, 9))
truth = np.arange(10.0)  # the intercept and nine slopes

missed = {"pointwise": [], "simultaneous": []}
widths = {"pointwise": [], "simultaneous": []}
for _ in range(40):
    y = truth[0] + X @ truth[1:] + rng.laplace(size=200)
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    for kind, found in {
        "pointwise": region.summary(level=0.8),
        "simultaneous": region.interval(level=0.8, method="cells", simultaneous=True),
    }.items():
        missed[kind].append((truth < found.lower) | (truth > found.upper))
        widths[kind].append(found.upper - found.lower)

# %%
# Each column of a picture is a data set, and each row a coefficient. A red square is an interval
# that misses its coefficient. In the upper one, each *row* has about one miss in five squares, and
# almost every column has a miss somewhere. In the lower one, about one *column* in eight has a
# miss: the attained level is 0.875, the next one above 0.8 that balanced groups of rows offer.

figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained", sharex=True)
for ax, (kind, found) in zip(axes, missed.items(), strict=True):
    squares = np.array(found).T
    ax.imshow(squares, cmap="Reds", vmin=0, vmax=1.3, aspect="auto")
    ax.set_xticks(np.arange(-0.5, 40), minor=True)
    ax.set_yticks(np.arange(-0.5, 10), minor=True)
    ax.grid(which="minor", color="0.85", linewidth=0.6)
    ax.tick_params(which="both", length=0)
    ax.set_xticks(range(4, 40, 5), range(5, 41, 5))
    ax.set_yticks(range(10), region.names, fontsize="small")
    hold, whole = 1 - squares.mean(), (~squares).all(axis=0).mean()
    ax.set_title(
        f"80 % intervals, {kind}: {100 * hold:.0f} % of them hold,\n"
        f"and all ten hold in {100 * whole:.0f} % of the data sets",
        fontsize="medium",
    )
axes[1].set_xlabel("data set")

# %%
# The price is the width:

for kind, width in widths.items():
    print(f"{kind}: median width {np.median(width):.2f}")
