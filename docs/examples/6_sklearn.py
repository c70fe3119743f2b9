"""
In a scikit-learn pipeline, with tuning
=======================================

`ConfidenceRegressor` is a scikit-learn estimator that provides a band in addition to its
predictions. Hyper-parameters chosen with the same outputs would void the guarantee. `tuned_region`
chooses them on some of the rows and builds the region on the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, y, f = ua.datasets.sine(n=160, noise="student", random_state=2)
model = make_pipeline(SplineTransformer(8), Ridge(0.1))
regressor = ua.ConfidenceRegressor(model, level=0.9, random_state=0).fit(X, y)
grid = np.array([[2.0], [5.0], [8.0]])
print(np.column_stack([regressor.predict(grid), regressor.predict_band(grid)]).round(2))
folds = KFold(shuffle=True, random_state=0)
print("cross-validated R²", cross_val_score(regressor, X, y, cv=folds).mean().round(2))

# %%
# A search is refused, and the error explains what to do instead:

search = GridSearchCV(
    make_pipeline(SplineTransformer(), Ridge()),
    {"splinetransformer__n_knots": [5, 7, 9], "ridge__alpha": [0.01, 0.1, 1.0]},
)
try:
    ua.confidence_region(search, X, y)
except TypeError as error:
    print(error)

# %%
# With the hyper-parameters tuned on 40 % of the rows, the region of the other 60 % is as exact as
# one without tuning. The left picture shows the region of all rows, with hyper-parameters that were
# fixed beforehand; the right picture shows the tuned region.

tuned = ua.tuned_region(search, X, y, tune_size=0.4, random_state=0)
print(tuned.tuning)

shown = {"fixed beforehand, 160 rows": regressor.region_, f"tuned, {tuned.n} rows": tuned}
parts = plt.figure(figsize=(11, 4.8), layout="constrained").subfigures(1, 2)
for part, (title, region) in zip(parts, shown.items(), strict=True):
    part.suptitle(title, fontweight="bold")
    ax = ua.plots.band(region, levels=[0.9], truth=f, ax=part.subplots())
    ax.set_ylim(-15, 15)
