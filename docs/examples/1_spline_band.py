r"""
A certified band from ridge regression on splines
=================================================

The shortest way to a finite band: ridge regression on a few splines, and no assumption on the
noise but that each error is as likely to be :math:`+e` as :math:`-e`.

The data are 80 values of :math:`x \sin x` with Laplace noise; the region is told neither.
"""

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, y, f = ua.datasets.sine(n=80, noise="laplace", random_state=1)
model = make_pipeline(SplineTransformer(8), Ridge(0.1))
region = ua.confidence_region(model, X, y, random_state=1)
print(region)

# %%
# The band is simultaneous: with probability at least 90 % the 90 % band holds the ideal
# representation at all inputs at once. What it takes for granted is printed above as "the
# noise-free outputs lie in the span of the 11 features". (:math:`x \sin x` is no spline, but one
# comes close.) The dashes are values of members that a search has found: no honest bound can be
# closer than that.

ax = ua.plots.band(region, levels=(0.5, 0.9), inner=12, truth=f)

# %%
# A region can be asked about any function. The truth has a rank that is uniform on 1 to 100, so
# that it lies in the region of level :math:`p` with probability :math:`p`; a function that comes
# too late is found out.

print(region.test(f))
print(region.test(lambda X: f(X - 0.2)))

# %%
# These are members of the region, coloured by the smallest level at which they belong to it. They
# are examples, no bounds: what a few hundred members leave white, others may reach.

ax = ua.plots.family(region, size=150)
