"""What is wrong with the input is said once: what was wrong, expected, given, and what to do."""

import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
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


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge(alpha=0.3) if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 100, "random_state": 0, **options})


def with_entry(array, index, value):
    changed = np.array(array, dtype=float)
    changed[index] = value
    return changed


def assert_refused(action, error, pattern):
    """One sentence that names what was expected and given, and one or more that say what to do."""
    with pytest.raises(error) as caught:
        action()
    assert caught.type is error or caught.type.__module__.startswith("unassuming.")
    message = str(caught.value)
    assert re.search(pattern, message), message
    sentence, _, remedy = message.partition(". ")
    while not re.match(r"[A-Z]", remedy):  # a full stop inside the sentence, as in "no. 3" or 0.5
        more, _, remedy = remedy.partition(". ")
        sentence += ". " + more
        assert remedy, f"nothing is said about what to do: {message}"
    assert re.search(r"\b(expected|must|takes?|needs?)\b", sentence), message
    assert re.search(r"\bgiven\b", sentence), message
    assert message.endswith("."), message
    assert "\n" not in message
    assert ".." not in message.replace("...", ""), message
    assert "could not convert" not in message, message


def cases(table):
    return pytest.mark.parametrize(
        ("action", "pattern"), [row[1:] for row in table], ids=[row[0] for row in table]
    )


# --- X, y -----------------------------------------------------------------------------------------

DATA = [
    (
        "NaN in X",
        lambda: region_of(inputs=with_entry(X, (3, 1), np.nan)),
        r"^X has missing or infinite values: expected finite .*given nan at position 3, 1\. Drop",
    ),
    (
        "inf in X",
        lambda: region_of(inputs=with_entry(X, (3, 1), np.inf)),
        "^X has missing or infinite values.*given inf at position 3, 1",
    ),
    (
        "NA in a frame",
        lambda: region_of(inputs=pd.DataFrame({"u": pd.array([None] + [1] * 11, dtype="Int64")})),
        "^column 'u' of X has missing or infinite values.*given nan at position 0",
    ),
    (
        "NA among truths",
        lambda: region_of(inputs=pd.DataFrame({"u": pd.array([True, None] * 6, dtype="boolean")})),
        "^column 'u' of X has missing or infinite values.*given <NA> at position 1",
    ),
    (
        "null in polars",
        lambda: region_of(inputs=pl.DataFrame({"v": X[:, 0], "u": [1, 2, None] * 4})),
        "^column 'u' of X has missing or infinite values.*given nan at position 2",
    ),
    (
        "dates in pandas",
        lambda: region_of(inputs=pd.DataFrame({"u": DAYS})),
        "^column 'u' of X is not numeric.*given values of type datetime64.*dates to days since",
    ),
    (
        "dates in a zone",
        lambda: region_of(inputs=pd.DataFrame({"u": DAYS.tz_localize("UTC")})),
        "^column 'u' of X is not numeric: expected finite numbers, given Timestamp",
    ),
    (
        "dates in polars",
        lambda: region_of(inputs=pl.DataFrame({"v": X[:, 0], "u": DAYS.to_pydatetime().tolist()})),
        "^column 'u' of X is not numeric.*given values of type datetime64.*dates to days since",
    ),
    (
        "spans of time in polars",
        lambda: region_of(inputs=pl.DataFrame({"u": (DAYS - DAYS[0]).to_pytimedelta().tolist()})),
        "^column 'u' of X is not numeric.*given values of type timedelta64",
    ),
    (
        "two columns of one name",
        lambda: region_of(inputs=pd.DataFrame(np.c_[X, X], columns=["a", "b", "c", "b"])),
        "^X has columns of the same name: expected a different name .*given 'b' 2 times. Rename",
    ),
    (
        "NaN in y",
        lambda: region_of(y=with_entry(Y, 5, np.nan)),
        "^y has missing or infinite values.*given nan at position 5",
    ),
    (
        "inf in y",
        lambda: region_of(y=with_entry(Y, 5, -np.inf)),
        "^y has missing or infinite values.*given -inf at position 5",
    ),
    (
        "fewer outputs",
        lambda: region_of(y=Y[:-1]),
        r"^y and X differ in length: expected 12 outputs, one for each row of X, given 11\.",
    ),
    ("no rows", lambda: region_of(inputs=X[:0], y=Y[:0]), "too few: expected at least 2 .*given 0"),
    ("one row", lambda: region_of(inputs=X[:1], y=Y[:1]), "too few: expected at least 2 .*given 1"),
    (
        "two outputs",
        lambda: region_of(y=np.column_stack([Y, Y])),
        r"^y is not one column: expected one number for each row, given shape \(12, 2\)\. Pass",
    ),
    (
        "one number as y",
        lambda: region_of(y=3.0),
        r"^y is not one column: expected .*given shape \(\)",
    ),
    (
        "text in X",
        lambda: region_of(inputs=np.array([["a", "b"]] * N)),
        "^X is not numeric: expected finite numbers, given .*'a'.*Encode or drop the text",
    ),
    (
        "text in a frame",
        lambda: region_of(inputs=pd.DataFrame({"town": ["Aa"] * N})),
        "^column 'town' of X is not numeric: expected finite numbers, given .*'Aa'.*Encode or drop",
    ),
    (
        "text in y",
        lambda: region_of(y=["low"] * N),
        "^y is not numeric: expected finite numbers, given .*'low'",
    ),
    (
        "complex X",
        lambda: region_of(inputs=X + 1j),
        "^X is not numeric: expected finite numbers, given .*complex",
    ),
    (
        "rows of different length",
        lambda: region_of(inputs=[[1.0, 2.0]] * 11 + [[1.0]]),
        "^X (?!is not numeric).*: expected .*given .*length",
    ),
    (
        "a vector as X",
        lambda: region_of(inputs=X[:, 0]),
        r"^X is not a table: expected two dimensions.*given shape \(12,\).*X\.reshape\(-1, 1\)",
    ),
    (
        "no columns",
        lambda: region_of(inputs=X[:, :0]),
        r"at least one feature, given shape \(12, 0",
    ),
    ("no X", lambda: region_of(inputs=None), "^X is not a table: expected an array .*given None"),
    ("a number as X", lambda: region_of(inputs=np.float64(3)), "^X is not a table: expected an "),
]


