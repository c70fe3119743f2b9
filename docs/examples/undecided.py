r"""
The undecided zone of a classifier
==================================

Labels are not a signal plus symmetric noise, but an exact method exists for them. A candidate
:math:`f` for :math:`E[y \mid x]` determines how to draw labels. If the candidate is the truth, the
observed labels are one of many draws from the same distribution.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier

import unassuming as ua

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(300, 2))
mean = X @ [0.6, 0.25]
y = np.where(rng.uniform(size=300) < (1 + mean) / 2, "yes", "no")
model = RidgeClassifier(alpha=1.0, fit_intercept=False)
region = ua.confidence_region(model, X, y, random_state=0)
print(region.test([0.6, 0.25]))

# %%
# Outside the grey zone all members of the region prefer the same label. With the probability of the
# level, this label gives the sign of :math:`E[y \mid x]`, at all these points simultaneously.

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax = ua.plots.classification(region, levels=(0.5, 0.9), resolution=28, ax=ax)

# %%
# The scikit-learn classifier gives the same result as sets of labels.

classifier = ua.ConfidenceClassifier(model, level=0.9, random_state=0)
classifier.fit(X, y)
corners = np.array([[-0.9, -0.9], [-0.1, 0.0], [0.9, 0.9]])
for row, kept in zip(corners, classifier.predict_set(corners), strict=True):
    print(row, classifier.classes_[kept])
