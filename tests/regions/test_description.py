"""A region in words: what it covers, how surely, and what that rests on."""

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from sklearn.svm import SVR

import unassuming as ua

RNG = np.random.default_rng(0)
X = RNG.normal(size=(15, 2))
Y = X @ [1.0, -1.0] + RNG.laplace(size=15)
LABELS = np.where(Y > 0, 1, -1)


def region_of(model=None, y=Y, **options):
    model = Ridge(alpha=0.25) if model is None else model
    return ua.confidence_region(model, X, y, **{"random_state": 7, **options})


def words(region):
    """Return the text as one line, so that line breaks do not matter."""
    return " ".join(str(region).split())


def test_the_text_names_everything_a_reader_needs():
    text = words(region_of(m=40))
    assert "Ridge(alpha=0.25)" in text
    assert "n = 15 rows" in text
    assert "d = 3 coefficients" in text
    assert "the noise terms are independent, each symmetric about zero" in text
    assert "do not depend on the noise" in text
    assert "with probability exactly 1 - q/40 for q = 1, ..., 39" in text
    assert "levels 0.025 to 0.975" in text
    assert "weighting hessian" in text
    assert "39 transformations" in text
    assert "seed 7" in text
    assert "ties random" in text


@pytest.mark.parametrize(
    ("noise", "assumption"),
    [
        ("symmetric", "independent, each symmetric about zero"),
        ("exchangeable", "exchangeable (iid is enough; they may be skewed)"),
        ("symmetric-exchangeable", "exchangeable and symmetric about zero"),
        ("spherical", "unchanged by rotations"),
        (ua.noise.BlockSymmetric(np.arange(15) // 3), "the blocks of rows are independent"),
    ],
    ids=["symmetric", "exchangeable", "both", "spherical", "blocks"],
)
def test_the_assumption_is_told_in_words(noise, assumption):
    assert assumption in words(region_of(noise=noise))


def test_an_assumption_of_ones_own_is_told_in_its_own_words():
    class Flipped(ua.noise.Symmetric):
        assumption = "a fair coin decides the sign"

    assert "a fair coin decides the sign" in words(region_of(noise=Flipped()))


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_ties_in_favour_give_at_least_the_level(noise):
    exact, favoured = (
        words(region_of(noise=noise)),
        words(region_of(noise=noise, ties="conservative")),
    )
    assert "with probability exactly 1 - q/100" in exact
    assert "at least" not in exact
    assert "with probability at least 1 - q/100" in favoured
    assert "exactly" not in favoured
    assert "ties conservative" in favoured


def test_the_seed_that_was_drawn_is_told_and_builds_the_same_region():
    drawn = region_of(random_state=None)
    assert f"seed {drawn.seed}" in words(drawn)
    again = region_of(random_state=drawn.seed)
    candidates = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_array_equal(drawn.rank(candidates), again.rank(candidates))
    np.testing.assert_array_equal(drawn.tie_order, again.tie_order)


@pytest.mark.parametrize(
    ("weighting", "told"),
    [(None, "hessian"), ("identity", "identity"), (np.eye(3), "matrix of shape (3, 3)")],
    ids=["default", "identity", "matrix"],
)
def test_the_weighting_is_told(weighting, told):
    assert f"weighting {told}" in words(region_of(weighting=weighting))


def test_the_rows_that_count_are_counted():
    weight = np.r_[0.0, 0.0, np.ones(13)]
    assert "n = 13 rows" in words(region_of(sample_weight=weight))


def test_a_group_tells_its_order():
    region = ua.confidence_region(Ridge(), X[:5], Y[:5], m="group", random_state=0)
    assert "1 - q/32" in words(region)
    assert "31 transformations" in words(region)


# --- the span -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        Ridge(fit_intercept=False),
        Lasso(),
        make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge()),
    ],
    ids=["least squares", "no intercept", "lasso", "pipeline"],
)
def test_features_must_span_the_truth_and_the_text_says_so(model):
    text = words(region_of(model))
    assert re.search(r"noise-free outputs lie in the span of the (\d+ )?features", text)


@pytest.mark.parametrize(
    "model", [KernelRidge(kernel="rbf"), SVR(), ua.KernelHuber(kernel="laplacian")], ids=repr
)
def test_full_rank_kernels_need_no_span(model):
    assert "in the span" not in words(region_of(model))


