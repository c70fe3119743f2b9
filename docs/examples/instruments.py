"""
A weak instrument
=================

A price depends on demand, which is the noise in the equation for sales. Least squares then
confuses the two. A tax moves the price and does not depend on demand: it is an instrument. How much
can be said about the effect of the price depends on how much the tax moves it. The sets below are
exact for every strength: an interval if the tax matters, two rays or the whole line if it does not.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

import unassuming as ua

TRUTH = 0.7
model = ua.InstrumentalRegression(endogenous="price", instruments="tax")
regions = {}
for strength in (1.0, 0.4, 0.2, 0.0):
    X, y, _ = ua.datasets.instrumented(n=60, strength=strength, random_state=1)
    table = pd.DataFrame(X, columns=["price", "age", "tax"])
    regions[strength] = ua.confidence_region(model, table, y, random_state=0)

for strength, region in regions.items():
    found = region.interval(level=0.95, simultaneous=False)
    usual = LinearRegression().fit(region.inputs[["price", "age"]], region.objective.y)
    print(f"strength {strength:g}: {found.sets[0]}, least squares {usual.coef_[0]:.2f}")

# %%
# The p-value of every candidate shows why. A set consists of the candidates whose p-value exceeds
# 0.05. With a strong instrument p-values fall on both sides. With a weak one they level off: a huge
# effect of a price that the tax hardly moves cannot be told from a moderate one.

grid = np.linspace(-4, 5, 121)
fig, axes = plt.subplots(2, 2, figsize=(8, 5.5), layout="constrained", sharex=True, sharey=True)
for ax, (strength, region) in zip(axes.flat, regions.items(), strict=True):
    p = [region.hypothesis("price", value).pvalue for value in grid]
    ax.plot(grid, p, color="#0072B2")
    ax.axhline(0.05, color="0.5", linestyle="--", linewidth=1)
    ax.axvline(TRUTH, color="#D55E00", linewidth=1.2)
    for low, high in region.interval(level=0.95, simultaneous=False).sets[0].ends:
        low, high = np.clip([low, high], grid[0], grid[-1])
        ax.fill_between([low, high], 0, 1, color="#0072B2", alpha=0.12, linewidth=0)
    ax.set(title=f"strength {strength:g}", ylim=(0, 1.02), xlim=(grid[0], grid[-1]))
for ax in axes[1]:
    ax.set_xlabel("effect of the price")
for ax in axes[:, 0]:
    ax.set_ylabel("p-value")
fig.suptitle("95 % sets (shaded) and the truth (vertical line)")

# %%
# A forest plot draws rays with arrows at the edge.

ax = ua.plots.forest(regions[0.2].summary(level=0.95))
