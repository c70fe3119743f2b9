"""What results print and put into tables: numbers, what was assumed, what is not guaranteed."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier

import unassuming as ua
from unassuming.regions._results import Band, Bounds, Interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
Y = X @ [3.0, -2.0] + RNG.laplace(size=25)
INDEX = [f"p{j}" for j in range(25)]
FRAME = pd.DataFrame(X, columns=["dose", "age"], index=INDEX)


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge() if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 20, "random_state": 0, **options})


def table_of(result):
    """The cells of the printed table, its heading first."""
    return [line.split() for line in str(result).split("\n")[1:]]


# Numbers


def test_a_short_band_prints_every_bound():
    band = region_of().band(X[:10])
    columns = zip(band.estimate, band.lower, band.upper, strict=True)
    rows = [[str(j), *(f"{v:.6g}" for v in row)] for j, row in enumerate(columns)]
    assert table_of(band) == [["estimate", "lower", "upper"], *rows]


def test_a_long_band_prints_its_first_and_last_rows():
    band = region_of().band(X)
    rows = table_of(band)[1:]
    assert [row[0] for row in rows] == [*"01234", "...", *map(str, range(20, 25))]
    assert rows[5] == ["..."] * 4
    assert rows[-1][2] == f"{band.lower[-1]:.6g}"


def test_inner_bounds_are_printed_beside_the_outer():
    found = region_of().interval(inner=True)
    heading, *rows = table_of(found)
    assert heading == ["estimate", "lower", "upper", "inner_lower", "inner_upper"]
    assert [row[-1] for row in rows] == [f"{v:.6g}" for v in found.inner_upper]


def test_a_kernel_does_not_print_all_of_its_coefficients():
    inputs, y, _ = ua.datasets.sine(n=31, noise="laplace", random_state=0)
    region = ua.confidence_region(KernelRidge(kernel="rbf"), inputs, y, m=20, random_state=0)
    interval = region.interval(norm_bound=9.0)
    assert [row[0] for row in table_of(interval)[1:]][14:17] == ["dual14", "...", "dual16"]


def test_up_to_thirty_coefficients_are_printed():
    interval = region_of(KernelRidge(kernel="rbf")).interval(norm_bound=9.0)
    assert [row[0] for row in table_of(interval)[1:]] == [f"dual{j}" for j in range(25)]


def test_rows_are_labelled_by_the_index_or_by_the_only_feature():
    assert table_of(region_of(inputs=FRAME).band(FRAME[3:5]))[1][0] == "p3"
    heading, first, *_ = table_of(region_of(inputs=X[:, :1]).band([[0.25], [0.5]]))
    assert heading[0] == "x0"
    assert first[0] == "0.25"
    assert table_of(region_of(inputs=FRAME[["dose"]]).band(FRAME[["dose"]][:2]))[0][0] == "dose"
    assert table_of(region_of().band([[0.25, 0.5]]))[1][0] == "0"


def test_several_levels_print_as_their_results_and_are_a_dictionary():
    region = region_of()
    found = region.interval(level=[0.5, 0.9])
    assert isinstance(found, dict)
    assert str(found) == repr(found) == f"{found[0.5]}\n\n{found[0.9]}"
    assert str(region.contains(region.estimate, level=[0.5, 0.9])) == "{0.5: True, 0.9: True}"


@pytest.mark.parametrize(("count", "words"), [(1, "1 input "), (2, "2 inputs ")])
def test_one_input_is_no_plural(count, words):
    region = region_of()
    assert words in str(region.band(X[:count]))
    functionals = region.interval(np.eye(3)[:count])
    assert words.replace("input", "functional") in str(functionals)


# Tables


def test_to_frame_keeps_the_index_and_the_columns_of_the_inputs():
    found = region_of(inputs=FRAME).band(FRAME[4:7]).to_frame()
    assert list(found.index) == INDEX[4:7]
    assert list(found.columns) == ["dose", "age", "estimate", "lower", "upper"]
    pd.testing.assert_frame_equal(found[["dose", "age"]], FRAME[4:7])
    assert found["lower"].notna().all()


def test_to_frame_keeps_the_types_of_the_columns():
    frame = pd.DataFrame({"u": X[:, 0], "n": np.arange(25), "b": pd.array([1] * 25, dtype="Int8")})
    found = region_of(inputs=frame).band(frame).to_frame()
    assert list(found.dtypes[:3]) == list(frame.dtypes)


def test_to_frame_of_a_polars_table_and_of_a_single_feature():
    table = pl.DataFrame(X, schema=["dose", "age"])
    found = region_of(inputs=table).band(table[:3]).to_frame()
    np.testing.assert_array_equal(found[["dose", "age"]], X[:3])
    single = region_of(inputs=X[:, :1]).band([[0.25], [0.5]]).to_frame()
    assert list(single["x0"]) == [0.25, 0.5]
    assert list(region_of().band([[0.25, 0.5]]).to_frame().index) == [0]


def test_to_frame_keeps_inputs_apart_that_are_called_like_a_bound():
    frame = FRAME.set_axis(["lower", "age"], axis=1)
    band = region_of(inputs=frame).band(frame)
    found = band.to_frame()
    np.testing.assert_array_equal(found["lower"], band.lower)
    np.testing.assert_array_equal(found["input lower"], frame["lower"])


@pytest.mark.parametrize("kind", [Band, Interval])
def test_every_attribute_is_explained(kind):
    for name in (*Bounds.__dataclass_fields__, *kind.__dataclass_fields__):
        assert any(
            name in line.split(" : ")[0].replace(",", "").split()
            for line in (Bounds.__doc__ + kind.__doc__).split("\n")
            if " : " in line
        ), name


# What was assumed


@pytest.mark.parametrize(
    "model",
    [Ridge(), KernelRidge(kernel="rbf"), pytest.param(Lasso(), marks=pytest.mark.slow)],
    ids=repr,
)
def test_a_result_tells_the_norm_bound_it_rests_on(model):
    region = region_of(model)
    for ask in (lambda **k: region.band(X[:2], **k), lambda **k: region.interval(**k)):
        bound, free = ask(norm_bound=12.5), ask()
        assert bound.norm_bound == 12.5
        assert "given a norm of at most 12.5 (your assumption)" in str(bound)
        assert free.norm_bound is None
        assert "assumption" not in str(free)


@pytest.mark.parametrize("model", [Ridge(), KernelRidge(kernel="rbf")], ids=repr)
def test_a_ball_without_members_is_told_the_norm_of_the_estimate(model):
    region = region_of(model, y=1000 * Y)
    norm = region.suggest_norm_bound() / 2
    found = region.band(X, norm_bound=0.01)
    said = f"allows for. The estimate's own norm is {norm:.6g}, larger than the bound of 0.01."
    assert found.reason.endswith(said)
    plain = region_of(LinearRegression(fit_intercept=False), y=np.zeros(25)).interval(level=0.05)
    assert "norm" not in plain.reason


def test_the_band_of_a_region_without_a_guarantee_says_so():
    labels = np.where(Y > 0, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        region = region_of(RidgeClassifier(), y=labels, noise="symmetric")
    for found in (region.band(X[:3]), region.interval()):
        assert "carries no coverage guarantee" in str(found)
        assert str(found).endswith(found.caveat)
    assert region_of().band(X[:3]).caveat == ""
