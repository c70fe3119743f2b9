"""A report in a real browser: it loads by itself, answers to the pointer, and fits a phone."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

from .chromium import NAMES, Chromium, executable

pytestmark = pytest.mark.slow

LOWER = "#bands path[data-level='0.9']"


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
    large = ua.confidence_region(LinearRegression(), 2e4 * x[:, None], 1e4 * y, random_state=0)
    names = ["a", "<i>long</i> name of a column that goes on and on", "b10", "b9"]
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=names)
    y = X.to_numpy() @ [1.0, -2.0, 30.0, 0.0] + rng.laplace(size=60)
    several = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    return {
        "line": line.report(folder / "line.html", levels=[0.9, 0.5], target="out<put"),
        "large": large.report(folder / "large.html", levels=[0.9]),
        "several": several.report(folder / "several.html", levels=[0.9]),
    }


@pytest.fixture
def page(browser, files):
    return browser.open(files["line"])


@pytest.mark.parametrize("name", ["line", "several"])
def test_it_loads_without_errors_and_asks_for_nothing_but_itself(browser, files, name):
    page = browser.open(files[name])
    assert page.requests() == [page.url]
    assert page.complaints() == []
    assert page.eval("document.querySelectorAll('svg').length") > 3
    assert page.eval("document.querySelectorAll('i:not(.swatch), b').length") == 0


def test_pointing_at_a_band_shows_its_numbers(page, files):
    before = page.text(".readout")
    page.mouse("mouseMoved", page.centre(".stage", 0.6))
    shown = page.text(".readout")
    assert shown != before
    assert shown.startswith("x0 = ")
    at = float(shown.removeprefix("x0 = ").partition(":")[0])
    data = page.eval("JSON.parse(document.querySelector('figure.bands').dataset.panel)")
    i = int(np.argmin(np.abs(np.array(data["x"]) - at)))
    band = data["bands"][0]
    assert f"estimate {data['estimate'][i]:.4g}" in shown
    assert f"90 %: {band['lower'][i]:.4g} to {band['upper'][i]:.4g}" in shown.replace("\u2212", "-")
    assert page.eval("getComputedStyle(document.querySelector('.cursor')).visibility") == "visible"


def test_levels_are_switched_off_and_on(page):
    visible = f'getComputedStyle(document.querySelector("{LOWER}")).display'
    assert page.eval(visible) != "none"
    page.click("input[value='0.9']")
    assert page.eval(visible) == "none"
    page.mouse("mouseMoved", page.centre(".stage"))
    assert "90 %" not in page.text(".readout")
    assert "50 %" in page.text(".readout")
    page.click("input[value='0.9']")
    assert page.eval(visible) != "none"


def test_dragging_zooms_in_and_a_button_zooms_out(page):
    ticks = "[...document.querySelectorAll('#bands .tick + text')].map(t => t.textContent)"
    shape = f'document.querySelector("{LOWER}").getAttribute("d")'
    before, outline = page.eval(ticks), page.eval(shape)
    page.mouse("mousePressed", page.centre(".stage", 0.5), held=True)
    page.mouse("mouseMoved", page.centre(".stage", 0.6), held=True)
    page.mouse("mouseMoved", page.centre(".stage", 0.7), held=True)
    page.mouse("mouseReleased", page.centre(".stage", 0.7), held=True)
    near = [float(text) for text in page.eval(ticks)]
    assert max(near) - min(near) < 3
    assert page.eval(shape) != outline
    page.click(".reset")
    assert page.eval(ticks) == before
    assert page.complaints() == []


def test_the_arrow_keys_move_through_the_band(page):
    page.eval("document.querySelector('.stage').focus()")
    for _ in range(2):
        for kind in ("keyDown", "keyUp"):
            page.send("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight")
    x = page.eval("JSON.parse(document.querySelector('figure.bands').dataset.panel).x[1]")
    assert page.text(".readout").startswith(f"x0 = {x:.4g}:")


def test_a_table_sorts_by_numbers_and_by_names(browser, files):
    page = browser.open(files["several"])
    column = "[...document.querySelectorAll('table.summary tbody tr')].map(r => r.cells[{}]{})"
    head = "table.summary thead th:nth-child({}) button"
    page.click(head.format(2))
    up = [float(v) for v in page.eval(column.format(1, ".dataset.value"))]
    assert up == sorted(up)
    page.click(head.format(2))
    down = [float(v) for v in page.eval(column.format(1, ".dataset.value"))]
    assert down == sorted(up, reverse=True)
    page.click(head.format(1))
    names = page.eval(column.format(0, ".textContent"))
    assert names[1:4] == ["a", "b9", "b10"]
    sorts = "[...document.querySelectorAll('table.summary th[aria-sort]')].length"
    assert page.eval(sorts) == 1


@pytest.mark.parametrize("name", ["line", "several"])
def test_a_phone_needs_no_horizontal_scrolling(browser, files, name):
    page = browser.open(files[name], width=390, height=844, phone=True)
    assert page.eval("document.documentElement.scrollWidth") <= 390
    size = page.eval(
        "(s => parseFloat(getComputedStyle(s.querySelector('text.name')).fontSize)"
        " * s.getBoundingClientRect().width / s.viewBox.baseVal.width)"
        "(document.querySelector('#bands svg'))"
    )
    assert size >= 10  # pixels of the labels


def test_labels_of_large_numbers_fit_a_phone(browser, files):
    page = browser.open(files["large"], width=390, height=844, phone=True)
    assert page.eval("document.documentElement.scrollWidth") <= 390
    boxes = page.eval(
        "[...document.querySelectorAll('#bands svg text')].map(t => {"
        " const b = t.getBoundingClientRect();"
        " return [b.left, b.right, t.getAttribute('transform') ? 'name' : t.textContent] })"
    )
    (name,) = (right for _, right, what in boxes if what == "name")
    assert min(left for left, _, what in boxes if what != "name") >= name
    assert max(right for _, right, _ in boxes) <= 390
    assert any(what == "200000" for *_, what in boxes)


def test_dark_mode_and_print(browser, files):
    def brightness(page, what):
        colour = page.eval(f"getComputedStyle(document.body).{what}")
        return sum(float(v) for v in colour.strip("rgb()").split(",")[:3])

    page = browser.open(files["line"], scheme="dark")
    assert brightness(page, "backgroundColor") < 150 < 500 < brightness(page, "color")
    page.send("Emulation.setEmulatedMedia", media="print")
    assert brightness(page, "color") < 150
    for what in (".readout", ".screen"):
        assert page.eval(f"getComputedStyle(document.querySelector('{what}')).display") == "none"
    assert page.pdf().startswith(b"%PDF")