@cases(DATA)
def test_bad_data_are_refused(action, pattern):
    assert_refused(action, ValueError, pattern)


# --- weights --------------------------------------------------------------------------------------

WEIGHTS = [
    (
        "negative",
        lambda: region_of(sample_weight=with_entry(np.ones(N), 4, -1)),
        r"^sample_weight has a negative entry: expected weights >= 0, given -1\.0 at row 4 "
        r"\(counted from zero\)\.",
    ),
    (
        "NaN",
        lambda: region_of(sample_weight=with_entry(np.ones(N), 4, np.nan)),
        "^sample_weight has missing or infinite values: .*given nan at position 4",
    ),
    (
        "infinite",
        lambda: region_of(sample_weight=with_entry(np.ones(N), 4, np.inf)),
        "^sample_weight has missing or infinite values: .*given inf at position 4",
    ),
    (
        "all zero",
        lambda: region_of(sample_weight=np.zeros(N)),
        "too few: expected at least 2 rows of positive weight, given 0",
    ),
    (
        "one positive",
        lambda: region_of(sample_weight=with_entry(np.zeros(N), 4, 1)),
        "too few: expected at least 2 rows of positive weight, given 1",
    ),
    (
        "too short",
        lambda: region_of(sample_weight=np.ones(5)),
        r"^sample_weight has the wrong length: expected 12 numbers, one for each row, given shape",
    ),
    (
        "a column",
        lambda: region_of(sample_weight=np.ones((N, 1))),
        r"^sample_weight has the wrong length: expected 12 numbers.*given shape \(12, 1\)",
    ),
    (
        "text",
        lambda: region_of(sample_weight="balanced"),
        "^sample_weight is not numeric: expected finite numbers, given .*'balanced'",
    ),
]


