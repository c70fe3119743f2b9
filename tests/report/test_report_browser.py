"""A report in a real browser: it loads by itself, sorts its tables, and fits a phone."""

import html
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

pytestmark = pytest.mark.slow

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FRAME = """<!doctype html><iframe width="{width}" height="800" srcdoc="{page}"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const page = frame.contentDocument, all = (what) => [...page.querySelectorAll(what)];
  document.body.dataset.answer = JSON.stringify((() => {{ {script} }})());
}};
</script>"""
TEXTS = """
return [page.documentElement.scrollWidth, all("figure svg").flatMap((picture) => {
  const box = picture.getBoundingClientRect();
  return [...picture.querySelectorAll("text")].map((text) => {
    const own = text.getBoundingClientRect();
    const size = Math.min(own.width, own.height);
    return [own.left - box.left, box.right - own.right, size, text.textContent];
  });
})];"""
SORTED = """
const row = (j) => all("#coefficients tbody tr").map((line) => line.cells[j].textContent);
const click = (j) => all("#coefficients thead button")[j].click();
click(1); const up = row(1);
click(1); const down = row(1);
click(0); return [up, down, row(0), all("#coefficients th[aria-sort]").length];"""
LOADED = """
return [all("figure svg").length, all("i, b").length, page.defaultView.complaints,
  page.defaultView.performance.getEntriesByType("resource").length];"""
LISTEN = "<script>var complaints = []; onerror = (words) => { complaints.push(words); };</script>"


@pytest.fixture(scope="module")
def browser():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        reason = f"no browser on this machine: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("report")
    x = np.sort(rng.uniform(0, 10, size=60))
    line = ua.confidence_region(LinearRegression(), x[:, None], 3 * x + rng.laplace(size=60))
    names = ["a", "<i>long</i> name of a column that goes on and on", "b10", "b9"]
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=names)
    y = X.to_numpy() @ [1.0, -2.0, 30.0, 0.0] + rng.laplace(size=60)
    several = ua.confidence_region(LinearRegression(), X, 1e4 * y)
    return {
        "line": line.report(folder / "line.html", levels=[0.9, 0.5], target="out<put").read_text(),
        "several": several.report(folder / "several.html", levels=[0.9]).read_text(),
    }


def answer(browser, page, script, folder, width=1000):
    """What a script says about a page in a frame of that width."""
    page = page.replace("<head>", f"<head>{LISTEN}", 1)
    file = folder / "frame.html"
    file.write_text(FRAME.format(width=width, page=html.escape(page), script=script))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    own = [f"--user-data-dir={folder / 'profile'}", "--window-size=1200,900", "--dump-dom"]
    ran = subprocess.run(
        [browser, *flags, *own, file.as_uri()], capture_output=True, text=True, timeout=120
    )
    return json.loads(html.unescape(re.search(r'data-answer="([^"]*)"', ran.stdout)[1]))


@pytest.mark.parametrize("name", ["line", "several"])
def test_it_loads_without_errors_and_asks_for_nothing_but_itself(browser, pages, name, tmp_path):
    pictures, bold, complaints, fetched = answer(browser, pages[name], LOADED, tmp_path)
    assert pictures > 3
    assert (bold, complaints, fetched) == (0, [], 0)


def test_a_table_sorts_by_numbers_and_by_names(browser, pages, tmp_path):
    up, down, names, marked = answer(browser, pages["several"], SORTED, tmp_path)
    assert list(map(float, up)) == sorted(map(float, up))
    assert down == up[::-1]
    assert names[1:4] == ["a", "b9", "b10"]
    assert marked == 1


@pytest.mark.parametrize("name", ["line", "several"])
@pytest.mark.parametrize("width", [390, 1000])
def test_a_phone_needs_no_horizontal_scrolling_and_pictures_can_be_read(
    browser, pages, name, width, tmp_path
):
    scroll, texts = answer(browser, pages[name], TEXTS, tmp_path, width)
    assert scroll <= width
    assert any(text.endswith("% band") for *_, text in texts)
    for left, right, height, text in texts:
        assert left >= -1, text
        assert right >= -1, text
        assert height >= 9 or len(text) == 1, text  # pixels
