import pytest


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")