@cases(WEIGHTS)
def test_bad_weights_are_refused(action, pattern):
    assert_refused(action, ValueError, pattern)


@pytest.mark.parametrize(
    "model", [SVR(), Lasso(), HuberRegressor(), ua.KernelLasso()], ids=lambda m: type(m).__name__
)
def test_models_that_take_no_varying_weights_say_so_and_name_those_that_do(model):
    name = type(model).__name__
    assert_refused(
        lambda: region_of(model, sample_weight=RAMP),
        ValueError,
        f"^sample_weight varies, which the region of {name} does not support: expected the same .*"
        "given weights from 1 to 12.*Use Ridge, KernelRidge or ua.KernelHuber",
    )
    assert region_of(model, sample_weight=np.full(N, 2.0)).n == N


# --- levels and m ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, True, None, np.nan, "0.9"], ids=repr)
def test_a_level_outside_the_unit_interval_is_refused(level):
    assert_refused(
        lambda: region_of().contains(np.zeros(3), level=level),
        ValueError,
        rf"^level must be a number strictly between 0 and 1, given {level!r}\. Pass e\.g\. 0\.9",
    )


@pytest.mark.parametrize(
    ("level", "m", "rows"), [(0.9999, 10_000, 15), (0.995, 200, 9), (0.9901, 102, 8)]
)
def test_a_level_above_all_is_told_the_highest_one(level, m, rows):
    assert_refused(
        lambda: region_of().contains(np.zeros(3), level=level),
        ValueError,
        rf"level is too high: expected at most 0\.99 with m = 100 statistics, given {level!r}\. "
        rf"Pass level=0\.99; {level!r} takes m={m} or more, and with signs at least {rows} rows",
    )


@pytest.mark.parametrize(("level", "attained"), [(0.905, 0.91), (0.001, 0.01), (1 / 3, 0.34)])
def test_any_other_level_is_rounded_up(level, attained):
    assert float(region_of().level(level)) == attained


def test_one_bad_level_among_several_is_the_one_named():
    with pytest.raises(ValueError, match=r"too high.*given 0\.995"):
        region_of().contains(np.zeros(3), level=[0.5, 0.995])


def test_a_level_may_be_any_real_number_type():
    region = region_of()
    expected = region.contains(np.zeros(3), level=0.5)
    assert region.contains(np.zeros(3), level=np.float32(0.5)) == expected
    assert region.contains(np.zeros(3), level=np.array(0.5)) == expected


@pytest.mark.parametrize("m", [1, 0, -3, 2.5, 100.0, "group", True, None], ids=repr)
def test_m_must_be_an_integer_of_at_least_two(m):
    assert_refused(
        lambda: region_of(m=m),
        ValueError,
        rf"^m must be an integer of at least 2, or 'all', given {m!r}\. Leave it out for 128",
    )


GROUPS = [
    (
        "too many signs",
        lambda: region_of(inputs=np.tile(X, (2, 1)), y=np.tile(Y, 2), m="all"),
        "signs of 24 rows is too large to enumerate: .*at most 4096 elements, given 16777216",
    ),
    (
        "too many permutations",
        lambda: region_of(noise="exchangeable", m="all"),
        "permutations of 12 rows is too large to enumerate: .*at most 4096 elements",
    ),
    (
        "rotations",
        lambda: region_of(noise="spherical", m="all"),
        r"Spherical\(\) has no finite group to enumerate: m='all' needs signs.*m=100",
    ),
    (
        "labels",
        lambda: region_of(RidgeClassifier(), y=LABELS, m="all"),
        r"Labels\(\) has no finite group to enumerate: m='all' needs signs.*m=100",
    ),
]


@cases(GROUPS)
def test_groups_that_cannot_be_enumerated_are_refused(action, pattern):
    assert_refused(action, ValueError, pattern)


# --- kernels --------------------------------------------------------------------------------------

INDEFINITE = {"kernel": ua.kernels.truncated_parabolic, "kernel_params": {"c": 1.0}}


