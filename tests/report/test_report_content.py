"""What a report says, as values, and the page made of it."""

import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    RidgeClassifier,
)

import unassuming as ua

UGLY = "<b>\"x\" & 'y'</script> $a$"


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({UGLY: rng.normal(size=n), "z": rng.uniform(size=n)})
    return X, 2 * X[UGLY].to_numpy() + rng.laplace(size=n)


@pytest.fixture(scope="module")
def region():
    return ua.confidence_region(LinearRegression(), *table(), random_state=0, m=100)


@pytest.fixture(scope="module")
def content(region):
    return ua.report.collect(region, target="<target>", levels=[0.9, 0.5])


@pytest.fixture(scope="module")
def page(content):
    return Reader(ua.report.render(content))


class Reader(HTMLParser):
    """The elements and the text of a page, as a browser reads them."""

    def __init__(self, source):
        super().__init__()
        self.source, self.tags, self.texts = source, [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.texts.append(text)


def test_the_content_agrees_with_the_region(region, content):
    summary = region.summary(0.9)
    np.testing.assert_array_equal(content.summary.lower, summary.lower)
    np.testing.assert_array_equal(content.summary.pvalue, summary.pvalue)
    assert content.lack_of_fit == region.lack_of_fit()
    assert content.diagnosis.rests_on == region.diagnose().rests_on
    assert [panel.name for panel in content.panels] == [UGLY, "z"]
    assert [column[0] for column in content.columns] == ["<target>", UGLY, "z"]
    y = region.objective.y
    assert content.columns[0][1:] == (
        *(f"{one:.4g}" for one in (y.min(), np.median(y), y.max())),
        "80",
    )


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_the_bands_are_those_of_the_region_at_all_inputs_at_once(form):
    X, y = table()
    given = form(X) if form is not pl.DataFrame else pl.DataFrame(X.to_dict("list"))
    region = ua.confidence_region(LinearRegression(), given, y, random_state=0, m=100)
    first, second = ua.report.collect(region, levels=[0.9]).panels
    middle = X.iloc[[np.argmin(sum(abs(X[c] - X[c].median()) / np.ptp(X[c]) for c in X))]]
    inputs = pd.concat([middle] * (len(first.x) + len(second.x)), ignore_index=True)
    inputs.loc[: len(first.x) - 1, UGLY] = first.x
    inputs.loc[len(first.x) :, "z"] = second.x
    same = inputs if form is pd.DataFrame else inputs.to_numpy()
    if form is pl.DataFrame:
        same = pl.DataFrame(inputs.to_dict("list"))
    band = region.band(same, level=0.9)
    drawn = np.concatenate([first.lower[0.9], second.lower[0.9]])
    np.testing.assert_array_equal(drawn, band.lower)


def test_names_are_escaped_everywhere_and_nothing_is_fetched(page):
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 1
    assert "b" not in tags
    assert UGLY in page.texts
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "action"} & set(attributes), (tag, attributes)
        assert attributes.get("href", "#").startswith("#"), (tag, attributes)
    for outside in ("url(http", "@import", "://", "<metadata"):
        assert outside not in page.source


def test_every_picture_is_drawn_and_has_a_text(content, page):
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert [attributes["aria-label"] for attributes in pictures] == [
        "Intervals of the coefficients",
        f"<target> over {UGLY}: the estimate, with bands of level 90 %, 50 %",
        "<target> over z: the estimate, with bands of level 90 %, 50 %",
        "Residuals over the fitted values",
        "Residuals in the order of the rows",
    ]
    assert all(attributes["role"] == "img" for attributes in pictures)
    assert page.texts.count("90 % band") == 2
    assert not [attributes for tag, attributes in page.tags if tag == "g" and "id" in attributes]


def test_the_table_has_the_numbers_of_the_summary(content, page):
    summary = content.summary
    for name, low, p in zip(summary.names, summary.lower, summary.pvalue, strict=True):
        at = page.texts.index(name, page.texts.index("p-value"))
        row = page.texts[at + 1 : at + 5]
        assert row[1] == f"{low:.6g}"
        assert float(row[3].removeprefix("<= ")) == pytest.approx(p, rel=0.05)


def test_the_same_seed_gives_the_same_bytes_whatever_the_style(region, tmp_path):
    from matplotlib import rc_context

    again = ua.confidence_region(LinearRegression(), *table(), random_state=0, m=100)
    first = region.report(tmp_path / "a.html", levels=[0.9]).read_bytes()
    with rc_context({"font.size": 20, "lines.linewidth": 5}):
        assert again.report(tmp_path / "b.html", levels=[0.9]).read_bytes() == first


def test_a_line_through_a_curve_is_reported_with_a_warning():
    X, y, _ = ua.datasets.sine(n=120, random_state=0)
    found = ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)
    content = ua.report.collect(found)
    assert "cannot both hold" in content.warnings[0]
    assert content.warnings[0] in Reader(ua.report.render(content)).texts


@pytest.mark.slow
@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression()])
def test_classifiers(model):
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    labels = np.where(y > 0, "yes", "no")
    found = ua.confidence_region(model, X, labels, random_state=0, m=100)
    content = ua.report.collect(found, levels=[0.9])
    assert content.columns[0][1] == "no, yes"
    assert content.summary is None
    assert ("Labels", "+1 is yes, -1 is no") in content.facts
    assert bool(content.panels) == isinstance(model, RidgeClassifier)
    assert ua.report.render(content).count("<svg") == len(content.panels)


def test_what_has_no_report_says_so(region, tmp_path):
    X, y = table(40)
    stream = ua.StreamingRegion(LinearRegression())
    stream.partial_fit(X.to_numpy(), y)
    with pytest.raises(ua.NotAvailable, match="a report needs the rows"):
        stream.region().report(tmp_path / "report.html")
    with pytest.raises(ValueError, match="levels is empty"):
        ua.report.collect(region, levels=[])
    with pytest.raises(ValueError, match="level"):
        ua.report.collect(region, levels=[0.999])
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_a_report_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np, unassuming as ua\n"
        "from sklearn.linear_model import LinearRegression\n"
        "X = np.arange(20.0)[:, None]\n"
        "region = ua.confidence_region(LinearRegression(), X, X[:, 0] ** 2)\n"
        "try: region.report('report.html')\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout == 'Drawing needs matplotlib: pip install "unassuming[plot]"\n'
    assert not list(tmp_path.iterdir())
