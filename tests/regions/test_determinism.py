"""A region is a function of its data and one integer: not of batches, copies or company."""

import copy
import os
import pickle
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, Ridge
from some_regions import EVERY, LOGISTIC, NOISES, candidates_about, features, region_of

import unassuming as ua
from speed import slow_but

ALL = EVERY | LOGISTIC
SOME = ["least squares", "kernel ridge", "lasso", "SVR, identity", "median", "ridge classifier"]


def assert_same(one, other):
    assert one.seed == other.seed
    np.testing.assert_array_equal(one.tie_order, other.tie_order)
    r = np.arange(1.0, one.n + 1)
    moved = [region.perturbations.apply(r, 0.01 * r) for region in (one, other)]
    np.testing.assert_array_equal(*moved)
    a = candidates_about(one, 50, np.random.default_rng(0))
    np.testing.assert_array_equal(one.estimate, other.estimate)
    np.testing.assert_array_equal(one.rank(a), other.rank(a))
    np.testing.assert_array_equal(one.statistics(a), other.statistics(a))


# --- the seed ---


@pytest.mark.parametrize("name", slow_but(ALL, *SOME))
def test_the_same_seed_builds_the_same_region(name):
    assert_same(region_of(name), region_of(name))


@pytest.mark.parametrize("noise", NOISES)
def test_what_is_drawn_does_not_depend_on_the_outputs_or_the_model(noise):
    X, y = features()
    kernel = ua.KernelLasso(kernel="rbf")
    one = ua.confidence_region(Ridge(), X, y, noise=NOISES[noise](14), m=100)
    other = ua.confidence_region(kernel, X + 1, y**3, noise=NOISES[noise](14), m=100)
    r = np.arange(1.0, 15)
    np.testing.assert_array_equal(one.perturbations.apply(r), other.perturbations.apply(r))
    np.testing.assert_array_equal(one.tie_order, other.tie_order)


def drawn(random_state):
    return ua.confidence_region(
        Ridge(), *features(), noise="exchangeable", m=20, random_state=random_state
    )


def test_without_a_seed_regions_differ_and_can_be_rebuilt():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    regions = [drawn(None) for _ in range(5)]
    assert len({region.seed for region in regions}) == 5
    for region in regions:
        assert_same(region, drawn(region.seed))
        assert f"seed {region.seed}" in " ".join(str(region).split())
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# --- company ---


@pytest.mark.parametrize("name", slow_but(ALL, *SOME))
def test_ranks_do_not_depend_on_the_company(name):
    region = region_of(name)
    a = candidates_about(region, 400, np.random.default_rng(2))
    a[1] = region.estimate
    together = region.rank(a)
    assert len(np.unique(together)) > 5
    assert [region.rank(one) for one in a[::10]] == together[::10].tolist()
    np.testing.assert_array_equal(region.rank(a[::-1]), together[::-1])
    parts = [region.rank(a[:1]), region.rank(a[1:32]), region.rank(a[32:])]
    np.testing.assert_array_equal(np.concatenate(parts), together)


PEAK = """
import numpy as np
import unassuming as ua
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR
from peak_memory import peak_memory

X, y, _ = ua.datasets.sine(n=20, random_state=0)
svr, ridge = SVR(gamma=2.0), KernelRidge(kernel="rbf", gamma=2.0, alpha=2.0)
for estimator, count in ((svr, 20_000), (ridge, 500_000)):
    region = ua.confidence_region(estimator, X, y, m=100, random_state=0)
    a = np.random.default_rng(0).normal(size=(count, region.objective.d))
    a *= np.random.default_rng(1).uniform(0, 2, size=(count, 1))
    ranks = region.rank(a)
    assert ranks.shape == (count,) and len(np.unique(ranks)) > 10
    print(peak_memory())
"""


@pytest.mark.slow
def test_memory_is_bounded_for_half_a_million_candidates():
    """In a fresh process. The candidates take 80 MB, their residuals would take 8 GB."""
    pytest.importorskip("resource")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PEAK], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    few, many = map(int, done.stdout.split())
    assert few < 0.4e9
    assert many < 0.6e9


# --- copies, and what a region holds ---


def ask_everything(region):
    """Fill every cache that a region and its shape have."""
    bound = 2 * region.suggest_norm_bound()
    for ask in (
        lambda: region.band(features()[0][:2], norm_bound=bound, method="joint"),
        lambda: region.reach(region.names[0]),
        lambda: region.bounded(0.9),
        lambda: region.ellipsoid(0.9),
        lambda: region.sample(3, random_state=0, norm_bound=bound),
        lambda: region.diagnose(),
    ):
        try:
            ask()
        except (ua.NotAvailable, ValueError):
            continue


@pytest.mark.parametrize("name", slow_but(SOME, "least squares", "kernel ridge"))
def test_a_copy_answers_the_same(name):
    region, joint = region_of(name), {"simultaneous": True, "method": "joint"}
    ask_everything(region)
    upper = region.interval(region.names[-1], **joint).upper
    for other in (pickle.loads(pickle.dumps(region)), copy.deepcopy(region)):
        assert_same(region, other)
        np.testing.assert_array_equal(other.interval(region.names[-1], **joint).upper, upper)
        assert str(other) == str(region)


def test_a_result_holds_no_data():
    X, y, _ = ua.datasets.linear(n=400, d=5, random_state=0)
    region = ua.confidence_region(HuberRegressor(), X, y, m=20)
    answer = region.interval("x0", simultaneous=True, method="joint")
    assert len(pickle.dumps(answer)) < 4_000
    with pytest.raises(AttributeError):
        answer.lower = answer.upper


def test_what_a_region_holds_cannot_be_changed_by_accident():
    X, y = features()
    region = ua.confidence_region(Ridge(), X, y)
    before = region.rank(lambda x: x[:, 0])
    X[:] = 0.0
    assert region.rank(lambda x: x[:, 0]) == before
    for array in (region.estimate, region.tie_order):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for name in ("n", "m", "noise", "names", "tie_order", "estimate"):
        with pytest.raises(AttributeError):
            setattr(region, name, 1)


class Outline(HTMLParser):
    """Check that every tag is closed in turn, and collect the text between them."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_well_formed_and_tells_the_same_as_the_text():
    class Loud(ua.noise.Symmetric):
        assumption = "x < y & <script>alert('hi')</script>"

    region = ua.confidence_region(Ridge(), *features(), noise=Loud())
    outline = Outline()
    outline.feed(region._repr_html_())
    outline.close()
    assert outline.open == []
    shown = " ".join(" ".join(outline.text).split())
    assert shown == " ".join(str(region).split())
    assert Loud.assumption in shown
