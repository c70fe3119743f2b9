import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, Y, _ = ua.datasets.sine(n=40, noise="laplace", random_state=0)


@pytest.fixture(scope="session")
def spline():
    model = make_pipeline(SplineTransformer(5), Ridge(0.1))
    return ua.confidence_region(model, X, Y, random_state=0)


@pytest.fixture(scope="session")
def kernel():
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
    return ua.confidence_region(model, pd.DataFrame({"time": X[:, 0]}), Y, random_state=0)
