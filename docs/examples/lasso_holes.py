"""
A LASSO region with holes
=========================

The gradient of the LASSO jumps where a coefficient becomes zero. The rank jumps too, and the region
need not be convex or connected. Membership is still exact, and so are the points where a line
enters and leaves the region.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso

import unassuming as ua

rng = np.random.default_rng(215)
X = rng.normal(size=(10, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
truth = np.array([1.0, 0.0])
y = X @ truth + rng.laplace(size=10)
region = ua.confidence_region(Lasso(0.7, fit_intercept=False), X, y, weighting="identity")
print("estimate", region.estimate.round(2))

# %%
# Ten rows, the weighting of the article and a strong penalty make the holes large. Along a line
# through the estimate, the region of level 90 % consists of several pieces. ``crossings`` returns
# the intervals of t for which estimate + t * direction is in the region, one interval per row.

direction = np.array([1.0, -0.5])
crossings = region.crossings(direction, level=0.9)
print(crossings.round(3))

# %%
# Every point of the plane is a candidate and has a rank. The boundary jumps at the axes, where a
# coefficient changes its sign.

side = 100
first, second = np.linspace(-3.2, 4.8, side), np.linspace(-4, 4, side)
plane = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
level = region.smallest_level(plane).reshape(side, side)

shades = ["#08519c", "#6baed6", "#c6dbef", "white"]
fig, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
drawn = ax.contourf(first, second, level, levels=[0, 0.5, 0.8, 0.9, 1.0], colors=shades)
for number, (low, high) in enumerate(crossings):
    piece = region.estimate + np.clip([[low], [high]], -9, 9) * direction
    label = None if number else "crossings at 90 %"
    ax.plot(*piece.T, color="#D55E00", linewidth=2.5, solid_capstyle="butt", label=label)
ax.plot(*region.estimate, "o", color="black", label="estimate")
ax.plot(*truth, "P", color="#E69F00", markeredgecolor="black", markersize=9, label="truth")
ax.set(xlabel="$a_1$", ylabel="$a_2$", xlim=first[[0, -1]], ylim=second[[0, -1]])
ax.legend(loc="upper right")
bar = fig.colorbar(drawn, label="smallest level at which it is a member")