@pytest.mark.parametrize(
    "model",
    [KernelRidge(**INDEFINITE), ua.KernelHuber(**INDEFINITE), ua.LSSVC(**INDEFINITE)],
    ids=lambda m: type(m).__name__,
)
def test_an_indefinite_kernel_is_refused_with_its_smallest_eigenvalue(model):
    values = np.linalg.eigvalsh(np.maximum(1 - (GRID - GRID.T) ** 2, 0))
    assert values[0] == pytest.approx(-0.43, abs=0.005)
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    assert_refused(
        lambda: region_of(model, GRID, y),
        ValueError,
        rf"indefinite, which {type(model).__name__} cannot use: expected a positive semidefinite "
        rf"kernel, given eigenvalues from {values[0]:.3g} to {values[-1]:.3g}\. .*support vector",
    )


@pytest.mark.parametrize(
    "model",
    [ua.KernelLasso(**INDEFINITE), SVR(kernel=ua.kernels.truncated_parabolic)],
    ids=lambda m: type(m).__name__,
)
def test_models_that_need_only_symmetry_take_an_indefinite_kernel(model):
    y = np.sin(GRID[:, 0])
    region = region_of(model, GRID, y, ties="conservative")
    assert region.rank(region.estimate) == 1


PRECOMPUTED = [KernelRidge(kernel="precomputed"), SVR(kernel="precomputed")]
PRECOMPUTED += [ua.KernelLasso(kernel="precomputed"), ua.KernelHuber(kernel="precomputed")]


@pytest.mark.parametrize("model", PRECOMPUTED, ids=lambda m: type(m).__name__)
def test_a_precomputed_kernel_must_be_square_and_symmetric(model):
    y = np.sin(GRID[:, 0])
    assert_refused(
        lambda: region_of(model, GAUSS[:, :5], y),
        ValueError,
        r"not a precomputed kernel matrix: expected a square .*20 rows.*given shape \(20, 5\)",
    )
    assert_refused(
        lambda: region_of(model, with_entry(GAUSS, (2, 5), 3.0), y),
        ValueError,
        r"not symmetric: expected equal kernel values.*entries \(2, 5\) and \(5, 2\) that differ",
    )


def test_a_precomputed_indefinite_kernel_is_refused():
    K = np.maximum(1 - (GRID - GRID.T) ** 2, 0)
    with pytest.raises(ValueError, match=r"indefinite.*eigenvalues from -0\.43 to"):
        region_of(KernelRidge(kernel="precomputed"), K, np.sin(GRID[:, 0]))


def lopsided(A, B):
    return A[:, :1] + 2 * B[:, :1].T


KERNELS = [
    (
        "unknown",
        lambda: region_of(KernelRidge(kernel="gaussian")),
        "^kernel is unknown: expected 'precomputed' or one of .*'rbf'.*given 'gaussian'",
    ),
    (
        "not symmetric",
        lambda: region_of(SVR(kernel=lopsided)),
        "callable kernel is not symmetric: expected equal kernel values.*given entries",
    ),
    (
        "gamma",
        lambda: region_of(SVR(gamma="wide")),
        "^SVR's gamma is out of range: expected .* >= 0, 'scale' or 'auto', given 'wide'",
    ),
]


@cases(KERNELS)
def test_bad_kernels_are_refused(action, pattern):
    assert_refused(action, ValueError, pattern)


KERNEL_MODELS = [SVR, KernelRidge, ua.KernelLasso, ua.KernelHuber]


@pytest.mark.parametrize("model", KERNEL_MODELS, ids=lambda model: model.__name__)
def test_parameters_with_which_a_kernel_cannot_be_computed_are_named(model):
    bad = [("rbf", "gamma", value) for value in (-1.0, np.nan, [1.0], "wide")]
    bad += [("poly", "degree", value) for value in (None, -1, "two")]
    bad += [
        (kernel, "coef0", value) for kernel in ("poly", "sigmoid") for value in (None, np.nan, "b")
    ]
    if model is SVR:
        bad += [(kernel, "gamma", None) for kernel in ("rbf", "poly", "linear")]
    else:
        assert region_of(model(kernel="rbf", gamma=None)).n == N
    for kernel, name, value in bad:
        said, given = f"{model.__name__}'s {name} is out of range", re.escape(repr(value))
        assert_refused(
            partial(region_of, model(**{"kernel": kernel, name: value})),
            ValueError,
            rf"^{said}: expected one finite number.*given {given}\. Set",
        )
    for value in (0.5, np.float32(0.5), np.array(0.5), 0, 2):
        assert region_of(model(kernel="rbf", gamma=value)).n == N


