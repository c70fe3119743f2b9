"""Values of a function with a norm bound or a model error, one at a time."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR

import unassuming as ua

pytestmark = pytest.mark.slow_but_first
GRID = np.array([[0.9], [4.37], [7.2]])
KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = [
    KernelRidge(alpha=0.8, **KERNEL),
    ua.KernelLasso(**KERNEL),
    ua.KernelHuber(**KERNEL),
    SVR(gamma=0.5),
    make_pipeline(Nystroem(n_components=40, gamma=0.5, random_state=0), Ridge()),
    make_pipeline(SplineTransformer(10), Ridge()),
    make_pipeline(SplineTransformer(10), LinearRegression()),
]


def region_of(model=MODELS[0], n=120, **options):
    X, y, f = ua.datasets.sine(n=n, noise="laplace", random_state=3)
    return ua.confidence_region(model, X, y, m=20, random_state=0, **options), f


def half(band):
    return (band.upper - band.lower) / 2


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_model_has_pointwise_intervals(model):
    region, f = region_of(model)
    band = region.band(GRID, norm_bound=30, simultaneous=False, level=0.9)
    assert (band.simultaneous, band.method, band.norm_bound) == (False, "cells", 30)
    assert (band.attained >= 0.9).all()
    assert (half(band) < 1.5).all()
    assert (np.abs((band.lower + band.upper) / 2 - f(GRID)) < 2 * half(band)).all()
    assert "norm of at most 30 (your assumption), one at a time (cells" in str(band)


def test_the_interval_does_not_depend_on_the_loss():
    bands = [
        region_of(model)[0].band(GRID, norm_bound=30, simultaneous=False, level=0.9)
        for model in MODELS[:3]
    ]
    np.testing.assert_array_equal(bands[0].lower, bands[1].lower)
    np.testing.assert_array_equal(bands[0].lower, bands[2].lower)


def test_it_is_narrower_than_the_simultaneous_band_and_does_not_depend_on_other_inputs():
    region, _ = region_of()
    alone = region.band(GRID[[1]], norm_bound=30, simultaneous=False, level=0.9)
    joint = region.band(GRID[[1]], norm_bound=30, method="joint", level=0.9)
    both = region.band(GRID, norm_bound=30, simultaneous=False, level=0.9)
    assert half(alone)[0] < 0.6 * half(joint)[0]
    assert alone.lower[0] == pytest.approx(both.lower[1], abs=1e-9)
    assert alone.target == "function"


def test_a_much_larger_norm_bound_gives_wider_intervals():
    region, _ = region_of()
    widths = [
        half(region.band(GRID, norm_bound=B, simultaneous=False, noise_scale=0.7, level=0.9))
        for B in (30, 3e4)
    ]
    assert (widths[1] > widths[0]).all()


def test_the_cells_do_not_see_y():
    """Signs of the noise of whole cells move the ends; the predicted choice stays the same."""
    X, y, _ = ua.datasets.sine(n=120, noise="laplace", random_state=3)
    attained = []
    for out in (y, -y, y**3):
        region = ua.confidence_region(MODELS[0], X, out, m=20, random_state=0)
        attained.append(region.band(GRID, norm_bound=30, simultaneous=False, level=0.9).attained)
    assert np.ptp(attained, axis=0).max() == 0


def test_a_shift_of_y_moves_svr_but_kernel_ridge_has_no_free_constant():
    X, y, _ = ua.datasets.sine(n=120, noise="laplace", random_state=3)
    lower = [
        ua.confidence_region(SVR(gamma=0.5), X, out, m=20, random_state=0)
        .band(GRID, norm_bound=30, simultaneous=False, level=0.9)
        .lower
        for out in (y, y + 1000)
    ]
    np.testing.assert_allclose(lower[1] - lower[0], 1000, atol=1e-6)


def test_coefficients_with_a_norm_bound():
    region, _ = region_of(MODELS[5])
    free = region.interval(region.names[4], simultaneous=False, level=0.9)
    bound = region.interval(region.names[4], norm_bound=20, simultaneous=False, level=0.9)
    assert half(bound)[0] < half(free)[0]
    with pytest.raises(ua.NotAvailable, match="coefficients of a kernel are not determined"):
        region_of()[0].interval(norm_bound=20, simultaneous=False, level=0.9)


def test_model_error_widens_the_interval_by_more_than_itself():
    region, _ = region_of(MODELS[6])
    none = region.band(GRID, simultaneous=False, model_error=0.0, noise_scale=1.0, level=0.9)
    some = region.band(GRID, simultaneous=False, model_error=0.2, noise_scale=1.0, level=0.9)
    whole = region.band(
        GRID, simultaneous=False, model_error=0.2, noise_scale=1.0, target="function", level=0.9
    )
    assert (half(some) >= half(none) + 0.2 - 1e-12).all()
    np.testing.assert_allclose(half(whole) - half(some), 0.2)
    assert (none.target, whole.target) == ("representation", "function")
    assert "model error of at most 0.2" in str(some)


def test_blocks_of_rows_stay_together():
    region, _ = region_of(noise=ua.noise.BlockSymmetric(np.arange(120) // 4))
    band = region.band(GRID, norm_bound=30, simultaneous=False, level=0.9)
    assert np.isfinite(half(band)).all()
    with pytest.raises(ValueError, match="cells divides a block"):
        region.band(GRID, norm_bound=30, simultaneous=False, cells=np.arange(120) % 6, level=0.9)


def test_numbers_of_cells_and_labels():
    region, _ = region_of()
    by_number = region.band(GRID, norm_bound=30, simultaneous=False, cells=6, level=0.9)
    by_label = region.band(
        GRID, norm_bound=30, simultaneous=False, cells=np.arange(120) % 6, level=0.9
    )
    np.testing.assert_allclose(by_number.lower, by_label.lower)
    few = region.band(GRID, norm_bound=30, simultaneous=False, cells=3, level=0.9)
    np.testing.assert_allclose(few.upper, 30)
    assert "The bounds follow from the norm bound alone" in few.reason
    assert "No finite interval of level 0.9 is possible for 3 of 3 values" in few.reason
    few = region_of(SVR(gamma=0.5))[0].band(
        GRID, norm_bound=30, simultaneous=False, cells=3, level=0.9
    )
    assert few.status.name == "TOO_FEW_CELLS"
    assert np.isposinf(few.upper).all()


@pytest.mark.parametrize("n", [2, 3, 5, 6])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.9999, 0.9999999])
def test_very_few_rows_and_very_high_levels(n, level):
    X, y, _ = ua.datasets.sine(n=6, random_state=0)
    for model in (MODELS[0], SVR(gamma=0.5), Ridge()):
        region = ua.confidence_region(model, X[:n], y[:n], m=20, random_state=0)
        band = region.band(GRID, level=level, norm_bound=30, simultaneous=False)
        finite = np.isfinite(band.lower) & np.isfinite(band.upper)
        assert (band.lower <= band.upper).all()
        assert (band.attained[finite] >= level).all()
        assert finite.all() or band.status.name == "TOO_FEW_CELLS"
        trivial = model is MODELS[0]  # the others have an intercept
        assert level < 0.99 or (np.abs(band.upper[finite]) > 29.9).all()
        assert level < 0.99 or finite.all() == finite.any() == trivial


def test_bad_input():
    region, _ = region_of()
    ask = {"norm_bound": 30, "simultaneous": False}
    for wrong in (-1, np.inf, "x", True):
        with pytest.raises(ValueError, match="model_error is out of range: expected one finite"):
            region.band(GRID, model_error=wrong, **ask)
        with pytest.raises(ValueError, match="noise_scale is out of range: expected one finite"):
            region.band(GRID, noise_scale=wrong, **ask)
    with pytest.raises(ValueError, match="noise_scale does not apply"):
        region.band(GRID, noise_scale=1.0, simultaneous=False, level=0.9)
    with pytest.raises(ValueError, match="method does not go with norm_bound"):
        region.band(GRID, method="halves", **ask)
    with pytest.raises(ValueError, match="cell_weights does not go with norm_bound"):
        region.band(GRID, cell_weights="residuals", **ask)
    with pytest.raises(ua.NotAvailable, match=r"band\(X, norm_bound=B, simultaneous=False\)"):
        region.band(GRID, simultaneous=False, level=0.9)
    with pytest.raises(ua.NotAvailable, match="a model error alone needs a model with features"):
        region.band(GRID, model_error=0.1, simultaneous=False, level=0.9)
    with pytest.raises(ua.NotAvailable, match="need noise whose signs may change"):
        region_of(noise="exchangeable")[0].band(GRID, **ask)
    with pytest.raises(ua.NotAvailable, match="target='function' needs a kernel or a model error"):
        region_of(MODELS[5])[0].band(GRID, target="function", **ask)


def test_precomputed_kernels_need_the_kernel_itself():
    X, y, _ = ua.datasets.sine(n=30, random_state=0)
    K = np.exp(-0.5 * np.square(X - X.T))
    region = ua.confidence_region(KernelRidge(kernel="precomputed"), K, y, m=20, random_state=0)
    with pytest.raises(ua.NotAvailable, match=r"k\(z, z\) at the new inputs"):
        region.band(K[:2], norm_bound=30, simultaneous=False, level=0.9)


def test_the_regressor_and_pictures_pass_the_norm_bound():
    X, y, _ = ua.datasets.sine(n=120, noise="laplace", random_state=3)
    model = ua.ConfidenceRegressor(MODELS[0], norm_bound=30, level=0.9, m=20)
    model = model.fit(X, y)
    band = model.region_.band(GRID, norm_bound=30, simultaneous=False, level=0.9)
    np.testing.assert_array_equal(model.predict_mean_interval(GRID)[:, 0], band.lower)
    data = ua.plots.band_data(model.region_, GRID, levels=(), pointwise=(0.9,), norm_bound=30)
    np.testing.assert_allclose(np.sort(data.pointwise_lower[0.9]), np.sort(band.lower))


@pytest.mark.slow
def test_a_simultaneous_band_from_cells():
    region, f = region_of(n=300)
    grid = np.linspace(0, 10, 21)[:, None]
    band = region.band(grid, norm_bound=30, method="cells", level=0.9)
    assert (band.simultaneous, band.method, band.target) == (True, "balanced cells", "function")
    assert band.attained.tolist() == [0.9375] * 21
    assert ((band.lower <= f(grid)) & (f(grid) <= band.upper)).all()
    pointwise = region.band(grid, norm_bound=30, simultaneous=False, level=0.9)
    assert np.median(half(pointwise)) < 0.8 * np.median(half(band))
    forced = region.band(grid, norm_bound=30, method="cells", cells=32, level=0.9)
    assert forced.attained[0] == 0.90625


@pytest.mark.slow
def test_auto_takes_the_joint_region_for_few_rows_and_cells_for_many():
    few, _ = region_of(KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1), n=60)
    many, _ = region_of(KernelRidge(kernel="rbf", gamma=0.1, alpha=0.8), n=400)
    assert few.band(GRID, norm_bound=30, method="auto", level=0.9).method == "joint region"
    some = GRID[1:2]
    cells = many.band(some, norm_bound=73, method="auto", level=0.9)
    assert cells.method == "balanced cells"
    assert (half(cells) < half(many.band(some, norm_bound=73, method="joint", level=0.9))).all()
    with pytest.raises(ua.NotAvailable, match="balanced cells are too few"):
        few.band(GRID, 0.99, norm_bound=30, method="cells")
    assert few.band(GRID[:1], 0.9, norm_bound=30, inner=True, method="auto").inner_lower is not None
    with pytest.raises(ua.NotAvailable, match="balanced cells do not search for members"):
        few.band(GRID, 0.9, norm_bound=30, inner=True, method="cells")


def test_a_model_error_in_simultaneous_bands_takes_cells():
    region, _ = region_of(MODELS[6], n=320)
    with pytest.raises(ua.NotAvailable, match="which no joint region allows for"):
        region.band(GRID, model_error=0.1, method="joint", level=0.9)
    exact = region.band(GRID, model_error=0.0, method="cells", noise_scale=1.0, level=0.9)
    band = region.band(
        GRID, model_error=0.1, method="auto", target="function", noise_scale=1.0, level=0.9
    )
    assert band.method == "balanced cells"
    assert (half(band) > half(exact) + 0.2).all()
    plain = region.band(GRID, method="cells", cells=16, level=0.9)
    assert np.median(half(exact) / half(plain)) == pytest.approx(1, rel=0.5)


def test_a_model_error_is_never_left_out():
    region, _ = region_of(MODELS[6], noise="exchangeable")
    with pytest.raises(ua.NotAvailable, match="need noise whose signs may change"):
        region.band(GRID, model_error=0.1, method="auto", level=0.9)


@pytest.mark.parametrize("options", [{"simultaneous": False}, {"method": "cells"}], ids=str)
def test_the_estimate_belongs_to_the_interval(options):
    """A model with a large penalty has another one, far outside."""
    region, _ = region_of(KernelRidge(alpha=100.0, **KERNEL), n=300)
    band = region.band(GRID, norm_bound=30, **options)
    model = region.band(GRID, norm_bound=30, method="joint").estimate
    assert ((band.lower < band.estimate) & (band.estimate < band.upper)).all()
    assert ((model < band.lower) | (model > band.upper)).any()


def test_too_few_cells_are_explained_with_remedies():
    features = make_pipeline(Nystroem(n_components=20, gamma=0.5, random_state=0), Ridge())
    few = region_of(features, n=60)[0].band(GRID, simultaneous=False, model_error=0.1, level=0.9)
    assert np.isinf(few.lower).all()
    enough = "About 105 rows like these would do."
    assert f"{enough} Remedies: fewer features; a norm bo" in few.reason
    region = region_of(n=4)[0]
    few = region.band(GRID, simultaneous=False, norm_bound=30, level=0.9)
    assert few.reason.endswith("Remedies: a level of at most 0.875.")
    assert np.isfinite(region.band(GRID, 0.875, norm_bound=30, simultaneous=False).upper).all()


@pytest.mark.slow
def test_levels_that_take_more_cells_than_are_usually_compared():
    region, f = region_of()
    band = region.band(GRID, 0.9999, norm_bound=30, simultaneous=False)
    assert (band.attained >= 0.9999).all()
    assert (np.abs((band.lower + band.upper) / 2 - f(GRID)) < half(band)).all()
    beyond = region_of(SVR(gamma=0.5))[0].band(GRID, 1 - 1e-7, norm_bound=30, simultaneous=False)
    assert "higher than cells can attain" in beyond.reason
