"""
Quantiles of food expenditure
=============================

Engel's data: income and food expenditure of 235 Belgian households in the 19th century. Richer
households differ more from each other than poor ones, and not symmetrically. Regression quantiles
need neither symmetry nor equal spread, only independent rows. The bands are certified: each covers
its quantile at all incomes at once with a probability of at least 90 %, if the quantile is linear.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import QuantileRegressor
from statsmodels.datasets import engel

import unassuming as ua

data = engel.load_pandas().data
X, y = data[["income"]], data["foodexp"]
grid = pd.DataFrame({"income": np.linspace(400, 3000, 60)})

fig, ax = plt.subplots(figsize=(8, 5.5), layout="constrained")
ax.plot(X, y, "o", color="0.35", markersize=3, label="households")
regions = {}
for tau, color in ((0.9, "#D55E00"), (0.5, "#0072B2"), (0.1, "#009E73")):
    model = QuantileRegressor(quantile=tau, alpha=0)
    regions[tau] = ua.confidence_region(model, X, y, random_state=0)
    band = regions[tau].band(grid, level=0.9, method="joint")
    ax.fill_between(grid["income"], band.lower, band.upper, color=color, alpha=0.25, lw=0)
    ax.plot(grid["income"], band.estimate, color=color, label=f"{tau:g}-quantile, 90 % band")
ax.set(xlabel="income", ylabel="food expenditure", xlim=(300, 3050), ylim=(150, 2350))
ax.legend(loc="upper left", frameon=False)

# %%
# Engel's law says that the share of food falls with income. Spending that is proportional to income
# has the intercept zero. All three intervals of the intercept lie above zero, so at low incomes
# food takes a larger share of it.

for tau, region in regions.items():
    interval = region.interval(level=0.9, simultaneous=True, method="joint")
    lower, upper = interval.lower, interval.upper
    print(f"{tau:g}: intercept [{lower[0]:.0f}, {upper[0]:.0f}]", end=", ")
    print(f"slope [{lower[1]:.3f}, {upper[1]:.3f}]")

# %%
# The region of the median is a union of polyhedra. The picture shows the part that rays from the
# estimate reach.

ax = ua.plots.coefficients(regions[0.5], levels=(0.5, 0.9))
