"""Which options go together: the table of `interval` is the one that refusals follow."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.inputs.options import METHODS
from unassuming.regions.single.evidence import Setting


def documented():
    """The methods in each row of the table in the docstring of `interval`."""
    lines = [line[8:] for line in ua.Region.interval.__doc__.splitlines()]
    edges = [i for i, line in enumerate(lines) if re.fullmatch("=+  =+  =+", line)]
    first, second = lines[edges[0]].split("  ")[:2]
    start, stop = len(first) + 2, len(first) + len(second) + 2
    rows = []
    for line in lines[edges[1] + 1 : edges[2]]:
        if line.startswith("**"):
            continue
        if line[:1].strip():
            rows.append("")
        rows[-1] += line[start:stop]
    return [set(re.findall(r"\w+", row)) for row in rows]


def test_the_table_in_the_docstring_is_that_of_the_code():
    alone, function, at_once, _, with_error = documented()
    assert alone == set(METHODS)
    assert function == set(Setting.FUNCTION.methods)
    assert at_once == set(Setting.AT_ONCE.methods)
    assert with_error == set(Setting.MODEL_ERROR.methods)


def region():
    X, y, _ = ua.datasets.linear(n=80, d=2, random_state=0)
    return ua.confidence_region(LinearRegression(), X, y)


@pytest.mark.parametrize("method", [*METHODS, "joint"])
@pytest.mark.parametrize(
    ("setting", "options"),
    [
        (Setting.FUNCTION, {"norm_bound": 9.0}),
        (Setting.FUNCTION, {"model_error": 0.1}),
        (Setting.AT_ONCE, {"simultaneous": True}),
        (Setting.MODEL_ERROR, {"model_error": 0.1, "simultaneous": True}),
    ],
    ids=str,
)
def test_methods_that_do_not_go_together_are_refused(setting, options, method):
    if method in setting.methods:
        assert len(region().interval(level=0.75, method=method, **options)) == 3
        return
    with pytest.raises((ValueError, ua.NotAvailable), match="method"):
        region().interval(level=0.75, method=method, **options)


@pytest.mark.parametrize("options", [{"cell_weights": "residuals"}, {"cell_estimate": "median"}])
@pytest.mark.parametrize("given", [{"norm_bound": 9.0}, {"simultaneous": True}])
def test_options_of_plain_cells_are_refused_elsewhere(options, given):
    with pytest.raises(ValueError, match=f"{next(iter(options))} does not go with"):
        region().interval(level=0.75, **options, **given)
    assert np.isfinite(region().interval(level=0.75, **options).upper).all()
