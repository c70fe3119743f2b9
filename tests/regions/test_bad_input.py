"""What is wrong with the input is said once: what was wrong, expected, given, and what to do."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVR

import unassuming as ua

N = 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=N)
LABELS = np.where(Y > 0, 1, -1)
RAMP = np.arange(1.0, N + 1)
GRID = np.linspace(0, 10, 20)[:, None]
DAYS = pd.date_range("2021-01-01", periods=N)
GAUSS = np.exp(-((GRID - GRID.T) ** 2))
WAVE = np.sin(GRID[:, 0])


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge(alpha=0.3) if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 100, "random_state": 0, **options})


def with_entry(array, index, value):
    changed = np.array(array, dtype=float)
    changed[index] = value
    return changed


def assert_refused(action, pattern, error=ValueError):
    """One sentence that names what was expected and given, and one or more that say what to do."""
    with pytest.raises(error, match=pattern) as caught:
        action()
    message = str(caught.value)
    assert re.search(r"\b(expected|must|takes?|needs?)\b", message), message
    assert re.search(r"\bgiven\b", message), message
    assert re.search(r"\. [A-Z].*\.$", message), message  # what to do
    assert "\n" not in message


def cases(table):
    return pytest.mark.parametrize(("action", "pattern"), table.values(), ids=table)


# --- X, y, weights ---

FRAMES = {
    "NA in a frame": pd.DataFrame({"u": pd.array([None] + [1] * 11, dtype="Int64")}),
    "NA among truths": pd.DataFrame({"u": pd.array([True, None] * 6, dtype="boolean")}),
    "null in polars": pl.DataFrame({"v": X[:, 0], "u": [1, 2, None] * 4}),
    "dates in pandas": pd.DataFrame({"u": DAYS}),
    "dates in a zone": pd.DataFrame({"u": DAYS.tz_localize("UTC")}),
    "dates in polars": pl.DataFrame({"u": DAYS.to_pydatetime().tolist()}),
    "text": pd.DataFrame({"u": ["Aa"] * N}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_without_numbers_are_named(kind):
    missing = "NA" in kind or "null" in kind
    what = "missing or infinite values" if missing else "is not numeric"
    assert_refused(lambda: region_of(inputs=FRAMES[kind]), f"^column 'u' of X .*{what}")


MISSING = "missing or infinite values.*given "
TWICE = pd.DataFrame(np.c_[X, X], columns=["a", "b", "c", "b"])
DATA = {
    "NaN in X": (
        lambda: region_of(inputs=with_entry(X, (3, 1), np.nan)),
        f"^X has {MISSING}nan at position 3, 1",
    ),
    "two columns of one name": (lambda: region_of(inputs=TWICE), "same name.*given 'b' 2 times"),
    "inf in y": (
        lambda: region_of(y=with_entry(Y, 5, -np.inf)),
        f"^y has {MISSING}-inf at position 5",
    ),
    "fewer outputs": (lambda: region_of(y=Y[:-1]), "differ in length: expected 12 .*given 11"),
    "one row": (lambda: region_of(inputs=X[:1], y=Y[:1]), "too few: expected at least 2 .*given 1"),
    "two outputs": (lambda: region_of(y=np.c_[Y, Y]), r"^y is not one column.*shape \(12, 2\)"),
    "text in X": (lambda: region_of(inputs=[["a", "b"]] * N), "^X is not numeric.*'a'"),
    "text in y": (lambda: region_of(y=["low"] * N), "^y is not numeric.*'low'"),
    "complex X": (lambda: region_of(inputs=X + 1j), "^X is not numeric.*complex"),
    "ragged": (lambda: region_of(inputs=[[1.0, 2.0]] * 11 + [[1.0]]), "^X .*length"),
    "a vector": (lambda: region_of(inputs=X[:, 0]), r"^X is not a table.*X\.reshape\(-1, 1\)"),
    "no columns": (lambda: region_of(inputs=X[:, :0]), "at least one feature"),
    "no X": (lambda: region_of(inputs=None), "^X is not a table.*given None"),
    "negative weight": (
        lambda: region_of(sample_weight=with_entry(np.ones(N), 4, -1)),
        r"^sample_weight has a negative entry.*given -1\.0 at row 4",
    ),
    "NaN weight": (
        lambda: region_of(sample_weight=with_entry(np.ones(N), 4, np.nan)),
        f"^sample_weight has {MISSING}nan at position 4",
    ),
    "one positive weight": (
        lambda: region_of(sample_weight=with_entry(np.zeros(N), 4, 1)),
        "at least 2 rows of positive weight, given 1",
    ),
    "weights too short": (
        lambda: region_of(sample_weight=np.ones(5)),
        "^sample_weight has the wrong length: expected 12",
    ),
    "text as weight": (
        lambda: region_of(sample_weight="balanced"),
        "^sample_weight is not numeric.*'balanced'",
    ),
    **{
        f"weights of {type(model).__name__}": (
            lambda model=model: region_of(model, sample_weight=RAMP),
            f"^sample_weight varies.*{type(model).__name__}.*given weights from 1 to 12",
        )
        for model in (SVR(), Lasso(), HuberRegressor(), ua.KernelLasso())
    },
}


@cases(DATA)
def test_bad_data_and_weights_are_refused(action, pattern):
    assert_refused(action, pattern)


# --- levels, m, options ---


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, True, None, np.nan, "0.9", []], ids=repr)
def test_a_level_outside_the_unit_interval_is_refused(level):
    region = region_of()
    for ask in (
        lambda: region.contains(np.zeros(3), level=level),
        lambda: region.interval(level=level, simultaneous=True, method="joint"),
        lambda: region.crossings(np.ones(3), level=level),
    ):
        with pytest.raises(ValueError, match=r"^level must be .*, given"):
            ask()


@pytest.mark.parametrize(("level", "m", "rows"), [(0.9999, 10_000, 15), (0.995, 200, 9)])
def test_a_level_above_all_is_told_the_highest_one(level, m, rows):
    assert_refused(
        lambda: region_of().contains(np.zeros(3), level=[0.5, level]),
        rf"level is too high: expected at most 0\.99 .*given {level!r}\. "
        rf".*{level!r} takes m={m} or more, .* at least {rows} rows",
    )


@pytest.mark.parametrize("m", [1, 0, -3, 2.5, 100.0, "group", True, None], ids=repr)
def test_m_must_be_an_integer_of_at_least_two(m):
    assert_refused(lambda: region_of(m=m), rf"^m must be an integer .* or 'all', given {m!r}\.")


OPTIONS = {
    "too many signs": (
        lambda: region_of(inputs=np.tile(X, (2, 1)), y=np.tile(Y, 2), m="all"),
        "wrong size to enumerate: .*2 to 4096 elements, given 16777216",
    ),
    "rotations": (lambda: region_of(noise="spherical", m="all"), "no finite group to enumerate"),
    "noise": (lambda: region_of(noise="gaussian"), "^noise is not a known .*given 'gaussian'"),
    "class of noise": (
        lambda: region_of(noise=ua.noise.Symmetric),
        "^noise is not a known .*given",
    ),
    "blocks": (
        lambda: region_of(noise=ua.noise.BlockSymmetric([0, 1])),
        "^blocks must have one label for each of the 12 rows, given 2",
    ),
    "weighting": (lambda: region_of(weighting="newton"), "^weighting .*given 'newton'"),
    "ties": (lambda: region_of(ties="first"), "^ties must be .*given 'first'"),
    "seed": (lambda: region_of(random_state=1.5), r"^random_state is not a valid seed.*given 1\.5"),
    "negative seed": (lambda: region_of(random_state=-1), "not a valid seed.*given -1"),
    "label noise": (lambda: region_of(noise="labels"), "^noise 'labels' needs a classifier"),
    "positive": (lambda: region_of(Lasso(positive=True)), "^positive=True is not supported"),
    "epsilon": (lambda: region_of(HuberRegressor(epsilon=1.0)), "epsilon is out of range.*given 1"),
}


@cases(OPTIONS)
def test_bad_options_are_refused(action, pattern):
    assert_refused(action, pattern)


# --- kernels ---

INDEFINITE = {"kernel": ua.kernels.truncated_parabolic, "kernel_params": {"c": 1.0}}


@pytest.mark.parametrize(
    "model",
    [KernelRidge(**INDEFINITE), ua.KernelHuber(**INDEFINITE), ua.LSSVC(**INDEFINITE)],
    ids=lambda m: type(m).__name__,
)
def test_an_indefinite_kernel_is_refused_with_its_smallest_eigenvalue(model):
    K = np.maximum(1 - (GRID - GRID.T) ** 2, 0)
    values = np.linalg.eigvalsh(K)
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    assert_refused(
        lambda: region_of(model, GRID, y),
        rf"indefinite, which {type(model).__name__} cannot use: .* from {values[0]:.3g} to",
    )
    with pytest.raises(ValueError, match=r"indefinite.*eigenvalues from -0\.43 to"):
        region_of(KernelRidge(kernel="precomputed"), K, WAVE)
    symmetric = region_of(ua.KernelLasso(**INDEFINITE), GRID, WAVE, ties="conservative")
    assert symmetric.rank(symmetric.estimate) == 1


@pytest.mark.parametrize(
    "model",
    [KernelRidge(kernel="precomputed"), SVR(kernel="precomputed")],
    ids=lambda m: type(m).__name__,
)
def test_a_precomputed_kernel_must_be_square_and_symmetric(model):
    assert_refused(
        lambda: region_of(model, GAUSS[:, :5], WAVE),
        r"not a precomputed kernel matrix: .*given shape \(20, 5\)",
    )
    assert_refused(
        lambda: region_of(model, with_entry(GAUSS, (2, 5), 3.0), WAVE),
        r"not symmetric: .*entries \(2, 5\) and \(5, 2\)",
    )


# --- classes ---


@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression(), ua.LSSVC()], ids=repr)
def test_labels_must_be_of_two_classes(model):
    for y, given in (
        (np.arange(N) % 3, "3: 0, 1, 2"),
        (["a"] * N, "1: 'a'"),
        (Y, r"12: -\d\.\d+, .*"),
    ):
        assert_refused(lambda y=y: region_of(model, y=y), f"^y does not hold two .*given {given}")
    missing = np.array([*["yes", "no"] * 5, None, "no"], dtype=object)
    assert_refused(lambda: region_of(model, y=missing), "^y has missing .*at position 10")


@pytest.mark.parametrize("class_weight", ["balanced", {-1: 1.0, 1: 2.0}], ids=repr)
def test_class_weights_are_refused_with_the_reason(class_weight):
    for model in (RidgeClassifier, LogisticRegression):
        assert_refused(
            lambda model=model: region_of(model(class_weight=class_weight), y=LABELS),
            "^class_weight depends on the labels, which voids the guarantee",
        )


# --- candidates ---


def not_finite(inputs):
    return np.where(np.arange(N) == 4, np.nan, 0.0)


VALUE = "^the value of the candidate .*"
CANDIDATES = {
    "too long": (np.zeros(5), r"expected 3 coefficients \[intercept, x0, x1\].*shape \(5,\)"),
    "three dimensions": (np.zeros((2, 2, 3)), r"wrong shape.*shape \(2, 2, 3\)"),
    "a number": (3.0, r"wrong shape.*shape \(\)"),
    "empty": ([], r"wrong shape.*shape \(0,\)"),
    "NaN": ([0.0, np.nan, 1.0], f"^the candidate has {MISSING}nan at position 1"),
    "text": ("ridge", "^the candidate is not numeric: .*'ridge'"),
    "None": (None, "^the candidate .*given None"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0, 2.0]], "^the candidate .*length"),
    "a class": (Ridge, "^the candidate .*class.*Ridge"),
    "function, wrong shape": (lambda X: np.zeros(3), VALUE + r"12 rows of X, given shape \(3,\)"),
    "function, two columns": (lambda X: X, VALUE + r"shape \(12, 2\)"),
    "function with NaN": (not_finite, VALUE + f"not_finite has {MISSING}nan at position 4"),
    "function with text": (lambda X: ["low"] * N, VALUE + "not numeric: .*'low'"),
    "function without a value": (lambda X: None, VALUE + "given None"),
}


@pytest.mark.parametrize("kind", CANDIDATES)
def test_bad_candidates_are_refused(kind):
    candidate, pattern = CANDIDATES[kind]
    assert_refused(lambda: region_of().rank(candidate), pattern)


# --- transformers that fail ---

TABLE = pd.DataFrame(RNG.normal(size=(30, 3)), columns=list("abc"))
TEXT = TABLE.assign(d=["x", "y"] * 15)
HOLED = TABLE.copy()
HOLED.iloc[4, 1] = np.nan
OUT = RNG.normal(size=30)
STEPS = {
    "parameter": (PolynomialFeatures(-1), TABLE, "'polynomialfeatures' fails: .*'degree'"),
    "kernel": (Nystroem(kernel="rfb"), TABLE, "'nystroem' fails: .*Got 'rfb'"),
    "column": (make_column_transformer((StandardScaler(), ["zz"])), TABLE, "fails: .*'zz'"),
    "text": (StandardScaler(), TEXT, "'standardscaler' fails: .*'x'"),
    "NaN refused": (Nystroem(n_components=3), HOLED, "'nystroem' fails: .*contains NaN"),
    "NaN passed on": (
        StandardScaler(),
        HOLED,
        "^after the step 'standardscaler', .* position 4, 1",
    ),
    "made": (
        FunctionTransformer(np.log),
        TABLE.abs().mul(np.arange(30) != 3, axis=0),
        "^after the step 'functiontransformer', column 'a' of X has .*-inf at position 3",
    ),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("kind", STEPS)
def test_the_step_that_stops_a_pipeline_is_named(kind):
    step, table, said = STEPS[kind]
    with pytest.raises(ValueError, match=said):
        region_of(make_pipeline(step, Ridge()), table, OUT)
