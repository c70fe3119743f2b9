"""A report in a real browser: it loads by itself, sorts its tables, and fits a phone."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

from .chromium import NAMES, Chromium, executable

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    if executable() is None:
        reason = f"no browser on this machine: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; .ci/run installs it")
        pytest.skip(reason)
    found = Chromium()
    yield found
    found.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("report")
    x = np.sort(rng.uniform(0, 10, size=60))
    y = 3 * x + rng.laplace(size=60)
    line = ua.confidence_region(LinearRegression(), x[:, None], y, random_state=0)
    names = ["a", "<i>long</i> name of a column that goes on and on", "b10", "b9"]
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=names)
    y = X.to_numpy() @ [1.0, -2.0, 30.0, 0.0] + rng.laplace(size=60)
    several = ua.confidence_region(LinearRegression(), X, 1e4 * y, random_state=0)
    return {
        "line": line.report(folder / "line.html", levels=[0.9, 0.5], target="out<put"),
        "several": several.report(folder / "several.html", levels=[0.9]),
    }


@pytest.mark.parametrize("name", ["line", "several"])
def test_it_loads_without_errors_and_asks_for_nothing_but_itself(browser, files, name):
    page = browser.open(files[name])
    assert page.requests() == [page.url]
    assert page.complaints() == []
    assert page.eval("document.querySelectorAll('figure svg').length") > 3
    assert page.eval("document.querySelectorAll('i, b').length") == 0


def test_a_table_sorts_by_numbers_and_by_names(browser, files):
    page = browser.open(files["several"])
    rows = "[...document.querySelectorAll('#coefficients table tbody tr')]"
    column = rows + ".map(r => r.cells[{}].textContent)"
    head = "#coefficients table thead th:nth-child({}) button"
    page.click(head.format(2))
    up = [float(v) for v in page.eval(column.format(1))]
    assert up == sorted(up)
    page.click(head.format(2))
    down = [float(v) for v in page.eval(column.format(1))]
    assert down == sorted(up, reverse=True)
    page.click(head.format(1))
    names = page.eval(column.format(0))
    assert names[1:4] == ["a", "b9", "b10"]
    sorts = "[...document.querySelectorAll('#coefficients table th[aria-sort]')].length"
    assert page.eval(sorts) == 1


@pytest.mark.parametrize("name", ["line", "several"])
@pytest.mark.parametrize("width", [390, 1000])
def test_a_phone_needs_no_horizontal_scrolling_and_pictures_can_be_read(
    browser, files, name, width
):
    page = browser.open(files[name], width=width, height=844, phone=width < 500)
    assert page.eval("document.documentElement.scrollWidth") <= width
    texts = page.eval(
        "[...document.querySelectorAll('figure svg')].flatMap(s => {"
        " const box = s.getBoundingClientRect(); return [...s.querySelectorAll('text')].map(t => {"
        " const b = t.getBoundingClientRect();"
        " return [b.left - box.left, box.right - b.right, Math.min(b.width, b.height),"
        " t.textContent] }) })"
    )
    assert any(text.endswith("% band") for *_, text in texts)
    for left, right, height, text in texts:
        assert left >= -1, text
        assert right >= -1, text
        assert height >= 9 or len(text) == 1, text  # pixels


def test_dark_mode_and_print(browser, files):
    def brightness(page, what, selector="body"):
        colour = page.eval(f"getComputedStyle(document.querySelector('{selector}')).{what}")
        return sum(float(v) for v in colour.strip("rgba()").split(",")[:3])

    page = browser.open(files["line"], scheme="dark")
    assert brightness(page, "backgroundColor") < 150 < 500 < brightness(page, "color")
    assert brightness(page, "backgroundColor", "figure svg") == 765  # its letters are dark
    page.send("Emulation.setEmulatedMedia", media="print")
    assert brightness(page, "color") < 150
    assert page.eval("getComputedStyle(document.querySelector('.screen')).display") == "none"
    assert page.pdf().startswith(b"%PDF")