@pytest.mark.parametrize("model", [SVR, ua.KernelLasso], ids=lambda model: model.__name__)
def test_a_norm_bound_is_no_remedy_for_an_indefinite_kernel(model):
    region = region_of(model(kernel="sigmoid", gamma=1.0))
    assert "norm_bound" not in region.band(X[:2], method="joint", level=0.9).reason


# --- classes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression(), ua.LSSVC()], ids=repr)
@pytest.mark.parametrize(
    ("y", "given"),
    [
        (np.arange(N) % 3, "3: 0, 1, 2"),
        (["a"] * N, "1: 'a'"),
        (Y, r"12: -\d\.\d+, .*"),
    ],
    ids=["three classes", "one class", "numbers"],
)
def test_labels_must_be_of_two_classes(model, y, given):
    assert_refused(
        lambda: region_of(model, y=y),
        ValueError,
        rf"^y does not hold two classes: expected exactly two different labels, given {given}\. ",
    )


def test_classes_are_counted_among_the_rows_of_positive_weight():
    y = np.arange(N) % 3
    region = region_of(RidgeClassifier(), y=y, sample_weight=(y > 0).astype(float))
    assert region.problem.classes.tolist() == [1, 2]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)
def test_missing_labels_are_missing_whatever_the_type_of_the_others(missing):
    y = np.array([*["yes", "no"] * 5, missing, "no"], dtype=object)
    assert_refused(
        lambda: region_of(RidgeClassifier(), y=y),
        ValueError,
        r"^y has missing or infinite values: expected .*given (nan|None|<NA>) at position 10",
    )
    with pytest.raises(ValueError, match=r"^y has missing or infinite values.*at position 2"):
        region_of(RidgeClassifier(), y=with_entry(LABELS, 2, np.nan))


def test_infinity_is_no_label():
    with pytest.raises(ValueError, match=r"^y has missing or infinite values.*inf at position 2"):
        region_of(RidgeClassifier(), y=with_entry(np.ones(N), 2, np.inf))


@pytest.mark.parametrize("model", [RidgeClassifier, LogisticRegression])
@pytest.mark.parametrize("class_weight", ["balanced", {-1: 1.0, 1: 2.0}], ids=repr)
def test_class_weights_are_refused_with_the_reason(class_weight, model):
    assert_refused(
        lambda: region_of(model(class_weight=class_weight), y=LABELS),
        ValueError,
        "^class_weight depends on the labels, which voids the guarantee: expected "
        rf"class_weight=None, given {re.escape(repr(class_weight))}\. Weight rows by",
    )


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), SVR(), ua.KernelHuber()], ids=repr)
def test_label_noise_is_for_classifiers(model):
    assert_refused(
        lambda: region_of(model, noise="labels"),
        ValueError,
        rf"^noise 'labels' needs a classifier: expected .*given {type(model).__name__}\. "
        "Use noise='symmetric' or",
    )


# --- estimators and options -----------------------------------------------------------------------


