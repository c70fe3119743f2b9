"""What a report says, as values, and the page made of it."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import unassuming as ua
from unassuming.report._numbers import aligned, interval
from unassuming.report._page import _left_out
from unassuming.report._pictures import forest_rows

UGLY = "<b>\"x\" & 'y'</script>"


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({UGLY: rng.normal(size=n), "z": rng.uniform(size=n)})
    return X, 2 * X[UGLY].to_numpy() + rng.laplace(size=n)


@pytest.fixture(scope="module")
def region():
    return ua.confidence_region(LinearRegression(), *table(), random_state=0)


@pytest.fixture(scope="module")
def content(region):
    return ua.report.collect(region, target="<target>", levels=[0.9, 0.5])


@pytest.mark.slow
def test_the_content_agrees_with_the_region(region, content):
    summary = region.summary(float(region.level(0.9)))
    np.testing.assert_array_equal(content.summary.lower, summary.lower)
    np.testing.assert_array_equal(content.summary.pvalue, summary.pvalue)
    assert content.lack_of_fit == region.lack_of_fit()
    assert content.assumptions == region.diagnose().rests_on
    assert [panel.name for panel in content.bands.panels] == [UGLY, "z"]
    assert [column.name for column in content.columns] == ["<target>", UGLY, "z"]
    assert content.columns[0].quantiles[0] == region.objective.y.min()


def test_the_bands_are_those_of_the_region_at_all_inputs_at_once(region, content):
    X, _ = table()
    middle = X.iloc[[np.argmin(sum(abs(X[c] - X[c].median()) / np.ptp(X[c]) for c in X))]]
    first, second = content.bands.panels
    inputs = pd.concat([middle] * (len(first.x) + len(second.x)), ignore_index=True)
    inputs.loc[: len(first.x) - 1, UGLY] = first.x
    inputs.loc[len(first.x) :, "z"] = second.x
    band = region.band(inputs, level=0.9, method="auto")
    drawn = np.concatenate([first.bands[0].lower, second.bands[0].lower])
    np.testing.assert_array_equal(drawn, band.lower)
    assert [one.level for one in first.bands] == [band.level, 0.5]


class Reader(HTMLParser):
    """The elements and the text of a page, as a browser reads them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.texts.append(text)


def test_names_are_escaped_everywhere_and_nothing_is_fetched(content):
    page = ua.report.render(content)
    assert "<b>" not in page
    found = Reader(page)
    tags = [tag for tag, _ in found.tags]
    assert tags.count("script") == 1
    assert "b" not in tags
    assert UGLY in found.texts
    for tag, attributes in found.tags:
        assert not {"src", "href", "srcset", "action"} & set(attributes), (tag, attributes)
    assert "url(http" not in page
    assert "@import" not in page


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(region, tmp_path):
    again = ua.confidence_region(LinearRegression(), *table(), random_state=0)
    first, second = (
        one.report(tmp_path / f"{k}.html", levels=[0.9]).read_bytes()
        for k, one in enumerate((region, again))
    )
    assert first == second


def test_a_line_through_a_curve_is_reported_with_a_warning():
    X, y, _ = ua.datasets.sine(n=120, random_state=0)
    content = ua.report.collect(
        ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)
    )
    assert "cannot both hold" in content.warnings[0]
    assert content.warnings[0] in "".join(Reader(ua.report.render(content)).texts)


@pytest.mark.parametrize(("noise", "advised"), [("symmetric", True), ("blocks", False)])
def test_a_warning_about_skewed_residuals_says_what_to_do(noise, advised):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(150, 1)), rng.lognormal(sigma=1.5, size=150)
    assumed = ua.noise.BlockSymmetric(np.arange(150)) if noise == "blocks" else noise
    region = ua.confidence_region(LinearRegression(), X, y, noise=assumed, random_state=0, m=100)
    said = " ".join(ua.report.collect(region, levels=[0.9]).warnings)
    assert "symmetry, p-value" in said
    remedy = "such as the median, QuantileRegressor(alpha=0), or noise='exchangeable'"
    assert (remedy in said) == advised


@pytest.mark.slow
def test_models_without_a_summary_say_so_and_show_what_they_have():
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    kernel = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5), X, y, random_state=0, m=100)
    plain = ua.report.collect(kernel)
    assert plain.summary is None
    assert plain.bands.panels == ()
    assert "unbounded" in plain.bands.sentences[0]
    assert any("norm_bound" in sentence for sentence in plain.bands.sentences)
    assert not any("Each band" in sentence for sentence in plain.guaranteed)
    bounded = ua.report.collect(kernel, norm_bound=30, levels=[0.9])
    assert len(bounded.bands.panels) == 1
    assert any("norm bound of 30" in sentence for sentence in bounded.not_guaranteed)
    for content in (plain, bounded):
        assert "There is no table of coefficients." in Reader(ua.report.render(content)).texts


@pytest.mark.slow
@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression()])
def test_classifiers(model):
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    labels = np.where(y > 0, "yes", "no")
    region = ua.confidence_region(model, X, labels, random_state=0, m=100)
    content = ua.report.collect(region, levels=[0.9])
    assert content.columns[0].common == ("no", "yes")
    assert content.summary is None
    assert ("Labels", "+1 is yes, -1 is no") in content.facts
    assert bool(content.bands.panels) == isinstance(model, RidgeClassifier)
    assert "<svg" in ua.report.render(content)


