"""
Coefficients of a table with one influential row
================================================

The murder rate in the 50 American states and the District of Columbia. The District has most of the
leverage, so its residual is near zero whatever its error is. Robust standard errors (HC3) answer
with wide intervals, and t intervals take the errors of all rows for equally large. The exact
intervals assume that errors are independent and that each is symmetric.
"""

import matplotlib.pyplot as plt
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

import unassuming as ua

data = sm.datasets.statecrime.load_pandas()
X, y = data.exog[["urban", "poverty", "hs_grad", "single"]], data.endog
ols = sm.OLS(y, sm.add_constant(X))
print(f"largest leverage: {ols.fit().get_influence().hat_matrix_diag.max():.2f}")

summary = ua.confidence_region(LinearRegression(), X, y).summary()
print(summary)

# %%
# Intervals of the four slopes. The dot is the estimate of each method.

t, hc3 = ols.fit(), ols.fit(cov_type="HC3", use_t=True)
rows = {
    "exact": ("#0072B2", summary.estimate, summary.lower, summary.upper),
    "HC3": ("#D55E00", hc3.params, *hc3.conf_int().to_numpy().T),
    "t": ("0.6", t.params, *t.conf_int().to_numpy().T),
}
fig, axes = plt.subplots(1, 4, figsize=(10, 2.6), layout="constrained", sharey=True)
for number, ax in enumerate(axes, start=1):
    for height, (color, middle, low, high) in enumerate(rows.values()):
        ends = low[number], high[number]
        ax.plot(ends, [height, height], color=color, linewidth=3, solid_capstyle="butt")
        ax.plot([list(middle)[number]], [height], "o", color=color)
    ax.axvline(0, color="0.7", linewidth=0.8, linestyle="--")
    ax.set(title=summary.names[number], yticks=range(3), yticklabels=rows, ylim=(2.5, -0.5))