@pytest.mark.parametrize("model", [Ridge, SVR, ua.KernelHuber], ids=lambda m: m.__name__)
def test_a_class_instead_of_an_instance_is_refused(model):
    name = model.__name__
    assert_refused(
        lambda: region_of(model),
        TypeError,
        rf"^estimator is a class: expected an instance .*given {name}\. Write {name}\(\) with",
    )


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LinearRegression(positive=True), Y),
        (Ridge(positive=True), Y),
        (Lasso(positive=True), Y),
        (RidgeClassifier(positive=True), LABELS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_constrained_models_are_refused(model, y):
    assert_refused(
        lambda: region_of(model, y=y),
        ValueError,
        r"^positive=True is not supported: expected an unconstrained model, given .*positive=True",
    )


OPTIONS = [
    (
        "noise",
        lambda: region_of(noise="gaussian"),
        "^noise is not a known assumption: expected one of 'symmetric', .*given 'gaussian'",
    ),
    (
        "class of noise",
        lambda: region_of(noise=ua.noise.Symmetric),
        r"^noise is not a known assumption: .*an instance such as .*given .*Symmetric",
    ),
    (
        "blocks",
        lambda: region_of(noise=ua.noise.BlockSymmetric([0, 1])),
        "^blocks must have one label for each of the 12 rows, given 2 labels",
    ),
    (
        "weighting",
        lambda: region_of(weighting="newton"),
        "^weighting .*expected 'hessian', 'identity', .*given 'newton'.*default, 'hessian'",
    ),
    (
        "ties",
        lambda: region_of(ties="first"),
        r"^ties must be 'random' .*or 'conservative' \(at least the level\), given 'first'",
    ),
    (
        "random_state",
        lambda: region_of(random_state="x"),
        "^random_state is not a valid seed: expected a non-negative integer, .*given 'x'",
    ),
    (
        "negative seed",
        lambda: region_of(random_state=-1),
        "^random_state is not a valid seed: expected a non-negative integer, .*given -1",
    ),
    (
        "fractional seed",
        lambda: region_of(random_state=1.5),
        "^random_state is not a valid seed: expected a non-negative integer, .*given 1.5",
    ),
]


@cases(OPTIONS)
def test_bad_options_are_refused(action, pattern):
    assert_refused(action, ValueError, pattern)


# --- Huber's scale --------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_huber_needs_epsilon_above_one_from_the_start(epsilon):
    """No residuals have a scale then: ε² times any share of the rows is at most one."""
    assert_refused(
        lambda: region_of(HuberRegressor(epsilon=epsilon)),
        ValueError,
        rf"HuberRegressor's epsilon is out of range: expected .*> 1, given {epsilon!r}\.",
    )


def test_a_candidate_through_too_many_points_has_no_scale():
    y = np.array([0.0] * 6 + [1.0] * 5 + [2.0])
    region = region_of(HuberRegressor(), y=y)
    assert_refused(
        lambda: region.rank(np.zeros(3)),
        ValueError,
        r"passes through too many points for HuberRegressor's scale to exist: expected nonzero "
        r"residuals in a share of more than 0\.549 .*1/epsilon².*Raise epsilon",
    )
    one_more = with_entry(y, 0, 1.0)  # a share of 7/12 = 0.583 is enough
    assert 1 <= region_of(HuberRegressor(), y=one_more).rank(np.zeros(3)) <= 100


@pytest.mark.parametrize("model", [Ridge(), Lasso()], ids=repr)
def test_no_level_at_all_is_refused(model):
    region = region_of(model)
    for ask in (
        lambda: region.contains(np.zeros(3), level=[]),
        lambda: region.interval(level=(), simultaneous=True, method="joint"),
        lambda: region.reach(np.ones(3), level=np.array([])),
        lambda: region.crossings(np.ones(3), level=[]),
    ):
        assert_refused(ask, ValueError, r"^level must be .*, given none\. Pass e\.g\. 0\.9 or \[")


@pytest.mark.parametrize("model", [Ridge(), Lasso()], ids=repr)
def test_levels_in_single_precision_are_keys_as_they_print(model):
    region = region_of(model)
    levels = np.array([0.5, 0.9], dtype=np.float32)
    assert list(region.contains(np.zeros(3), level=levels)) == [0.5, 0.9]
    assert list(region.crossings(np.ones(3), level=levels)) == [0.5, 0.9]


@pytest.mark.parametrize("model", [Ridge(), Lasso()], ids=repr)
def test_a_sample_takes_one_level(model):
    with pytest.raises(ValueError, match=r"^level must be one number .*Pass one level"):
        region_of(model).sample(2, level=[0.5, 0.9])