def test_without_pictures_nothing_is_said_about_them():
    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(25, 2)), np.tile([1, -1, 1, 1, -1], 5)
    region = ua.confidence_region(LogisticRegression(), X, labels, random_state=0, m=100)
    bands = ua.report.collect(region, levels=[0.8]).bands
    assert bands.panels == ()
    assert not any("picture" in sentence for sentence in bands.sentences)


def test_bands_of_a_quantile_cover_the_quantile_and_not_a_noise_free_function():
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    model = QuantileRegressor(quantile=0.7, alpha=0)
    content = ua.report.collect(
        ua.confidence_region(model, X, y, random_state=0, m=100), levels=[0.5]
    )
    assert "each covers the 0.7-quantile of y given x, if it lies" in content.bands.sentences[0]
    assert "noise-free" not in ua.report.render(content)


@pytest.mark.slow
def test_a_norm_bound_is_a_condition_of_the_coverage(region):
    with_bound = ua.report.collect(region, levels=[0.5], norm_bound=9.0).bands.sentences[0]
    assert "the model's features with coefficients of norm at most 9, at all" in with_bound
    without = ua.report.collect(region, levels=[0.5]).bands.sentences[0]
    assert "the model's features, at all" in without


def test_text_columns_keep_the_values_of_one_row():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"city": ["a", "b", "b"] * 30, "size": rng.integers(0, 9, size=90)})
    encode = make_column_transformer(
        (OneHotEncoder(drop="first"), ["city"]), ("passthrough", ["size"])
    )
    region = ua.confidence_region(
        make_pipeline(encode, LinearRegression()), X, rng.normal(size=90), random_state=0, m=100
    )
    content = ua.report.collect(region)
    assert [panel.name for panel in content.bands.panels] == ["size"]
    assert content.columns[1].common == ("b", "a")


def test_half_of_a_band_far_wider_than_the_outputs_is_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    region = ua.confidence_region(LinearRegression(), X, rng.normal(size=40), random_state=0, m=100)
    bands = ua.report.collect(region, levels=[0.9, 0.5]).bands
    low, high = bands.vertical
    ends = [end for panel in bands.panels for end in (panel.bands[-1].lower, panel.bands[-1].upper)]
    inside = [(low <= end) & (end <= high) for end in ends]
    assert np.mean(inside) >= 0.5
    assert high - low > 10 * np.ptp(region.objective.y)


def test_few_rows_and_infinite_intervals():
    X = np.arange(4.0)[:, None]
    region = ua.confidence_region(LinearRegression(), X, X[:, 0], m=8, random_state=0)
    content = ua.report.collect(region)
    assert np.isinf(content.summary.upper).all()
    page = ua.report.render(content).partition("<script>")[0]
    assert "NaN" not in page
    assert "nan" not in page.split()


def test_a_stream_has_no_report(tmp_path):
    X, y = table(40)
    stream = ua.StreamingRegion(LinearRegression(), random_state=0, m=100)
    stream.partial_fit(X.to_numpy(), y)
    with pytest.raises(ua.NotAvailable, match="a report needs the rows"):
        stream.region().report(tmp_path / "report.html")


def test_levels_that_are_empty_are_refused(region):
    with pytest.raises(ValueError, match="levels is empty"):
        ua.report.collect(region, levels=[])


def test_intervals_are_rounded_outward_and_keep_their_sign():
    rng = np.random.default_rng(2)
    for _ in range(200):
        low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-3, 4))
        _, a, b = interval((low + high) / 2, low, high)
        a, b = (float(text.replace("\u2212", "-")) for text in (a, b))
        assert a <= low
        assert high <= b
        assert np.sign([a, b]).tolist() == np.sign([low, high]).tolist()
        assert b - a <= 1.3 * (high - low) or b - a < 1e-3


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e8, 1e15])
def test_large_and_small_intervals_are_rounded_outward_too(size):
    rng = np.random.default_rng(3)
    for low, high in size * np.sort(rng.normal(size=(50, 2))):
        _, a, b = (float(text.replace("\u2212", "-")) for text in interval(high, low, high))
        assert low - 0.01 * abs(low) <= a <= low
        assert high <= b <= high + 0.01 * abs(high)


def test_round_ends_stay_as_they_are():
    assert interval(0.5, 0.29, 1.1) == ["0.50", "0.29", "1.10"]
    assert interval(0.0, -np.inf, np.inf)[1:] == ["\u2212∞", "∞"]


def test_a_picture_of_many_coefficients_says_where_it_ends():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 45))
    model = LinearRegression()
    region = ua.confidence_region(model, X, 99 + rng.normal(size=90), noise="spherical", m=100)
    summary = region.summary()
    said = _left_out(summary, forest_rows(summary))
    assert [sentence.split()[2] for sentence in said] == ["leaves", "ends"]


def test_numbers_align_on_the_decimal_point():
    texts = aligned(["1.25", "\u2212310", "0.5", "∞"])
    before = [text.rstrip("\u2007\u2008").partition(".")[0] for text in texts]
    assert len({len(text) - len(start) for text, start in zip(texts, before, strict=True)}) == 1
