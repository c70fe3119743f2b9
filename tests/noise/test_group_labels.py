"""Labels of groups of rows: integers, text, booleans, dates and categories; nothing missing."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

CODES = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 2, 3, 3])
N = len(CODES)
X = np.column_stack([np.arange(N) ** 2, np.cos(np.arange(N))])
Y = X @ [0.1, 1.0] + np.sin(5.0 * np.arange(N))
DAYS = [date(2024, 1, 5), date(2023, 7, 1), date(2024, 12, 31), date(1999, 1, 1)]
INTERVALS = pd.cut(pd.Series(CODES), [-1, 0, 1, 2, 3])


def each(values):
    return [values[code] for code in CODES]


LABELS = {
    "integers": CODES,
    "a list": CODES.tolist(),
    "unsigned": CODES.astype(np.uint8),
    "text": each(["oslo", "rome", "bern", "nice"]),
    "a column of text": pd.Series(each(["oslo", "rome", "bern", "nice"])),
    "whole floats": 7.0 * CODES,
    "whole floats as objects": np.array((7.0 * CODES).tolist(), dtype=object),
    "pandas integers": pd.Series(CODES, dtype="Int64"),
    "pandas text": pd.Series(each(["oslo", "rome", "bern", "nice"]), dtype="string"),
    "dates": each(DAYS),
    "moments": each([datetime(2024, 1, 5, hour) for hour in range(4)]),
    "days of NumPy": np.array(each(DAYS), dtype="datetime64[D]"),
    "days of pandas": pd.to_datetime(pd.Series(each(DAYS))),
    "days with a zone": pd.to_datetime(pd.Series(each(DAYS))).dt.tz_localize("Europe/Oslo"),
    "durations": np.array(CODES, dtype="timedelta64[D]"),
    "categories": pd.Series(each(["oslo", "rome", "bern", "nice"])).astype("category"),
    "categories of numbers": pd.Series(CODES).astype("category"),
    "an array of categories": pd.Categorical(each(["oslo", "rome", "bern", "nice"])),
    "categories that are intervals": INTERVALS,
    "quarters": pd.Series(pd.PeriodIndex([f"202{code}Q1" for code in CODES], freq="Q")),
    "polars": pl.Series(each(["oslo", "rome", "bern", "nice"])),
    "dates of polars": pl.Series(each(DAYS)),
    "categories of polars": pl.Series(each(["a", "b", "c", "d"]), dtype=pl.Categorical),
    "a table of one column": pd.DataFrame({"town": each(["oslo", "rome", "bern", "nice"])}),
}


def region(noise):
    return ua.confidence_region(LinearRegression(), X, Y, noise=noise, m=20, random_state=0)


PLAIN = region(ua.noise.BlockSymmetric(CODES))


@pytest.mark.parametrize("kind", LABELS)
def test_the_same_groups_have_the_same_signs(kind):
    noise = ua.noise.BlockSymmetric(LABELS[kind])
    np.testing.assert_array_equal(noise.units(N), CODES)
    np.testing.assert_array_equal(region(noise).perturbations.drawn, PLAIN.perturbations.drawn)


MISSING = {
    "nan": ([0.0, 1.0, np.nan, 1.0], "nan"),
    "None": (["a", "b", None, "b"], "None"),
    "nan among text": (pd.Series(["a", "b", np.nan, "b"], dtype=object), "nan"),
    "missing text": (pd.Series(["a", "b", None, "b"], dtype="string"), "<NA>"),
    "NaT": (pd.to_datetime(pd.Series(["2024-01-01", "2024-01-02", None, "2024-01-01"])), "NaT"),
    "NaT of NumPy": (np.array(["2024-01-01", "2024-01-02", "NaT", "2024-01-01"], "M8[D]"), "NaT"),
    "no date": ([DAYS[0], DAYS[1], None, DAYS[0]], "None"),
    "no category": (pd.Series(["a", "b", None, "b"]).astype("category"), "nan"),
    "a missing integer": (pd.Series([1, 2, None, 2], dtype="Int64"), "(<NA>|nan)"),
    "null": (pl.Series(["a", "b", None, "b"]), "None"),
    "an infinite number": ([0.0, 1.0, np.inf, 1.0], "inf"),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_refused_with_its_row(kind):
    labels, given = MISSING[kind]
    said = f"blocks has a missing label: .* given {given} at row 2 .*Give the row a label, or drop"
    with pytest.raises(ValueError, match=said):
        ua.noise.BlockSymmetric(labels)


@pytest.mark.parametrize(
    "labels", [[0.0, 1.0, 1.5, 1.0], np.array(["a", "b", 1.5, "b"], dtype=object), [0, 1, 1.5, 1]]
)
def test_a_fraction_is_refused_with_its_row(labels):
    with pytest.raises(ValueError, match=r"blocks has a fraction: .* given 1\.5 at row 2 "):
        ua.noise.BlockSymmetric(labels)


@pytest.mark.parametrize("labels", [np.zeros((4, 2)), 3, np.zeros(4, dtype=complex)])
def test_what_is_no_column_of_labels_is_refused(labels):
    with pytest.raises(ValueError, match="blocks must be one label"):
        ua.noise.BlockSymmetric(labels)


# --- the same labels elsewhere ---------------------------------------------------------------


@pytest.mark.parametrize("kind", LABELS)
def test_cells_of_a_summary(kind):
    plain = ua.confidence_region(LinearRegression(), X[:, :1], Y, m=20, random_state=0)
    options = {"level": 0.8, "method": "cells"}
    found = plain.summary(cells=LABELS[kind], **options)
    expected = plain.summary(cells=CODES, **options)
    np.testing.assert_array_equal(found.lower, expected.lower)
    assert (found.lower < found.upper).all()
