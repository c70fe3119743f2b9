"""A region in words: what it covers, how surely, and what that rests on."""

import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier

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


def test_the_seed_that_was_drawn_is_told_and_builds_the_same_region():
    drawn = region_of(random_state=None)
    assert f"seed {drawn.seed}" in words(drawn)
    again = region_of(random_state=drawn.seed)
    candidates = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_array_equal(drawn.rank(candidates), again.rank(candidates))
    np.testing.assert_array_equal(drawn.tie_order, again.tie_order)


# --- classifiers ----------------------------------------------------------------------------------


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