def test_gaussian_kernels_count_as_full_rank_whatever_their_floating_point_rank():
    inputs = np.linspace(0, 1, 60)[:, None]
    assert np.linalg.matrix_rank(np.exp(-((inputs - inputs.T) ** 2))) < 20
    model = KernelRidge(kernel="rbf", gamma=1.0)
    region = ua.confidence_region(model, inputs, np.sin(inputs[:, 0]), random_state=0)
    assert "in the span" not in words(region)


def test_kernels_of_low_rank_must_span_the_truth_too():
    """A linear kernel is a model of two features, however many dual coefficients it has."""
    assert "lie in the span" in words(region_of(KernelRidge(kernel="linear")))


def ten_copies(inputs):
    return np.tile(inputs, 10)


def test_more_features_than_rows_of_low_rank_must_span_the_truth_too():
    region = region_of(make_pipeline(FunctionTransformer(ten_copies), Ridge()))
    assert region.objective.d == 21
    assert "lie in the span" in words(region)


# --- classifiers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [RidgeClassifier(), ua.LSSVC(C=0.1)], ids=repr)
def test_labels_are_exact_and_do_not_warn(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = words(region_of(model, LABELS))
    assert "the labels are independent given the inputs" in text
    assert "E[y|x]" in text
    assert "exactly" in text
    assert "E[y|x] lies in the span" in text


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
@pytest.mark.parametrize("model", [RidgeClassifier(), ua.LSSVC(C=0.1)], ids=repr)
def test_classifiers_without_label_noise_warn_once_and_promise_nothing(model, noise):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        region = ua.confidence_region(model, X, LABELS, noise=noise, random_state=0)
        text = words(region)
        region.rank(region.estimate)
    assert len(heard) == 1
    assert heard[0].filename == __file__  # the line of the caller
    assert "no coverage guarantee" in str(heard[0].message)
    assert "The assumption 'labels' is exact" in str(heard[0].message)
    assert "no coverage guarantee" in text
    assert "with probability" not in text


# --- repr and HTML --------------------------------------------------------------------------------


def test_repr_is_one_short_line():
    assert repr(region_of()) == "<Region of Ridge(alpha=0.25): n=15, m=100, Symmetric()>"
    pipeline = make_pipeline(PolynomialFeatures(2), Ridge(alpha=0.25, max_iter=10, tol=1e-9))
    assert "\n" not in repr(region_of(pipeline))


def test_the_text_fits_a_screen():
    for region in (region_of(), region_of(SVR()), region_of(RidgeClassifier(), LABELS)):
        assert max(map(len, str(region).splitlines())) <= 100


class Outline(HTMLParser):
    """Check that every tag is closed in turn, and collect the text between them."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(html):
    outline = Outline()
    outline.feed(html)
    outline.close()
    assert outline.open == []
    return outline


def test_html_is_well_formed_and_tells_the_same_as_the_text():
    region = region_of()
    outline = parsed(region._repr_html_())
    assert set(outline.tags) == {"div", "b", "table", "tr", "th", "td"}
    assert outline.tags.count("tr") == outline.tags.count("td") == outline.tags.count("th")
    shown = " ".join(" ".join(outline.text).split())
    assert shown == words(region)


def test_html_is_escaped():
    class Loud(ua.noise.Symmetric):
        assumption = "x < y & <script>alert('hi')</script>"

        def __repr__(self):
            return "<b>Loud</b>"

    class Shouting(Ridge):
        def __repr__(self, **_):
            return "<img src=x onerror=alert(1)>"

    ua.register_objective(Shouting, ua.objectives.from_ridge)
    try:
        region = region_of(Shouting(), noise=Loud())
    finally:
        del ua.objectives._registry._FACTORIES[Shouting]
    html = region._repr_html_()
    outline = parsed(html)
    assert set(outline.tags) == {"div", "b", "table", "tr", "th", "td"}
    assert outline.tags.count("b") == 1
    assert "x < y & <script>alert('hi')</script>" in " ".join(outline.text)
    assert "<img src=x onerror=alert(1)>" in " ".join(outline.text)
